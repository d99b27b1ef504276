"""Events and feeds from a standby: nothing is skipped, said twice or said too early, however far it is behind."""

from functools import partial
from itertools import islice

import pytest

from jackpot_service.api.request_context import EXTENSION
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Role
from jackpot_service.events.cursor import BEGINNING, Cursor, encode
from jackpot_service.events.entries import Heads, heads, is_reached
from jackpot_service.events.page import events_page
from tests.replica.worlds import (
    Opening,
    outcomes,
    passing_over_once,
    play,
    reads_of,
    replica_of,
    since,
    wait_until,
    wait_until_in_use,
)
from tests.support import notifications
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.listening import Listener, listening
from tests.support.standby import Standby
from tests.support.world import World

FEED = "/v1/jackpots/j1/feed"


def ids(events: list[Body]) -> list[str]:
    return [event["id"] for event in events]


def all_ids(world: World) -> list[str]:
    """The ids of all events, as the primary has them."""
    read_there = reads_of(world).at_primary().read
    reached = read_there(heads).value
    page = read_there(partial(events_page, reader=SYSTEM_OPERATOR, after=BEGINNING, reached=reached, limit=1000)).value
    assert not page.has_more
    return [event.id for event in page.items]


def until_hit(listener: Listener) -> list[Body]:
    """Take frames until one is of the second cycle."""
    frames = []
    for frame in listener.frames():
        frames.append(frame)
        if frame["cycle"] == 2:
            return frames
    raise AssertionError("the feed ended")


def test_events_that_the_replica_lacks_come_later_and_once(world: World, standby: Standby) -> None:
    play(world)
    standby.catch_up()
    with standby.paused():
        play(world, "later")
        first = world.get("/v1/events?limit=1000")
        assert float(first.headers["Replica-Age"]) > 0
        assert ids(first.ok()["items"]) == all_ids(world)[: len(first.body["items"])]
        assert len(first.body["items"]) < len(all_ids(world))

    rest: list[Body] = []
    cursor = first.body["next"]

    def is_whole() -> bool:
        nonlocal cursor
        page = notifications.page(world, after=cursor)
        rest.extend(page["items"])
        cursor = page["next"]
        return len(first.body["items"]) + len(rest) >= len(all_ids(world))

    wait_until(is_whole)
    assert sorted(ids(first.body["items"] + rest)) == sorted(all_ids(world))


def cursor_ahead_of_the_replica(world: World, wait: int) -> str:
    """Play, and return the cursor after all of it: the paused replica has nothing for it, and leaves it as it is."""
    play(world)
    ahead = encode(Cursor(reads_of(world).at_primary().read(heads).value.positions))
    page = world.get(f"/v1/events?after={ahead}&wait={wait}").ok()
    assert (page["items"], page["next"]) == ([], ahead)
    return ahead


def test_a_consumer_who_is_further_than_the_replica_waits_and_one_of_other_books_is_refused(
    world: World, standby: Standby
) -> None:
    standby.catch_up()
    with standby.paused():
        ahead = cursor_ahead_of_the_replica(world, wait=0)
        beyond = encode(Cursor({"j1": (10**6,)}))
        world.get(f"/v1/events?after={beyond}").problem(422, "cursor-ahead")

    wait_until_in_use(world)
    standby.catch_up()
    assert notifications.page(world, after=ahead)["items"] == []


def test_a_consumer_who_waits_ahead_of_the_replica_is_not_sent_what_it_has_again(
    world: World, standby: Standby
) -> None:
    standby.catch_up()
    with standby.paused():
        ahead = cursor_ahead_of_the_replica(world, wait=1)
        with listening(world.app.asgi, f"/v1/events?after={ahead}", key=world.key(Role.AUDITOR)) as listener:
            standby.resume()
            standby.catch_up()
            play(world, "later")
            (first,) = islice(listener.frames(), 1)
    assert first["id"] == ids(notifications.page(world, after=ahead)["items"])[0]


