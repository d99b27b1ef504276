"""The proof finds whatever is changed in the daily rollups, row by row and column by column."""

from dataclasses import replace
from typing import Any, Final

import pytest
import sqlalchemy
from sqlalchemy import text

from jackpot_service.database.transactions import Base, Session
from jackpot_service.ledger.mismatches import Code
from jackpot_service.ledger.verified import Reached
from jackpot_service.proof.proof import verify
from tests.proof.corruption import (
    Corruption,
    change,
    codes_after,
    forge,
    mismatches_after,
    mismatches_after_changing,
    remove,
)
from tests.support import days, rolling

pytestmark = pytest.mark.slow

write = days.write

IN_RIGA: Final = "casino_id = 'riga' AND day <> gaming_day AND currency = 'EUR'"


def one(table: str, condition: str) -> str:
    """The condition that a row is the first of those that fit."""
    return f"ctid = (SELECT min(ctid) FROM {table} WHERE {condition})"  # noqa: S608  constants of the tests


BETS: Final = one("daily_bets", IN_RIGA)
RECENT: Final = one("recent_bets", "cardinality(sums) > 1")
HIDES: Final = "rolled_up_to = seq"
OF_RECENT: Final = one("stripes", "(jackpot_id, stripe_no) IN (SELECT jackpot_id, stripe_no FROM recent_bets)")
POSTINGS: Final = one("daily_postings", f"{IN_RIGA} AND account = 'casino:riga'")
THE_HIT: Final = one("daily_postings", "movement = 'refill' AND cycle = 1")
THE_OPENING: Final = one("daily_postings", "movement = 'seed' AND account = 'pool:meter:house'")
OF_A_CORRECTION: Final = one("daily_payments", "made_on < day")
A_RELEASE: Final = one("daily_postings", "movement = 'release' AND account = 'casino:reno'")

OF_NO_BETS: Final = """(SELECT min(e.seq) FROM entries e WHERE e.jackpot_id = recent_bets.jackpot_id
                         AND e.stripe_no = recent_bets.stripe_no AND e.kind <> 'bets')"""

