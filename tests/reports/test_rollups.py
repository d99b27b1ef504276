"""Sums over days, as reports ask for them, against the rows of bets and entries themselves."""

from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import text

from jackpot_service.db import Session
from jackpot_service.domain.casinos import gaming_day
from jackpot_service.reports import rollups
from jackpot_service.reports.rollups import By, Days
from tests.reports import days

write = days.write

EVER = Days()
FIRST, END = date(2026, 11, 21), date(2026, 11, 23)

_BETS = text(
    """
    SELECT e.booked_at, r.casino_id, r.table_id, b.currency, b.stake_minor, c.zone, c.day_starts
    FROM bets b JOIN rounds r USING (jackpot_id, round_key) JOIN casinos c USING (casino_id)
    JOIN entries e USING (jackpot_id, round_key, step)
    """
)


def bets(session: Session) -> list[Any]:
    return list(session.execute(_BETS))


def test_all_bets_are_one_row_where_nothing_tells_them_apart(superuser: Session) -> None:
    (row,) = rollups.of_bets(superuser, EVER, by=())
    assert (row.key, row.bets) == ((), len(bets(superuser)))
    assert row.stakes_minor == sum(bet.stake_minor for bet in bets(superuser))
    assert row.value == row.meter + row.reserve + row.prize_fund + row.house


def test_nothing_is_no_row(superuser: Session) -> None:
    assert rollups.of_bets(superuser, Days(first=date(2030, 1, 1)), by=()) == ()
    assert rollups.of_postings(superuser, EVER, by=(By.JACKPOT,), only={By.JACKPOT: "nowhere"}) == ()


def test_bets_of_some_days_of_utc_by_table_and_currency(superuser: Session) -> None:
    found = rollups.of_bets(superuser, Days(first=FIRST, end=END), by=(By.TABLE, By.CURRENCY))
    due: dict[tuple[str, str], tuple[int, int]] = {}
    for bet in bets(superuser):
        if FIRST <= bet.booked_at.date() < END:
            count, stakes = due.get((bet.table_id, bet.currency), (0, 0))
            due[bet.table_id, bet.currency] = (count + 1, stakes + bet.stake_minor)
    assert [(row.key, (row.bets, row.stakes_minor)) for row in found] == sorted(due.items())


@pytest.mark.parametrize("casino_id", ["c1", "riga", "reno"])
def test_bets_of_some_gaming_days_of_a_casino(superuser: Session, casino_id: str) -> None:
    asked = Days(first=FIRST, end=END, are_gaming_days=True)
    found = rollups.of_bets(superuser, asked, by=(By.GAMING_DAY,), only={By.CASINO: casino_id})
    due: dict[tuple[date], int] = {}
    for bet in bets(superuser):
        day = gaming_day(bet.booked_at, ZoneInfo(bet.zone), bet.day_starts)
        if bet.casino_id == casino_id and FIRST <= day < END:
            due[day,] = due.get((day,), 0) + 1
    assert [(row.key, row.bets) for row in found] == sorted(due.items())
    assert due


def test_postings_by_account_are_those_of_all_entries_but_bets(superuser: Session) -> None:
    question = """
    SELECT account, currency, movement, count(*), sum(amount) FROM postings
    WHERE jackpot_id = 'j1' AND kind <> 'bets' AND booked_at < :end GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    """
    due = superuser.execute(text(question), {"end": f"{END}T00:00:00Z"}).all()
    by = (By.ACCOUNT, By.CURRENCY, By.MOVEMENT)
    found = rollups.of_postings(superuser, Days(end=END), by=by, only={By.JACKPOT: "j1"})
    assert [(*row.key, row.lines, row.amount) for row in found] == sorted(tuple(row) for row in due)


def test_a_casinos_account_is_told_by_its_own_days_whoever_moved_it(superuser: Session) -> None:
    """Also what two people did for it: releases, compensations, corrections, payments."""
    account = {By.ACCOUNT: "casino:reno"}
    found = rollups.of_postings(superuser, EVER, by=(By.GAMING_DAY, By.CASINO), only=account)
    question = "SELECT booked_at FROM postings WHERE account = 'casino:reno' AND kind <> 'bets'"
    due: dict[tuple[date, str], int] = {}
    for (booked_at,) in superuser.execute(text(question)):
        day = _day_in_reno(booked_at)
        due[day, "reno"] = due.get((day, "reno"), 0) + 1
    assert [(row.key, row.lines) for row in found] == sorted(due.items())


def _day_in_reno(moment: datetime) -> date:
    return (moment.astimezone(ZoneInfo("America/Los_Angeles")).replace(tzinfo=None) - timedelta(hours=12)).date()
