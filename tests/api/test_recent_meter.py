"""A meter that may be a second old: read once, and the tag is always that of what is shown."""

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from jackpot_service.api.recent import Recent
from jackpot_service.database.async_executor import NeedsThread
from jackpot_service.domain.errors import NotFound
from tests.support.answers import Answer
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.loop import on_loop
from tests.support.world import World
from tests.usecases.test_suspension import put

THREADS = ThreadPoolExecutor(4)


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_what_was_read_is_given_again_for_less_than_a_second() -> None:
    clock, readings = Clock(), count(1)
    recent = Recent(lambda _: next(readings), threads=THREADS, monotonic=clock)

    seen = []
    for clock.seconds in (0.0, 0.999, 1.0, 1.5, 2.1):
        seen.append(recent.get("live"))

    assert seen == [1, 1, 2, 2, 3]
    assert recent.get("other") == 4


def test_the_age_counts_from_before_the_reading() -> None:
    clock = Clock()

    def read(_: str) -> float:
        began = clock.seconds
        clock.seconds += 0.9
        return began

    recent = Recent(read, threads=THREADS, monotonic=clock)
    assert recent.get("live") == 0.0
    clock.seconds = 1.0
    assert recent.get("live") == 1.0


def test_who_asks_for_what_is_there_now_gets_it_and_renews_it_for_the_others() -> None:
    values = iter("abc")
    recent = Recent(lambda _: next(values), threads=THREADS, monotonic=Clock())
    assert [recent.get("live"), recent.read("live"), recent.get("live")] == ["a", "b", "b"]


def look(world: World, query: str = "", etag: str | None = None) -> Answer:
    headers = {} if etag is None else {"If-None-Match": etag}
    return world.get(f"/v1/jackpots/j1/meter{query}", headers=headers)


def test_only_who_allows_it_sees_a_meter_of_a_moment_ago(world: World) -> None:
    world.open(base_amount="1000")
    world.app = world.start(monotonic=Clock())  # However long the bet takes, a second is not over.
    before = look(world)
    world.bet(bet())

    # Nobody has looked since, so what was read before the bet is still a second's truth.
    assert look(world, "?max_age=1").body == before.body
    assert look(world, "?max_age=0").body["amount"] == "1000.45"
    assert look(world, "?max_age=1").body["amount"] == "1000.45"


def test_a_tag_after_a_hit_is_that_of_what_is_shown(world: World) -> None:
    world.open(base_amount="1000")
    world.app = world.start(monotonic=Clock())
    world.bet(bet())
    old = look(world)
    world.settle(hand("1", ROYAL_FLUSH))

    cached = look(world, "?max_age=1")
    assert (cached.headers["ETag"], cached.body["cycle"]) == (old.headers["ETag"], 1)
    assert look(world, "?max_age=1", old.headers["ETag"]).status == 304

    fresh = look(world, etag=old.headers["ETag"])
    assert (fresh.status, fresh.body["cycle"]) == (200, 2)
    assert fresh.headers["ETag"] != old.headers["ETag"]
    assert look(world, "?max_age=1").headers["ETag"] == fresh.headers["ETag"]


def test_a_jackpot_that_is_not_there_is_not_remembered(world: World) -> None:
    world.get("/v1/jackpots/j1/meter?max_age=1").problem(404, "jackpot-unknown")
    world.open(base_amount="1000")
    assert look(world, "?max_age=1").ok()["amount"] == "1000.00"


def test_who_asks_while_others_are_read_for_shares_the_next_reading_and_never_an_earlier_one() -> None:
    began, go, numbers = threading.Event(), threading.Event(), count(1)

    def read(_: str) -> int:
        number = next(numbers)
        if number == 1:
            began.set()
            assert go.wait(30)
        return number

    recent = Recent(read, threads=THREADS, longest_wait_s=30)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(recent.read, "live")
        assert began.wait(30)
        later = [pool.submit(recent.read, "live") for _ in range(3)]
        while len(recent._readings._waiting) < len(later):
            pass
        go.set()
        assert first.result(30) == 1
        assert [future.result(30) for future in later] == [2, 2, 2]


def test_a_name_that_is_refused_refuses_no_other_that_is_read_with_it() -> None:
    def read(name: str) -> str:
        if name == "unknown":
            raise NotFound(name)
        return name

    recent = Recent(read, threads=THREADS)
    answers = recent._read_all(["live", "unknown", "live"])
    assert (answers[0], answers[2]) == ("live", "live")
    assert isinstance(answers[1], NotFound)


def test_a_loop_reads_without_a_thread_and_leaves_to_one_what_it_cannot() -> None:
    by_thread: list[str] = []

    def read(name: str) -> str:
        by_thread.append(name)
        if name == "none":
            message = "There is none."
            raise NotFound(message)
        return f"{name}, by a thread"

    async def read_on_loop(name: str) -> str:
        if name == "live":
            return "live"
        raise NeedsThread

    clock = Clock()
    recent = Recent(read, threads=THREADS, monotonic=clock, read_on_loop=read_on_loop)

    assert on_loop(recent.read_async("live")) == "live"
    assert on_loop(recent.read_async("other")) == "other, by a thread"
    with pytest.raises(NotFound):
        on_loop(recent.read_async("none"))
    assert by_thread == ["other", "none"]
    assert [recent.get(name) for name in ("live", "other")] == ["live", "other, by a thread"]
    assert len(by_thread) == 2


def test_a_meter_on_the_loop_is_the_one_that_a_thread_reads_whatever_the_jackpot_does(world: World) -> None:
    """The fast path's second reading has a connection of its own; the view of a currency is Flask's, in a thread."""
    world.open(base_amount="1000")

    def require_the_same() -> None:
        shown = [world.get("/v1/jackpots/j1/meter").ok() for _ in range(3)]
        assert shown == [world.get("/v1/jackpots/j1/meter?currency=EUR").ok()] * 3

    require_the_same()
    world.bet(bet())
    require_the_same()
    world.settle(hand("1", ROYAL_FLUSH))
    require_the_same()
    put(world, "suspension", "s1").ok(201)
    require_the_same()
