"""How the service connects: by its own login, its settings, its time-outs, and what a connection keeps in mind."""

from collections.abc import Mapping
from typing import Any

import psycopg
import sqlalchemy
from sqlalchemy import event

from jackpot_service import pipelines
from jackpot_service.config import Config
from jackpot_service.database_rights import SEARCH_PATH

NETWORK = {
    "connect_timeout": 3,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 5000,
}
"""A host that falls silent must not hold a request for the minutes that TCP would wait; the URL may say otherwise."""

INDEXED = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}
"""
Every statement of the hot path finds its few rows by an index. A plan that is made while the tables are new and empty
would read them whole, and go on doing so until somebody analyses them: a jackpot's first minutes would grow slower.
"""

PLANNED_ANEW = {
    "plan_cache_mode": "force_custom_plan",
    "enable_seqscan": "on",
    "enable_hashjoin": "on",
    "enable_mergejoin": "on",
}
"""The same settings for whoever reads much of the books at once; no plan that is made so is kept for anybody else."""


LONGEST_KEPT_S = 600
"""So old a connection is not used any more, but another one made."""

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
    event.listen(engine, "connect", _keep_notices)
    event.listen(engine, "before_cursor_execute", _require_may_wait)
    return engine.execution_options(request_timeout_s=config.request_timeout_s)


def create_owners_engine(url: str, *, lock_timeout_ms: int) -> sqlalchemy.Engine:
    """Make an engine for whoever owns the tables, to change them beside the service: it waits for no lock for long."""
    options = {"search_path": SEARCH_PATH, "timezone": "UTC", "lock_timeout": lock_timeout_ms}
    engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool, connect_args=_connect_args(url, options))
    event.listen(engine, "connect", _keep_notices)
    return engine


def _connect_args(url: str, options: Mapping[str, object]) -> dict[str, object]:
    network = {name: value for name, value in NETWORK.items() if name not in sqlalchemy.make_url(url).query}
    # What is asked often goes by pipelines, which prepare their statements themselves.
    return {
        **network,
        "prepare_threshold": None,
        "options": " ".join(f"-c {name}={value}" for name, value in options.items()),
    }


def _require_may_wait(session: sqlalchemy.Connection, cursor: psycopg.Cursor[Any], *_: object) -> None:
    """Raises: RuntimeError if this must not be asked so."""
    pipelines.require_none_open(cursor.connection)
    if session.get_execution_options().get(ONLY_PIPELINES):
        message = "This session is asked by pipelines only."
        raise RuntimeError(message)


def _keep_notices(connection: psycopg.Connection[Any], record: Any) -> None:  # noqa: ANN401  SQLAlchemy's own type is internal
    """Remember warnings: one that is raised during COMMIT says that the commit is not (yet) safe."""
    warnings = record.info["warnings"] = []

    def keep(diagnostic: psycopg.errors.Diagnostic) -> None:
        if diagnostic.severity_nonlocalized == "WARNING":
            warnings.append(diagnostic.message_primary)

    connection.add_notice_handler(keep)
