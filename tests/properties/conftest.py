"""Databases for state machines: each run has one of its own."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from typing import Any

import psycopg
import pytest
import sqlalchemy
from psycopg import sql

from jackpot_service.config.settings import Config
from jackpot_service.database import embedded
from jackpot_service.database.connections import create_engine

Databases = Callable[[], AbstractContextManager[sqlalchemy.Engine]]


@pytest.fixture
def databases(database_url: str, cluster: embedded.Cluster, administrator: psycopg.Connection[Any]) -> Databases:
    """Give each run a fresh copy of the test's own database."""
    template = sqlalchemy.make_url(database_url).database or ""
    numbers = count(1)

    @contextmanager
    def database() -> Iterator[sqlalchemy.Engine]:
        name = f"{template}_{next(numbers)}"
        making = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
        administrator.execute(making.format(sql.Identifier(name), sql.Identifier(template)))
        engine = create_engine(Config(pool_size=2), cluster.service_url(name))
        try:
            yield engine
        finally:
            engine.dispose()
            administrator.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    return database
