"""
What never changes once it is written (tables, rules versions, rate sheets), kept with the connection that read it.

A connection belongs to one database and lives for minutes, so nothing has to be invalidated and nothing grows for long.
What a transaction writes itself is not read here: it may be taken back, and something else written in its place.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import select

from jackpot_service.db import Session
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.money import Rate, RateSheet
from jackpot_service.domain.rules import JackpotRules, from_document
from jackpot_service.records.schema import RateRow, RulesVersionRow, TableRow

T = TypeVar("T")


class UnknownTable(NotFound):
    """No table of this id, or not for this caller."""

    code = "table-unknown"
    title = "Unknown table"


@dataclass(frozen=True, slots=True)
class Table:
    """A gaming table: whose it is, what is played there, and the jackpot it takes bets for, if any."""

    table_id: str
    casino_id: str
    game: str
    jackpot_id: str | None


def table(session: Session, table_id: str) -> Table:
    """Raises: UnknownTable."""
    return _kept(session, ("table", table_id), lambda: _read_table(session, table_id))


def rules(session: Session, jackpot_id: str, version: int) -> JackpotRules:
    """Read a version of a jackpot's rules; the version must exist."""
    return _kept(session, ("rules", jackpot_id, version), lambda: _read_rules(session, jackpot_id, version))


def sheet(session: Session, base: str, number: int) -> RateSheet:
    """Read a rate sheet by number; it must exist."""
    return _kept(session, ("sheet", base, number), lambda: _read_sheet(session, base, number))


def _kept(session: Session, key: tuple[Any, ...], read: Callable[[], T]) -> T:
    kept: dict[tuple[Any, ...], T] = session.info.setdefault("pinned", {})
    if key not in kept:
        kept[key] = read()
    return kept[key]


def _read_table(session: Session, table_id: str) -> Table:
    row = session.execute(
        select(TableRow.table_id, TableRow.casino_id, TableRow.game, TableRow.jackpot_id).where(
            TableRow.table_id == table_id
        )
    ).one_or_none()
    if row is None:
        message = f"There is no table {table_id}."
        raise UnknownTable(message, table_id=table_id)
    return Table(*row)


def _read_rules(session: Session, jackpot_id: str, version: int) -> JackpotRules:
    document = session.execute(
        select(RulesVersionRow.document).where(
            RulesVersionRow.jackpot_id == jackpot_id, RulesVersionRow.version == version
        )
    ).scalar_one()
    return from_document(document)


def _read_sheet(session: Session, base: str, number: int) -> RateSheet:
    rows = session.execute(
        select(RateRow.currency, RateRow.base_per_unit, RateRow.exponent)
        .where(RateRow.base == base, RateRow.number == number)
        .order_by(RateRow.currency)
    ).all()
    if not rows:
        message = f"Rate sheet {number} of {base} has no rates."
        raise LookupError(message)
    return RateSheet(base, number, {currency: Rate(currency, rate, exponent) for currency, rate, exponent in rows})
