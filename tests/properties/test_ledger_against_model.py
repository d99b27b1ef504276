"""The ledger beside a plain model of it, through runs of random acts of table servers."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from typing import Any

import psycopg
import pytest
import sqlalchemy
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from psycopg import sql

from jackpot_service.config.settings import Config
from jackpot_service.database import embedded
from jackpot_service.database.connections import create_engine
from tests.properties import profile
from tests.properties.machine import LedgerMachine, openings

pytestmark = pytest.mark.deep

SETTINGS = settings(
    profile.SETTINGS,
    max_examples=profile.CASES or 6,
    stateful_step_count=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)

LONGEST_S = 900 + 4 * profile.CASES
"""A run takes a second or two; one that fails is made small first, for at most five minutes."""

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


class LiveMachine(LedgerMachine):
    """Live Caribbean Stud: a shared meter, four currencies, fixed prizes from the prize fund."""

    opening = openings(["live-caribbean-stud"], [])


class CoinDropMachine(LedgerMachine):
    """Cyber and Seneca: a hand owns its prize, under one of three policies, and the meter pays all of it."""

    opening = openings(
        ["cyber-caribbean-stud", "cyber-caribbean-stud", "seneca-caribbean-stud"],
        ["aggregate_pro_rata", "minor_first", "equal_share"],
    )


@pytest.mark.timeout(LONGEST_S)
def test_a_shared_jackpot_is_kept_as_the_model_keeps_it(databases: Databases) -> None:
    _run(LiveMachine, databases)


@pytest.mark.timeout(LONGEST_S)
def test_a_jackpot_owned_by_hands_is_kept_as_the_model_keeps_it(databases: Databases) -> None:
    _run(CoinDropMachine, databases)


def _run(machine: type[LedgerMachine], databases: Databases) -> None:
    def begin() -> LedgerMachine:
        return machine(databases())

    run_state_machine_as_test(begin, settings=SETTINGS)  # type: ignore[arg-type]  # any maker of machines will do
