"""Token buckets: so many at once, so many a second, each name by itself, in bounded memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from jackpot_service.api.entrance import RateLimit, TooManyRequests
from jackpot_service.telemetry.logs import SECONDS_APART


class Seconds:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Seconds:
    return Seconds()


def limit(clock: Seconds, *, rate: float = 2, burst: int = 6, most_buckets: int = 100) -> RateLimit:
    return RateLimit("key", rate=rate, burst=burst, monotonic=clock, most_buckets=most_buckets)


def taken(of: RateLimit, name: str = "a") -> int:
    count = 0
    while of.has_taken(name):
        count += 1
    return count


def test_so_many_may_come_at_once_and_then_as_many_as_are_refilled(clock: Seconds) -> None:
    of = limit(clock)
    assert taken(of) == 6
    clock.now += 1.5
    assert taken(of) == 3
    clock.now += 3600
    assert taken(of) == 6


def test_each_name_has_a_bucket_of_its_own(clock: Seconds) -> None:
    of = limit(clock)
    assert taken(of, "a") == 6
    assert taken(of, "b") == 6


def test_a_token_that_is_given_back_may_be_taken_again_and_none_of_a_name_that_is_forgotten(clock: Seconds) -> None:
    of = limit(clock)
    assert taken(of) == 6
    of.give_back("a")
    assert taken(of) == 1
    of.give_back("nobody")
    assert taken(of, "nobody") == 6


@pytest.mark.parametrize(("rate", "seconds"), [(2, 1), (1, 1), (0.1, 10), (0.4, 3)])
def test_it_is_told_in_whole_seconds_when_there_is_a_token_again(clock: Seconds, rate: float, seconds: int) -> None:
    of = limit(clock, rate=rate, burst=1)
    of.take("a")
    with pytest.raises(TooManyRequests) as refused:
        of.take("a")
    assert refused.value.retry_after_s == seconds
    clock.now += seconds
    of.take("a")


@given(st.lists(st.floats(0, 5), min_size=1, max_size=200), st.floats(0.1, 50), st.integers(1, 20))
def test_no_more_are_taken_than_the_burst_and_what_was_refilled(waits: list[float], rate: float, burst: int) -> None:
    clock = Seconds()
    of, began, count = limit(clock, rate=rate, burst=burst), clock.now, 0
    for wait in waits:
        clock.now += wait
        count += of.has_taken("a")
        assert count <= burst + (clock.now - began) * rate + 1e-6


def test_who_was_not_seen_for_the_longest_time_is_forgotten_first(clock: Seconds) -> None:
    of = limit(clock, most_buckets=10)
    taken(of, "known")
    for number in range(9):
        of.take(f"passing {number}")
    assert not of.has_taken("known")
    of.take("one more")
    assert of.has_taken("known")
    for number in range(1000):
        taken(of, f"spray {number}")
        with pytest.raises(TooManyRequests):
            of.take(f"spray {number}")
    assert max(len(of._full_at), len(of._log._lines)) <= 10


def test_a_limit_that_is_reached_is_logged_once_a_minute_and_name(clock: Seconds) -> None:
    of = limit(clock, rate=0.001, burst=1)
    with capture_logs() as logged:
        for name in ("a", "b"):
            of.take(name)
            for _ in range(3):
                with pytest.raises(TooManyRequests):
                    of.take(name)
        clock.now += SECONDS_APART
        with pytest.raises(TooManyRequests):
            of.take("a")
    assert [(line["event"], line["name"], line.get("not_logged", 0)) for line in logged] == [
        ("limit-reached", "a", 0),
        ("limit-reached", "b", 0),
        ("limit-reached", "a", 2),
    ]
