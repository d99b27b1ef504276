"""How late an entry may be booked, and what a stripe's time may be: at the very bounds."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.entries import Attribution
from jackpot_service.ledger.mismatches import Code
from jackpot_service.ledger.replay import BookedCycle, BookedEntry, BookedStripe
from jackpot_service.proof.times import TOLERANCE, Times

LONGEST: Final = timedelta(hours=1, seconds=4)
NOW: Final = datetime(2026, 11, 20, 12, tzinfo=UTC)
A_MICROSECOND: Final = timedelta(microseconds=1)

ENTRY: Final = BookedEntry("j1", 0, 5, "result", "srv", 7, 2, NOW, NOW, b"", b"", (), Attribution(), ())
IDLE: Final = BookedStripe(1, 0, b"", Pools(), accepting=True, booked_at=NOW, added_by=1)
HIT: Final = BookedCycle(2, 1, 0, 5, (5, 0))


@pytest.fixture(autouse=True)
def longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jackpot_service.proof.times.LONGEST", LONGEST)


def codes(entry: BookedEntry) -> list[Code]:
    return [mismatch.code for mismatch in Times(NOW, ()).check(entry)]


def test_no_entry_is_booked_later_than_a_request_may_take() -> None:
    late = replace(ENTRY, received_at=NOW - LONGEST)

    assert codes(ENTRY) == codes(late) == []
    assert codes(replace(late, received_at=late.received_at - A_MICROSECOND)) == [Code.BOOKED_AHEAD]


def test_no_entry_is_booked_ahead_of_the_clock() -> None:
    ahead = NOW + TOLERANCE

    assert codes(replace(ENTRY, booked_at=ahead)) == []
    assert codes(replace(ENTRY, booked_at=ahead + A_MICROSECOND)) == [Code.BOOKED_AHEAD]


@pytest.mark.parametrize(
    ("booked_at", "expected"),
    [
        (NOW - A_MICROSECOND, [Code.STRIPE_END]),
        (NOW, []),
        (NOW + TOLERANCE, []),
        (NOW + TOLERANCE + A_MICROSECOND, [Code.BOOKED_AHEAD]),
    ],
)
def test_an_idle_stripe_stands_between_the_last_hit_and_the_clock(booked_at: datetime, expected: list[Code]) -> None:
    times = Times(NOW, (replace(IDLE, booked_at=booked_at),), (HIT,))
    assert list(times.check(ENTRY)) == []

    assert [mismatch.code for mismatch in times.check_stripes("j1")] == expected


def test_a_stripe_stands_where_the_entry_added_it_or_later() -> None:
    times = Times(NOW, (replace(IDLE, booked_at=NOW - A_MICROSECOND, added_by=5),))
    assert list(times.check(ENTRY)) == []

    assert [mismatch.code for mismatch in times.check_stripes("j1")] == [Code.STRIPE_END]
