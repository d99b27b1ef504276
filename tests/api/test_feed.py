"""The feed of a jackpot: what displays are told, when, and who may listen."""

import math
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, contextmanager
from decimal import Decimal
from http import HTTPStatus
from itertools import count, islice, pairwise
from typing import Final

import orjson
import pytest
import sqlalchemy

from jackpot_service.api import feeds, streams
from jackpot_service.api.asgi import Presence
from jackpot_service.api.contract import examples
from jackpot_service.api.displays import PUBLIC
from jackpot_service.api.recent import Recent
from jackpot_service.api.request_context import EXTENSION
from jackpot_service.database.reads import Reading
from jackpot_service.database.transactions import read
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.reports.jackpots import JackpotState, jackpot_state
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import NOTHING, ROYAL_FLUSH, hand
from tests.support.listening import Listener, listening
from tests.support.loop import on_loop
from tests.support.world import World

pytestmark = pytest.mark.slow

FEED: Final = "/v1/jackpots/j1/feed"

FRAMES: Final = 4
A_SECOND: Final = 1.0

DISPLAY: Final = Principal("wall", Role.DISPLAY)


@pytest.fixture
def shown(world: World) -> World:
    """A jackpot that is displayed to all."""
    world.open(base_amount="998.657", settings={"displayed": "true"})
    return world


def next_of(listener: Listener, frames: int = 1) -> list[Body]:
    return list(islice(listener.frames(), frames))


def frame(world: World, query: str = "", *, key: str | None = None) -> Body:
    """One frame, as JSON, for a display unless a key is given."""
    return world.get(f"{FEED}{query}", key=key or world.key_of(DISPLAY)).ok()


# What it says.


def test_a_frame_has_the_meter_in_whole_minor_units_of_each_currency_and_never_more(shown: World) -> None:
    frame_ = frame(shown, "?currency=EUR,GBP,SEK,JPY")

    meter = Decimal("998.657")
    rates = {"EUR": Decimal(1), "GBP": Decimal("1.17"), "SEK": Decimal("0.0873"), "JPY": Decimal("0.0061")}
    assert [amount["currency"] for amount in frame_["amounts"]] == [*rates]
    for amount in frame_["amounts"]:
        unit = Decimal(1).scaleb(-amount["exponent"]) * rates[amount["currency"]]
        assert amount["amount_minor"] * unit <= meter < (amount["amount_minor"] + 1) * unit
    assert (frame_["state"], frame_["cycle"], frame_["rate_sheet"], frame_["last_hit"]) == ("open", 1, 1, None)


def test_without_a_currency_the_base_currency_is_shown(shown: World) -> None:
    assert frame(shown)["amounts"] == [{"currency": "EUR", "exponent": 2, "amount_minor": 99865}]


def test_the_last_hit_is_told_with_casino_cards_and_winners_and_nobody_is_named(shown: World) -> None:
    shown.bet(bet("a"), bet("b", hand="2", player_id="secret-player"))
    shown.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING))

    frame_ = frame(shown)

    (hit,) = shown.get("/v1/jackpots/j1/hits").ok()["items"]
    assert frame_["cycle"] == 2
    assert frame_["last_hit"] == {
        "cycle": 1,
        "hit_at": hit["hit_at"],
        "casino_id": "c1",
        "casino": "Casino c1",
        "currency": "EUR",
        "exponent": 2,
        "amount_minor": int(Decimal(hit["paid"]) * 100),
        "cards": list(ROYAL_FLUSH),
        "winners": 2,
    }
    assert (hit["casino_id"], hit["cards"], hit["winners"]) == ("c1", frame_["last_hit"]["cards"], 2)
    written = orjson.dumps(frame_).decode()
    assert not re.search(r"secret|player-of|\bT1\b|\br1\b|version|position|stripe", written)


def test_a_suspended_jackpot_is_told_as_such(shown: World) -> None:
    shown.put("/v1/jackpots/j1/suspension", {"request_id": "s", "reason": "r"}, key=shown.key(Role.OPERATOR)).ok(201)
    assert frame(shown)["state"] == "suspended"


# When it is said.


def test_a_listener_is_told_at_once_and_then_of_each_change(shown: World) -> None:
    with listening(shown.app.asgi, FEED) as listener:
        (first,) = next_of(listener)
        shown.bet(bet("a"))
        (second,) = next_of(listener)
        shown.bet(bet("b", hand="2"), round_id="r2")
        shown.settle(hand("2", ROYAL_FLUSH), round_id="r2")
        *_, hit = iter_until(listener, cycle=2)

    assert listener.headers["Content-Type"] == "text/event-stream"
    assert listener.headers["Cache-Control"] == "no-store"
    assert listener.headers["X-Content-Type-Options"] == "nosniff"
    assert first["amounts"][0]["amount_minor"] == 99865
    assert second["amounts"][0]["amount_minor"] == 99910
    assert hit["last_hit"]["cycle"] == 1


