"""
Administrative acts: each is an entry of the reference book, and a row that says who did what, why, before and after.

Together they are the audit trail. An act locks the reference book first, so acts come one by one and each sees those
before it. Its entries in a jackpot's book come after that lock, and name the act.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from jackpot_service.database.pipelines import Cursor, Pipeline
from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import facts
from jackpot_service.domain.entries import REFERENCE_BOOK, Attribution, Entry
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.figures import Figure
from jackpot_service.domain.journal import EntryKind, Postings
from jackpot_service.domain.principals import Principal, UserRequired
from jackpot_service.ledger import journal, stripes
from jackpot_service.records import acts
from jackpot_service.records.acts import RecordedAct

NO_POSTINGS: Final = Postings()


class AlreadyExists(Conflict, code="already-exists", title="The id is taken"):
    """The id is taken, by something else than what was asked for."""


class RequestConflict(Conflict, code="request-conflict", title="The request id belongs to another request"):
    """The request id was used before, for something else or by somebody else."""


@dataclass(frozen=True, slots=True)
class Act:
    """
    An administrative act: the principal who does it, when, and why.

    `request_id` is the caller's id of it, kept for ever; `decides` the change request that it decides or carries out.
    """

    principal: Principal
    now: datetime
    request_id: str | None = None
    reason: str | None = None
    decides: str | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """
    The result of an act: its kind and its entry's, what the entry records, what it books, and its figures.

    The act shows `before`, and `after`: unless stated, what the entry records. The figures are `attributed_to`.
    `document` is what else is written of it.
    """

    kind: EntryKind
    before: Facts
    recorded: Facts
    postings: Postings = NO_POSTINGS
    after: Facts | None = None
    figures: Sequence[Figure] = ()
    attributed_to: Attribution | None = None
    document: Any = None

    @property
    def shown(self) -> Facts:
        """The state that the act shows after it."""
        return self.recorded if self.after is None else self.after


@dataclass(frozen=True, slots=True)
class Effect:
    """An entry that an act booked on stripe 0 of a jackpot's book, when, and what that entry recorded and moved."""

    book: str
    seq: int
    booked_at: datetime
    kind: EntryKind
    recorded: Facts
    postings: Postings


def require_user(act: Act) -> None:
    """Raises: UserRequired for a service account."""
    if act.principal.is_service_account:
        message = f"{act.principal.name} is a service account."
        raise UserRequired(message)


def lock(session: Session) -> None:
    """Let the acts come one by one, so that each sees those before it. The first lock that any act takes."""
    with pipelined(session) as pipe:
        stripes.lock_one(pipe, REFERENCE_BOOK, 0)


def booking_time(session: Session, act: Act) -> datetime:
    """When an act that is recorded now is booked, with the lock held: now, and not before the last of them was."""
    return stripes.booking_time(session, REFERENCE_BOOK, now=act.now)


def find_replay(session: Session, act: Act, kind: EntryKind, request: Facts) -> RecordedAct | None:
    """
    Find the act that was done under this request id before, with the lock held; None if there was none.

    Raises: RequestConflict if it was another act, another request, or was somebody else's.
    """
    if act.request_id is None:
        return None
    recorded = acts.by_request(session, act.request_id)
    if recorded is None:
        return None
    if (recorded.kind, recorded.principal, recorded.request) != (kind, act.principal.name, dict(request)):
        # Not everybody who meets the id may know whose it was and what.
        message = f"Request {act.request_id} was made before, by somebody else or for something else."
        raise RequestConflict(message, request_id=act.request_id)
    return recorded


def request_of(act: Act, content: Facts) -> Facts | None:
    """
    Return what makes a repeated request the same, for an act that may have a request id; None for one without.

    The reason is content: an act stands in the audit trail with one.
    """
    return None if act.request_id is None else {**content, "reason": act.reason}


def is_replay(session: Session, act: Act, kind: EntryKind, content: Facts) -> bool:
    """Return whether this very request did this before, with the lock held. Raises: RequestConflict."""
    request = request_of(act, content)
    return request is not None and find_replay(session, act, kind, request) is not None


