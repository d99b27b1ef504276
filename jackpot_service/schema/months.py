"""
The partitions of bets: each month has one, and one takes what has none.

Those of months to come are made by the rights of the tables' owner, while bets go on. A month's partition is made next
to `bets` and attached, which holds up nobody who writes to another partition. It needs a moment alone with the default
partition, though, and all that read bets look at that one too. So that moment is requested with a short lock time-out,
again and again, and is short itself: the default partition is empty unless a month came before its partition. See
docs/decisions/schema.md.
"""

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import psycopg
import sqlalchemy
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from jackpot_service.database.connections import create_owners_engine
from jackpot_service.database.failures import HeldUp
from jackpot_service.database.tables import ROLE
from jackpot_service.database.transactions import Session, transact
from jackpot_service.domain.errors import Forbidden, Refused, Unavailable
from jackpot_service.domain.rounds import LAST_KEY, KeyRange, Month, keys_of

AHEAD = 3
"""For how many months after the current one there is a partition, unless the operator says otherwise."""

LOCK_TIMEOUT_MS = 100
"""For how long calls that read bets may queue behind us in vain; then we step aside for a while."""

STALL_MS = 1_000
"""For how long attaching may hold them up: less than the time after which the service would refuse a call for it."""

ATTEMPTS = 30
PAUSE_S = 0.5

# Another that makes months meanwhile waits here, and then finds them made. It conflicts with no reading or writing.
_ONE_BY_ONE = text("LOCK TABLE bets IN SHARE UPDATE EXCLUSIVE MODE")

_MAKE = """
CREATE TABLE {name} (LIKE bets INCLUDING ALL);
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON {name} FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
REVOKE ALL ON {name} FROM {role};
"""

_ATTACH = "ALTER TABLE bets ATTACH PARTITION {name} FOR VALUES FROM ({first}) TO ({end})"

_STATEMENT_TIMEOUT = "SET LOCAL statement_timeout = {ms}"


class BetsInUse(Unavailable, code="bets-in-use", title="The bets are in use"):
    """Somebody reads the bets for longer than we wait; nothing was changed by the attempt."""


class AttachingTooLong(Refused, code="attaching-too-long", title="Attaching takes too long"):
    """Attaching the month would hold up other calls for too long; the attempt changed nothing."""


class NameTaken(Refused, code="name-taken", title="The table exists with other properties"):
    """A table that is no partition has the name which the partition of a month would get."""


class NotOwner(Forbidden, code="not-owner", title="Not the owner of the tables"):
    """Only the owner of the tables may give them partitions."""


class _HeldByDefault(Exception):
    """The default partition has bets of the month."""


@dataclass(frozen=True, slots=True)
class Made:
    """The months that got a partition, and those that came too late for one: their bets stay where they are."""

    months: Sequence[Month]
    late: Sequence[Month]


def make(url: str, *, now: datetime, ahead: int = AHEAD, stall_ms: int = STALL_MS, attempts: int = ATTEMPTS) -> Made:
    """
    Make the partitions that the current month and some months ahead lack.

    Each is made in a transaction of its own; those that are there are left alone, and so is a month whose bets are in
    the default partition already. May run several times at once.

    Raises: BetsInUse, AttachingTooLong, NameTaken or NotOwner, for the first month that cannot be attached.
    """
    engine = create_owners_engine(url, lock_timeout_ms=LOCK_TIMEOUT_MS)
    months = [Month.of(now).later(number) for number in range(ahead + 1)]
    made, late = [], []
    for month in transact(engine, lambda session: missing_months(session, months)):
        try:
            if _patiently(engine, month, stall_ms=stall_ms, attempts=attempts):
                made.append(month)
        except _HeldByDefault:
            late.append(month)
    return Made(made, late)


