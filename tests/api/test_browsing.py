"""Pages for people who look at the API: they need no key, and nothing of them comes from another host."""

import re

import pytest
import yaml

from jackpot_service.api.browsing import FILES
from tests.support.contract import DOCUMENT
from tests.support.world import World

pytestmark = pytest.mark.slow


def test_the_viewer_and_all_that_it_names_are_there_and_of_this_host(world: World) -> None:
    page = world.call("GET", "/docs", key=None)

    named = re.findall(r'(?:src|href)="(/?[^"]+)"', page.text)
    named.remove("data:,")  # It has no picture, so that none is asked for.
    assert page.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';")
    assert len(named) == 4
    for address in named:
        assert address.startswith("/")
        answer = world.call("GET", address, key=None)
        assert (answer.status, answer.headers["X-Content-Type-Options"]) == (200, "nosniff")


def test_the_description_is_served_as_it_is_kept(world: World) -> None:
    answer = world.call("GET", "/openapi.yaml", key=None)
    assert answer.media_type == "application/yaml"
    assert yaml.load(answer.text, yaml.CSafeLoader) == DOCUMENT


@pytest.mark.parametrize("name", ["LOCK.json", "swagger-ui.LICENSE", "..%2Fbrowsing.py", "%2e%2e/app.py", "no.js"])
def test_nothing_else_of_the_service_is_served(world: World, name: str) -> None:
    world.call("GET", f"{FILES}/{name}", key=None).problem(404, "not-found")
