"""What an error of the database means does not depend on which machine says it: a shard's names end in its number."""

import psycopg
import pytest

from jackpot_service.database import failures
from tests.support.logins import owner_conninfo

NOT_NULL = "CREATE TEMPORARY TABLE {name} (seq bigint NOT NULL)"
ADD_NULL = "INSERT INTO {name} VALUES (NULL)"
UNIQUE = "CREATE TEMPORARY TABLE t (a int CONSTRAINT {name} UNIQUE)"


@pytest.mark.parametrize("name", ["entries", "entries_102089"])
def test_a_stripe_that_took_no_entry_is_tried_again(database_url: str, name: str) -> None:
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        owner.execute(NOT_NULL.format(name=name).encode())
        with pytest.raises(psycopg.errors.NotNullViolation) as violated:
            owner.execute(ADD_NULL.format(name=name).encode())
    failures.raise_unless_retryable(violated.value, attempt=1)


@pytest.mark.parametrize("name", ["pk_rounds", "pk_rounds_102089", "uq_rounds_ids_1020890"])
def test_two_who_open_a_round_are_tried_again(database_url: str, name: str) -> None:
    failures.raise_unless_retryable(_twice(database_url, name), attempt=1)


@pytest.mark.parametrize("name", ["pk_bets", "pk_rounds_2026", "pk_102089_rounds"])
def test_another_key_is_not(database_url: str, name: str) -> None:
    with pytest.raises(psycopg.errors.UniqueViolation):
        failures.raise_unless_retryable(_twice(database_url, name), attempt=1)


def _twice(database_url: str, name: str) -> psycopg.Error:
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        owner.execute(UNIQUE.format(name=name).encode())
        with pytest.raises(psycopg.errors.UniqueViolation) as violated:
            owner.execute("INSERT INTO t VALUES (1), (1)")
    return violated.value
