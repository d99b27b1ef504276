"""The proof reads again the days that were reconciled, and sees whatever was changed of what was kept of them."""

import random
from datetime import timedelta
from typing import Final

import pytest
import sqlalchemy
from sqlalchemy import NullPool, text

from jackpot_service.db import Session, snapshot
from jackpot_service.ledger.verified import Reached
from jackpot_service.records.reconciled_schema import ReconciledDayRow
from jackpot_service.reporting.reconciling import reconcile_next
from jackpot_service.reports.verification.proof import verify
from tests.reports.corruption import Corruption, change, codes_after, forge, mismatches_after
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.house import House

TABLE = ReconciledDayRow.__tablename__


def write(url: str) -> None:
    """Three days with bets, awards and a void, which were read, and a fourth that is not over."""
    random.seed(5)
    house = House(url)
    house.open(base_amount="1000", stripes=2)
    for day in range(4):
        for number in range(4):
            house.bet(bet("a"), bet("b"), round_id=f"r{day}-{number}")
        house.void("b", round_id=f"r{day}-0")
        house.settle(hand("1", FLUSH), round_id=f"r{day}-1")
        if day < 3:
            house.clock.advance(timedelta(days=1))
        while reconcile_next(house.engine, now=house.clock()):
            pass
    house.engine.dispose()


def test_days_that_nobody_touched_are_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()
    assert superuser.scalar(text("SELECT count(*) FROM reconciled_days")) == 3


FIRST: Final = "day = (SELECT min(day) FROM reconciled_days)"
LAST: Final = "day = (SELECT max(day) FROM reconciled_days)"
WRONG: Final = "reconciled-day"

CORRUPTIONS: Final = (
    change(TABLE, "starts[1] = starts[1] + 1", LAST, WRONG),
    change(TABLE, "starts[2] = starts[2] - 1", LAST, WRONG),
    change(TABLE, "starts = '{0,0}'", LAST, WRONG),
    change(TABLE, "ends[1] = ends[1] - 1", FIRST, WRONG),
    change(TABLE, "ends[2] = ends[2] + 1", LAST, WRONG),
    change(TABLE, "ends[2] = NULL", LAST, "entry-underivable"),
    change(TABLE, "day = day + 1", LAST, WRONG),
    change(TABLE, "day = day - 1", FIRST, WRONG),
    change(TABLE, "edition = edition + 1", FIRST, WRONG),
    change(TABLE, "read_at = read_at - interval '1 day'", FIRST, WRONG),
    change(TABLE, "jackpot_id = 'nowhere'", FIRST, "book-unknown"),
    change(TABLE, "sums = '[]'", FIRST, WRONG),
    change(TABLE, "sums = sums - 0", FIRST, WRONG),
    change(TABLE, "sums = sums || jsonb_build_array(sums -> 0)", FIRST, WRONG),
    change(TABLE, """sums = jsonb_set(sums, '{0,amount}', '"1"')""", LAST, WRONG),
    change(TABLE, """sums = jsonb_set(sums, '{0,amount}', '1')""", LAST, WRONG),
    change(TABLE, """sums = jsonb_set(sums, '{0,account}', '"nobody"')""", LAST, WRONG),
    change(TABLE, "sums = '{}'", LAST, WRONG),
    forge(TABLE, "jackpot_id, edition, day + 1, ends, ends, '[]', read_at", f"{TABLE} WHERE {LAST}", WRONG),
)


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


def test_every_column_is_changed_by_one_of_them() -> None:
    statements = " ".join(corruption.statement for corruption in CORRUPTIONS)
    assert all(f"SET {column.name}" in statements for column in ReconciledDayRow.__table__.columns)


def test_one_that_goes_on_reads_the_days_again_on_which_something_was_booked_since(
    database_url: str,
) -> None:
    house = House(database_url)
    house.open(stripes=1)
    reached: list[Reached] = []
    for day in range(3):
        house.bet(bet(), round_id=f"r{day}")
        house.clock.advance(timedelta(days=1))
        assert reconcile_next(house.engine, now=house.clock())
        if day == 1:
            with snapshot(house.engine) as session:
                verify(session, on_reached=reached.append)
    house.engine.dispose()
    owner = sqlalchemy.create_engine(database_url, isolation_level="REPEATABLE READ", poolclass=NullPool)

    found = {}
    with owner.connect() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        for which in (FIRST, LAST):
            with session.begin_nested() as changed:
                mismatches = mismatches_after(
                    session, change(TABLE, "sums = '[]'", which, WRONG).statement, since=reached[-1].books
                )
                found[which] = {mismatch.code.value for mismatch in mismatches}
                changed.rollback()

    assert found == {FIRST: set(), LAST: {WRONG}}
