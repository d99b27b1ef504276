"""What goes wrong at the database is counted and logged by its kind, and what is no trouble is not."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest
import sqlalchemy
from sqlalchemy import text
from structlog.testing import capture_logs

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.failures import Busy, HeldUp
from jackpot_service.database.transactions import Session, is_writable, read, transact
from jackpot_service.domain.errors import Refused
from jackpot_service.telemetry import counters, trouble

CONFIG = Config(pool_size=2, statement_timeout_ms=30_000, pool_timeout_s=0.01, request_timeout_s=30)
"""However long a busy machine takes to connect or to answer, nothing is cut off but what a test has cut off."""


@pytest.fixture(autouse=True)
def no_full_disk() -> Iterator[None]:
    """Leave no full disk behind."""
    yield
    forget_the_full_disk()


def forget_the_full_disk() -> None:
    counters._INSTANTS[counters.DISK_FULL_AT].set(0)


def counts() -> Counter[str]:
    return Counter(
        {
            sample.labels["kind"]: int(sample.value)
            for family in counters.collector().collect()
            for sample in family.samples
            if family.name == counters.DATABASE_ERRORS
        }
    )


def traced(run: Callable[[], Any], refused: type[Exception]) -> tuple[set[str], list[str]]:
    """Run what fails; return the kinds that were counted, and those that were logged."""
    before = counts()
    with capture_logs() as logged, pytest.raises(refused):
        run()
    return set(counts() - before), [line["kind"] for line in logged if line["event"] == "database-trouble"]


def test_a_statement_that_is_cancelled(database_url: str) -> None:
    engine = create_engine(replace(CONFIG, statement_timeout_ms=100), database_url)
    assert traced(lambda: read(engine, lambda session: session.execute(text("SELECT pg_sleep(9)"))), HeldUp) == (
        {"cancelled"},
        ["cancelled"],
    )
    engine.dispose()


def test_a_user_who_may_not_sign_in(database_url: str) -> None:
    url = sqlalchemy.make_url(database_url).set(username="nobody").render_as_string(hide_password=False)
    kinds = traced(lambda: read(create_engine(CONFIG, url), lambda session: session), Busy)
    assert kinds == ({"sign-in-refused"}, ["sign-in-refused"])


@pytest.mark.parametrize("where", ["@127.0.0.1:1/x", "@/x?host=/tmp/nowhere", "@/x?host=127.0.0.1:1&host=127.0.0.1:2"])
def test_a_database_that_refuses_connections(where: str) -> None:
    engine = create_engine(CONFIG, f"postgresql+psycopg://user{where}")
    assert traced(lambda: read(engine, lambda session: session), Busy) == ({"no-connection"}, ["no-connection"])
    before = counts()
    assert not is_writable(engine)
    assert set(counts() - before) == {"no-connection"}


def test_a_pool_that_is_exhausted(database_url: str) -> None:
    engine = create_engine(CONFIG, database_url)
    with engine.connect(), engine.connect():
        assert traced(lambda: read(engine, lambda session: session), Busy)[0] == {"pool-exhausted"}
    engine.dispose()


def test_a_connection_that_is_ended(database_url: str) -> None:
    engine = create_engine(CONFIG, database_url)

    def end(session: Session) -> None:
        pid = session.execute(text("SELECT pg_backend_pid()")).scalar_one()
        with psycopg.connect(database_url.replace("+psycopg", ""), autocommit=True) as owner:
            owner.execute("SELECT pg_terminate_backend(%s, 20000)", [pid])
        session.execute(text("SELECT 1"))

    assert traced(lambda: transact(engine, end), Busy) == ({"connection-lost"}, ["connection-lost"])
    engine.dispose()


def test_what_the_ledger_refuses_is_no_trouble(database_url: str) -> None:
    engine = create_engine(CONFIG, database_url)

    def refuse(_: Session) -> None:
        message = "no"
        raise Refused(message)

    assert traced(lambda: transact(engine, refuse), Refused) == (set(), [])
    engine.dispose()


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ('FATAL:  password authentication failed for user "x"', "sign-in-refused"),
        ('FATAL:  no pg_hba.conf entry for host "10.0.0.1", user "x"', "sign-in-refused"),
        ("fe_sendauth: no password supplied", "sign-in-refused"),
        ('FATAL:  permission denied to set role "jackpot_app"', "sign-in-refused"),
        ("FATAL:  sorry, too many clients already", "too-few-resources"),
        ("FATAL:  the database system is starting up", "no-connection"),
    ],
)
def test_a_connection_that_is_refused_has_its_kind_by_what_the_server_says(sentence: str, kind: str) -> None:
    connection = psycopg.pq.PGconn.connect(b"host=/tmp/nowhere")
    assert trouble.kind_of(psycopg.OperationalError(sentence, pgconn=connection)) == kind


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (psycopg.errors.DiskFull(), "disk-full"),
        (psycopg.errors.IoError(), "disk-full"),
        (psycopg.errors.TooManyConnections(), "too-few-resources"),
        (psycopg.errors.ReadOnlySqlTransaction(), "not-writable"),
        (psycopg.errors.LockNotAvailable(), "held-up"),
        (psycopg.errors.AdminShutdown(), "connection-lost"),
        (psycopg.errors.CannotConnectNow(), "no-connection"),
        (psycopg.errors.ConnectionTimeout(), "no-connection"),
        (psycopg.OperationalError("server closed the connection unexpectedly"), "connection-lost"),
        (psycopg.errors.UndefinedTable(), "unexpected"),
        (ValueError(), "unexpected"),
    ],
)
def test_each_kind_is_counted(error: Exception, kind: str) -> None:
    before = counts()
    trouble.note(error)
    assert counts() - before == Counter({kind: 1})


def test_a_full_disk_makes_the_database_not_writable_for_some_seconds(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = create_engine(CONFIG, database_url)
    assert is_writable(engine)

    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    trouble.note(psycopg.errors.DiskFull())
    assert not is_writable(engine)

    monkeypatch.setattr(time, "time", lambda: now + trouble.NO_ROOM_FOR_S)
    assert is_writable(engine)
    monkeypatch.setattr(time, "time", lambda: now - 1)  # The clock had been ahead.
    assert is_writable(engine)
    engine.dispose()
