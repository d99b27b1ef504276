"""Keeping exceptions: calls that finance must see, once a kind, table, round and content; and acknowledgements."""

import hashlib
from collections.abc import Mapping
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
    A refusal (its kind is the problem's code) or a late void: whose call it was, what the call asked, and the answer.

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


FIRST_HEAD: Final = hashlib.sha256(b"exceptions").digest()
"""The head before the first exception."""

# Exceptions are kept one after another: each needs the head of the one before it, as committed.
_ONE_BY_ONE = text("SELECT pg_advisory_xact_lock(hashtext('jackpot: the chain of exceptions'))")


def keep(session: Session, record: ExceptionRecord) -> None:
    """
    Write a refusal or a late void, unless the very same call was kept under the same kind before.

    It is dated no earlier than the last act, nor than any instant that a report was made for. A clock that is behind
    must not put it into a period that was reported.
    """
    session.execute(_ONE_BY_ONE)
    tail = select(ExceptionRow.number, ExceptionRow.head).order_by(ExceptionRow.number.desc()).limit(1)
    number, head = session.execute(tail).one_or_none() or (0, FIRST_HEAD)
    digest = hashlib.sha256(orjson.dumps(record.content, option=orjson.OPT_SORT_KEYS)).digest()
    noticed_at = stripes.booking_time(session, REFERENCE_BOOK, now=record.noticed_at)
    row = {
        "kind": record.kind,
        "table_id": record.table_id,
        "round_id": record.round_id,
        "digest": digest,
        "jackpot_id": immutable.table(session, record.table_id).jackpot_id or "",
        "principal": record.principal,
        "noticed_at": noticed_at,
        "detail": {"request": record.request, "detail": record.detail},
        "number": number + 1,
    }
    session.execute(
        insert(ExceptionRow)
        .values(
            exception_id=id_of(noticed_at, record.kind, record.table_id, record.round_id, digest.hex()),
            head=next_head(head, row),
            **row,
        )
        .on_conflict_do_nothing()
    )


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