CORRUPTIONS: Final = (
    change("daily_bets", "bets = bets + 1", BETS, "rollup-figures"),
    change("daily_bets", "stakes_minor = stakes_minor + 1", BETS, "rollup-figures"),
    change("daily_bets", "value = value + 1e-18", BETS, "rollup-figures"),
    change("daily_bets", "rules_version = rules_version + 1", BETS, "rollup-figures"),
    change("daily_bets", "gaming_day = gaming_day - 7", BETS, "rollup-figures"),
    change("daily_bets", "stripe_no = stripe_no + 5", BETS, "rollup-figures"),
    change("daily_bets", "cycle = 3 - cycle", BETS, "rollup-figures"),
    change("daily_bets", "jackpot_id = 'j3'", BETS, "rollup-figures book-unknown"),
    change("daily_bets", "jackpot_id = '-'", BETS, "rollup-figures book-unknown"),
    remove("daily_bets", BETS, "rollup-figures"),
    forge(
        "daily_bets",
        "jackpot_id, stripe_no, day, cycle, gaming_day, casino_id, 'T9', currency, rules_version, 1, 1, 0",
        "daily_bets",
        "rollup-figures",
    ),
    change("recent_bets", "sums[1].bets = sums[1].bets + 1", RECENT, "rollup-figures"),
    change("recent_bets", "sums[2].stakes_minor = sums[2].stakes_minor + 1", RECENT, "rollup-figures"),
    change("recent_bets", "sums[2].value = sums[2].value + 1e-18", RECENT, "rollup-figures"),
    change("recent_bets", "sums[1].rules_version = 7", RECENT, "rollup-figures"),
    change("recent_bets", "sums[1].casino_id = 'c9'", RECENT, "rollup-figures"),
    change("recent_bets", "sums[1].table_id = 'T9'", RECENT, "rollup-figures"),
    change("recent_bets", "sums[1].currency = NULL", RECENT, "rollup-figures"),
    change("recent_bets", "sums[2] = NULL", RECENT, "rollup-figures"),
    change("recent_bets", "sums = sums[2:]", RECENT, "rollup-figures"),
    change("recent_bets", "seq = 1000000", RECENT, "rollup-figures"),
    change("recent_bets", "jackpot_id = 'j3'", RECENT, "rollup-figures book-unknown"),
    change("recent_bets", "jackpot_id = '-'", RECENT, "rollup-figures book-unknown"),
    remove("recent_bets", RECENT, "rollup-figures"),
    change("stripes", HIDES, OF_RECENT, "rollup-figures"),
    forge("recent_bets", "jackpot_id, stripe_no, seq + 1000000, sums", "recent_bets", "rollup-figures"),
    forge("recent_bets", f"jackpot_id, stripe_no, {OF_NO_BETS}, sums", "recent_bets", "rollup-figures"),
    change("daily_postings", "amount = amount + 1e-18", POSTINGS, "rollup-figures"),
    change("daily_postings", "lines = lines + 1", POSTINGS, "rollup-figures"),
    change("daily_postings", "gaming_day = gaming_day - 7", POSTINGS, "rollup-figures"),
    change("daily_postings", "casino_id = ''", A_RELEASE, "rollup-figures"),
    change("daily_postings", "cycle = 2", THE_HIT, "rollup-figures"),
    change("daily_postings", "cycle = 2", THE_OPENING, "rollup-figures"),
    remove("daily_postings", POSTINGS, "rollup-figures"),
    remove("daily_postings", A_RELEASE, "rollup-figures"),
    forge(
        "daily_postings",
        "jackpot_id, stripe_no, day, cycle, gaming_day, casino_id, table_id, 'house:gift', currency, movement, 1, 0",
        "daily_postings",
        "rollup-figures",
    ),
    forge(
        "daily_postings",
        "'-', stripe_no, day, cycle, gaming_day, casino_id, table_id, account, currency, movement, 1, 0",
        "daily_postings",
        "book-unknown",
    ),
    *(
        corruption
        for table, changed, forged in (
            (
                "daily_refunds",
                "meter = meter + 1e-18, house = house - 1e-18",
                "jackpot_id, stripe_no, day, gaming_day, casino_id, 'T9', currency, 1, 1, 0, 0, 0, 0, 0, 0",
            ),
            (
                "daily_awards",
                "cost = cost + 1e-18",
                "jackpot_id, stripe_no, day, casino_id, table_id, 'pair', funded_by, currency, state, 1, 1, 0",
            ),
            ("daily_hands", "squares = squares + 1e-18", "jackpot_id, stripe_no, day, 9, 1, 1, 1"),
            (
                "daily_payments",
                "amount_minor = amount_minor + 1",
                "jackpot_id, day, made_on, casino_id, table_id, tier, funded_by, 'XTS', 1, 1, 0",
            ),
        )
        for corruption in (
            change(table, changed, one(table, "true"), "rollup-figures"),
            change(table, "jackpot_id = 'j3'", one(table, "true"), "rollup-figures book-unknown"),
            remove(table, one(table, "true"), "rollup-figures"),
            forge(table, forged, table, "rollup-figures"),
        )
    ),
    change("daily_payments", "made_on = made_on - 1", OF_A_CORRECTION, "rollup-figures"),
    change("daily_payments", "tier = 'pair'", OF_A_CORRECTION, "rollup-figures"),
    *(
        change(table, "casino_id = 'reno'", one(table, "casino_id = 'riga'"), "rollup-figures")
        for table in ("daily_awards", "daily_payments")
    ),
    change("daily_awards", "table_id = 'T9'", one("daily_awards", "casino_id = 'riga'"), "rollup-figures"),
    forge(
        "daily_awards",
        "jackpot_id, stripe_no, day, casino_id, 'T9', tier, funded_by, currency, state, 1, 1, 0",
        "daily_awards",
        "rollup-figures",
    ),
    change("casinos", "zone = 'Asia/Tokyo'", "casino_id = 'riga'", "entry-digest rollup-figures"),
    change("casinos", "day_starts = '05:59'", "casino_id = 'riga'", "entry-digest"),
)


def test_the_books_of_an_untouched_history_are_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()


