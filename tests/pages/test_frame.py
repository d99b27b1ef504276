"""What all pages have in common: headers, who may see them, how they fail, and names that mean harm."""

import re

import pytest
from werkzeug.routing import Rule

from jackpot_service.app import create_app
from jackpot_service.database.connections import create_engine
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.pages.access import PEOPLE, Audience, audience_of
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

HOSTILE = "<script>alert(1)</script>\"' &amp; " + "x" * 40


def pages_of(world: World) -> dict[str, tuple[Rule, Audience]]:
    """The pages, by their endpoints."""
    with world.app.app_context():
        return {
            rule.endpoint: (rule, audience_of(rule.endpoint))
            for rule in world.app.url_map.iter_rules()
            if rule.endpoint.startswith("pages.")
        }


def test_every_page_has_the_strict_policy_and_is_kept_by_nobody(world: World) -> None:
    visitor = Visitor(world).sign_in()
    for path, status in (("/account", 200), ("/nothing-here", 404), ("/sign-in/again", 200), ("/sign-in", 303)):
        answer = visitor.open(path)
        assert answer.status == status
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["Cache-Control"] == "private, no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "same-origin"
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"


def test_no_page_has_a_script_a_style_or_a_handler_of_its_own(world: World) -> None:
    visitor = Visitor(world).sign_in()
    for path in ("/account", "/sign-in/again", "/nothing-here"):
        page = visitor.open(path).text
        assert re.findall(r"<script(?![^>]* src=)[^>]*>", page) == []
        assert re.findall(r"<style| style=| on[a-z]+=", page) == []
        assert re.findall(r"(?:src|href|action)=\"(?!/)(?!#)[^\"]*\"", page) == []


def test_everybody_who_is_not_signed_in_is_led_to_the_sign_in(world: World) -> None:
    closed = [rule for rule, audience in pages_of(world).values() if audience.roles is not None]
    assert closed
    for rule in closed:
        path = re.sub(r"<[^>]+>", "x", re.sub(r"<(number|int):[^>]+>", "1", rule.rule))
        visitor = Visitor(world)
        is_form = "POST" in (rule.methods or ())
        answer = visitor.submit(path, {}, page="/sign-in") if is_form else visitor.open(path)
        assert (answer.status, answer.headers["Location"].partition("?")[0]) == (303, "/sign-in"), rule


@pytest.mark.parametrize("role", sorted(PEOPLE))
def test_the_navigation_of_a_role_leads_to_pages_that_are_there(world: World, role: Role) -> None:
    visitor = Visitor(world).sign_in(role)
    for address in re.findall(r'<li><a href="([^"]+)"', visitor.open("/account").text):
        answer = visitor.open(address)
        while answer.status == 303:  # The first of several pages, or the only one.
            answer = visitor.open(answer.headers["Location"])
        assert answer.status == 200


def test_a_person_sees_a_page_for_what_is_not_there_and_a_program_a_problem(world: World) -> None:
    visitor = Visitor(world)
    page = visitor.open("/nothing-here")
    assert (page.status, page.media_type) == (404, "text/html")
    assert "There is nothing here" in page.text
    assert page.headers["X-Request-Id"] in page.text
    visitor.open("/v1/nothing-here").problem(404, "not-found")
    visitor.open("/nothing-here", Accept="*/*").problem(404, "not-found")
    part = Visitor(world).sign_in().open("/jackpots/unknown", Accept="*/*", **{"HX-Request": "true"})
    assert (part.status, part.media_type) == (404, "text/html")


def test_a_method_that_no_page_takes_is_refused_in_words(world: World) -> None:
    answer = Visitor(world).sign_in().submit("/account", {})
    assert (answer.status, set(answer.headers["Allow"].split(", "))) == (405, {"GET", "HEAD", "OPTIONS"})


def test_a_name_that_means_harm_is_written_as_it_is(world: World) -> None:
    visitor = Visitor(world).sign_in(key=world.key_of(Principal(HOSTILE.strip(), Role.FINANCE)))
    page = visitor.open("/account").text
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 3


def test_colours_are_kept_until_they_are_those_of_the_machine_again(world: World) -> None:
    visitor = Visitor(world).sign_in()
    assert "data-scheme" not in visitor.open("/account").text
    visitor.submit("/account/colours", {"scheme": "dark"}, page="/account")
    assert '<html lang="en" data-scheme="dark">' in visitor.open("/account").text
    visitor.submit("/account/colours", {"scheme": '"><script>'}, page="/account")
    assert "data-scheme" not in visitor.open("/account").text


def test_a_form_that_is_too_long_is_refused(world: World) -> None:
    visitor = Visitor(world).sign_in()
    answer = visitor.submit("/account/colours", {"scheme": "x" * (world.config.max_body_bytes + 1)}, page="/account")
    assert answer.status == 413


def test_a_database_that_is_away_is_answered_by_a_page_that_can_be_tried_again(world: World) -> None:
    visitor = Visitor(world).sign_in()
    nowhere = create_engine(world.config, world.database_url.replace("host=", "host=%2Fnowhere"))
    visitor.app = create_app(world.config, nowhere, clock=world.clock, guards_clock=False)
    answer = visitor.open("/account")
    assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
    assert "Try again" in answer.text
    nowhere.dispose()
