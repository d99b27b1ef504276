"""Whether the exceptions are as they were noted, and those that somebody looked into as their acts show them."""

from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import Row, func, select

from jackpot_service.database.models import ExceptionChainRow, ExceptionCountRow, ExceptionRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.exceptions import EMERGENCY_APPROVAL, PRIZE_DENIED, ROUND_OPEN
from jackpot_service.domain.journal import EntryKind
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.proof.decoding import Decoder, is_written_alike
from jackpot_service.proof.references import Document, References
from jackpot_service.records import exceptions

PAGE: Final = 1000
"""How many exceptions are in memory at a time."""

_TABLE: Final = ExceptionRow.__table__
_COUNTS_ALONE: Final = (
    select(ExceptionCountRow.exception_id)
    .join(ExceptionRow, ExceptionRow.exception_id == ExceptionCountRow.exception_id, isouter=True)
    .where(ExceptionRow.exception_id.is_(None))
    .order_by(ExceptionCountRow.exception_id)
)
"""Counts that their exceptions left behind."""

_CHAINED: Final = [column.name for column in _TABLE.columns if column.name not in {"exception_id", "head"}]


def check(session: Session, decoder: Decoder, references: References) -> Found:
    """Check the chain of exceptions from its beginning, and each exception that was acknowledged."""
    waiting = dict(references.acknowledgements)
    number, head = 0, exceptions.FIRST_HEAD
    for row in _rows(session, decoder):
        number += 1
        if row.number != number:
            yield _mismatch(row.exception_id, f"has the number {row.number}, due was {number}")
            number = row.number
        head = exceptions.next_head(head, {name: getattr(row, name) for name in _CHAINED})
        if row.head != head or row.exception_id != row.due_id:
            yield _mismatch(row.exception_id, "is not as it was noted, or not the one that was noted then")
            head = row.head
        if (row.refusals is None) is not bool(row.round_id):
            yield _mismatch(row.exception_id, f"of round {row.round_id or 'none'}, counted {row.refusals} times")
        acknowledgement = waiting.pop(row.exception_id, None)
        act = None if acknowledgement is None else references.acts.get(acknowledgement.entry_seq)
        if act is not None:
            yield from _is_closed_as_due(row, act, references)
    yield from _ends_there(session, number, head)
    for exception_id in session.scalars(_COUNTS_ALONE):
        yield _mismatch(exception_id, "was counted, and it is not there")
    for exception_id, acknowledgement in waiting.items():
        act = references.acts.get(acknowledgement.entry_seq)
        if act is not None and (act.before or {}).get("kind") not in {ROUND_OPEN, EMERGENCY_APPROVAL}:
            yield _mismatch(exception_id, f"act {act.seq} acknowledged it, and it is not there")


def _ends_there(session: Session, number: int, head: bytes) -> Found:
    """The chain's row has the number and the head of the last exception."""
    end = session.execute(select(ExceptionChainRow.number, ExceptionChainRow.head)).one_or_none()
    if end is None:
        yield Mismatch(Code.EXCEPTION_CHAIN, REFERENCE_BOOK, "exceptions", "it is not kept where their chain ends")
    elif end.number != number:
        detail = f"the last has the number {number}, due was {end.number}"
        yield Mismatch(Code.EXCEPTION_CHAIN, REFERENCE_BOOK, "exceptions", detail)
    elif end.head != head:
        detail = f"the last has the head {head.hex()}, due was {end.head.hex()}"
        yield Mismatch(Code.EXCEPTION_CHAIN, REFERENCE_BOOK, "exceptions", detail)


def _is_closed_as_due(row: Row[Any], act: Row[Any], references: References) -> Found:
    """Two people closed a denied prize, one any other exception; and the act names it, or shows it as it is."""
    if is_closed_by_two(act) is not (row.kind == PRIZE_DENIED):
        yield _mismatch(row.exception_id, f"act {act.seq} is a {act.kind}, which closes no {row.kind}")
    elif is_closed_by_two(act):
        if act.after.get("exception_id") != row.exception_id:
            yield _mismatch(row.exception_id, f"act {act.seq} names another")
    elif not is_written_alike(act.before, _shown(row, references)):
        yield _mismatch(row.exception_id, f"act {act.seq} shows it otherwise")


def is_closed_by_two(act: Row[Any] | None) -> bool:
    """Whether an act closes exceptions of denied prizes: two people decided, and it names what it closed."""
    return act is not None and act.kind in {EntryKind.COMPENSATION, EntryKind.COMPENSATION_DECLINED}


def acknowledgements(references: References) -> Iterator[Document]:
    """Write the acknowledgements by one person; acts of two people show more than the exception that they close."""
    for row in references.acknowledgements.values():
        if not is_closed_by_two(references.acts.get(row.entry_seq)):
            recorded = facts.facts_of_acknowledgement(row.exception_id)
            name = f"acknowledgement of {row.exception_id}"
            yield Document(name, row.entry_seq, EntryKind.EXCEPTION_ACKNOWLEDGED, recorded)


def _rows(session: Session, decoder: Decoder) -> Iterator[Any]:
    due_id = exceptions.id_of(
        ExceptionRow.noticed_at,
        ExceptionRow.kind,
        ExceptionRow.table_id,
        ExceptionRow.round_id,
        func.encode(ExceptionRow.digest, "hex"),
    )
    counted = ExceptionCountRow.exception_id == ExceptionRow.exception_id
    question = (
        select(_TABLE, due_id.label("due_id"), ExceptionCountRow.refusals)
        .join(ExceptionCountRow, counted, isouter=True)
        .order_by(ExceptionRow.number)
        .limit(PAGE)
    )
    after = 0
    while page := session.execute(question.where(ExceptionRow.number > after)).all():
        yield from decoder.rows(ExceptionRow.__tablename__, page)
        after = page[-1].number


def _shown(row: Row[Any], references: References) -> facts.Facts:
    """The exception as it was shown to whom acknowledged it."""
    table = references.tables.get(row.table_id)
    return {
        "kind": row.kind,
        "noticed_at": facts.instant(row.noticed_at),
        "jackpot_id": row.jackpot_id or None,
        "casino_id": None if table is None else table.casino_id,
        "table_id": row.table_id,
        "round_id": row.round_id or None,
        "principal": row.principal,
        "detail": row.detail.get("detail"),
        "facts": row.detail.get("request"),
    }


def _mismatch(exception_id: str, detail: str) -> Mismatch:
    return Mismatch(Code.EXCEPTION_CHAIN, REFERENCE_BOOK, f"exception {exception_id}", detail)