def next_seq(session: Session) -> int:
    """The seq that the next act gets, with the lock held: what its effects in jackpots' books name it by."""
    return acts.last_seq(session) + 1


def book_effect(pipe: Pipeline, act: Act, done: Done, *, book: str, act_seq: int, not_before: datetime) -> Cursor:
    """
    Book what an act does in a jackpot's book, on its stripe 0; `effect_of` reads the cursor.

    The caller has locked what the postings depend on: all stripes where they depend on the pools. `not_before` is the
    act's `booking_time`, or later: so both are on the same side of every instant that was resolved before.
    """
    entry = Entry(
        book=book,
        kind=done.kind,
        principal=act.principal.name,
        received_at=act.now,
        in_rows=facts.facts_of_entry_of_act(act=act_seq, recorded=done.recorded),
        postings=done.postings,
        figures=done.figures,
        attributed_to=done.attributed_to,
    )
    return journal.post(pipe, entry, stripe_no=0, not_before=not_before)


def effect_of(cursor: Cursor, done: Done, *, book: str) -> Effect:
    """Return the entry that `book_effect` booked."""
    seq, booked_at = next(iter(cursor))
    return Effect(book, int(seq), booked_at, done.kind, done.recorded, done.postings)


def record(
    session: Session,
    act: Act,
    kind: EntryKind,
    *,
    subject: str,
    after: Facts,
    before: Facts | None = None,
    request: Facts | None = None,
    jackpot_id: str | None = None,
    effects: Sequence[Effect] = (),
    not_before: datetime | None = None,
    figures: Sequence[Figure] = (),
    attributed_to: Attribution | None = None,
) -> int:
    """
    Record an act in the reference book, with the lock held; returns its seq. It is not booked before its effects.

    `subject` names what it is about, `before` and `after` show it; `request` is what makes a repeated request the same.
    `figures` are what it comes to, `attributed_to` is theirs.
    """
    booked = [
        facts.facts_of_effect(book=effect.book, seq=effect.seq, kind=effect.kind.value, recorded=effect.recorded)
        for effect in effects
    ]
    recorded: Mapping[str, Any] = {
        "request_id": act.request_id,
        "decides": act.decides,
        "subject": subject,
        "jackpot_id": jackpot_id,
        "reason": act.reason,
        "request": request,
        "before": before,
        "after": after,
        "effects": booked,
    }
    entry = Entry(
        book=REFERENCE_BOOK,
        kind=kind,
        principal=act.principal.name,
        received_at=act.now,
        in_rows=facts.facts_of_act(**recorded),
        figures=figures,
        attributed_to=attributed_to,
    )
    earliest = max(
        [*(effect.booked_at for effect in effects), *([] if not_before is None else [not_before])], default=None
    )
    with pipelined(session) as pipe:
        cursor = journal.post(pipe, entry, stripe_no=0, not_before=earliest)
    seq = next(int(seq) for seq, _ in cursor)
    acts.add(session, seq, recorded)
    return seq


def record_done(
    session: Session,
    act: Act,
    done: Done,
    *,
    subject: str,
    book: str,
    effects: Sequence[Effect],
    request: Facts | None = None,
) -> int:
    """Record an act whose effects in a jackpot's book were booked; returns its seq."""
    return record(
        session,
        act,
        done.kind,
        subject=subject,
        before=done.before or None,
        after=done.shown,
        request=request,
        jackpot_id=book,
        effects=effects,
    )


def book(
    session: Session, act: Act, done: Done, *, book: str, subject: str, request: Facts | None = None
) -> tuple[int, Effect]:
    """
    Do an act that is one entry in a jackpot's book, with the lock held: book it, and record the act that names it.

    Returns the act's seq and the entry. Stripe 0 is locked from here to the commit: a hit, which holds all stripes,
    comes before or after it.
    """
    act_seq, not_before = next_seq(session), max(booking_time(session, act), stripes.last_booked_at(session, book))
    with pipelined(session) as pipe:
        cursor = book_effect(pipe, act, done, book=book, act_seq=act_seq, not_before=not_before)
    effect = effect_of(cursor, done, book=book)
    record_done(session, act, done, subject=subject, book=book, effects=[effect], request=request)
    return act_seq, effect
