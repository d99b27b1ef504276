"""The driver's connection under a session of SQLAlchemy's, and what it is asked."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import psycopg

from jackpot_service.api.request_context import EXTENSION
from jackpot_service.database.transactions import Session
from tests.support.bets import bet
from tests.support.world import World

LONGEST_OPENING_S: Final = 30


def connection_of(session: Session) -> psycopg.Connection[Any]:
    connection = session.connection.driver_connection
    assert isinstance(connection, psycopg.Connection)
    return connection


def round_trips(world: World, call: Callable[[], object]) -> int:
    """Count those of a call on the connections that it may take: the pool's last one, and those kept for the loop."""
    connections = kept_on_loop(world)
    with world.engine.connect() as session:
        connections.append(connection_of(session))
    with ExitStack() as stack:
        traces = [stack.enter_context(_traced(connection)) for connection in connections]
        call()
    return sum(len(trace) for trace in traces)


def warm(world: World) -> None:
    """Send the same bet until the connection that is kept for the loop knows all that it remembers."""
    for _ in range(3):
        world.post_bets(bet(), round_id="before")
        kept_on_loop(world)


def kept_on_loop(world: World) -> list[psycopg.Connection[Any]]:
    """Connections kept for bets on the loop, after those that are being opened have been."""
    async_executor = world.app.extensions[EXTENSION].bet_groups._async_executor
    being_opened = async_executor.most - async_executor._places._value
    until = time.monotonic() + LONGEST_OPENING_S
    while len(async_executor._idle) < being_opened:
        assert time.monotonic() < until
        time.sleep(0.001)
    return [connection_of(pooled.session) for pooled in async_executor._idle]


@contextmanager
def _traced(connection: psycopg.Connection[Any]) -> Iterator[list[bytes]]:
    """Note each Sync that a connection sends."""
    syncs: list[bytes] = []
    with tempfile.TemporaryFile() as trace:
        connection.pgconn.trace(os.dup(trace.fileno()))
        yield syncs
        connection.pgconn.untrace()
        trace.seek(0)
        syncs += [line for line in trace if b"\tSync" in line]
