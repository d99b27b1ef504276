"""The reference documents: casinos, tables, keys, jackpots and their rules versions; see `rate_sheets` for those."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select

from jackpot_service.db import Session
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.domain.rules import JackpotRules, as_document
from jackpot_service.records.pinned import Table
from jackpot_service.records.schema import (
    CasinoRow,
    JackpotRow,
    KeyRow,
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
