"""A corruption: what somebody with every right might change in the books, and the codes by which the proof names it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy
from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.verification import Verified
from jackpot_service.proof.proof import verify


@dataclass(frozen=True)
class Corruption:
    """A change of one table, as SQL, and every code that the proof must find, no more and no less."""

    table: str
    statement: str
    expected: str

    @property
    def codes(self) -> frozenset[Code]:
        return frozenset(map(Code, self.expected.split()))

    def __str__(self) -> str:
        return self.statement


def change(table: str, how: str, where: str, expected: str) -> Corruption:
    """Change a row."""
    return Corruption(table, f"UPDATE {table} SET {how} WHERE {where}", expected)  # noqa: S608  constants of the tests


def refact(path: str, value: str, where: str, expected: str) -> Corruption:
    """Change a fact that an entry stores, as SQL: `path` is that of the fact, such as `result,hands,0,2`."""
    return change(
        "entries",
        f"facts = jsonb_set(facts, '{{{path}}}', {value})",
        f"{where} AND facts #> '{{{path}}}' IS NOT NULL",
        expected,
    )


def remove(table: str, where: str, expected: str) -> Corruption:
    """Remove a row."""
    return Corruption(table, f"DELETE FROM {table} WHERE {where}", expected)  # noqa: S608  as above


def forge(table: str, columns: str, source: str, expected: str) -> Corruption:
    """Add a row made of another: `source` is a table, or a table and a condition."""
    return Corruption(table, f"INSERT INTO {table} SELECT {columns} FROM {source} LIMIT 1", expected)  # noqa: S608


def in_round(round_id: str) -> str:
    """The condition that a row is of this round."""
    return f"round_key = (SELECT round_key FROM rounds WHERE round_id = '{round_id}')"  # noqa: S608  as above


def mismatches_after(
    session: Session, statement: str, *, since: Mapping[str, Verified] | None = None
) -> tuple[Mismatch, ...]:
    """Change exactly one row, and see what the proof finds then, from zero or from where another ended."""
    changed: Any = session.execute(text(statement))
    assert changed.rowcount == 1
    return verify(session, since=since).mismatches


def codes_after(session: Session, corruption: Corruption) -> set[Code]:
    """The codes under which the proof finds a corruption."""
    return {mismatch.code for mismatch in mismatches_after(session, corruption.statement)}


def mismatches_after_changing(
    session: Session, column: sqlalchemy.Column[Any], value: str, *, where: str = "true"
) -> tuple[Mismatch, ...]:
    """Give a column another value, in the first row that fits, and see what the proof finds then."""
    table, key = column.table.name, ", ".join(column.table.primary_key.columns.keys())
    row = f"SELECT ctid FROM {table} WHERE {where} ORDER BY {key} LIMIT 1"  # noqa: S608  as above
    return mismatches_after(session, f"UPDATE {table} SET {column.name} = {value} WHERE ctid = ({row})")  # noqa: S608
