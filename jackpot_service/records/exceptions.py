"""Keeping exceptions: calls that finance must see, once a kind, table, round and content; and acknowledgements."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson
from sqlalchemy import ColumnElement, LargeBinary, Text, any_, bindparam, func, insert, literal, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY

from jackpot_service.database.models import AcknowledgementRow, ExceptionChainRow, ExceptionCountRow, ExceptionRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.exceptions import PRIZE_DENIED
from jackpot_service.ledger import stripes
from jackpot_service.records import immutable


@dataclass(frozen=True, slots=True)
class ExceptionRecord:
    """
    A refusal (its kind is the problem's code), a late void, a denied prize or an unclaimed award.

    It says whose call it was, and the answer.

    `content` is what makes a call the same when it is repeated; `request` also has its remarks. One that `is_counted`
    stands for all refusals of its kind at its table in an hour, and is of no round.
    """

    kind: str
    table_id: str
    round_id: str
    principal: str
    noticed_at: datetime
    content: Any
    request: Mapping[str, Any]
    detail: str
    is_counted: bool = False


FIRST_HEAD: Final = hashlib.sha256(b"exceptions").digest()
"""The head before the first exception; the chain's row begins with it."""


def keep(session: Session, records: Sequence[ExceptionRecord]) -> int:
    """
    Write exceptions of one kind and one round, those apart of which the very same call was kept before.

    Returns how many it wrote.

    They are dated no earlier than the last act, nor than any instant that a report was made for. A clock that is behind
    must not put them into a period that was reported.

    Transactions that keep exceptions come one after another, each until its commit. So a caller locks its round and its
    stripes before: none of them waits for another lock while it holds the chain.
    """
    by_digest = {_digest_of(record): record for record in records}
    last, head = session.execute(_LOCK_END).one()
    first = records[0]
    of_round = {"of_kind": first.kind, "of_table": first.table_id, "of_round": first.round_id}
    stored = set(session.execute(_KEPT, {**of_round, "digests": list(by_digest)}).scalars())
    jackpot_id = immutable.table(session, first.table_id).jackpot_id or ""
    noticed_at = stripes.booking_time(session, REFERENCE_BOOK, now=first.noticed_at)
    new = [(digest, record) for digest, record in by_digest.items() if digest not in stored]
    rows = []
    for number, (digest, record) in enumerate(new, last + 1):
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
        identity = f"{record.kind} {record.table_id} {record.round_id} {digest.hex()}"
        rows.append({**row, "head": head, "since": noticed_at, "what": identity})
    if rows:
        session.execute(_ADD, rows)
        session.execute(_MOVE_END, {"last": rows[-1]["number"], "last_head": head})
    return len(rows)


def count(session: Session, record: ExceptionRecord) -> None:
    """
    Count a refusal in the line of its kind, table and hour; the first of them writes the line.

    Only the first waits for the chain of exceptions. The others' commits do not wait for the disk: a crash may lose
    some of the count, and never the line.
    """
    parameters = {"of_kind": record.kind, "of_table": record.table_id, "of_digest": _digest_of(record)}
    session.execute(_WITHOUT_FLUSH)
    if session.execute(_COUNT, parameters).rowcount:
        return
    session.execute(_WITH_FLUSH)
    keep(session, [record])
    if not session.execute(_COUNT, parameters).rowcount:
        session.execute(_FIRST_COUNT, parameters)


def counted(session: Session, exception_id: str) -> int:
    """How many refusals an exception stands for."""
    refusals = session.scalar(select(ExceptionCountRow.refusals).where(ExceptionCountRow.exception_id == exception_id))
    return 1 if refusals is None else refusals


def _digest_of(record: ExceptionRecord) -> bytes:
    return hashlib.sha256(orjson.dumps(record.content, option=orjson.OPT_SORT_KEYS)).digest()


def next_head(head: bytes, row: Mapping[str, Any]) -> bytes:
    """Figure the head after an exception, from all its columns but its id, which is made of them, and the head."""
    content = {**row, "digest": row["digest"].hex(), "noticed_at": facts.instant(row["noticed_at"])}
    return hashlib.sha256(head + orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).digest()


def acknowledge(session: Session, exception_id: str, *, entry_seq: int) -> None:
    """Write that an exception was acknowledged; the act of this seq says by whom, and why."""
    session.execute(insert(AcknowledgementRow).values(exception_id=exception_id, entry_seq=entry_seq))


@dataclass(frozen=True, slots=True)
class DeniedBet:
    """The exception of a bet whose prize was denied, and whether it waits for a decision still."""

    exception_id: str
    is_open: bool


def denied_in(session: Session, *, table_id: str, round_id: str) -> Mapping[str, DeniedBet]:
    """Find the denied prizes of a round, by bet."""
    rows = session.execute(_DENIED, {"of_table": table_id, "of_round": round_id})
    return {bet_id: DeniedBet(exception_id, entry_seq is None) for bet_id, exception_id, entry_seq in rows}


def id_of(since: Any, *parts: Any) -> ColumnElement[str]:  # noqa: ANN401  values and columns alike
    """Write, as SQL, the id of an exception since an instant; `parts` distinguish it from all others."""
    return func.exception_id(since, func.concat_ws(" ", *parts), type_=Text(collation="C"))


# Exceptions are kept one after another: each needs the head of the one before it, as committed.
_LOCK_END = select(ExceptionChainRow.number, ExceptionChainRow.head).with_for_update(key_share=True)

_MOVE_END = update(ExceptionChainRow).values(number=bindparam("last"), head=bindparam("last_head", type_=LargeBinary))

_KEPT = select(ExceptionRow.digest).where(
    ExceptionRow.kind == bindparam("of_kind"),
    ExceptionRow.table_id == bindparam("of_table"),
    ExceptionRow.round_id == bindparam("of_round"),
    ExceptionRow.digest == any_(bindparam("digests", type_=ARRAY(LargeBinary))),
)

_DENIED = (
    select(ExceptionRow.detail["request"]["bet_id"].astext, ExceptionRow.exception_id, AcknowledgementRow.entry_seq)
    .join(AcknowledgementRow, AcknowledgementRow.exception_id == ExceptionRow.exception_id, isouter=True)
    .where(
        ExceptionRow.kind == PRIZE_DENIED,
        ExceptionRow.table_id == bindparam("of_table"),
        ExceptionRow.round_id == bindparam("of_round"),
    )
)

_WITHOUT_FLUSH = text("SET LOCAL synchronous_commit = off")
_WITH_FLUSH = text("SET LOCAL synchronous_commit TO DEFAULT")

_COUNTED = (
    ExceptionRow.kind == bindparam("of_kind"),
    ExceptionRow.table_id == bindparam("of_table"),
    ExceptionRow.round_id == "",
    ExceptionRow.digest == bindparam("of_digest", type_=LargeBinary),
)

_COUNT = (
    update(ExceptionCountRow)
    .where(ExceptionCountRow.exception_id == ExceptionRow.exception_id, *_COUNTED)
    .values(refusals=ExceptionCountRow.refusals + 1)
)

_FIRST_COUNT = insert(ExceptionCountRow).from_select(
    ["exception_id", "refusals"], select(ExceptionRow.exception_id, literal(1)).where(*_COUNTED)
)

_ADD = insert(ExceptionRow).values(exception_id=id_of(bindparam("since"), bindparam("what", type_=Text)))
