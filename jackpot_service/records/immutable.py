"""
Rows that never change once written (tables, rules, limits, rate sheets), cached with the connection that read them.

A connection belongs to one database and lives for minutes, so nothing has to be invalidated and nothing grows for long.
A transaction's own rows are not read here: they may be taken back, and others written in their place.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from jackpot_service.database.pipelines import Cursor
from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import table_limits
from jackpot_service.domain.contributions import Contributions
from jackpot_service.domain.errors import NotFound, Refused
from jackpot_service.domain.money import Rate, RateSheet
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rules import JackpotRules, from_document
from jackpot_service.domain.table_limits import LimitsOfTables, SetLimits

T = TypeVar("T")

_TABLE: Final = "SELECT table_id, casino_id, game, jackpot_id FROM tables WHERE table_id = %(table_id)s"
_RULES: Final = "SELECT document FROM rules_versions WHERE jackpot_id = %(jackpot_id)s AND version = %(version)s"
_SHEET: Final = """
SELECT currency, base_per_unit, exponent FROM rates WHERE base = %(base)s AND number = %(number)s ORDER BY currency
"""


_LIMITS: Final = """
SELECT DISTINCT ON (table_id) table_id, version, document FROM table_limits
WHERE jackpot_id = %(jackpot_id)s AND version <= %(version)s
ORDER BY table_id, version DESC
"""


class UnknownTable(NotFound, code="table-unknown", title="Unknown table"):
    """No table of this id, or not for this caller."""


@dataclass(frozen=True, slots=True)
class Table:
    """A gaming table: whose it is, what is played there, and the jackpot it takes bets for, if any."""

    table_id: str
    casino_id: str
    game: str
    jackpot_id: str | None


def table(session: Session, table_id: str) -> Table:
    """Raises: UnknownTable."""
    return _cached(session, ("table", table_id), lambda: _read_table(session, table_id))


def rules(session: Session, jackpot_id: str, version: int) -> JackpotRules:
    """Read a version of a jackpot's rules; the version must exist."""
    return _cached(session, ("rules", jackpot_id, version), lambda: _read_rules(session, jackpot_id, version))


def sheet(session: Session, base: str, number: int) -> RateSheet:
    """Read a rate sheet by number; it must exist."""
    return _cached(session, ("sheet", base, number), lambda: _read_sheet(session, base, number))


def limits(session: Session, jackpot_id: str, version: int) -> LimitsOfTables:
    """Read the limits of a jackpot's tables as of a version; 0 is before the first."""
    if not version:
        return {}
    return _cached(session, ("limits", jackpot_id, version), lambda: _read_limits(session, jackpot_id, version))


def contributions(session: Session) -> Contributions:
    """Return what is known of contributions: they depend on rules and sheets, which never change."""
    known: Contributions = session.info.setdefault("contributions", Contributions())
    return known


def _cached(session: Session, key: tuple[Any, ...], read: Callable[[], T]) -> T:
    cache: dict[tuple[Any, ...], T] = session.info.setdefault("immutable", {})
    if key not in cache:
        cache[key] = read()
    return cache[key]


def _read_table(session: Session, table_id: str) -> Table:
    row = _ask(session, _TABLE, {"table_id": table_id}).fetchone()
    if row is None:
        message = f"There is no table {table_id}."
        raise UnknownTable(message, table_id=table_id)
    return Table(*row)


def _read_rules(session: Session, jackpot_id: str, version: int) -> JackpotRules:
    row = _ask(session, _RULES, {"jackpot_id": jackpot_id, "version": version}).fetchone()
    if row is None:
        message = f"Jackpot {jackpot_id} has no rules version {version}."
        raise LookupError(message)
    return from_document(row[0])


def _read_sheet(session: Session, base: str, number: int) -> RateSheet:
    rows = _ask(session, _SHEET, {"base": base, "number": number}).fetchall()
    if not rows:
        message = f"Rate sheet {number} of {base} has no rates."
        raise LookupError(message)
    return RateSheet(base, number, {currency: Rate(currency, rate, exponent) for currency, rate, exponent in rows})


def _read_limits(session: Session, jackpot_id: str, version: int) -> LimitsOfTables:
    rows = _ask(session, _LIMITS, {"jackpot_id": jackpot_id, "version": version})
    limits_by_table = {
        table_id: SetLimits(version, table_limits.from_document(document)) for table_id, version, document in rows
    }
    return {table_id: set_limits for table_id, set_limits in limits_by_table.items() if set_limits.limits.amounts}


def _ask(session: Session, statement: str, parameters: Mapping[str, Any]) -> Cursor:
    """Ask by a pipeline: a session that is used on an event loop is asked in no other way."""
    with pipelined(session) as pipe:
        return pipe.send(statement, parameters)


class NoJackpot(Refused, code="no-jackpot", title="The table has no jackpot"):
    """The table takes no jackpot bets."""


def visible_table(session: Session, principal: Principal, table_id: str) -> Table:
    """Find a table. Raises: UnknownTable, also for one that the principal may not see."""
    table_ = table(session, table_id)
    if not principal.sees_table(table_id, table_.casino_id):
        message = f"There is no table {table_id}."
        raise UnknownTable(message, table_id=table_id)
    return table_


def table_with_jackpot(session: Session, principal: Principal, table_id: str) -> tuple[Table, str]:
    """Find a table that takes jackpot bets, and its jackpot. Raises: UnknownTable; NoJackpot."""
    table_ = visible_table(session, principal, table_id)
    if table_.jackpot_id is None:
        message = f"Table {table_id} has no jackpot; it takes no jackpot bets."
        raise NoJackpot(message, table_id=table_id)
    return table_, table_.jackpot_id
