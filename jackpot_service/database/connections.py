"""How the service connects: by its own login, its settings, its time-outs, and what a connection keeps in mind."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import psycopg
import sqlalchemy
from sqlalchemy import event

from jackpot_service.config.settings import Config
from jackpot_service.database import bounded, pipelines
from jackpot_service.database.bounded import BoundedConnection
from jackpot_service.database.clocks import DatabaseClock
from jackpot_service.database.hosts import Hosts
from jackpot_service.database.tables import SEARCH_PATH

NETWORK = {
    "connect_timeout": 2,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 5000,
}
"""A host that falls silent must not hold a request for the minutes that TCP would wait; the URL may say otherwise."""

INDEXED = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_mergejoin": "off",
}
"""
Every statement of the hot path finds its few rows by an index. A plan that is made while the tables are new and empty
would read them whole, and go on doing so until somebody analyses them: a jackpot's first minutes would grow slower.
"""

PLANNED_ANEW = {
    "plan_cache_mode": "force_custom_plan",
    "enable_seqscan": "on",
    "enable_mergejoin": "on",
}
"""The same settings for whoever reads much of the books at once; no plan that is made so is kept for anybody else."""


SPARE_S = 1.0
"""For so long the service waits for an answer when the database should have ended the statement by itself."""

LONGEST_OF_OWNER_S = 86_400.0
"""For so long the owner may change tables; while the database is alive, a statement has hours (`deadlines`)."""

LONGEST_KEPT_S = 600
"""So old a connection is not used any more, but another one made."""

DATABASE_CLOCK = "database_clock"
"""Under which an engine's options hold the clock of its database."""

HOSTS = "hosts"
"""Under which an engine's options hold what is known of the hosts of its database."""

ONLY_PIPELINES = "only_pipelines"
"""Of a session, as an option of its: that it must be asked by pipelines only, for nobody may wait otherwise."""


def create_engine(config: Config, url: str) -> sqlalchemy.Engine:
    """Make the application's engine, on the URL of the service's own login: UTC, and the configuration's time-outs."""
    options = {
        "search_path": SEARCH_PATH,
        "timezone": "UTC",
        "statement_timeout": config.statement_timeout_ms,
        "lock_timeout": config.lock_timeout_ms,
        "idle_in_transaction_session_timeout": 60_000,
        **INDEXED,
    }
    engine = sqlalchemy.create_engine(
        url,
        pool_size=config.pool_size,
        max_overflow=0,
        pool_timeout=config.pool_timeout_s,
        pool_recycle=LONGEST_KEPT_S,
        pool_use_lifo=True,
        pool_reset_on_return="rollback",
        connect_args=_connect_args(url, options),
    )
    silence_s = min(config.statement_timeout_ms / 1000 + SPARE_S, config.request_timeout_s)
    clock, hosts = DatabaseClock(), Hosts()
    event.listen(engine, "do_connect", _Connecting(hosts, silence_s=silence_s))
    event.listen(engine, "connect", partial(_read_clock, clock))
    event.listen(engine, "connect", _keep_notices)
    event.listen(engine, "checkout", _refuse_suspect)
    event.listen(engine, "before_cursor_execute", _require_may_wait)
    known = {DATABASE_CLOCK: clock, HOSTS: hosts}
    return engine.execution_options(**{"request_timeout_s": config.request_timeout_s, **known})


def create_owners_engine(url: str, *, lock_timeout_ms: int) -> sqlalchemy.Engine:
    """Make an engine for whoever owns the tables, to change them beside the service: it waits for no lock for long."""
    options = {"search_path": SEARCH_PATH, "timezone": "UTC", "lock_timeout": lock_timeout_ms}
    engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool, connect_args=_connect_args(url, options))
    event.listen(engine, "do_connect", _Connecting(Hosts(), silence_s=None))
    event.listen(engine, "connect", _keep_notices)
    return engine.execution_options(request_timeout_s=LONGEST_OF_OWNER_S)


class _Connecting:
    """Makes connections that are silent for so long at most, by what SQLAlchemy has read from the URL."""

    def __init__(self, hosts: Hosts, *, silence_s: float | None) -> None:
        self._silence_s = silence_s
        self._hosts = hosts

    def __call__(self, _dialect: object, _record: object, _arguments: object, parameters: dict[str, Any]) -> Any:  # noqa: ANN401  as SQLAlchemy has it
        of_libpq = {name: value for name, value in parameters.items() if name != "context"}  # That is the driver's.
        connection = bounded.connect(self._hosts, of_libpq)
        connection.silence_s = self._silence_s
        connection.is_of_a_call = self._silence_s is not None
        # What is asked often goes by pipelines, which prepare their statements themselves.
        connection.prepare_threshold = None
        return connection


def _connect_args(url: str, options: Mapping[str, object]) -> dict[str, object]:
    network = {name: value for name, value in NETWORK.items() if name not in sqlalchemy.make_url(url).query}
    return {
        **network,
        "options": " ".join(f"-c {name}={value}" for name, value in options.items()),
    }


def _require_may_wait(session: sqlalchemy.Connection, cursor: psycopg.Cursor[Any], *_: object) -> None:
    """Raises: RuntimeError if this must not be asked so; CallOver."""
    bounded.require_time(cursor.connection)
    pipelines.require_none_open(cursor.connection)
    if session.get_execution_options().get(ONLY_PIPELINES):
        message = "This session is asked by pipelines only."
        raise RuntimeError(message)


def _refuse_suspect(connection: BoundedConnection, *_: object) -> None:
    """Raises: DisconnectionError, so that the pool makes another connection."""
    if connection.is_suspect:
        message = "The host fell silent, or a connection from then was lost."
        raise sqlalchemy.exc.DisconnectionError(message)


def _read_clock(clock: DatabaseClock, connection: BoundedConnection, _record: object) -> None:
    connection.autocommit = True
    clock.read(lambda: connection.execute("SELECT clock_timestamp()").fetchall()[0][0])
    connection.autocommit = False


def _keep_notices(connection: psycopg.Connection[Any], record: Any) -> None:  # noqa: ANN401  SQLAlchemy's own type is internal
    """Remember warnings: one that is raised during COMMIT says that the commit is not (yet) safe."""
    warnings = record.info["warnings"] = []

    def keep(diagnostic: psycopg.errors.Diagnostic) -> None:
        if diagnostic.severity_nonlocalized == "WARNING":
            warnings.append(diagnostic.message_primary)

    connection.add_notice_handler(keep)