def test_the_history_has_every_movement_and_days_that_differ(superuser: Session) -> None:
    movements = set(superuser.scalars(text("SELECT DISTINCT movement FROM daily_postings")))
    assert movements == set(superuser.scalars(text("SELECT DISTINCT movement FROM postings"))) - {"contribution"}
    assert len(movements) >= 12, movements
    apart = "SELECT DISTINCT casino_id, gaming_day - day FROM daily_bets ORDER BY 1, 2"
    assert superuser.execute(text(apart)).all() == [("c1", 0), ("reno", -1), ("reno", 0), ("riga", -1), ("riga", 0)]
    of_none = "SELECT count(*) FROM daily_postings WHERE casino_id = '' AND gaming_day <> day"
    assert superuser.scalar(text(of_none)) == 0
    outside = "SELECT DISTINCT movement FROM daily_postings WHERE table_id = '' AND casino_id <> '' ORDER BY 1"
    assert superuser.scalars(text(outside)).all() == [
        "compensation",
        "correction",
        "payment",
        "release",
        "return",
    ]


def test_the_history_has_bets_that_are_rolled_up_and_bets_that_are_not(superuser: Session) -> None:
    for table in ("daily_bets", "recent_bets"):
        of_riga = "casino_id = 'riga'" if table == "daily_bets" else "(sums[1]).casino_id = 'riga'"
        assert superuser.scalar(text(f"SELECT count(*) FROM {table} WHERE jackpot_id = 'j1' AND {of_riga}")), table  # noqa: S608
    of_some = "SELECT count(*) FROM recent_bets WHERE jackpot_id = 'j1' AND cardinality(sums) > 1"
    assert superuser.scalar(text(of_some))


def test_the_history_has_rows_of_two_cycles(superuser: Session) -> None:
    for table in ("daily_bets", "daily_postings"):
        of_cycles = f"SELECT DISTINCT cycle FROM {table} WHERE jackpot_id = 'j1' ORDER BY 1"  # noqa: S608  constants
        assert superuser.scalars(text(of_cycles)).all() == [1, 2]


def test_the_days_add_up_to_the_postings(superuser: Session) -> None:
    assert rolling.rolled_up(superuser) == rolling.posted(superuser)


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


TABLES: Final = ("daily_bets", "daily_postings", "daily_refunds", "daily_awards", "daily_hands", "daily_payments")

COLUMNS: Final = [column for table in (*TABLES, "recent_bets") for column in Base.metadata.tables[table].columns]

PARTS: Final = ("meter", "reserve", "prize_fund", "house", "adjustments")

CHANGES: Final = (
    {"daily_bets.bets": "bets + 1", "daily_refunds.bets": "bets + 1", "daily_payments.made_on": "made_on - 100"}
    | {
        f"daily_refunds.{column}": f"{column} + 10, {other} = {other} + 10"
        for column, other in (("value", "house"), *((part, "value") for part in PARTS))
    }
    | {"recent_bets.sums": "sums[2:]"}
)
"""What keeps a table's own CHECK content, where a column alone would not; and what is no text and no number."""


@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_a_change_of_any_column_is_found(superuser: Session, column: sqlalchemy.Column[Any]) -> None:
    is_text = isinstance(column.type, sqlalchemy.Text)
    changed = CHANGES.get(str(column), f"{column.name} || 'x'" if is_text else f"{column.name} + 100")
    found = {mismatch.code for mismatch in mismatches_after_changing(superuser, column, changed)}
    assert Code.ROLLUP_FIGURES in found


def test_a_mismatch_tells_the_row_what_it_holds_and_what_is_due(superuser: Session) -> None:
    superuser.execute(text(f"DELETE FROM daily_postings WHERE {A_RELEASE}"))  # noqa: S608  a constant
    (mismatch,) = verify(superuser).mismatches
    assert (mismatch.code, mismatch.book) == (Code.ROLLUP_FIGURES, "j1")
    assert mismatch.place.startswith("daily postings of day 2026-11-2")
    assert "casino_id reno, account casino:reno, currency EUR, movement release" in mismatch.place
    assert mismatch.detail.startswith("holds nothing, its entries make (1,")


def test_a_zone_that_there_is_not_is_refused_even_to_a_superuser(superuser: Session) -> None:
    with pytest.raises(sqlalchemy.exc.DBAPIError, match="time zone"):
        superuser.execute(text("UPDATE casinos SET zone = 'Mars/Olympus' WHERE casino_id = 'riga'"))


# --- Going on from a verification before ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "corruption", [remove("recent_bets", RECENT, ""), change("stripes", HIDES, OF_RECENT, "")], ids=str
)
def test_recent_bets_of_a_day_on_which_something_was_booked_since_are_looked_at_again(
    superuser: Session, corruption: Corruption
) -> None:
    reached: list[Reached] = []
    verify(superuser, on_reached=reached.append)
    since = {
        book: replace(verified, stripes={number: replace(stripe, seq=1) for number, stripe in verified.stripes.items()})
        for book, verified in reached[-1].books.items()
    }
    found = mismatches_after(superuser, corruption.statement, since=since)
    assert Code.ROLLUP_FIGURES in {mismatch.code for mismatch in found}