def _patiently(engine: sqlalchemy.Engine, month: Month, *, stall_ms: int, attempts: int) -> bool:
    """Attach a month; step aside, and try again, while others hold what it needs. Returns whether it was missing."""
    for _ in range(attempts):
        try:
            return transact(engine, partial(_attach, month=month, stall_ms=stall_ms))
        except HeldUp:
            time.sleep(PAUSE_S)
    message = (
        f"Month {month} has no partition yet: others read the bets for longer than we may hold them up, such as a "
        "report or `jackpot verify`. Try again when they are done."
    )
    raise BetsInUse(message)


def _attach(session: Session, *, month: Month, stall_ms: int) -> bool:
    name = f"bets_{month.year:04}_{month.number:02}"
    with _explained(month, name):
        session.execute(_ONE_BY_ONE)
        if not missing_months(session, [month]):
            return False
        if holds_bets_of(session, month):
            raise _HeldByDefault
        session.exec_driver_sql(_MAKE.format(name=name, role=ROLE))
        session.exec_driver_sql(_STATEMENT_TIMEOUT.format(ms=stall_ms))
        session.exec_driver_sql(_ATTACH.format(name=name, **keys_of(month)._asdict()))
        session.exec_driver_sql(_STATEMENT_TIMEOUT.format(ms=0))  # A COMMIT is never cancelled.
        return True


@contextmanager
def _explained(month: Month, name: str) -> Iterator[None]:
    """Say what an error of the database means here; one that waiting may cure stays as it is."""
    try:
        yield
    except DBAPIError as error:
        match error.orig:
            case psycopg.errors.CheckViolation():  # Its first bet came after we had looked.
                raise _HeldByDefault from error
            case psycopg.errors.QueryCanceled():
                message = (
                    f"Month {month} has no partition yet: the default partition holds many bets, and to look through "
                    "them would hold up others for too long. In a quiet hour allow more: --stall-ms."
                )
                raise AttachingTooLong(message) from error
            case psycopg.errors.DuplicateTable():
                message = f"Month {month} has no partition: {name} is there, and is no partition of bets."
                raise NameTaken(message) from error
            case psycopg.errors.InsufficientPrivilege():
                message = f"Month {month} has no partition: only the owner of bets may make it."
                raise NotOwner(message) from error
        raise


LOWEST_KEY = -LAST_KEY - 1

_BOUNDS = text(
    """
    SELECT pg_get_expr(c.relpartbound, c.oid)
    FROM pg_inherits i
    JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'bets'::regclass
    ORDER BY c.oid
    """
)

_BOUND = re.compile(r"FROM \((?:MINVALUE|'(?P<first>-?\d+)')\) TO \((?:MAXVALUE|'(?P<end>-?\d+)')\)")

# Only asked of months without a partition of their own, so that it is the default partition that is looked into.
_HAS_BETS = text(
    """
    SELECT EXISTS (
        SELECT 1
        FROM jackpots j
        JOIN bets b ON b.jackpot_id = j.jackpot_id AND b.round_key >= :first AND b.round_key < :end)
    """
)


def missing_months(session: Session, months: Iterable[Month]) -> Sequence[Month]:
    """Those of some months whose bets would go to the default partition."""
    ranges = _ranges_of_partitions(session)
    return [month for month in months if not any(key_range.overlaps(keys_of(month)) for key_range in ranges)]


def holds_bets_of(session: Session, month: Month) -> bool:
    """Whether there are bets of a month already."""
    return bool(session.execute(_HAS_BETS, keys_of(month)._asdict()).scalar_one())


def _ranges_of_partitions(session: Session) -> list[KeyRange]:
    bounds = (_BOUND.search(bound) for bound in session.scalars(_BOUNDS))
    return [
        KeyRange(
            LOWEST_KEY if bound["first"] is None else int(bound["first"]),
            LAST_KEY + 1 if bound["end"] is None else int(bound["end"]),
        )
        for bound in bounds
        if bound is not None  # The default partition has no range.
    ]
