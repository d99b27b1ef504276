"""The proof finds whatever is changed in days and in the figures of entries, row by row and column by column."""

from dataclasses import replace
from typing import Any, Final

import pytest
import sqlalchemy
from sqlalchemy import text

from jackpot_service.database.models import Base
from jackpot_service.database.transactions import Session
from jackpot_service.domain.figures import FigureKind
from jackpot_service.ledger.mismatches import Code
from jackpot_service.ledger.verification import Reached, Verified
from jackpot_service.proof import figures
from jackpot_service.proof.proof import verify
from tests.proof.corruption import (
    Corruption,
    change,
    codes_after,
    mismatches_after_changing,
    remove,
)
from tests.support import days, rolling

write = days.write

pytestmark = pytest.mark.long

LEAVES_BEHIND: Final = True
"""Of this history some entries are in days, and some are not."""

IN_RIGA: Final = "casino_id = 'riga' AND day <> gaming_day AND currency = 'EUR'"


def changed(table: str, condition: str) -> str:
    """The condition that a row is the first of those that fit."""
    return f"ctid = (SELECT min(ctid) FROM {table} WHERE {condition})"  # noqa: S608  constants of the tests


def of(kind: str, condition: str = "true") -> str:
    """The condition that a day is the first of a kind that fits."""
    return changed("days", f"kind = '{kind}' AND {condition}")


BETS: Final = of("bets", IN_RIGA)
POSTINGS: Final = of("postings", f"{IN_RIGA} AND account = 'casino:riga'")
THE_HIT: Final = of("postings", "detail = 'refill' AND cycle = 1")
THE_OPENING: Final = of("postings", "detail = 'seed' AND account = 'pool:meter:house'")
A_RELEASE: Final = of("postings", "detail = 'release' AND account = 'casino:reno'")
COLUMNS: Final = [column.name for column in Base.metadata.tables["days"].columns]


def at_another_table(kind: FigureKind) -> Corruption:
    """A row of days made of another, at a table that nobody bet at: by names, as a model orders columns as it likes."""
    names = ", ".join(COLUMNS)
    values = ", ".join("'T9'" if name == "table_id" else name for name in COLUMNS)
    forged = f"INSERT INTO days ({names}) SELECT {values} FROM days WHERE kind = '{kind}' LIMIT 1"  # noqa: S608  constants
    return Corruption("days", forged, "day-figures")


def entry(kind: str, condition: str = "true") -> str:
    """The condition that an entry is the first of a kind that fits, and has figures."""
    return changed("entries", f"kind = '{kind}' AND cardinality(figures) > 0 AND {condition}")


A_GROUP: Final = entry("bets", "cardinality(figures) > 1")
A_BET_BEHIND: Final = entry(
    "bets",
    "jackpot_id = 'j1' AND seq > (SELECT s.summed_to FROM stripes s WHERE s.jackpot_id = entries.jackpot_id "
    "AND s.stripe_no = entries.stripe_no)",
)
OF_A_CORRECTION: Final = entry("award_paid", "(figures[1]).made_on < booked_at::date")
ENTRY: Final = "day-figures entry-digest"

