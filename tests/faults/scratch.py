"""A table whose rows make a transaction go wrong in the ways that tests ask for, and acts that write them."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
import sqlalchemy
from sqlalchemy import text

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import Session, committed, pipelined, transact
from tests.support.logins import owner_conninfo

CONFIG = Config(pool_size=4, statement_timeout_ms=20_000, lock_timeout_ms=20_000, request_timeout_s=60.0)
LONGEST_WAIT_S = 20

SCRATCH = """
CREATE TABLE scratch (id int PRIMARY KEY, at_commit text NOT NULL DEFAULT '');
GRANT SELECT, INSERT, UPDATE ON scratch TO jackpot_app;
CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    CASE NEW.at_commit
        WHEN 'sleep' THEN PERFORM pg_sleep(60);
        WHEN 'nap' THEN PERFORM pg_sleep(1);
        WHEN 'warn' THEN RAISE WARNING 'not yet safe';
        WHEN 'refuse' THEN RAISE check_violation;
        ELSE NULL;
    END CASE;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON scratch DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION at_commit();
"""
"""A table whose rows can hold a COMMIT open, warn in it, or make it fail."""


@dataclass
class Database:
    """A database with the scratch table, and its owner's connection, which may end other people's."""

    url: str
    owner: psycopg.Connection[Any]
    engines: list[sqlalchemy.Engine] = field(default_factory=list)

    def engine(self, config: Config = CONFIG) -> sqlalchemy.Engine:
        engine = create_engine(config, self.url)
        self.engines.append(engine)
        return engine

    def ids(self) -> list[int]:
        """The rows that are committed."""
        return [number for (number,) in self.owner.execute("SELECT id FROM scratch ORDER BY id")]

    def terminate(self, pid: int) -> None:
        """End a connection, and wait until it is gone."""
        assert self.owner.execute("SELECT pg_terminate_backend(%s, 20000)", [pid]).fetchone() == (True,)

    def when_waiting(self, event: str, act: str) -> "threading.Thread":
        """Start a thread that waits for a connection to wait for an event, and then does something to it."""
        thread = threading.Thread(target=self._when_waiting, args=(event, act), daemon=True)
        thread.start()
        return thread

    def _when_waiting(self, event: str, act: str) -> None:
        question = f"""
        SELECT {act}(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = %s
        """  # noqa: S608  a constant
        until = time.monotonic() + LONGEST_WAIT_S
        with psycopg.connect(self.owner.info.dsn, autocommit=True) as watcher:
            while not watcher.execute(question, [event]).rowcount and time.monotonic() < until:
                time.sleep(0.005)


@contextmanager
def opened(url: str) -> Iterator[Database]:
    with psycopg.connect(owner_conninfo(url), autocommit=True) as owner:
        owner.execute(SCRATCH)
        database = Database(url, owner)
        yield database
        for engine in database.engines:
            engine.dispose()


@dataclass
class Act:
    """An act that inserts a row, and goes wrong in the way it was told, the first times."""

    number: int
    fail: Callable[[Session], object]
    failures: int = 1
    at_commit: str = ""
    commits_itself: bool = False
    """Whether the row and the commit are sent together, as on the hot path."""
    begins_in_pipeline: bool = False
    """Whether BEGIN is sent together with its first statement, as on the hot path."""
    calls: int = 0

    def done(self, engine: sqlalchemy.Engine) -> str:
        return transact(engine, self)

    def __call__(self, session: Session) -> str:
        self.calls += 1
        if self.begins_in_pipeline:
            with pipelined(session) as pipe:
                pipe.send("SELECT 1", {})
        row = {"id": self.number, "at_commit": self.at_commit}
        if not self.commits_itself:
            session.execute(text("INSERT INTO scratch VALUES (:id, :at_commit)"), row)
        if self.calls <= self.failures:
            self.fail(session)
        if self.commits_itself:
            with committed(session) as pipe:
                pipe.send("INSERT INTO scratch VALUES (%(id)s, %(at_commit)s)", row)
        return "done"


def nothing(_session: Session) -> None:
    pass


def pid_of(session: Session) -> int:
    pid: int = session.execute(text("SELECT pg_backend_pid()")).scalar_one()
    return pid


def sleep(session: Session) -> None:
    session.execute(text("SELECT pg_sleep(60)"))


def sleep_in_pipeline(session: Session) -> None:
    with pipelined(session) as pipe:
        pipe.send("SELECT 1", {})
        pipe.send("SELECT pg_sleep(60)", {})
        pipe.send("SELECT 2", {})
