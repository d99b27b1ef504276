"""What the races look at when they are over: pools, rounds, balances, and whether the books are right."""

import time
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import psycopg
import sqlalchemy

from jackpot_service.database.snapshots import snapshot
from jackpot_service.domain.accounts import Pools
from jackpot_service.ledger import laws
from jackpot_service.proof.proof import verify
from jackpot_service.reports.jackpots import jackpot_state
from tests.support.logins import owner_conninfo

LONGEST_WAIT_S = 20


def ask(engine: sqlalchemy.Engine, question: str, **parameters: object) -> list[tuple[Any, ...]]:
    with snapshot(engine) as session:
        return [tuple(row) for row in session.execute(sqlalchemy.text(question), parameters)]


def pools(engine: sqlalchemy.Engine, jackpot_id: str) -> Pools:
    with snapshot(engine) as session:
        return jackpot_state(session, jackpot_id, at=datetime.now(UTC)).pools


def meter(engine: sqlalchemy.Engine, jackpot_id: str) -> Decimal:
    """The booked meter, less whatever it began with being the caller's affair."""
    return pools(engine, jackpot_id).meter


def balance(engine: sqlalchemy.Engine, account: str, currency: str = "EUR") -> Decimal:
    """What an account holds over all jackpots; 0 if nothing was ever booked on it."""
    question = "SELECT coalesce(sum(amount), 0) FROM postings WHERE account = :account AND currency = :currency"
    amount: Decimal = ask(engine, question, account=account, currency=currency)[0][0]
    return amount


def round_row(engine: sqlalchemy.Engine, table_id: str, round_id: str) -> tuple[Any, ...]:
    """State, live bets and weight of a round: there must be exactly one of these ids."""
    question = """
    SELECT state, bet_count, weight FROM rounds WHERE table_id = :table_id AND round_id = :round_id
    """
    (row,) = ask(engine, question, table_id=table_id, round_id=round_id)
    return row


def require_clean(engine: sqlalchemy.Engine) -> None:
    """The book laws hold, and everything can be derived again from zero."""
    with snapshot(engine) as session:
        assert laws.broken(session) == ()
        mismatches = verify(session).mismatches
    assert not mismatches, mismatches[:5]


def plain(engine: sqlalchemy.Engine) -> str:
    """The URL of an engine's database as psycopg takes it: for its owner, who may do anything."""
    return owner_conninfo(engine.url.render_as_string(hide_password=False))


def wait_until_one_waits(engine: sqlalchemy.Engine) -> None:
    """Wait until some connection of the database waits for a lock."""
    wait_until_so_many_wait(engine, 1)


def wait_until_so_many_wait(engine: sqlalchemy.Engine, number: int) -> None:
    """Wait until a number of connections of the database wait for locks."""
    question = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    until = time.monotonic() + LONGEST_WAIT_S
    with psycopg.connect(plain(engine), autocommit=True) as connection:
        while connection.execute(question).rowcount < number:
            assert time.monotonic() < until, f"not {number} wait"
            time.sleep(0.005)


def deadlocks(engine: sqlalchemy.Engine) -> int:
    """
    How many deadlocks the database had to resolve, from its own statistics.

    A connection reports what it met at the latest when it ends; so those of the race are waited for.
    """
    engine.dispose()
    with psycopg.connect(plain(engine), autocommit=True) as connection:
        query = """
        SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
        """
        until = time.monotonic() + LONGEST_WAIT_S
        while connection.execute(query).rowcount:
            assert time.monotonic() < until, "connections of the race are still open"
            time.sleep(0.005)
        counted = connection.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        (count,) = counted.fetchone() or (-1,)
        return int(count)