CORRUPTIONS: Final = (
    *(
        corruption
        for kind in FigureKind
        for corruption in (
            change("days", "number = number + 1", of(kind), "day-figures"),
            change("days", "minor = minor + 1", of(kind), "day-figures"),
            change("days", "value = value + 1e-18", of(kind), "day-figures"),
            change("days", "rules_version = rules_version + 1", of(kind), "day-figures"),
            change("days", "table_id = 'T9'", of(kind), "day-figures"),
            change("days", "casino_id = 'reno'", of(kind, "casino_id = 'riga'"), "day-figures"),
            change("days", "jackpot_id = 'j3'", of(kind), "day-figures book-unknown"),
            remove("days", of(kind), "day-figures"),
            at_another_table(kind),
        )
    ),
    change("days", "gaming_day = gaming_day - 7", BETS, "day-figures"),
    change("days", "stripe_no = stripe_no + 5", BETS, "day-figures"),
    change("days", "cycle = 3 - cycle", BETS, "day-figures"),
    change("days", "jackpot_id = '-'", BETS, "day-figures"),
    change("days", "gaming_day = gaming_day - 7", POSTINGS, "day-figures"),
    change("days", "casino_id = ''", A_RELEASE, "day-figures"),
    change("days", "cycle = 2", THE_HIT, "day-figures"),
    change("days", "cycle = 2", THE_OPENING, "day-figures"),
    change("entries", "figures[1].made_on = (figures[1]).made_on - 1", OF_A_CORRECTION, ENTRY),
    change("entries", "figures[1].tier = 'pair'", OF_A_CORRECTION, ENTRY),
    remove("days", A_RELEASE, "day-figures"),
    change("stripes", "summed_to = seq", changed("stripes", "summed_to < seq"), "day-figures"),
    change("stripes", "summed_to = 0", changed("stripes", "summed_to > 0 AND jackpot_id = 'j1'"), "day-figures"),
    change("stripes", "summed_to = seq + 1", changed("stripes", "summed_to = seq"), "day-figures"),
    change("entries", "figures[1].number = figures[1].number + 1", A_BET_BEHIND, ENTRY),
    change("entries", "figures[2].minor = figures[2].minor + 1", A_GROUP, ENTRY),
    change("entries", "figures[2].value = figures[2].value + 1e-18", A_GROUP, ENTRY),
    change("entries", "figures[1].currency = NULL", A_GROUP, ENTRY),
    change("entries", "figures[2] = NULL", A_GROUP, ENTRY),
    change("entries", "figures = figures[2:]", A_GROUP, ENTRY),
    change("entries", "figures = figures || figures[1]", A_GROUP, ENTRY),
    change("entries", "rules_version = 7", A_GROUP, ENTRY),
    change("entries", "casino_id = 'c9'", A_GROUP, ENTRY),
    change("entries", "table_id = 'T9'", A_GROUP, ENTRY),
    change("entries", "figures[1].kind = 'late_refunds'", entry("cancellation"), ENTRY),
    change("entries", "figures[1].value = 0", entry("voids"), ENTRY),
    change("entries", "figures = '{}'", entry("result"), ENTRY),
    change("entries", "figures[1].value = 0", entry("round_corrected"), ENTRY),
    change("entries", "figures = '{}'", entry("round_corrected"), ENTRY),
    change("entries", "table_id = ''", entry("round_corrected"), ENTRY),
    change("entries", "figures[1].made_on = '2020-01-01'", entry("awards_approved"), ENTRY),
    change("entries", "figures[1].detail = 'approved'", entry("awards_rejected"), ENTRY),
    change("entries", "figures[1].made_on = '2020-01-01'", entry("award_paid"), ENTRY),
    change("entries", "figures[1].detail = 'j2'", entry("award_paid"), ENTRY),
    change("entries", "figures = figures || figures[1]", entry("award_paid"), ENTRY),
    change("entries", "table_id = 'T9'", entry("award_paid"), ENTRY),
    change("entries", "casino_id = 'riga'", changed("entries", "kind = 'adjustment' AND casino_id = ''"), ENTRY),
    change("entries", "casino_id = 'riga'", changed("entries", "kind = 'casino_added'"), ENTRY),
    change("casinos", "zone = 'Asia/Tokyo'", "casino_id = 'riga'", "entry-digest day-figures"),
    change("casinos", "day_starts = '05:59'", "casino_id = 'riga'", "entry-digest"),
)


def test_the_books_of_an_untouched_history_are_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()


def test_the_history_has_every_movement_and_days_that_differ(superuser: Session) -> None:
    movements = set(superuser.scalars(text("SELECT DISTINCT movement FROM postings")))
    assert len(movements) >= 12, movements
    apart = "SELECT DISTINCT casino_id, gaming_day - day FROM days WHERE kind = 'bets' ORDER BY 1, 2"
    assert superuser.execute(text(apart)).all() == [("c1", 0), ("reno", -1), ("reno", 0), ("riga", -1), ("riga", 0)]
    assert superuser.scalar(text("SELECT count(*) FROM days WHERE casino_id = '' AND gaming_day <> day")) == 0
    outside = "SELECT DISTINCT movement FROM postings p JOIN entries e USING (jackpot_id, stripe_no, seq)"
    question = f"{outside} WHERE e.round_key IS NULL AND e.casino_id <> '' ORDER BY 1"
    assert superuser.scalars(text(question)).all() == [
        *("compensation", "correction", "forfeiture", "payment", "release", "return"),
    ]


def test_the_history_has_entries_that_are_in_days_and_entries_that_are_not(superuser: Session) -> None:
    some = "SELECT count(*) FROM stripes WHERE jackpot_id = 'j1' AND summed_to BETWEEN 2 AND seq - 2"
    assert superuser.scalar(text(some))


def test_the_history_has_rows_of_two_cycles(superuser: Session) -> None:
    for kind in ("bets", "postings"):
        of_cycles = f"SELECT DISTINCT cycle FROM days WHERE jackpot_id = 'j1' AND kind = '{kind}' ORDER BY 1"  # noqa: S608
        assert superuser.scalars(text(of_cycles)).all() == [1, 2]


def test_the_days_add_up_to_the_postings(superuser: Session) -> None:
    assert rolling.rolled_up(superuser) == rolling.posted(superuser)


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


@pytest.mark.parametrize("column", Base.metadata.tables["days"].columns, ids=str)
def test_a_change_of_any_column_is_found(superuser: Session, column: sqlalchemy.Column[Any]) -> None:
    is_text = isinstance(column.type, sqlalchemy.Text)
    changed = f"{column.name} || 'x'" if is_text else f"{column.name} + 100"
    codes_ = {mismatch.code for mismatch in mismatches_after_changing(superuser, column, changed)}
    assert Code.DAY_FIGURES in codes_