def test_a_page_up_to_where_the_primary_went_is_not_read_at_a_replica_that_has_not_come_so_far(
    world: World, standby: Standby
) -> None:
    """Else it would lack those events, and its cursor would stand after them."""
    reads = reads_of(world)
    standby.catch_up()
    with standby.paused():
        play(world)
        reached = reads.at_primary().read(heads).value
        before = outcomes()
        page = partial(events_page, reader=SYSTEM_OPERATOR, after=BEGINNING, reached=reached, limit=1000)
        reading = reads.read(page, holds=partial(is_reached, reached=reached))

    assert since(before) == {"not-reached": 1}
    assert [event.id for event in reading.value.items] == all_ids(world)


def test_looks_do_not_go_back_where_a_replica_is_looked_at_after_the_primary() -> None:
    at_primary = Heads({"j1": (5, 2), "-": (3,)})
    at_replica = Heads({"j1": (4, 2, 1), "j2": (1,)}, is_replica=True, fresh_at=7.0)

    assert at_replica.further(at_primary) == Heads(
        {"j1": (5, 2, 1), "-": (3,), "j2": (1,)}, is_replica=True, fresh_at=7.0
    )


def test_who_follows_events_hears_each_once_through_a_pause_and_the_death_of_the_replica(
    world: World, standby: Standby
) -> None:
    standby.catch_up()
    with listening(world.app.asgi, "/v1/events?after=now", key=world.key(Role.AUDITOR)) as listener:
        assert "Replica-Age" in listener.headers
        known = set(all_ids(world))
        with standby.paused():
            play(world, "paused")
        play(world, "resumed")
        standby.kill()
        try:
            play(world, "killed")
            expected = [name for name in all_ids(world) if name not in known]
            heard = list(islice(listener.frames(), len(expected)))
        finally:
            standby.start()
        wait_until_in_use(world)
        known |= set(expected)
        play(world, "again")
        more = [name for name in all_ids(world) if name not in known]
        heard += islice(listener.frames(), len(more))

    assert sorted(ids(heard)) == sorted(expected + more)


def test_a_feed_from_the_replica_shows_a_hit_when_its_meter_does(world: World, standby: Standby) -> None:
    """A display that saw the hit with the meter before it would not celebrate."""
    standby.catch_up()
    with listening(world.app.asgi, FEED, key=world.key(Role.AUDITOR)) as listener:
        assert "Replica-Age" in listener.headers
        with standby.paused():
            play(world)
            late = world.get(FEED)
            assert "Replica-Age" in late.headers
            assert (late.ok()["cycle"], late.body["last_hit"]) == (1, None)
        frames = until_hit(listener)

    assert [(frame["cycle"], frame["last_hit"] and frame["last_hit"]["cycle"]) for frame in frames[:-1]] == [
        (1, None)
    ] * (len(frames) - 1)
    assert frames[-1]["last_hit"]["cycle"] == 1


def test_a_feed_does_not_go_back_to_a_replica_that_lacks_what_was_shown(
    world: World, standby: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One reading is passed over to the primary; the next is not, and would show the cycle before."""
    displays = world.app.extensions[EXTENSION].displays
    standby.catch_up()
    with standby.paused():
        play(world)
        assert displays.read("j1").value.meter.cycle == 1
        monkeypatch.setattr(replica_of(world), "require", passing_over_once(replica_of(world)))
        assert [displays.read("j1").value.meter.cycle for _ in range(3)] == [2, 2, 2]

    standby.catch_up()
    wait_until(lambda: displays.read("j1").fresh_at is not None)
    assert displays.read("j1").value.meter.cycle == 2


def test_who_is_shown_no_more_hears_nothing_more_however_far_the_replica_is_behind(
    opening: Opening, standby: Standby
) -> None:
    world = opening()
    world.open(base_amount="1000", settings={"displayed": "true"})
    standby.catch_up()
    wait_until(lambda: world.call("GET", FEED, key=None).status == 200)
    with listening(world.app.asgi, FEED) as stranger, standby.paused():
        assert next(stranger.frames())["cycle"] == 1
        world.change("rules", {"jackpot_id": "j1", "settings": {"displayed": "false"}})
        assert list(stranger.frames()) == []
        assert "Replica-Age" in world.get(FEED).headers
    wait_until_in_use(world)


def test_a_meter_of_now_is_the_primarys(world: World, standby: Standby) -> None:
    with standby.paused():
        before = world.meter()["amount"]
        world.bet(bet())

        assert world.meter()["amount"] != before
        assert "Replica-Age" not in world.get("/v1/jackpots/j1/meter?max_age=1").headers
