"""
Doing jobs: one after another, each outside of any transaction, under a lease that is renewed while it is worked on.

A chunk, and how far the job is with it, are one transaction: when a runner ends, another goes on after the last
chunk. A runner whose database is away waits and takes the job up again.
"""

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import sqlalchemy
import structlog

from jackpot_service.database.reads import Reads
from jackpot_service.database.replica import Replica
from jackpot_service.database.transactions import Session, transact, translated
from jackpot_service.domain.errors import LedgerError, Unavailable
from jackpot_service.domain.jobs import Job
from jackpot_service.exports.jobs.kinds import Kind
from jackpot_service.exports.jobs.requests import KINDS
from jackpot_service.records import jobs
from jackpot_service.records.jobs import Chunk, Lease, LeaseLost

IDLE_S: Final = 2.0
"""How long a runner sleeps when there is nothing to do, or no database: as long a job waits, or for `idle`."""

LEASE: Final = timedelta(seconds=60)
"""After this time without a word from its runner, a job is another's to take up."""

BEATS_A_LEASE: Final = 3

MOST_ATTEMPTS: Final = 5
"""How often a job is taken up without a further chunk to show for it, before it is given up."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Runner:
    """
    Does jobs, one at a time. `kept_for` is how long files are kept; `stop` ends it after the chunk that it is at.

    Reports are read at the `replica`, if there is one. `idle` is what it does when there is no job, and returns whether
    it did anything; it may raise Unavailable.
    """

    engine: sqlalchemy.Engine
    kept_for: timedelta
    stop: threading.Event = field(default_factory=threading.Event)
    kinds: Mapping[str, Kind[Any]] = field(default_factory=lambda: KINDS)
    lease: Lease = field(default_factory=lambda: Lease(secrets.token_hex(8), LEASE))
    idle: Callable[[], bool] = lambda: False
    replica: Replica | None = None

    def work(self) -> None:
        """Do jobs, remove files, and do what else there is, until `stop` is set."""
        while not self.stop.is_set():
            try:
                is_busy = self.run_next() or self.remove_some() or self.idle()
            except Unavailable as error:
                log.warning("jobs-wait-for-the-database", detail=error.detail)
                is_busy = False
            if not is_busy:
                self.stop.wait(IDLE_S)

    def run_next(self) -> bool:
        """Do the job that has waited longest; returns whether there was one. Raises: Unavailable."""
        job = transact(self.engine, lambda session: jobs.take(session, self.lease, kinds=self.kinds))
        if job is None:
            return False
        try:
            self._run(job)
        except LeaseLost:
            log.info("job-lost", job_id=job.job_id)
        return True

    def remove_some(self) -> bool:
        """Remove some of what is not kept any longer; returns whether there was something. Raises: Unavailable."""
        return transact(self.engine, lambda session: jobs.remove_some(session, kept_for=self.kept_for))

    def _run(self, job: Job) -> None:
        """Do a job that was taken, to its end or as far as it goes. Raises: LeaseLost, Unavailable."""
        if job.attempts > MOST_ATTEMPTS:
            self._fail(job, f"given-up: it was begun {MOST_ATTEMPTS} times, and ended before its next chunk")
            return
        try:
            with self._heartbeat(job), translated(self.engine):
                self._write(job)
        except (LeaseLost, Unavailable):
            raise
        except LedgerError as error:
            self._fail(job, f"{error.code}: {error.detail}")
        except Exception as error:
            log.exception("job-failed", job_id=job.job_id, kind=job.kind)
            self._fail(job, f"internal-error: {type(error).__name__}")

    def _write(self, job: Job) -> None:
        kind, number = self.kinds[job.kind], job.chunks
        # A job that was broken off, perhaps by the replica, is taken up at the primary.
        reads = Reads(self.engine, self.replica if job.attempts == 1 else None)
        with closing(kind.pieces(reads, job.parameters, job.position)) as pieces:
            for number, piece in enumerate(pieces, start=job.chunks + 1):
                self._change(job, jobs.write, Chunk(number, piece.content, piece.position, piece.done, piece.total))
                if self.stop.is_set():
                    self._change(job, jobs.release)
                    return
        self._change(job, jobs.finish)
        log.info("job-done", job_id=job.job_id, kind=job.kind, chunks=number)

    def _fail(self, job: Job, error: str) -> None:
        log.warning("job-given-up", job_id=job.job_id, kind=job.kind, error=error)
        self._change(job, jobs.fail, error)

    def _change(self, job: Job, change: Callable[..., None], *values: object) -> None:
        """Write something of a job that is still ours. Raises: LeaseLost, Unavailable."""

        def act(session: Session) -> None:
            change(session, job.job_id, self.lease, *values)

        transact(self.engine, act)

    @contextmanager
    def _heartbeat(self, job: Job) -> Iterator[None]:
        """Renew the lease now and then, also while a piece takes longer than a lease."""
        over = threading.Event()

        def beat() -> None:
            while not over.wait(self.lease.length.total_seconds() / BEATS_A_LEASE):
                try:
                    self._change(job, jobs.renew)
                except LeaseLost:
                    return
                except Unavailable:
                    continue

        thread = threading.Thread(target=beat, name=f"heartbeat of {job.job_id}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
