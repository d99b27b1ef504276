"""Readings that are cached: one for all who want it at once, none that failed, and no more than fit."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from jackpot_service.database.failures import Busy
from jackpot_service.pages import cached
from jackpot_service.pages.cached import MOST_CACHED, Cache, Values


def test_those_who_want_the_same_at_once_wait_for_one_reading() -> None:
    cache, may_end, readings = Cache(), threading.Event(), list[str]()

    def read() -> Values:
        readings.append("one")
        assert may_end.wait(30)
        return {"is": "read"}

    with ThreadPoolExecutor(8) as threads:
        answers = [threads.submit(cache.values, "panel", read) for _ in range(8)]
        may_end.set()
        assert [answer.result(30) for answer in answers] == [{"is": "read"}] * 8
    assert readings == ["one"]


def test_nobody_waits_for_long_for_the_reading_of_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached, "LONGEST_WAIT_S", 0.01)
    cache, is_reading, may_end = Cache(), threading.Event(), threading.Event()

    def read() -> Values:
        is_reading.set()
        assert may_end.wait(30)
        return {}

    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(cache.values, "panel", read)
        assert is_reading.wait(30)
        with pytest.raises(Busy):
            cache.values("panel", read)
        may_end.set()
        assert first.result(30) == {}


def test_another_question_is_another_reading() -> None:
    cache = Cache()
    assert [cache.values(key, lambda key=key: {"of": key}) for key in ("a", "b", "a")] == [  # type: ignore[misc]
        {"of": "a"},
        {"of": "b"},
        {"of": "a"},
    ]


def test_a_reading_that_failed_is_tried_again() -> None:
    cache, outcomes = Cache(), iter([LookupError(), {"is": "read"}])
    with pytest.raises(LookupError):
        cache.values("panel", lambda: outcome(outcomes))
    assert cache.values("panel", lambda: outcome(outcomes)) == {"is": "read"}


def outcome(outcomes: Iterator[object]) -> Values:
    following = next(outcomes)
    if isinstance(following, LookupError):
        raise following
    assert isinstance(following, dict)
    return following


def test_the_first_readings_make_room_for_later_ones() -> None:
    cache, readings = Cache(), list[int]()

    def read(number: int) -> Values:
        readings.append(number)
        return {}

    for number in (*range(MOST_CACHED + 1), MOST_CACHED, 0):
        cache.values(number, lambda number=number: read(number))  # type: ignore[misc]
    assert readings == [*range(MOST_CACHED + 1), 0]
