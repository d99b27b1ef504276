"""The proof reads again the days that were reconciled, and sees whatever was changed of what was kept of them."""

import random
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
import sqlalchemy
from sqlalchemy import NullPool, text
from sqlalchemy.exc import IntegrityError

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.models import ReconciledDayRow
from jackpot_service.database.snapshots import snapshot
from jackpot_service.database.transactions import Session
from jackpot_service.ledger.verification import Reached
from jackpot_service.proof.proof import verify
from jackpot_service.records import checkpoints
from jackpot_service.reports.reconciling import reconcile_next
from tests.proof.corruption import Corruption, change, codes_after, forge, mismatches_after, remove
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.logins import owner_url
from tests.support.world import World

pytestmark = pytest.mark.long

TABLE = ReconciledDayRow.__tablename__


def write(url: str) -> None:
    """Three days with bets, awards and a void, which were read, and a fourth that is not over."""
    random.seed(5)
    world = World(url)
    world.open(base_amount="1000", stripes=2)
    for day in range(4):
        for number in range(4):
            world.bet(bet("a"), bet("b"), round_id=f"r{day}-{number}")
        world.void("b", round_id=f"r{day}-0")
        world.settle(hand("1", FLUSH), round_id=f"r{day}-1")
        if day < 3:
            world.clock.advance(timedelta(days=1))
        while reconcile_next(world.engine, now=world.clock()):
            pass
    world.close()


def test_days_that_nobody_touched_are_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()
    assert superuser.scalar(text("SELECT count(*) FROM reconciled_days")) == 2 * 3


def test_how_far_days_were_verified_is_noted_with_the_rest(url: str) -> None:
    reached: list[Reached] = []
    engine = create_engine(Config(), url)
    with snapshot(engine) as session:
        verify(session, on_reached=reached.append)
    now = datetime.now(UTC)
    with engine.connect() as session:
        checkpoints.add_verification(
            session, reached[-1], begun_at=now, noted_at=now, service_version="0", continues=None
        )
        noted = checkpoints.last_verification(session)
        last_day = session.scalar(text("SELECT max(day) FROM reconciled_days"))
    engine.dispose()

    assert noted is not None
    assert noted.books == reached[-1].books
    assert noted.books["j1"].reconciled_to == last_day


FIRST: Final = "eighth = 3 AND day = (SELECT min(day) FROM reconciled_days)"
LAST: Final = "eighth = 3 AND day = (SELECT max(day) FROM reconciled_days)"
WRONG: Final = "reconciled-day"

CORRUPTIONS: Final = (
    change(TABLE, "starts[1] = starts[1] + 1", LAST, WRONG),
    change(TABLE, "starts[2] = starts[2] - 1", LAST, WRONG),
    change(TABLE, "starts = '{0,0}'", LAST, WRONG),
    change(TABLE, "ends[1] = ends[1] - 1", FIRST, WRONG),
    change(TABLE, "ends[2] = ends[2] + 1", LAST, WRONG),
    change(TABLE, "day = day + 1, read_at = read_at + interval '2 days'", LAST, WRONG),
    change(TABLE, "day = day - 1", FIRST, WRONG),
    change(TABLE, "eighth = eighth - 1", FIRST, WRONG),
    change(TABLE, "eighth = eighth + 1", FIRST, WRONG),
    change(TABLE, "jackpot_id = 'nowhere'", FIRST, "book-unknown"),
    change(TABLE, "sums = '[]'", FIRST, WRONG),
    change(TABLE, "sums = sums - 0", FIRST, WRONG),
    change(TABLE, "sums = sums || jsonb_build_array(sums -> 0)", FIRST, WRONG),
    change(TABLE, """sums = jsonb_set(sums, '{0,amount}', '"1"')""", LAST, WRONG),
    change(TABLE, """sums = jsonb_set(sums, '{0,amount}', '1')""", LAST, WRONG),
    change(TABLE, """sums = jsonb_set(sums, '{0,account}', '"nobody"')""", LAST, WRONG),
    forge(
        TABLE,
        "jackpot_id, report_version, day + 1, eighth, ends, ends, '[]', read_at + interval '2 days'",
        f"{TABLE} WHERE {LAST}",
        WRONG,
    ),
)


OF_BETS, OF_HANDS, OF_AWARDS = (f"kind = '{kind}' AND day = '2026-11-21'" for kind in ("bets", "hands", "awards"))

PAST_DAYS: Final = (
    change("past_days", "value = value + 1", OF_BETS, "day-figures"),
    change("past_days", "minor = minor + 1", OF_BETS, "day-figures"),
    change("past_days", "number = number + 1", OF_HANDS, "day-figures"),
    change("past_days", "table_id = 'T9'", OF_BETS, "day-figures"),
    change("past_days", "casino_id = 'c9'", OF_BETS, "day-figures"),
    change("past_days", "currency = 'GBP'", OF_BETS, "day-figures"),
    change("past_days", "cycle = 2", OF_BETS, "day-figures"),
    change("past_days", "rules_version = 2", OF_HANDS, "day-figures"),
    change("past_days", "gaming_day = gaming_day + 1", OF_BETS, "day-figures"),
    change("past_days", "made_on = made_on - 1", OF_BETS, "day-figures"),
    change("past_days", "tier = 'straight'", OF_AWARDS, "day-figures"),
    change("past_days", "detail = 'held'", OF_AWARDS, "day-figures"),
    change("past_days", "account = 'nobody'", OF_AWARDS, "day-figures"),
    change("past_days", "kind = 'refunds'", OF_HANDS, "day-figures"),
    change("past_days", "day = day + 9", OF_HANDS, "day-figures"),
    change("past_days", "jackpot_id = 'nowhere'", OF_HANDS, "day-figures book-unknown"),
    remove("past_days", OF_BETS, "day-figures"),
)