@pytest.mark.parametrize("table", TABLES)
def test_a_day_on_which_something_was_booked_since_is_looked_at_again(superuser: Session, table: str) -> None:
    reached: list[Reached] = []
    verify(superuser, on_reached=reached.append)
    since = {
        book: replace(verified, stripes={number: replace(stripe, seq=1) for number, stripe in verified.stripes.items()})
        for book, verified in reached[-1].books.items()
    }
    place = one(table, f"day = (SELECT max(day) FROM {table})")  # noqa: S608  constants
    superuser.execute(text(f"DELETE FROM {table} WHERE {place}"))  # noqa: S608  constants

    assert Code.ROLLUP_FIGURES in {mismatch.code for mismatch in verify(superuser, since=since).mismatches}


def test_of_payments_the_days_are_looked_at_on_which_acts_were_recorded_since(superuser: Session) -> None:
    reached: list[Reached] = []
    verify(superuser, on_reached=reached.append)
    question = """
    SELECT (booked_at AT TIME ZONE 'UTC')::date, min(seq) FROM entries WHERE kind = 'award_paid' GROUP BY 1 ORDER BY 1
    """
    (first, _), (second, paid) = superuser.execute(text(question)).all()
    since = {book: replace(verified, acts=paid - 1) for book, verified in reached[-1].books.items()}
    assert verify(superuser, since=since).mismatches == ()

    superuser.execute(text("DELETE FROM daily_payments WHERE day = :day"), {"day": first})
    assert verify(superuser, since=since).mismatches == ()
    superuser.execute(text("DELETE FROM daily_payments WHERE day = :day"), {"day": second})
    found = verify(superuser, since=since).mismatches
    assert {(mismatch.code, mismatch.book) for mismatch in found} == {(Code.ROLLUP_FIGURES, "j1")}
    assert all(mismatch.place.startswith(f"daily payments of day {second}") for mismatch in found)


@pytest.mark.parametrize("table", TABLES)
def test_a_day_that_no_calendar_holds_is_named(superuser: Session, table: str) -> None:
    changed = change(table, "day = 'infinity'", one(table, "true"), "rollup-figures")
    assert codes_after(superuser, changed) == changed.codes


POOLS_OF_BETS: Final = {"pool:meter:players", "pool:reserve", "pool:prize_fund"}


@pytest.mark.parametrize(
    ("table", "changed", "accounts"),
    [
        ("daily_bets", "value = value + 10", POOLS_OF_BETS),
        ("daily_bets", "rules_version = 98", POOLS_OF_BETS),
        ("daily_bets", "rules_version = 99", {"pool:meter:players"}),
        ("daily_postings", "amount = amount + 7", {"pool:prize_fund"}),
    ],
)
def test_a_pool_of_a_day_that_was_verified_before_is_not_changed_unseen(
    superuser: Session, table: str, changed: str, accounts: set[str]
) -> None:
    reached: list[Reached] = []
    assert not verify(superuser, on_reached=reached.append).mismatches
    of_two_splits = """
    INSERT INTO rules_versions
    SELECT jackpot_id, 99, jsonb_set(document, '{split,meter}', '"0.44"'), 99 FROM rules_versions WHERE version = 1
    """
    superuser.execute(text(of_two_splits))
    in_pool = "" if table == "daily_bets" else "AND account = 'pool:prize_fund'"
    place = one(table, f"jackpot_id = 'j1' {in_pool} AND day = (SELECT min(day) FROM daily_bets)")  # noqa: S608
    superuser.execute(text(f"UPDATE {table} SET {changed} WHERE {place}"))  # noqa: S608  constants

    found = verify(superuser, since=reached[-1].books).mismatches

    differ = [(mismatch.book, mismatch.place) for mismatch in found if mismatch.code is Code.ROLLUP_FIGURES]
    assert sorted(differ) == sorted(("j1", account) for account in accounts)
    assert {mismatch.code for mismatch in found} == {Code.ROLLUP_FIGURES, Code.DOCUMENT_WITHOUT_ENTRY}
