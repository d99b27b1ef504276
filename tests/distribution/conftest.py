"""What the service sent while the story was played, once for all tests that look at it."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import NullPool, create_engine

from jackpot_service.database.distribution import DISTRIBUTION, Inliner
from jackpot_service.database.embedded import Cluster
from tests.distribution import story
from tests.support import catalogues
from tests.support.distributable import Catalogue
from tests.support.logins import owner_conninfo, owner_url
from tests.support.reading import Books
from tests.support.recording import Sent, recording
from tests.support.world import World

COPY = sql.SQL("CREATE DATABASE {} TEMPLATE migrated STRATEGY FILE_COPY")
DROP = sql.SQL("DROP DATABASE {} WITH (FORCE)")


@pytest.fixture(scope="session")
def recorded_url(cluster: Cluster, administrator: psycopg.Connection[Any]) -> Iterator[str]:
    """A migrated database for the story, by the service's login."""
    name = f"recorded_{os.getpid()}"
    administrator.execute(COPY.format(sql.Identifier(name)))
    yield cluster.service_url(name)
    administrator.execute(DROP.format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def owner(recorded_url: str) -> Iterator[psycopg.Connection[Any]]:
    """Connect to it by the owner's login."""
    with psycopg.connect(owner_conninfo(recorded_url), autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def catalogue(owner: psycopg.Connection[Any]) -> Catalogue:
    """What the checker must know of the migrated schema."""
    return catalogues.catalogue(owner)


@pytest.fixture(scope="session")
def sent(cluster: Cluster, administrator: psycopg.Connection[Any], recorded_url: str) -> Sequence[Sent]:
    """Every statement that the service sent in the story as if it were on several machines, with the part of it."""
    with recording(administrator, cluster, recorded_url) as recorder:
        world = World(recorded_url)
        owners = create_engine(owner_url(recorded_url), poolclass=NullPool)
        world.books = Books(owners)
        world.engine.get_execution_options()[DISTRIBUTION]._inliner = Inliner({})
        try:
            for name, play in story.PARTS.items():
                with recorder.part(name):
                    play(world)
        finally:
            world.close()
    return tuple(recorder.sent)
