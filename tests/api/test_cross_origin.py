"""The answers that browsers let pages of other origins read: what is open to all about a displayed jackpot, alone."""

from collections.abc import Iterator
from typing import Final

import pytest

from jackpot_service.api.displays import PUBLIC
from jackpot_service.api.request_context import EXTENSION
from jackpot_service.domain.principals import Principal, Role
from tests.support.answers import Answer
from tests.support.listening import listening
from tests.support.world import World

pytestmark = pytest.mark.slow

OWN: Final = "https://casino.example"
OTHER: Final = "https://other.example"

FEED: Final = "/v1/jackpots/j1/feed"
WALL: Final = "/wall/j1"
SHARED: Final = (FEED, WALL)

DISPLAY: Final = Principal("wall", Role.DISPLAY)

ASKING: Final = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "last-event-id"}


@pytest.fixture
def shared(world: World) -> Iterator[World]:
    """A service with an origin of pages, a jackpot that is displayed, `j1`, and one that is not, `j2`."""
    own = World(world.database_url, public_origins=(OWN, "https://www.casino.example:8443"))
    own.open(base_amount="1", settings={"displayed": "true"})
    own.open(jackpot_id="j2", base_amount="1", tables=("T2",))
    yield own
    own.close()


def answer_to(world: World, path: str, origin: str, *, method: str = "GET", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return world.call(method, path, key=None, headers={"Origin": origin, **named})


def cross_origin_headers(answer: Answer) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.headers.items() if name.lower().startswith("access-control-")}


def vary(answer: Answer) -> set[str]:
    return {name.strip() for name in answer.headers.get("Vary", "").split(",")}


@pytest.mark.parametrize("path", SHARED)
def test_pages_of_a_configured_origin_may_read_what_is_displayed(shared: World, path: str) -> None:
    answer = answer_to(shared, path, OWN)

    assert answer.status == 200
    assert cross_origin_headers(answer) == {
        "access-control-allow-origin": OWN,
        "access-control-expose-headers": "Retry-After, X-Request-Id",
    }
    assert "Origin" in vary(answer)


@pytest.mark.parametrize("path", SHARED)
@pytest.mark.parametrize("origin", [OTHER, f"{OWN}.evil.example", OWN.upper(), "null", "*", ""])
def test_pages_of_another_origin_may_not_and_caches_hold_the_two_apart(shared: World, path: str, origin: str) -> None:
    answer = answer_to(shared, path, origin)

    assert (answer.status, cross_origin_headers(answer)) == (200, {})
    assert "Origin" in vary(answer)


def test_a_stream_may_be_read_as_a_frame_may(shared: World) -> None:
    with listening(shared.app.asgi, FEED, Origin=OWN) as own:
        assert own.headers["access-control-allow-origin"] == OWN
    with listening(shared.app.asgi, FEED, Origin=OTHER) as other:
        assert "Access-Control-Allow-Origin" not in other.headers


def test_a_page_may_read_why_its_call_is_refused_and_when_to_come_again(shared: World) -> None:
    places = shared.app.extensions[EXTENSION].listeners
    with (
        places.place(PUBLIC, places.at_most),
        listening(shared.app.asgi, FEED, Origin=OWN) as listener,
    ):
        busy = listener.answer()
    wrong = answer_to(shared, f"{FEED}?colour=red", OWN)

    busy.problem(503, "busy")
    wrong.problem(422, "validation")
    assert busy.headers["Access-Control-Allow-Origin"] == wrong.headers["Access-Control-Allow-Origin"] == OWN
    assert "Retry-After" in busy.headers


@pytest.mark.parametrize("path", ["/v1/jackpots/j2/feed", "/v1/jackpots/nowhere/feed", "/wall/j2", "/wall/nowhere"])
def test_a_jackpot_that_is_not_displayed_is_shared_with_no_page(shared: World, path: str) -> None:
    refused = answer_to(shared, path, OWN)
    preflight = answer_to(shared, path, OWN, method="OPTIONS", **ASKING)

    assert refused.status in {401, 404}
    assert cross_origin_headers(refused) == cross_origin_headers(preflight) == {}


@pytest.mark.parametrize(
    "path",
    [
        "/v1/jackpots/j1",
        "/v1/jackpots/j1/meter",
        "/v1/jackpots/j1/paytable",
        "/v1/jackpots/j1/rules",
        "/v1/jackpots/j1/rules.html",
        "/v1/jackpots",
        "/v1/events",
        "/v1/me",
        "/v1/service",
        "/healthz",
        "/openapi.yaml",
        "/problems",
        "/sign-in",
    ],
)
def test_nothing_else_is_shared_with_and_without_a_key(shared: World, path: str) -> None:
    bearer = f"Bearer {shared.key(Role.AUDITOR)}"

    for answer in (
        answer_to(shared, path, OWN),
        answer_to(shared, path, OWN, Authorization=bearer),
        answer_to(shared, path, OWN, method="OPTIONS", **ASKING),
        answer_to(shared, path, OWN, method="OPTIONS", Authorization=bearer, **ASKING),
    ):
        assert cross_origin_headers(answer) == {}


def test_what_a_key_reads_is_shared_with_no_page(shared: World) -> None:
    answer = answer_to(shared, FEED, OWN, Authorization=f"Bearer {shared.key_of(DISPLAY)}")

    assert (answer.status, cross_origin_headers(answer)) == (200, {})


# The question that a browser asks before it makes a call for a page.


@pytest.mark.parametrize("path", SHARED)
def test_a_browser_that_asks_first_is_told_what_a_page_may_send_and_never_a_key(shared: World, path: str) -> None:
    answer = answer_to(shared, path, OWN, method="OPTIONS", **ASKING)

    assert (answer.status, answer.text) == (204, "")
    assert cross_origin_headers(answer) == {
        "access-control-allow-origin": OWN,
        "access-control-allow-methods": "GET",
        "access-control-allow-headers": "Accept, Cache-Control, Last-Event-ID, X-Request-Id",
        "access-control-max-age": "600",
    }
    assert "Origin" in vary(answer)
    assert answer.headers["X-Request-Id"]


@pytest.mark.parametrize("path", SHARED)
@pytest.mark.parametrize(
    ("origin", "method"), [(OTHER, "GET"), ("", "GET"), (OWN, "POST"), (OWN, "PUT"), (OWN, "DELETE"), (OWN, "")]
)
def test_a_browser_is_told_nothing_for_another_origin_or_another_method(
    shared: World, path: str, origin: str, method: str
) -> None:
    asking = {"Access-Control-Request-Method": method} if method else {}

    assert cross_origin_headers(answer_to(shared, path, origin, method="OPTIONS", **asking)) == {}


def test_without_configured_origins_nothing_is_shared(world: World) -> None:
    world.open(base_amount="1", settings={"displayed": "true"})

    for path in SHARED:
        for origin in (OWN, "null", "*", ""):
            assert cross_origin_headers(answer_to(world, path, origin)) == {}
            assert cross_origin_headers(answer_to(world, path, origin, method="OPTIONS", **ASKING)) == {}