def test_a_stream_begins_as_the_contract_shows_it(shown: World) -> None:
    expected = examples.stream_of(frame(shown))
    with listening(shown.app.asgi, FEED) as listener:
        assert "\n\n".join([*islice(listener.blocks(), 2), ""]) == expected


def iter_until(listener: Listener, *, cycle: int) -> Iterator[Body]:
    for frame_ in listener.frames():
        yield frame_
        if frame_["cycle"] == cycle:
            return


@contextmanager
def betting(world: World) -> Iterator[list[int]]:
    """Bet without a pause until the block ends; the list gets how many bets were booked then."""
    is_over, booked = threading.Event(), list[int]()

    def bet_on() -> int:
        return next(number for number in count(1) if world.bet(bet("a"), round_id=f"r{number}") and is_over.is_set())

    with ThreadPoolExecutor(1) as threads:
        bets = threads.submit(bet_on)
        try:
            yield booked
        finally:
            is_over.set()
        booked.append(bets.result())


@pytest.fixture
def written_at(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When each frame was written, on the steady clock: when it is heard says how busy the machine is as well."""
    instants: list[float] = []

    def noting(frame_: Body) -> bytes:
        instants.append(time.monotonic())
        return streams.event_bytes(frame_)

    monkeypatch.setattr(feeds, "event_bytes", noting)
    return instants


def require_a_second_between(written_at: list[float]) -> None:
    gaps = [after - before for before, after in pairwise(written_at[:FRAMES])]
    assert len(gaps) == FRAMES - 1
    assert min(gaps) >= A_SECOND, gaps
    assert max(gaps) < 3 * A_SECOND  # Nor is it said less often.


@pytest.mark.long
def test_frames_come_once_a_second_at_most_however_many_bets_do(shown: World, written_at: list[float]) -> None:
    with listening(shown.app.asgi, FEED) as listener, betting(shown) as booked:
        assert len(next_of(listener, FRAMES)) == FRAMES

    require_a_second_between(written_at)
    assert booked[0] > 3 * FRAMES  # Each changed the meter.


@pytest.mark.long
def test_frames_are_a_second_apart_however_old_the_reading_of_the_first_and_however_new_the_others(
    shown: World, written_at: list[float]
) -> None:
    context = shown.app.extensions[EXTENSION]
    old = on_loop(context.feeds.state("j1", ends_at=math.inf)).value
    always_new = Recent(lambda _: Reading(state_of(shown)), threads=context.threads, seconds=0.0)
    of_old = feeds.Feeds(always_new, no_hit, context.displayed, longest_wait_s=5.0)
    shown.bet(bet("a"), round_id="before")

    async def hear() -> None:
        heard = 0
        async with aclosing(await of_old.listen(old, (), Presence(), needs_display=False)) as pieces:
            async for piece in pieces:
                heard += piece.count(b"data: ")
                if heard == FRAMES:
                    break

    with betting(shown):
        on_loop(hear())

    require_a_second_between(written_at)


async def no_hit(_jackpot_id: str, _running: int, _ends_at: float) -> None:
    """Read that there was no hit."""


def state_of(world: World) -> JackpotState:
    return read(world.engine, lambda session: jackpot_state(session, "j1", at=world.clock()))


def test_where_nothing_changes_a_comment_says_that_somebody_is_there(shown: World) -> None:
    with listening(shown.app.asgi, FEED) as listener:
        blocks = listener.blocks()
        retry, data, alive = islice(blocks, 3)

    assert (retry, data[:6], alive) == ("retry: 3000", "data: ", ": alive")


def test_listeners_of_the_same_currencies_get_the_same_bytes(shown: World) -> None:
    with listening(shown.app.asgi, FEED) as first, listening(shown.app.asgi, FEED) as other:
        assert next_of(first) == next_of(other)
        shown.bet(bet("a"))
        assert next_of(first) == next_of(other)


# Who may listen.


def test_without_a_key_only_a_displayed_jackpot_is_told_and_no_other_is_known(world: World) -> None:
    world.open(base_amount="1")

    hidden, unknown = (world.call("GET", f"/v1/jackpots/{name}/feed", key=None) for name in ("j1", "nowhere"))

    hidden.problem(401, "unauthenticated")
    unknown.problem(401, "unauthenticated")
    with listening(world.app.asgi, FEED) as listener:
        listener.answer().problem(401, "unauthenticated")


@pytest.mark.parametrize("role", Role)
def test_every_role_may_listen_with_a_key(world: World, role: Role) -> None:
    world.open(base_amount="1")
    key = world.key_of(DISPLAY) if role is Role.DISPLAY else world.key(role)
    assert frame(world, key=key)["jackpot_id"] == "j1"


def test_who_stops_to_be_displayed_is_told_no_more_to_those_without_a_key(shown: World) -> None:
    with (
        listening(shown.app.asgi, FEED) as stranger,
        listening(shown.app.asgi, FEED, key=shown.key_of(DISPLAY)) as display,
    ):
        next_of(stranger), next_of(display)
        shown.change("rules", {"jackpot_id": "j1", "settings": {"displayed": "false"}})
        assert list(stranger.frames()) == []
        shown.bet(bet("a"))
        assert next_of(display)


@pytest.mark.long  # A key is believed for a quarter of a minute.
def test_a_key_that_is_revoked_ends_its_listening(shown: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "ADMITTED_FOR_S", 0.0)
    key = shown.key_of(DISPLAY)
    with listening(shown.app.asgi, FEED, key=key) as listener:
        next_of(listener)
        key_id = key.split("_")[1]
        shown.post(f"/v1/keys/{key_id}/revocation", {"request_id": "x", "reason": "lost"}, key=shown.key(Role.OPERATOR))
        for number in range(40):
            shown.bet(bet(f"b{number}"))
            if not next_of(listener):
                break
        else:
            pytest.fail("A revoked key went on listening.")


# What else may be wrong.


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("?currency=eur", 422, "validation"),
        ("?currency=EUR,EUR", 422, "validation"),
        ("?currency=", 422, "validation"),
        ("?currency=EUR,GBP,SEK,JPY,CHF,NOK,DKK,USD,CAD", 422, "validation"),
        ("?currency=CHF", 422, "no-rate"),
        ("?currency=EUR&currency=GBP", 422, "validation"),
        ("?after=1", 422, "validation"),
        ("?%ff=%00", 422, "validation"),
    ],
)
def test_a_bad_query_is_a_problem_before_anything_is_told(shown: World, query: str, status: int, code: str) -> None:
    shown.get(f"{FEED}{query}", key=shown.key_of(DISPLAY)).problem(status, code)
    with listening(shown.app.asgi, f"{FEED}{query}") as listener:
        listener.answer().problem(status, code)
    context = shown.app.extensions[EXTENSION]
    assert (context.listeners.taken, context.feeds.is_idle) == (0, True)


def test_one_listener_too_many_is_told_to_come_again_and_bets_go_on(shown: World) -> None:
    places = shown.app.extensions[EXTENSION].listeners

    with places.place(PUBLIC, places.at_most), listening(shown.app.asgi, FEED) as listener:
        answer = listener.answer()
        shown.bet(bet("a"))

    assert "when another listener leaves" in answer.problem(503, "busy")["detail"]
    assert answer.headers["Connection"] == "close"


def test_those_who_find_no_place_are_told_to_come_again_at_different_times(shown: World) -> None:
    places = shown.app.extensions[EXTENSION].listeners
    with places.place(PUBLIC, places.at_most):
        after_s = [refused_for_s(shown) for _ in range(20)]

    assert all(15 <= seconds <= 30 for seconds in after_s)
    assert len(set(after_s)) > 3


def refused_for_s(world: World) -> int:
    with listening(world.app.asgi, FEED) as listener:
        return int(listener.answer().headers["Retry-After"])


def test_those_who_leave_give_their_places_back(shown: World) -> None:
    places = shown.app.extensions[EXTENSION].listeners
    with listening(shown.app.asgi, FEED) as listener:
        next_of(listener)
        assert places.taken == 1
    for _ in range(1000):  # The loop ends the call as soon as it comes to it.
        if not places.taken:
            break
        shown.bet(bet("a"))
    assert not places.taken


def test_the_last_hit_is_read_once_a_cycle_however_many_strangers_ask(shown: World) -> None:
    read: list[str] = []
    sqlalchemy.event.listen(shown.engine, "before_cursor_execute", lambda *parameters: read.append(parameters[2]))

    for _ in range(20):
        shown.call("GET", FEED, key=None).ok()

    assert sum("ORDER BY c.cycle DESC" in statement for statement in read) == 1


def test_a_frame_that_is_open_to_all_may_be_kept_for_a_second(shown: World) -> None:
    answer = shown.call("GET", FEED, key=None)
    assert (answer.status, answer.headers["Cache-Control"]) == (HTTPStatus.OK, "public, max-age=1")
    assert shown.get(FEED, key=shown.key_of(DISPLAY)).headers["Cache-Control"] == "no-store"