@pytest.mark.parametrize("corruption", [*CORRUPTIONS, *PAST_DAYS], ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


ASIDE: Final = {
    "report_version": "nobody asks for days of another report version than this one's: they are read again",
    "read_at": "it says when the day was read, which was when it was over: a CHECK refuses any time before",
}
"""The columns whose change the proof does not see, and why."""


def test_every_column_is_changed_by_one_of_them() -> None:
    statements = " ".join(corruption.statement for corruption in CORRUPTIONS)
    changed = {column.name for column in ReconciledDayRow.__table__.columns if f"SET {column.name}" in statements}
    assert changed == {column.name for column in ReconciledDayRow.__table__.columns} - ASIDE.keys()


REFUSED: Final = (
    "read_at = (day + interval '12 hours') AT TIME ZONE 'UTC' - interval '1 us'",
    "eighth = 8",
    "eighth = -1",
    "report_version = 0",
    "sums = '{}'",
    "starts[1] = NULL",
    "ends[2] = NULL",
    "starts = starts[2:]",
    "starts = '{}', ends = '{}'",
)


@pytest.mark.parametrize("change", REFUSED)
def test_what_no_day_can_be_is_refused_even_to_a_superuser(superuser: Session, change: str) -> None:
    with pytest.raises(IntegrityError):
        superuser.execute(text(f"UPDATE reconciled_days SET {change}"))  # noqa: S608  a constant


def test_an_eighth_of_the_next_day_that_is_counted_twice_is_named(superuser: Session) -> None:
    """Its positions and sums are right: only the number of the eighth says that it is another's."""
    superuser.execute(text("ALTER TABLE reconciled_days DROP CONSTRAINT ck_reconciled_days_eighth"))
    columns = "jackpot_id, report_version, day - 1, eighth + 8, starts, ends, sums, read_at"
    counted_twice = forge(TABLE, columns, f"{TABLE} WHERE {LAST}", WRONG)
    assert {mismatch.code for mismatch in mismatches_after(superuser, counted_twice.statement)} == {WRONG}


def test_one_that_goes_on_reads_the_days_again_that_were_reconciled_or_booked_on_since(database_url: str) -> None:
    """It stood at half past twelve of the third night: of the second day one eighth had been reconciled by then."""
    world = World(database_url)
    world.open(stripes=1)
    world.clock.at = world.clock.at.replace(hour=12)
    reached: list[Reached] = []
    for day in range(4):
        world.bet(bet(), round_id=f"r{day}")
        world.clock.at = world.clock.at.replace(hour=0, minute=30) + timedelta(days=1)
        world.bet(bet(), round_id=f"early-{day}")
        if day == 1:
            with snapshot(world.engine) as session:
                verify(session, on_reached=reached.append)
        world.clock.at = world.clock.at.replace(hour=12)
        while reconcile_next(world.engine, now=world.clock()):
            pass
    world.close()
    owner = sqlalchemy.create_engine(owner_url(database_url), isolation_level="REPEATABLE READ", poolclass=NullPool)

    codes = {}
    with owner.connect() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        of_days = text("SELECT day, eighth FROM reconciled_days WHERE sums <> '[]'")
        for day, eighth in session.execute(of_days).all():
            emptied = change(TABLE, "sums = '[]'", f"day = '{day}' AND eighth = {eighth}", WRONG).statement
            with session.begin_nested() as changed:
                mismatches = mismatches_after(session, emptied, since=reached[-1].books)
                codes[day.day, eighth] = {mismatch.code.value for mismatch in mismatches}
                changed.rollback()

    early: dict[tuple[int, int], set[str]] = {(20, 4): set()}
    assert codes == early | {(day, eighth): {WRONG} for day in (21, 22, 23) for eighth in (0, 4)} | {(24, 0): {WRONG}}


def test_one_that_goes_on_looks_at_past_days_that_were_written_since(database_url: str) -> None:
    """Also in a quiet book, in which nothing was booked since."""
    world = World(database_url)
    world.open(stripes=2)
    world.bet(bet())
    world.clock.advance(timedelta(days=1))
    world.bet(bet(), round_id="later")
    reached: list[Reached] = []
    with snapshot(world.engine) as session:
        verify(session, on_reached=reached.append)
    while reconcile_next(world.engine, now=world.clock()):
        pass
    world.close()
    engine = sqlalchemy.create_engine(owner_url(database_url), poolclass=NullPool)
    with engine.connect() as superuser:
        superuser.execute(text("SET session_replication_role = replica"))
        since = reached[-1].books
        changed = change("past_days", "number = 7", "kind = 'bets' AND day = '2026-11-20'", "day-figures")
        mismatches = mismatches_after(superuser, changed.statement, since=since)
        assert {mismatch.code for mismatch in mismatches} == changed.codes
        superuser.rollback()
    engine.dispose()
