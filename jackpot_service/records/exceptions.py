"""Refusals that finance must see, kept once a kind, table, round and content."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy.dialects.postgresql import insert

from jackpot_service.db import Session
from jackpot_service.records import pinned
from jackpot_service.records.schema import ExceptionRow


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
    """Write a refusal, unless the very same call was refused for the same reason before."""
    digest = hashlib.sha256(orjson.dumps(record.content, option=orjson.OPT_SORT_KEYS)).digest()
    session.execute(
        insert(ExceptionRow)
        .values(
            kind=record.kind,
            table_id=record.table_id,
            round_id=record.round_id,
            digest=digest,
            jackpot_id=pinned.table(session, record.table_id).jackpot_id or "",
            principal=record.principal,
            noticed_at=record.noticed_at,
            detail={"request": record.request, "detail": record.detail},
        )
        .on_conflict_do_nothing()
    )
