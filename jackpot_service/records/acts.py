"""The administrative acts, as they were recorded: the audit trail."""

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, func, insert, select

from jackpot_service.database.models import ActRow, EntryRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.journal import EntryKind


@dataclass(frozen=True, slots=True)
class RecordedAct:
    """An act with the entry that it is: who did what, when; see `ActRow` for the rest."""

    seq: int
    kind: str
    principal: str
    received_at: datetime
    booked_at: datetime
    request_id: str | None
    decides: str | None
    subject: str
    jackpot_id: str | None
    reason: str | None
    request: Mapping[str, Any] | None
    before: Mapping[str, Any] | None
    after: Mapping[str, Any]
    effects: list[dict[str, Any]]


def add(session: Session, seq: int, recorded: Mapping[str, Any]) -> None:
    """Write an act; `recorded` is what its entry's digest covers."""
    session.execute(insert(ActRow).values(seq=seq, **recorded))


def by_request(session: Session, request_id: str) -> RecordedAct | None:
    """The act that was done under a caller's id, if there is one."""
    row = session.execute(recorded_acts().where(ActRow.request_id == request_id)).one_or_none()
    return None if row is None else RecordedAct(*row)


def acts_of(session: Session, seqs: Collection[int]) -> Sequence[RecordedAct]:
    """The acts of some seqs, in their order."""
    if not seqs:
        return ()
    rows = session.execute(recorded_acts().where(ActRow.seq.in_(seqs)).order_by(ActRow.seq))
    return [RecordedAct(*row) for row in rows]


def by_seq(session: Session, seq: int) -> RecordedAct:
    """The act of this seq; it must exist."""
    return RecordedAct(*session.execute(recorded_acts().where(ActRow.seq == seq)).one())


def booking(session: Session, book: str, seq: int) -> RecordedAct | None:
    """The act that booked an entry of a jackpot's stripe 0; None for an entry that no act booked."""
    effect = ActRow.effects.contains([{"book": book, "seq": seq}])
    row = session.execute(recorded_acts().where(effect).order_by(ActRow.seq).limit(1)).one_or_none()
    return None if row is None else RecordedAct(*row)


def carrying_out(session: Session, request_id: str, *, kinds: Collection[EntryKind]) -> RecordedAct | None:
    """The act, of one of some kinds, that carried out a change request; None if none did."""
    of_request = recorded_acts().where(ActRow.decides == request_id, EntryRow.kind.in_(kinds))
    row = session.execute(of_request).one_or_none()
    return None if row is None else RecordedAct(*row)


def last_seq(session: Session, *, jackpot_id: str | None = None) -> int:
    """The seq of the last act, or of the last that was about a jackpot; 0 if there is none."""
    question = select(func.coalesce(func.max(EntryRow.seq), 0)).where(
        EntryRow.jackpot_id == REFERENCE_BOOK, EntryRow.stripe_no == 0
    )
    if jackpot_id is not None:
        question = select(func.coalesce(func.max(ActRow.seq), 0)).where(ActRow.jackpot_id == jackpot_id)
    return session.scalar(question) or 0


def first_seq_at(session: Session, instant: datetime) -> int:
    """
    The seq of the first act booked at or after an instant; one more than the last's if there is none.

    Found by halving: acts are numbered without a gap, and none is dated before the one that stands before it.
    """
    return 1 + bisect_left(range(1, last_seq(session) + 1), instant, key=lambda seq: _booked_at(session, seq))


def _booked_at(session: Session, seq: int) -> datetime:
    return session.execute(
        select(EntryRow.booked_at).where(
            EntryRow.jackpot_id == REFERENCE_BOOK, EntryRow.stripe_no == 0, EntryRow.seq == seq
        )
    ).scalar_one()


def last_kind(session: Session, jackpot_id: str, *kinds: EntryKind) -> EntryKind | None:
    """The kind of the last act of some kinds that was about a jackpot; None if there was none."""
    entry = and_(EntryRow.jackpot_id == REFERENCE_BOOK, EntryRow.stripe_no == 0, EntryRow.seq == ActRow.seq)
    question = (
        select(EntryRow.kind)
        .join(ActRow, entry)
        .where(ActRow.jackpot_id == jackpot_id, EntryRow.kind.in_(kinds))
        .order_by(ActRow.seq.desc())
        .limit(1)
    )
    kind = session.scalar(question)
    return None if kind is None else EntryKind(kind)


def recorded_acts() -> Select[*tuple[Any, ...]]:
    """Select the columns of `RecordedAct`; callers add conditions, order and limit."""
    entry = and_(EntryRow.jackpot_id == REFERENCE_BOOK, EntryRow.stripe_no == 0, EntryRow.seq == ActRow.seq)
    return select(
        ActRow.seq,
        EntryRow.kind,
        EntryRow.principal,
        EntryRow.received_at,
        EntryRow.booked_at,
        ActRow.request_id,
        ActRow.decides,
        ActRow.subject,
        ActRow.jackpot_id,
        ActRow.reason,
        ActRow.request,
        ActRow.before,
        ActRow.after,
        ActRow.effects,
    ).join(EntryRow, entry)
