"""
A hot standby of the database: how far it is behind, and whether it may be read.

Twice a second a watch asks the primary how far its log goes, and keeps the answer with the instant before the question.
A replica that has replayed so far shows all that was committed before that instant. So its age needs no clock but this
process's, and a primary at which nothing happens does not look like a replica that is behind: its log does not grow.
"""

import math
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, NamedTuple

import psycopg
import sqlalchemy
import structlog
from sqlalchemy.exc import SQLAlchemyError

from jackpot_service.config.settings import Config
from jackpot_service.database import deadlines
from jackpot_service.database.connections import create_engine
from jackpot_service.database.distribution import is_distributed
from jackpot_service.database.tables import ROLE
from jackpot_service.database.transactions import LONGEST_LOOK_S, NOTE, Session, abandon_connections
from jackpot_service.telemetry import trouble

LOOK_EVERY_S: Final = 0.5

LONGEST_WAIT_S: Final = 0.5
"""For so long a reader waits until the replica has what it must have; then the primary is read."""

POLL_S: Final = 0.01

_PRIMARY = sqlalchemy.text(
    """
    SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint AS position, system_identifier AS system,
           (SELECT oid::bigint FROM pg_database WHERE datname = current_database()) AS database,
           ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::int AS timeline
    FROM pg_control_system()
    """
)

# The control file learns of a timeline after the replay has come to it. So it is late, and never early.
_REPLICA = sqlalchemy.text(
    """
    SELECT pg_is_in_recovery() AS is_standby, (pg_last_wal_replay_lsn() - '0/0')::bigint AS position,
           system_identifier AS system,
           (SELECT oid::bigint FROM pg_database WHERE datname = current_database()) AS database,
           session_user::text AS login,
           greatest(pg_control_checkpoint.timeline_id, min_recovery_end_timeline) AS timeline
    FROM pg_control_system(), pg_control_checkpoint(), pg_control_recovery()
    """
)

_LONGEST_END_S: Final = 5.0
"""`close` waits so long for the last look, which asks two databases and may have to connect first."""

_NO_ANSWER: Final = (SQLAlchemyError, psycopg.Error)

log = structlog.get_logger()

Holds = Callable[[Session], bool]
"""Finds out at a replica whether that has what a reader must not miss."""


class ReplicaState(StrEnum):
    """Whether a replica is read, or why it is not."""

    IN_USE = "in-use"
    BEHIND = "behind"
    AWAY = "away"
    FOREIGN = "foreign"
    """
    It is no standby of this database, or not of its primary's timeline, or the login is not the service's.

    Or the database is of several machines, of which a standby has one.
    """


@dataclass(frozen=True, slots=True)
class Look:
    """The state of a replica when it was last looked at; it shows all from before `fresh_at`, by the steady clock."""

    state: ReplicaState
    fresh_at: float | None = None
    monotonic: Callable[[], float] = time.monotonic

    @property
    def lag_s(self) -> float | None:
        """How many seconds the replica is behind at most; None if nobody knows."""
        return None if self.fresh_at is None else seconds_since(self.fresh_at, now=self.monotonic())


def seconds_since(fresh_at: float, *, now: float) -> float:
    """How many seconds lie between two instants of the steady clock, rounded up to a tenth."""
    return math.ceil(10 * max(0.0, now - fresh_at)) / 10


class Unfit(Exception):
    """A replica does not have what a reader needs; the state says why, IN_USE that it did not come in time."""

    def __init__(self, state: ReplicaState) -> None:
        super().__init__(state.value)
        self.state = state


class Log(NamedTuple):
    """The log that a position is of: a cluster's, on a timeline that a failover ends; and the database that is read."""

    system: int
    timeline: int
    database: int


class Mark(NamedTuple):
    """How far the primary's log went at an instant of the steady clock, or further."""

    at: float
    position: int
    log: Log


class Marks:
    """The marks of the last `longest_s` seconds, all of the same log; written by one thread."""

    def __init__(self, longest_s: float) -> None:
        self._longest_s = longest_s
        self._marks: tuple[Mark, ...] = ()

    def add(self, new: Mark) -> None:
        """Add a mark. Those of another log, or of one that went further before, say nothing of this."""
        earlier = [
            mark for mark in self._marks if mark.position != new.position and new.at - mark.at <= self._longest_s
        ]
        is_another = any(mark.log != new.log or mark.position > new.position for mark in self._marks)
        self._marks = (new,) if is_another else (*earlier, new)

    def fresh_at(self, replayed: int, log: Log) -> float | None:
        """Find the latest instant before which all is replayed up to a position of a log; None if nobody knows."""
        return next((mark.at for mark in reversed(self._marks) if mark.position <= replayed and mark.log == log), None)

    def are_of_another_than(self, log: Log) -> bool:
        """Whether the primary's log is known to be another one."""
        return any(mark.log != log for mark in self._marks)


