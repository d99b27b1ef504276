"""
The effect of a change request: what it did, or what it would do if it were approved now.

Both have one form, so that an approver sees what will be recorded. An effect is figured from one state of the books
and one instant, `figured_at`: the same two make the same effect. So what only its booking says is null in it: an
entry's seq, and when a change comes into force that states no time.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain import changes
from jackpot_service.domain.changes import Change, ChangeState
from jackpot_service.domain.errors import BooksBroken, Conflict, LedgerError, NotFound, Refused
from jackpot_service.domain.facts import Facts
from jackpot_service.ledger import replay
from jackpot_service.ledger.replay import Line, lines_of
from jackpot_service.records import acts as recorded_acts
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.kinds import Applied, Conditions, Kind, Plan
from jackpot_service.usecases.changes.registry import KINDS

IMPOSSIBLE: Final = (Refused, Conflict, NotFound)
"""The kinds of error that say that a change cannot be made as the books are."""


@dataclass(frozen=True, slots=True)
class EffectEntry:
    """An entry that a change booked on stripe 0 of a jackpot's book, or would book; then it has no `seq`."""

    book: str
    seq: int | None
    kind: str
    recorded: Facts
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class ChangeEffect:
    """
    The effect of a change: the state before and after it, and its entries.

    Amounts that name no currency are in `currency`. `figured_at` is when it was figured; None once it was done. A
    change that is impossible has a `problem` and `figured_at`, and nothing else.
    """

    before: Facts | None
    after: Facts | None
    entries: tuple[EffectEntry, ...]
    currency: str | None
    figured_at: datetime | None = None
    problem: LedgerError | None = None


def effect_of(session: Session, change: Change, act: Act) -> ChangeEffect | None:
    """
    Return the effect that a request had, or would have; None for one that was rejected or has expired.

    Whether `act`, the approval that may follow, would be let, is not looked at: only whether anybody's would.
    """
    match change.state(at=act.now):
        case ChangeState.PENDING:
            return _figured(session, change, act)
        case ChangeState.APPROVED:
            return _recorded(session, change)
        case ChangeState.REJECTED | ChangeState.EXPIRED:
            return None


def _figured(session: Session, change: Change, act: Act) -> ChangeEffect:
    try:
        looked_at = look_at(session, change, act)
        return waiting(session, looked_at, looked_at.request.plan(session, act), at=act.now)
    except IMPOSSIBLE as error:
        return impossible(error, at=act.now)


def impossible(problem: LedgerError, *, at: datetime) -> ChangeEffect:
    """Return the effect of a change that cannot be made, or could not be figured."""
    return ChangeEffect(None, None, (), None, at, problem.with_traceback(None))


@dataclass(frozen=True, slots=True)
class LookedAt:
    """A change as it was requested, and as it is completed now; amounts that name no currency are in `currency`."""

    requested: Kind
    request: Kind
    currency: str | None


def look_at(session: Session, change: Change, act: Act) -> LookedAt:
    """
    Read a request as it was asked for, and as it is completed now. Raises: ChangeStale; what it is refused by.

    Every look at a request and its approval begin so; what needs no lock is read before it takes any.
    """
    requested = KINDS[change.kind].read(change.payload)
    currency = requested.currency_of_amounts(session)
    request = requested.completed(Conditions(acts.booking_time(session, act), change.request_id))
    changes.require_base_version(change.base_version, request.version(session))
    changes.require_approvals(change, approvals_due=request.approvals_due(session))
    return LookedAt(requested, request, currency)


def waiting(session: Session, looked_at: LookedAt, figured: Plan | Applied, *, at: datetime) -> ChangeEffect:
    """Return what a change would do, decided or rehearsed at an instant."""
    requested = looked_at.requested
    after = {**requested.shown_after(session, figured.after), **requested.left_to_booking}
    entries = tuple(replace(entry, seq=None) for entry in _entries(figured))
    return ChangeEffect(figured.before, after, entries, looked_at.currency, figured_at=at)


def done(session: Session, looked_at: LookedAt, figured: Applied) -> ChangeEffect:
    """Return what a change has just done."""
    after = looked_at.requested.shown_after(session, figured.after)
    return ChangeEffect(figured.before, after, _entries(figured), looked_at.currency)


def _entries(figured: Plan | Applied) -> tuple[EffectEntry, ...]:
    if isinstance(figured, Plan):
        return tuple(
            EffectEntry(book, None, effect.kind, effect.recorded, lines_of(effect.postings))
            for book, effect in figured.booked
        )
    return tuple(
        EffectEntry(effect.book, effect.seq, effect.kind, effect.recorded, lines_of(effect.postings))
        for effect in figured.effects
    )


def _recorded(session: Session, change: Change) -> ChangeEffect:
    """Read what a change did from the act that carried it out, and from the entries that the act booked."""
    kind = KINDS[change.kind]
    act = recorded_acts.carrying_out(session, change.request_id, kinds=kind.acts)
    if act is None:
        message = f"Change request {change.request_id} was approved, and no act carries it out."
        raise BooksBroken(message)
    requested = kind.read(change.payload)
    entries = tuple(
        EffectEntry(
            effect["book"],
            effect["seq"],
            effect["kind"],
            effect["recorded"],
            _lines(session, effect["book"], effect["seq"]),
        )
        for effect in act.effects
    )
    after = requested.shown_after(session, act.after)
    return ChangeEffect(act.before, after, entries, requested.currency_of_amounts(session))


def _lines(session: Session, book: str, seq: int) -> tuple[Line, ...]:
    (entry,) = replay.entries_at(session, book, 0, [seq])
    return entry.lines
