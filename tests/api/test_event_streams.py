"""Events as they happen, as server-sent events: once each, from where a listener left off; and waiting in crowds."""

from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Final

import pytest

from jackpot_service.api import events
from jackpot_service.api.contract import examples
from jackpot_service.domain.principals import Role
from jackpot_service.events.cursor import decode
from tests.support import notifications
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.listening import Listener, listening
from tests.support.world import World

pytestmark = pytest.mark.slow

EVENTS: Final = "/v1/events"
TABLES: Final = 40


def heard(listener: Listener, count: int) -> list[Body]:
    return list(islice(listener.frames(), count))


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000")
    return world


@pytest.mark.long
def test_a_listener_is_told_what_a_reader_of_pages_is_told(world: World) -> None:
    notifications.bring_about_everything(world)
    notified = notifications.follow(world)

    with listening(world.app.asgi, f"{EVENTS}?limit=7", key=world.key(Role.AUDITOR)) as listener:
        assert heard(listener, len(notified)) == notified
        assert listener.headers["Cache-Control"] == "no-store"
        assert listener.headers["X-Content-Type-Options"] == "nosniff"


def test_a_stream_begins_as_the_contract_shows_it(opened: World) -> None:
    path, key = f"{EVENTS}?limit=2", opened.key(Role.AUDITOR)
    page = opened.get(path, key=key).ok()
    with listening(opened.app.asgi, path, key=key) as listener:
        assert "\n\n".join([*islice(listener.blocks(), 3), ""]) == examples.stream_of(page)


def test_a_listener_is_told_of_what_happens_later(opened: World) -> None:
    with listening(opened.app.asgi, f"{EVENTS}?after=now", key=opened.key(Role.AUDITOR)) as listener:
        opened.bet(bet())
        opened.settle(hand("1", FLUSH))
        opened.cancel(round_id="r2")
        notified = heard(listener, 3)

    assert notifications.types(notified) == ["round.settled", "award.made", "round.cancelled"]


@pytest.mark.long
def test_one_who_comes_again_is_told_all_that_was_not_told_and_little_twice(world: World) -> None:
    notifications.bring_about_everything(world)
    notified = notifications.follow(world)
    auditor = world.key(Role.AUDITOR)

    seen: list[Body] = []
    last = ""
    while {event["id"] for event in seen} != {event["id"] for event in notified}:
        resumed = {"Last-Event-ID": last} if last else {}
        with listening(world.app.asgi, f"{EVENTS}?limit=3", key=auditor, **resumed) as listener:
            seen += heard(listener, 5)
            last = listener.last_event_id
        decode(last)
    assert [event for number, event in enumerate(seen) if event not in seen[:number]] == notified


def test_one_to_whom_nothing_is_told_learns_up_to_where_there_was_nothing(
    opened: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "ALIVE_EVERY_S", 0.1)
    opened.bet(bet())
    with listening(opened.app.asgi, f"{EVENTS}?after=now", key=opened.key(Role.AUDITOR)) as listener:
        for number in range(3):
            opened.bet(bet("a"), round_id=f"r{number}")
        end = notifications.now(opened)
        for block in listener.blocks():
            assert "data:" not in block
            if block == f"id: {end}":
                break


@pytest.mark.parametrize("shown", ["nonsense", "AAAA", "%00", "x" * 5000])
def test_a_last_event_id_that_was_tampered_with_is_a_problem(opened: World, shown: str) -> None:
    with listening(opened.app.asgi, EVENTS, key=opened.key(Role.AUDITOR), **{"Last-Event-ID": shown}) as listener:
        problem = listener.answer().problem(422, "validation", "?Last-Event-ID")

    assert problem["detail"] == "Last-Event-ID must be the `id` of an event of this stream, unchanged; or left out."


def test_nobody_listens_without_a_key_or_with_that_of_a_display(opened: World) -> None:
    with listening(opened.app.asgi, EVENTS) as listener:
        listener.answer().problem(401, "unauthenticated")
    with listening(opened.app.asgi, EVENTS, key=opened.key(Role.DISPLAY)) as listener:
        listener.answer().problem(403, "role-forbidden")


def test_a_casinos_listener_is_told_of_its_own_alone(opened: World) -> None:
    opened.add_casino("c2")
    opened.add_table("T2", jackpot_id="j1", casino_id="c2")
    key = opened.key(Role.TABLE, casino_id="c2")
    with listening(opened.app.asgi, f"{EVENTS}?after=now", key=key) as listener:
        opened.cancel(round_id="of-c1")
        opened.cancel(round_id="of-c2", table_id="T2")
        (event,) = heard(listener, 1)

    assert event["subject"] == "round T2/of-c2"


def test_a_page_takes_one_token_of_the_keys_rate(world: World, request: pytest.FixtureRequest) -> None:
    """Two come at once at one a second; the third is one too many, by a clock that stands while they come."""
    slow = World(world.database_url, key_rate=1.0)
    slow.app = slow.start(monotonic=lambda: 1000.0)
    request.addfinalizer(slow.close)
    key = world.person("Ada", Role.AUDITOR)

    statuses = [slow.get(EVENTS, key=key).status for _ in range(3)]

    assert statuses == [200, 200, 429]


def test_forty_tables_wait_at_a_time_and_each_is_told(opened: World) -> None:
    start, key = notifications.now(opened), opened.key(Role.TABLE)

    with ThreadPoolExecutor(TABLES) as pool:
        waiting = [pool.submit(notifications.page, opened, after=start, wait=20, key=key) for _ in range(TABLES)]
        opened.bet(bet())
        opened.cancel(round_id="told")
        pages = [waiter.result() for waiter in waiting]

    assert {tuple(notifications.types(page["items"])) for page in pages} == {("round.cancelled",)}


def test_batches_of_bets_alone_are_passed_over_by_those_who_wait(opened: World) -> None:
    start = notifications.now(opened)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(notifications.page, opened, after=start, wait=1)
        opened.bet(bet())
        page = waiting.result()

    assert (page["items"], page["next"]) == ([], notifications.now(opened))
