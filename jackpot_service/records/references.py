"""The reference documents: casinos, tables, keys, rate sheets, jackpots and their rules versions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, insert, select

from jackpot_service.db import Session
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.domain.rules import JackpotRules, as_document
from jackpot_service.records.pinned import Table
from jackpot_service.records.schema import (
    CasinoRow,
    JackpotRow,
    KeyRow,
    RateRow,
    RateSheetRow,
    RulesVersionRow,
    TableRow,
)


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it is stored: the hash of its secret, and the principal it names."""

    key_id: str
    secret_hash: bytes
    principal: Principal


def casino_name(session: Session, casino_id: str) -> str | None:
    """The casino's name, or None if there is none of this id."""
    return session.scalar(select(CasinoRow.name).where(CasinoRow.casino_id == casino_id))


def add_casino(session: Session, casino_id: str, name: str, *, entry_seq: int) -> None:
    """Write a casino."""
    session.execute(insert(CasinoRow).values(casino_id=casino_id, name=name, entry_seq=entry_seq))


def table(session: Session, table_id: str) -> Table | None:
    """The table, or None if there is none of this id."""
    columns = (TableRow.table_id, TableRow.casino_id, TableRow.game, TableRow.jackpot_id)
    row = session.execute(select(*columns).where(TableRow.table_id == table_id)).one_or_none()
    return None if row is None else Table(*row)


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


def add_key(session: Session, key: Key, *, entry_seq: int) -> None:
    """Write a key."""
    session.execute(
        insert(KeyRow).values(
            key_id=key.key_id,
            secret_hash=key.secret_hash,
            principal=key.principal.name,
            role=key.principal.role.value,
            casino_id=key.principal.casino_id,
            table_ids=sorted(key.principal.table_ids),
            is_automaton=key.principal.is_automaton,
            revoked_at=None,
            entry_seq=entry_seq,
        )
    )


def live_key(session: Session, key_id: str) -> Key | None:
    """The key, or None if there is none of this id or it was revoked."""
    row = session.execute(
        select(
            KeyRow.secret_hash, KeyRow.principal, KeyRow.role, KeyRow.casino_id, KeyRow.table_ids, KeyRow.is_automaton
        ).where(KeyRow.key_id == key_id, KeyRow.revoked_at.is_(None))
    ).one_or_none()
    if row is None:
        return None
    secret_hash, name, role, casino_id, table_ids, is_automaton = row
    return Key(key_id, secret_hash, Principal(name, Role(role), casino_id, frozenset(table_ids), is_automaton))


def add_sheet(session: Session, sheet: RateSheet, *, effective_at: datetime, entry_seq: int) -> None:
    """Write a rate sheet with its rates."""
    session.execute(
        insert(RateSheetRow).values(
            base=sheet.base, number=sheet.number, effective_at=effective_at, entry_seq=entry_seq
        )
    )
    session.execute(
        insert(RateRow),
        [
            {
                "base": sheet.base,
                "number": sheet.number,
                "currency": rate.currency,
                "base_per_unit": rate.base_per_unit,
                "exponent": rate.exponent,
            }
            for rate in sheet.rates.values()
        ],
    )


def last_sheet_number(session: Session, base: str) -> int:
    """The highest number of a base currency's sheets, 0 if it has none."""
    return session.scalar(select(func.coalesce(func.max(RateSheetRow.number), 0)).where(RateSheetRow.base == base)) or 0


def effective_at(session: Session, base: str, number: int) -> datetime:
    """When a sheet comes, or came, into force. It must exist."""
    return session.execute(
        select(RateSheetRow.effective_at).where(RateSheetRow.base == base, RateSheetRow.number == number)
    ).scalar_one()


def sheet_in_force(session: Session, base: str, *, at: datetime) -> tuple[int, datetime] | None:
    """Number and effective time of the sheet in force: latest effective time, then highest number."""
    row = session.execute(
        select(RateSheetRow.number, RateSheetRow.effective_at)
        .where(RateSheetRow.base == base, RateSheetRow.effective_at <= at)
        .order_by(RateSheetRow.effective_at.desc(), RateSheetRow.number.desc())
        .limit(1)
    ).one_or_none()
    return None if row is None else (row[0], row[1])


def jackpot_base(session: Session, jackpot_id: str) -> str | None:
    """The base currency of a jackpot, or None if there is none of this id."""
    return session.scalar(select(JackpotRow.base).where(JackpotRow.jackpot_id == jackpot_id))


def jackpot_ids(session: Session) -> Sequence[str]:
    """The ids of all jackpots, in their order."""
    return session.scalars(select(JackpotRow.jackpot_id).order_by(JackpotRow.jackpot_id)).all()


def add_jackpot(session: Session, jackpot_id: str, base: str) -> None:
    """Write a jackpot."""
    session.execute(insert(JackpotRow).values(jackpot_id=jackpot_id, base=base))


def add_rules(session: Session, jackpot_id: str, version: int, rules: JackpotRules, *, entry_seq: int) -> None:
    """Write a version of a jackpot's rules; `entry_seq` is the entry on the jackpot's stripe 0 that recorded it."""
    document: dict[str, Any] = as_document(rules)
    session.execute(
        insert(RulesVersionRow).values(jackpot_id=jackpot_id, version=version, document=document, entry_seq=entry_seq)
    )


def last_rules_version(session: Session, jackpot_id: str) -> int:
    """The newest version of a jackpot's rules, whether or not a cycle runs under it; 0 if there is no such jackpot."""
    question = select(func.coalesce(func.max(RulesVersionRow.version), 0))
    return session.scalar(question.where(RulesVersionRow.jackpot_id == jackpot_id)) or 0
