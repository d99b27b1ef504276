"""A module that corrupts a history writes it once, by its `write(url)`; each test changes it and takes that back."""

import os
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import sqlalchemy
from psycopg import sql
from psycopg.adapt import Transformer
from sqlalchemy import event, text
from sqlalchemy.pool import ConnectionPoolEntry

from jackpot_service.database import embedded
from jackpot_service.database.pipelines import Prepared
from jackpot_service.database.transactions import Session
from tests.support import history, rolling
from tests.support.logins import owner_url


@pytest.fixture(scope="module")
def url(
    request: pytest.FixtureRequest, cluster: embedded.Cluster, administrator: psycopg.Connection[Any]
) -> Iterator[str]:
    """Name a database with the module's history in it."""
    name = f"{request.module.__name__.rpartition('.')[2]}_{os.getpid()}"
    administrator.execute(sql.SQL("CREATE DATABASE {} TEMPLATE migrated").format(sql.Identifier(name)))
    try:
        request.module.write(cluster.service_url(name))
        if not getattr(request.module, "LEAVES_BEHIND", False):
            with history.engine_of(cluster.service_url(name)) as engine:
                rolling.roll_up(engine)
        yield cluster.service_url(name)
    finally:
        administrator.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="module")
def superusers(url: str) -> Iterator[sqlalchemy.Engine]:
    """Keep one connection for the module's tests: a new one would read the catalog, and plan every question, anew."""
    engine = sqlalchemy.create_engine(owner_url(url), isolation_level="REPEATABLE READ")
    event.listen(engine, "connect", _keep_prepared)
    yield engine
    engine.dispose()


@pytest.fixture
def superuser(superusers: sqlalchemy.Engine) -> Iterator[Session]:
    """Open a session whose changes no trigger refuses, and which is rolled back."""
    with superusers.connect() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        yield session


def _keep_prepared(connection: psycopg.Connection[Any], record: ConnectionPoolEntry) -> None:
    """
    Have every question of a proof prepared once for all tests: a third of the server's work is to plan them.

    By itself the driver keeps fewer than a proof asks, and forgets them at each rollback, though PostgreSQL keeps them
    and plans anew what a change of a table concerns.
    """
    connection.prepared_max = 1000
    connection._prepared.clear = lambda: False  # type: ignore[method-assign]
    record.info["prepared"] = Prepared(Transformer(connection))  # By itself it would not be beside one that forgets.
