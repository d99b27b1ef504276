"""Days that are over are kept summed over their stripes, and every report says the same as before."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any, Final

import pytest

from jackpot_service.database.reads import Reads
from jackpot_service.database.transactions import transact
from jackpot_service.ledger import days
from jackpot_service.reports.finance.registry import REPORTS
from jackpot_service.reports.making import made
from jackpot_service.reports.questions import Parameters
from jackpot_service.reports.reconciling import reconcile_next
from tests.support.bets import bet
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, dead, hand
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.slow

BEGINS: Final = datetime(2026, 11, 20, tzinfo=UTC)
DAYS: Final = 3

KEYS: Final = (
    "day, kind, table_id, currency, account, tier, detail, cycle, gaming_day, rules_version, casino_id, made_on"
)
SUMMED: Final = f"""
    SELECT {KEYS}, sum(number) AS number, sum(minor) AS minor, sum(value) AS value FROM days
    WHERE jackpot_id = 'j1' AND day < '2026-11-23' GROUP BY {KEYS} ORDER BY {KEYS}
"""  # noqa: S608  constants
PAST: Final = f"SELECT {KEYS}, number, minor, value FROM past_days WHERE jackpot_id = 'j1' ORDER BY {KEYS}"  # noqa: S608  as above


@pytest.fixture
def played(world: World) -> World:
    """Three days of bets, voids, awards and a hit, on four stripes, and a fourth that is not over."""
    world.open(base_amount="1000", settings={"payout_tiers": held_from("250")}, stripes=4)
    for day in range(DAYS + 1):
        for number in range(12):
            world.bet(bet("a"), bet("b", hand="2", currency="GBP"), round_id=f"r{day}-{number}")
        world.void("b", round_id=f"r{day}-0")
        for number in range(1, 8):
            cards = ROYAL_FLUSH if number == 3 and day == 1 else FLUSH if number % 2 else NOTHING
            world.settle(hand("1", cards), dead("2"), round_id=f"r{day}-{number}")
        if day < DAYS:
            world.clock.advance(timedelta(days=1))
    return world


def reconcile(world: World) -> list[date]:
    return [day.day for day in iter(lambda: reconcile_next(world.engine, now=world.clock()), None)]


def questions(now: datetime) -> Iterator[tuple[str, Parameters]]:
    for name in REPORTS:
        for end in (BEGINS + timedelta(days=2), now):
            casino_id = "c1" if name == "casino-statement" else None
            yield name, Parameters(start=BEGINS, end=end, casino_id=casino_id)


def answers(world: World, now: datetime) -> dict[str, Any]:
    by_report = {}
    for name, parameters in questions(now):
        if name == "reconciliation":
            continue  # It reads what this test brings about.
        with made(Reads(world.engine), REPORTS[name], parameters, now=now) as document:
            by_report[f"{name} to {parameters.end}"] = [[*section.rows] for section in document.sections]
    return by_report


@pytest.mark.long
def test_reports_say_the_same_before_and_after_days_are_summed_over_their_stripes(played: World) -> None:
    now = played.clock()
    before = answers(played, now)

    assert len(set(reconcile(played))) == DAYS

    assert played.books.value("SELECT count(DISTINCT day) FROM past_days WHERE jackpot_id = 'j1'") == DAYS
    assert answers(played, now) == before
    assert played.books.mismatches() == ()


def test_a_past_day_has_all_that_its_stripes_have_in_fewer_rows(played: World) -> None:
    """Also what had not been added to their days when the day was read."""
    reconcile(played)

    summed = played.books.rows(SUMMED)

    assert played.books.rows(PAST) == summed
    assert len(summed) < played.books.value("SELECT count(*) FROM days WHERE jackpot_id = 'j1' AND day < '2026-11-23'")


def test_a_past_day_is_written_once_and_none_before_the_last(played: World) -> None:
    reconcile(played)
    before = played.books.rows(PAST)

    for day in (date(2026, 11, 20), date(2026, 11, 22)):
        transact(played.engine, partial(days.keep_past, book="j1", day=day))

    assert played.books.rows(PAST) == before


def test_a_day_whose_last_entries_were_read_in_it_is_written_when_it_is_over(played: World) -> None:
    """Also in a quiet book; then nothing can be booked in it any more."""
    reconcile(played)
    fourth = date(2026, 11, 23)
    for hours, read in ((20, [fourth]), (24, []), (25, [fourth]), (72, [])):
        played.clock.at = datetime(2026, 11, 23, tzinfo=UTC) + timedelta(hours=hours)
        assert reconcile(played) == read
        is_written = played.books.value("SELECT max(day) FROM past_days") == fourth
        assert is_written == (hours > 24)
    passed = played.books.value("SELECT min(booked_at) FROM stripes WHERE jackpot_id = 'j1'")
    assert passed == BEGINS + timedelta(days=4)
    assert played.books.mismatches() == ()


def test_a_day_that_is_not_over_is_read_from_its_stripes(played: World) -> None:
    reconcile(played)
    played.bet(bet("late"), round_id="late")

    assert played.books.value("SELECT max(day) FROM past_days") == date(2026, 11, 22)
    assert played.books.mismatches() == ()
