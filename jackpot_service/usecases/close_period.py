"""Closing a period: its reports are kept by their hashes; whatever is found later is booked in the open one."""

from collections.abc import Mapping
from dataclasses import dataclass

from jackpot_service.database.transactions import Session
from jackpot_service.domain import closed_periods
from jackpot_service.domain.closed_periods import ClosedPeriod, KeptReport, Period
from jackpot_service.domain.facts import instant
from jackpot_service.domain.journal import EntryKind
from jackpot_service.records import checkpoints as records
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act


@dataclass(frozen=True, slots=True)
class ClosePeriod:
    """The period to close, and the hashes of its reports: the caller made them just before."""

    act: Act
    period: Period
    reports: Mapping[str, KeptReport]


@dataclass(frozen=True, slots=True)
class PeriodClosed:
    """The period, and whether it had been closed so before."""

    period: ClosedPeriod
    is_replay: bool


def closed_before(session: Session, act: Act, end: object) -> ClosedPeriod | None:
    """The period that was closed under this request id before. Raises: RequestConflict."""
    replayed = acts.find_replay(session, act, EntryKind.PERIOD_CLOSED, {"to": end, "reason": act.reason})
    if replayed is None:
        return None
    return next(period for period in records.latest_periods(session) if period.entry_seq == replayed.seq)


def close_period(session: Session, command: ClosePeriod) -> PeriodClosed:
    """
    Close the period that follows the last closed one; nothing can be booked in it any more, since it is over.

    Raises: RequestConflict; PeriodConflict; PeriodBeforeBooks.
    """
    acts.lock(session)
    period, end = command.period, instant(command.period.end)
    replayed = closed_before(session, command.act, end)
    if replayed is not None:
        return PeriodClosed(replayed, is_replay=True)
    last = records.last_period(session)
    closed_periods.require_next(period, last=None if last is None else last.period, now=command.act.now)
    closed_periods.require_begun(period, begun_at=records.books_begun_at(session))
    seq = acts.record(
        session,
        command.act,
        EntryKind.PERIOD_CLOSED,
        subject=f"period to {end}",
        before={"closed_to": None if last is None else instant(last.period.end)},
        after=closed_periods.facts_of(period, command.reports),
        request={"to": end, "reason": command.act.reason},
    )
    closed = ClosedPeriod(period, command.reports, seq)
    records.add_period(session, closed)
    return PeriodClosed(closed, is_replay=False)
