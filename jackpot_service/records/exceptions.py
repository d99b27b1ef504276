"""Keeping exceptions: refusals that finance must see, once a kind, table, round and content; and acknowledgements."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Text, func
from sqlalchemy import insert as insert_row
from sqlalchemy.dialects.postgresql import insert

from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.ledger import stripes
from jackpot_service.records import pinned
from jackpot_service.records.schema import AcknowledgementRow, ExceptionRow


@dataclass(frozen=True, slots=True)
class ExceptionRecord:
    """
    A refusal: its kind (the problem's code), whose call it answered, and what the call asked and was told.

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


def keep(session: Session, record: ExceptionRecord) -> None:
    """
    Write a refusal, unless the very same call was refused for the same reason before.

    It is dated no earlier than the last act, nor than any instant that a report was asked about: a clock that is behind
    must not put it into a period that was told of.
    """
    digest = hashlib.sha256(orjson.dumps(record.content, option=orjson.OPT_SORT_KEYS)).digest()
    noticed_at = stripes.booking_time(session, REFERENCE_BOOK, now=record.noticed_at)
    session.execute(
        insert(ExceptionRow)
        .values(
            exception_id=id_of(noticed_at, record.kind, record.table_id, record.round_id, digest.hex()),
            kind=record.kind,
            table_id=record.table_id,
            round_id=record.round_id,
            digest=digest,
            jackpot_id=pinned.table(session, record.table_id).jackpot_id or "",
            principal=record.principal,
            noticed_at=noticed_at,
            detail={"request": record.request, "detail": record.detail},
        )
        .on_conflict_do_nothing()
    )


def acknowledge(session: Session, exception_id: str, *, entry_seq: int) -> None:
    """Write that an exception was acknowledged; the act of this seq says by whom, and why."""
    session.execute(insert_row(AcknowledgementRow).values(exception_id=exception_id, entry_seq=entry_seq))


def id_of(since: Any, *what: Any) -> ColumnElement[str]:  # noqa: ANN401  values and columns alike
    """Write, as SQL, the id of what is an exception since an instant; `what` tells it from everything else."""
    return func.exception_id(since, func.concat_ws(" ", *what), type_=Text(collation="C"))