def test_a_mismatch_tells_the_row_what_it_holds_and_what_is_due(superuser: Session) -> None:
    superuser.execute(text(f"DELETE FROM days WHERE {A_RELEASE}"))  # noqa: S608  a constant
    (mismatch,) = verify(superuser).mismatches
    assert (mismatch.code, mismatch.book) == (Code.DAY_FIGURES, "j1")
    assert "day 2026-11-2" in mismatch.place
    assert "kind postings, currency EUR, account casino:reno, detail release" in mismatch.place
    assert mismatch.detail.startswith("holds nothing, its entries make (1,")


def test_a_zone_that_there_is_not_is_refused_even_to_a_superuser(superuser: Session) -> None:
    with pytest.raises(sqlalchemy.exc.DBAPIError, match="time zone"):
        superuser.execute(text("UPDATE casinos SET zone = 'Mars/Olympus' WHERE casino_id = 'riga'"))


# --- Going on from a verification before ------------------------------------------------------------------------------


def _as_if_begun(session: Session) -> dict[str, Verified]:
    """How far the books were verified, as if that had been after the first entry of each stripe."""
    reached: list[Reached] = []
    verify(session, on_reached=reached.append)
    return {
        book: replace(verified, stripes={number: replace(stripe, seq=1) for number, stripe in verified.stripes.items()})
        for book, verified in reached[-1].books.items()
    }


@pytest.mark.parametrize("kind", FigureKind)
def test_a_day_on_which_something_was_booked_since_is_looked_at_again(superuser: Session, kind: str) -> None:
    since = _as_if_begun(superuser)
    place = of(kind, f"day = (SELECT max(day) FROM days WHERE kind = '{kind}')")  # noqa: S608  constants
    superuser.execute(text(f"DELETE FROM days WHERE {place}"))  # noqa: S608  constants

    assert Code.DAY_FIGURES in {mismatch.code for mismatch in verify(superuser, since=since).mismatches}


def test_of_payments_the_days_are_looked_at_on_which_acts_were_recorded_since(superuser: Session) -> None:
    reached: list[Reached] = []
    verify(superuser, on_reached=reached.append)
    paid = superuser.scalar(text("SELECT max(seq) FROM entries WHERE kind = 'award_paid'"))
    since = {book: replace(verified, acts=paid - 1) for book, verified in reached[-1].books.items()}
    assert verify(superuser, since=since).mismatches == ()

    first_paid = entry("award_paid", f"seq < {paid}")
    later_paid = entry("award_paid", f"seq >= {paid}")
    for place, is_found in ((first_paid, False), (later_paid, True)):
        superuser.execute(text(f"UPDATE entries SET figures[1].minor = 1 WHERE {place}"))  # noqa: S608  constants
        mismatches_ = figures.payments_come_to_their_awards(superuser, "j1", since["j1"])
        assert {mismatch.code for mismatch in mismatches_} == ({Code.DAY_FIGURES} if is_found else set())


@pytest.mark.parametrize("kind", FigureKind)
def test_a_day_that_no_calendar_holds_is_named(superuser: Session, kind: str) -> None:
    changed = change("days", "day = 'infinity'", of(kind), "day-figures")
    assert codes_after(superuser, changed) == changed.codes


POOLS_OF_BETS: Final = {"pool:meter:players", "pool:reserve", "pool:prize_fund"}


@pytest.mark.parametrize(
    ("kind", "changed", "accounts"),
    [
        ("bets", "value = value + 10", POOLS_OF_BETS),
        ("bets", "rules_version = 98", POOLS_OF_BETS),
        ("bets", "rules_version = 99", {"pool:meter:players"}),
        ("postings", "value = value + 7", {"pool:prize_fund"}),
    ],
)
def test_a_pool_of_a_day_that_was_verified_before_is_not_changed_unseen(
    superuser: Session, kind: str, changed: str, accounts: set[str]
) -> None:
    reached: list[Reached] = []
    assert not verify(superuser, on_reached=reached.append).mismatches
    of_two_splits = """
    INSERT INTO rules_versions
    SELECT jackpot_id, 99, jsonb_set(document, '{split,meter}', '"0.44"'), 99 FROM rules_versions WHERE version = 1
    """
    superuser.execute(text(of_two_splits))
    in_pool = "" if kind == "bets" else "AND account = 'pool:prize_fund'"
    place = of(kind, f"jackpot_id = 'j1' {in_pool} AND day = (SELECT min(day) FROM days)")  # noqa: S608
    superuser.execute(text(f"UPDATE days SET {changed} WHERE {place}"))  # noqa: S608  constants

    mismatches_ = verify(superuser, since=reached[-1].books).mismatches

    differ = [(mismatch.book, mismatch.place) for mismatch in mismatches_ if mismatch.code is Code.DAY_FIGURES]
    assert sorted(differ) == sorted(("j1", account) for account in accounts)
    assert {mismatch.code for mismatch in mismatches_} == {Code.DAY_FIGURES, Code.DOCUMENT_WITHOUT_ENTRY}
