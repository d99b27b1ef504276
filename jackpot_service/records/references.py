"""The reference documents: casinos, tables, jackpots and their rules versions."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NoReturn

from sqlalchemy import func, insert, select, text

from jackpot_service.database.models import CasinoRow, EntryRow, JackpotRow, RulesVersionRow, TableRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.casinos import Casino
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rules import JackpotRules, as_document
from jackpot_service.records.immutable import Table
from jackpot_service.records.settings_in_force import UnknownJackpot


class UnknownCasino(NotFound, code="casino-unknown", title="Unknown casino"):
    """No casino of this id."""


_IS_ZONE = text("SELECT EXISTS (SELECT FROM pg_timezone_names WHERE name = :zone)")


def casino(session: Session, casino_id: str) -> Casino | None:
    """The casino, or None if there is none of this id."""
    columns = (CasinoRow.casino_id, CasinoRow.name, CasinoRow.zone, CasinoRow.day_starts)
    row = session.execute(select(*columns).where(CasinoRow.casino_id == casino_id)).one_or_none()
    return None if row is None else Casino(*row)


def casinos(session: Session, principal: Principal, *, limit: int, after: str | None) -> Sequence[Casino]:
    """List the casinos that a principal may see, by id: those after one."""
    question = select(CasinoRow.casino_id, CasinoRow.name, CasinoRow.zone, CasinoRow.day_starts)
    if principal.casino_id is not None:
        question = question.where(CasinoRow.casino_id == principal.casino_id)
    if after is not None:
        question = question.where(CasinoRow.casino_id > after)
    return [Casino(*row) for row in session.execute(question.order_by(CasinoRow.casino_id).limit(limit))]


def visible_casino(session: Session, principal: Principal, casino_id: str) -> Casino:
    """The casino. Raises: UnknownCasino, also for another casino's than the principal's."""
    visible = casino(session, casino_id) if principal.sees_casino(casino_id) else None
    return visible or _raise_unknown_casino(casino_id)


def is_zone(session: Session, zone: str) -> bool:
    """Return whether the database knows a time zone of this very name."""
    return bool(session.scalar(_IS_ZONE, {"zone": zone}))


def require_casino(session: Session, casino_id: str) -> Casino:
    """The casino. Raises: UnknownCasino."""
    return casino(session, casino_id) or _raise_unknown_casino(casino_id)


def _raise_unknown_casino(casino_id: str) -> NoReturn:
    message = f"There is no casino {casino_id}."
    raise UnknownCasino(message, casino_id=casino_id)


def add_casino(session: Session, new: Casino, *, entry_seq: int) -> None:
    """Write a casino."""
    session.execute(
        insert(CasinoRow).values(
            casino_id=new.casino_id,
            name=new.name,
            zone=new.zone,
            day_starts=new.day_starts,
            entry_seq=entry_seq,
        )
    )


def table(session: Session, table_id: str) -> Table | None:
    """The table, or None if there is none of this id."""
    columns = (TableRow.table_id, TableRow.casino_id, TableRow.game, TableRow.jackpot_id)
    row = session.execute(select(*columns).where(TableRow.table_id == table_id)).one_or_none()
    return None if row is None else Table(*row)


def tables(
    session: Session,
    principal: Principal,
    *,
    casino_id: str | None = None,
    jackpot_id: str | None = None,
    limit: int,
    after: str | None,
) -> Sequence[Table]:
    """List the tables that a principal may see, by id: those after one, all or those of a casino or a jackpot."""
    question = select(TableRow.table_id, TableRow.casino_id, TableRow.game, TableRow.jackpot_id)
    for owner_id in (casino_id, principal.casino_id):
        if owner_id is not None:
            question = question.where(TableRow.casino_id == owner_id)
    if principal.table_ids:
        question = question.where(TableRow.table_id.in_(sorted(principal.table_ids)))
    if jackpot_id is not None:
        question = question.where(TableRow.jackpot_id == jackpot_id)
    if after is not None:
        question = question.where(TableRow.table_id > after)
    return [Table(*row) for row in session.execute(question.order_by(TableRow.table_id).limit(limit))]


def count_tables(session: Session, casino_ids: Collection[str]) -> Mapping[tuple[str, str], int]:
    """Count the tables of some casinos that take jackpot bets, by casino and jackpot."""
    question = (
        select(TableRow.casino_id, TableRow.jackpot_id, func.count())
        .where(TableRow.casino_id.in_(sorted(casino_ids)), TableRow.jackpot_id.is_not(None))
        .group_by(TableRow.casino_id, TableRow.jackpot_id)
    )
    return {(row[0], row[1]): row[2] for row in session.execute(question) if row[1] is not None}


def jackpots_at(session: Session, casino_id: str) -> frozenset[str]:
    """The jackpots that tables of a casino play for."""
    question = select(TableRow.jackpot_id).where(TableRow.casino_id == casino_id).distinct()
    return frozenset(jackpot_id for jackpot_id in session.scalars(question) if jackpot_id is not None)


def add_table(session: Session, new: Table, *, entry_seq: int) -> None:
    """Write a table."""
    session.execute(
        insert(TableRow).values(
            table_id=new.table_id,
            casino_id=new.casino_id,
            game=new.game,
            jackpot_id=new.jackpot_id,
            entry_seq=entry_seq,
        )
    )


def jackpot_base(session: Session, jackpot_id: str) -> str | None:
    """The base currency of a jackpot, or None if there is none of this id."""
    return session.scalar(select(JackpotRow.base).where(JackpotRow.jackpot_id == jackpot_id))


def require_base(session: Session, jackpot_id: str) -> str:
    """The base currency of a jackpot. Raises: UnknownJackpot."""
    base = jackpot_base(session, jackpot_id)
    if base is None:
        message = f"There is no jackpot {jackpot_id}."
        raise UnknownJackpot(message, jackpot_id=jackpot_id)
    return base


def bases_of(session: Session, jackpot_ids: Collection[str]) -> Mapping[str, str]:
    """The base currencies of some jackpots, by id; an unknown one has none."""
    question = select(JackpotRow.jackpot_id, JackpotRow.base).where(JackpotRow.jackpot_id.in_(sorted(jackpot_ids)))
    return {row.jackpot_id: row.base for row in session.execute(question)}


def jackpot_ids(
    session: Session, *, casino_id: str | None = None, limit: int | None = None, after: str | None = None
) -> Sequence[str]:
    """The ids of all jackpots, or of those that tables of a casino play for, in their order; so many after one."""
    question = select(JackpotRow.jackpot_id).order_by(JackpotRow.jackpot_id).limit(limit)
    if after is not None:
        question = question.where(JackpotRow.jackpot_id > after)
    if casino_id is not None:
        of_casino = select(TableRow.jackpot_id).where(TableRow.casino_id == casino_id)
        question = question.where(JackpotRow.jackpot_id.in_(of_casino))
    return session.scalars(question).all()


def add_jackpot(session: Session, jackpot_id: str, base: str) -> None:
    """Write a jackpot."""
    session.execute(insert(JackpotRow).values(jackpot_id=jackpot_id, base=base))


def add_rules(session: Session, jackpot_id: str, version: int, rules: JackpotRules, *, entry_seq: int) -> None:
    """Write a version of a jackpot's rules; `entry_seq` is the entry on the jackpot's stripe 0 that recorded it."""
    document: dict[str, Any] = as_document(rules)
    session.execute(
        insert(RulesVersionRow).values(jackpot_id=jackpot_id, version=version, document=document, entry_seq=entry_seq)
    )


def rules_booked_at(session: Session, jackpot_id: str, version: int) -> datetime:
    """When a version of a jackpot's rules was booked: opened with it, or approved. The version must exist."""
    question = (
        select(EntryRow.booked_at)
        .join(RulesVersionRow, EntryRow.seq == RulesVersionRow.entry_seq)
        .where(
            RulesVersionRow.jackpot_id == jackpot_id,
            RulesVersionRow.version == version,
            EntryRow.jackpot_id == jackpot_id,
            EntryRow.stripe_no == 0,
        )
    )
    return session.execute(question).scalar_one()


def last_rules_version(session: Session, jackpot_id: str) -> int:
    """The newest version of a jackpot's rules, whether or not a cycle runs under it; 0 if there is no such jackpot."""
    question = select(func.coalesce(func.max(RulesVersionRow.version), 0))
    return session.scalar(question.where(RulesVersionRow.jackpot_id == jackpot_id)) or 0