class Replica:
    """
    A standby that may be read, by `engine`, and its last look.

    The watch has a connection of its own to it and to the primary: it waits for no reader.
    """

    def __init__(
        self,
        engine: sqlalchemy.Engine,
        *,
        watched: sqlalchemy.Engine,
        primary: sqlalchemy.Engine,
        stale_after_s: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.engine = engine
        self.last = Look(ReplicaState.AWAY)
        self._watched = watched.execution_options(isolation_level="AUTOCOMMIT")
        self._primary = primary.execution_options(isolation_level="AUTOCOMMIT")
        self._stale_after_s = stale_after_s
        self._monotonic = monotonic
        self._marks = Marks(2 * stale_after_s)
        self._is_closed = threading.Event()
        self._watch: threading.Thread | None = None
        self._engines = (engine, watched, primary)
        for opened in self._engines:
            weakref.finalize(self, opened.dispose)

    @classmethod
    def configured(cls, config: Config, primary_url: str) -> "Replica | None":
        """Return the replica of a configuration, watched from now on; None if it has none."""
        if config.replica_url is None:
            return None
        of_watch = replace(config, pool_size=1, pool_timeout_s=LONGEST_LOOK_S, request_timeout_s=LONGEST_LOOK_S)
        configured = cls(
            create_engine(config, config.replica_url).execution_options(**{NOTE: trouble.note_of_replica}),
            watched=create_engine(of_watch, config.replica_url),
            primary=create_engine(of_watch, primary_url),
            stale_after_s=config.replica_stale_after_s,
        )
        configured.watch()
        return configured

    def watch(self) -> None:
        """Look now and from now on, in a thread, for as long as somebody holds this."""
        weakref.finalize(self, self._is_closed.set)
        looking_on = (weakref.ref(self), self._is_closed)
        self._watch = threading.Thread(target=_look_on, args=looking_on, name="watch of the replica", daemon=True)
        self._watch.start()

    def close(self) -> None:
        """Look no more, and let go of its connections, and of the watch's to the primary."""
        self._is_closed.set()
        if self._watch is not None:
            self._watch.join(_LONGEST_END_S)  # Nobody closes what it takes from a pool afterwards.
        for engine in self._engines:
            engine.dispose()

    def look(self) -> Look:
        """Look how far the primary's log goes and how far the replica has replayed it."""
        began = self._monotonic()
        with suppress(*_NO_ANSWER):
            row = _row_of(self._primary, _PRIMARY)
            self._marks.add(Mark(began, row.position, _log_of(row)))
        before, detail = self.last, None
        try:
            self.last = self._seen(_row_of(self._watched, _REPLICA))
        except _NO_ANSWER as error:
            self.last, detail = Look(ReplicaState.AWAY), str(error).partition("\n")[0]
        if self.last.state in {ReplicaState.AWAY, ReplicaState.FOREIGN}:
            for engine in (self.engine, self._watched):  # Its connections may lead to what is a primary by now.
                abandon_connections(engine, since=began)
        if before.state != self.last.state and not self._is_closed.is_set():
            level = log.info if self.last.state is ReplicaState.IN_USE else log.warning
            level("replica-state", state=self.last.state.value, lag_s=self.last.lag_s, detail=detail)
        return self.last

    def require(self, session: Session, *, position: int = 0, holds: Holds | None = None) -> float:
        """
        Hold that a session at the replica has all up to a position of the log, and what else is needed; wait for it.

        Each reading finds out by itself where its connection leads: a URL may name several hosts, and a host change.
        Returns the instant before which nothing is missing that was committed. Raises: Unfit.
        """
        with deadlines.within(LONGEST_WAIT_S + LONGEST_LOOK_S):  # A host that hangs holds nobody up for longer.
            return self._require(session, position, holds)

    def _require(self, session: Session, position: int, holds: Holds | None) -> float:
        until = self._monotonic() + LONGEST_WAIT_S
        while True:
            row = session.execute(_REPLICA).one()
            seen = self._seen(row)
            if seen.state is ReplicaState.FOREIGN:
                session.invalidate()  # The next connection may lead to a standby of this database.
            if seen.state is not ReplicaState.IN_USE or seen.fresh_at is None:
                raise Unfit(seen.state)
            if row.position >= position and (holds is None or holds(session)):
                return seen.fresh_at
            if self._monotonic() > until:
                raise Unfit(ReplicaState.IN_USE)
            session.rollback()  # The next statement sees a later instant.
            time.sleep(POLL_S)

    def _seen(self, row: "sqlalchemy.Row[Any]") -> Look:
        """Whether what a connection says of its server is that it is a standby of the primary, and how far behind."""
        log = _log_of(row)
        if is_distributed(self._primary):  # Its log is the coordinator's: it says nothing of what the others have.
            return Look(ReplicaState.FOREIGN)
        if not row.is_standby or row.login != ROLE or self._marks.are_of_another_than(log):
            return Look(ReplicaState.FOREIGN)
        fresh_at = self._marks.fresh_at(row.position, log)
        is_in_use = fresh_at is not None and not self._is_stale(fresh_at)
        return Look(ReplicaState.IN_USE if is_in_use else ReplicaState.BEHIND, fresh_at, self._monotonic)

    def _is_stale(self, fresh_at: float) -> bool:
        return self._monotonic() - fresh_at > self._stale_after_s


def _look_on(watched: "weakref.ref[Replica]", is_over: threading.Event) -> None:
    while not is_over.is_set() and (replica := watched()) is not None:
        replica.look()
        del replica
        is_over.wait(LOOK_EVERY_S)


def _row_of(engine: sqlalchemy.Engine, statement: sqlalchemy.TextClause) -> "sqlalchemy.Row[Any]":
    with deadlines.anew(LONGEST_LOOK_S), engine.connect() as connection:
        return connection.execute(statement).one()


def _log_of(row: "sqlalchemy.Row[Any]") -> Log:
    return Log(row.system, row.timeline, row.database)


def log_position(engine: sqlalchemy.Engine) -> int:
    """
    Read how far the log goes: all is before it that was committed until now.

    Raises: psycopg.Error, SQLAlchemyError.
    """
    with deadlines.within(LONGEST_LOOK_S), engine.execution_options(isolation_level="AUTOCOMMIT").connect() as session:
        position: int = session.execute(_PRIMARY).one().position
        return position
