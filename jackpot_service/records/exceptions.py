"""Keeping exceptions: calls that finance must see, once a kind, table, round and content; and acknowledgements."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson
from sqlalchemy import ColumnElement, Text, func, select, text
from sqlalchemy import insert as insert_row
from sqlalchemy.dialects.postgresql import insert

from jackpot_service.database.models import AcknowledgementRow, ExceptionRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.ledger import stripes
from jackpot_service.records import immutable


@dataclass(frozen=True, slots=True)
class ExceptionRecord:
    """
    A refusal (its kind is the problem's code), a late void, or a denied prize.

    It says whose call it was, what the call asked or which bet it was, and the answer.

    `content` is what makes a call the same when it is repeated; `request` also has its remarks.
    """

    kind: str
    table_id: str
    round_id: str
    principal: str
    noticed_at: datetime
    content: Any
    request: Mapping[str, Any]
    detail: str


PAGE: Final = 1000
"""How many exceptions are written by one statement."""

FIRST_HEAD: Final = hashlib.sha256(b"exceptions").digest()
"""The head before the first exception."""

# Exceptions are kept one after another: each needs the head of the one before it, as committed.
_ONE_BY_ONE = text("SELECT pg_advisory_xact_lock(hashtext('jackpot: the chain of exceptions'))")


def keep(session: Session, record: ExceptionRecord) -> None:
    """Write a refusal or a late void, unless the very same call was kept under the same kind before."""
    _add(session, [record], is_new=False)


def keep_of_round(session: Session, records: Sequence[ExceptionRecord]) -> None:
    """Write exceptions of one round, none of which can have been kept before."""
    for first in range(0, len(records), PAGE):
        _add(session, records[first : first + PAGE], is_new=True)


def _add(session: Session, records: Sequence[ExceptionRecord], *, is_new: bool) -> None:
    """
    Date and chain exceptions of one table.

    They are dated no earlier than the last act, nor than any instant that a report was made for. A clock that is behind
    must not put them into a period that was reported.
    """
    session.execute(_ONE_BY_ONE)
    tail = select(ExceptionRow.number, ExceptionRow.head).order_by(ExceptionRow.number.desc()).limit(1)
    last, head = session.execute(tail).one_or_none() or (0, FIRST_HEAD)
    jackpot_id = immutable.table(session, records[0].table_id).jackpot_id or ""
    noticed_at = stripes.booking_time(session, REFERENCE_BOOK, now=records[0].noticed_at)
    rows = []
    for number, record in enumerate(records, last + 1):
        digest = hashlib.sha256(orjson.dumps(record.content, option=orjson.OPT_SORT_KEYS)).digest()
        row = {
            "kind": record.kind,
            "table_id": record.table_id,
            "round_id": record.round_id,
            "digest": digest,
            "jackpot_id": jackpot_id,
            "principal": record.principal,
            "noticed_at": noticed_at,
            "detail": {"request": record.request, "detail": record.detail},
            "number": number,
        }
        head = next_head(head, row)
        called = id_of(noticed_at, record.kind, record.table_id, record.round_id, digest.hex())
        rows.append({"exception_id": called, "head": head, **row})
    statement = insert(ExceptionRow).values(rows)
    # To pass over one of several would break their chain: of new ones the database refuses all.
    session.execute(statement if is_new else statement.on_conflict_do_nothing())


def next_head(head: bytes, row: Mapping[str, Any]) -> bytes:
    """Figure the head after an exception, from all its columns but its id, which is made of them, and the head."""
    said = {**row, "digest": row["digest"].hex(), "noticed_at": facts.instant(row["noticed_at"])}
    return hashlib.sha256(head + orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).digest()


def acknowledge(session: Session, exception_id: str, *, entry_seq: int) -> None:
    """Write that an exception was acknowledged; the act of this seq says by whom, and why."""
    session.execute(insert_row(AcknowledgementRow).values(exception_id=exception_id, entry_seq=entry_seq))


def id_of(since: Any, *what: Any) -> ColumnElement[str]:  # noqa: ANN401  values and columns alike
    """Write, as SQL, the id of an exception since an instant; `what` distinguishes it from all others."""
    return func.exception_id(since, func.concat_ws(" ", *what), type_=Text(collation="C"))
