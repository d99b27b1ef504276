"""
Where what is only read is read: at the replica where there is one that has what the reader needs, else at the primary.

Nothing that writes, decides or lets somebody in comes here: that asks the primary's engine. A reading that the replica
cannot give, or breaks off before anybody has seen a part of it, is given by the primary. A refusal is the primary's
alone: what somebody asks for may not have come to the replica yet.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

import psycopg
import sqlalchemy
from sqlalchemy.exc import DBAPIError

from jackpot_service.database.failures import Busy, HeldUp
from jackpot_service.database.replica import Holds, Replica, ReplicaState, Unfit
from jackpot_service.database.snapshots import snapshot
from jackpot_service.database.transactions import Session, read, read_once
from jackpot_service.domain.errors import LedgerError, Unavailable
from jackpot_service.telemetry import counters

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_ELSEWHERE: Final = (Unfit, LedgerError, DBAPIError, psycopg.Error)
"""After these the primary is asked; errors of SQL too, since a migration may not be there yet."""

ANSWERED: Final = "answered"
BROKEN_OFF: Final = "broken-off"
NOT_REACHED: Final = "not-reached"
REFUSED: Final = "refused"


class ReplicaBrokeOff(Busy):
    """
    A reading at the replica came to no end.

    It was ended, or its recovery was in conflict with the reading; or it was refused, which the primary decides.
    """


@dataclass(frozen=True, slots=True)
class Reading(Generic[T_co]):
    """A value that was read; at a replica, it lacks nothing from before `fresh_at`, by the steady clock."""

    value: T_co
    fresh_at: float | None = None


@dataclass(frozen=True, slots=True)
class Reads:
    """The database as readers use it; the replica must have replayed the log up to a position for them."""

    primary: sqlalchemy.Engine
    replica: Replica | None = None
    position: int = 0

    def after(self, position: int) -> "Reads":
        """Return it for a reader that must not miss what was committed up to a position of the log."""
        return replace(self, position=position)

    def at_primary(self) -> "Reads":
        """Return it for a reader that must not miss anything."""
        return replace(self, replica=None)

    def read(self, report: Callable[[Session], T], *, holds: Holds | None = None) -> Reading[T]:
        """
        Run a report of which each statement may see an instant of its own; see `transactions.read`.

        At a replica something `holds` that the report relies on. Raises: whatever domain error the report raised; Busy.
        """
        replica = self._in_use()
        if replica is not None:

            def read_there(session: Session) -> Reading[T]:
                fresh_at = replica.require(session, position=self.position, holds=holds)
                return Reading(report(session), fresh_at)

            try:
                reading = read_once(replica.engine, read_there)
            except _ELSEWHERE as error:
                _count(_outcome(error))
            else:
                _count(ANSWERED)
                return reading
        return Reading(read(self.primary, report))

    @contextmanager
    def snapshot(self, *, longest_s: float | None = None, holds: Holds | None = None) -> Iterator[Reading[Session]]:
        """
        Open a session that sees one instant; see `snapshots.snapshot`.

        At a replica something `holds` that the reader relies on. Raises: HeldUp, Busy; ReplicaBrokeOff in the block.
        """
        replica = self._in_use()
        with ExitStack() as opened:
            reading = None if replica is None else self._opened_there(opened, replica, longest_s, holds)
            if reading is None:
                yield Reading(opened.enter_context(snapshot(self.primary, longest_s=longest_s)))
            else:
                yield reading

    def _opened_there(
        self, opened: ExitStack, replica: Replica, longest_s: float | None, holds: Holds | None
    ) -> Reading[Session] | None:
        """Open a snapshot at the replica; None if it is not fit."""
        fresh_at = 0.0

        def require(session: Session) -> None:
            nonlocal fresh_at
            fresh_at = replica.require(session, position=self.position, holds=holds)

        with ExitStack() as opening:
            try:
                session = opening.enter_context(snapshot(replica.engine, longest_s=longest_s, first=require))
            except _ELSEWHERE as error:
                _count(_outcome(error))
                return None
            opened.enter_context(_counted())
            opened.push(opening.pop_all())
        return Reading(session, fresh_at)

    def _in_use(self) -> Replica | None:
        if self.replica is None:
            return None
        state = self.replica.last.state
        if state is not ReplicaState.IN_USE:
            _count(state.value)
            return None
        return self.replica


@contextmanager
def _counted() -> Iterator[None]:
    """Count a reading by its end. Raises: ReplicaBrokeOff in place of what ended it, unless it took too long."""
    try:
        yield
    except HeldUp:
        raise
    except (LedgerError, DBAPIError, psycopg.Error) as error:
        _count(_outcome(error))
        message = "The replica broke off what was read there; nothing was written."
        raise ReplicaBrokeOff(message) from error
    else:
        _count(ANSWERED)


def _outcome(error: Exception) -> str:
    if isinstance(error, Unfit):
        return NOT_REACHED if error.state is ReplicaState.IN_USE else error.state.value
    return REFUSED if isinstance(error, LedgerError) and not isinstance(error, Unavailable) else BROKEN_OFF


def _count(outcome: str) -> None:
    counters.count(counters.REPLICA_READS, outcome=outcome)
