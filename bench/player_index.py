"""
What the index of players and of bets' ids costs a bet: none, the service's own, one of players, a B-tree, in turns.

Copies of the table of bets take the same rows, in statements of a thousand. The processor time is that of the
connection's own process in the database, which the kernel counts; the log's growth is the database's own count.
"""

import random
import statistics
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import psycopg
from sqlalchemy import URL

from bench import databases, servers
from bench.figures import Figure
from bench.site import Site

NAME = "player-index"

BETS = 1000
"""Of a statement."""

PLAYERS = 50_000
ROUNDS_OF_A_STATEMENT = BETS // 7

OWN = "the index"
_OF_PLAYERS = """CREATE INDEX ON {table} USING brin (player_id text_bloom_ops (n_distinct_per_range = 1000), round_key)
WITH (pages_per_range = 16, autosummarize = on)"""
INDEXES: Final = MappingProxyType(
    {
        "no index": "DROP INDEX {index}",
        OWN: "",
        "an index of players alone": f"DROP INDEX {{index}}; {_OF_PLAYERS}",
        "a B-tree": "DROP INDEX {index}; CREATE INDEX ON {table} (player_id, round_key)",
    }
)
"""What becomes of the index that a copy of the table has, by what is measured then."""

_ADD = """
INSERT INTO {table} (jackpot_id, round_key, bet_id, step, player_id, hand, currency, stake_minor)
SELECT 'live', key, 'bet-' || key || '-' || place, 1, player, '1', 'EUR', 100
FROM unnest(%s::bigint[], %s::text[]) WITH ORDINALITY AS one (key, player, place)
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """How many statements each copy takes."""

    statements: int


class _Copy:
    """A copy of the table of bets with an index, and a connection of its own."""

    def __init__(self, connection: psycopg.Connection[Any], table: str, index: str) -> None:
        self._connection, self._table = connection, table
        connection.execute(f"CREATE TABLE {table} (LIKE bets INCLUDING ALL)")
        (name,) = self._row(
            "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = %s::regclass AND NOT indisprimary",
            [table],
        )
        for statement in filter(None, index.format(table=table, index=name).split("; ")):
            connection.execute(statement)
        self._process = Path(f"/proc/{connection.info.backend_pid}/schedstat")
        self.processor_us: list[float] = []
        self.log_bytes: list[float] = []

    def take(self, keys: list[int], players: list[str]) -> None:
        """Take bets, and note what one of them cost."""
        processor, log = self._processor_ns(), self._row("SELECT pg_current_wal_insert_lsn()")[0]
        self._connection.execute(_ADD.format(table=self._table), [keys, players])
        (grown,) = self._row("SELECT pg_current_wal_insert_lsn() - %s::pg_lsn", [log])
        self.processor_us.append((self._processor_ns() - processor) / len(keys) / 1000)
        self.log_bytes.append(float(grown) / len(keys))

    def _processor_ns(self) -> int:
        return int(self._process.read_text(encoding="ascii").split()[0])

    def _row(self, question: str, parameters: list[Any] | None = None) -> tuple[Any, ...]:
        return next(iter(self._connection.execute(question, parameters)))


def measure(site: Site, plan: Plan) -> tuple[Figure, ...]:
    """Add the same bets to each copy, in turns that chance orders; the first quarter of them warms up."""
    books = databases.create(site.cluster, "bench_player_index")
    servers.upgrade(books)
    site.log(f"player-index: {plan.statements} statements of {BETS} bets, three times")
    with ExitStack() as stack:
        copies = dict(_copies(stack, books))
        rng = random.Random(11)
        for keys, players in _statements(plan.statements):
            for copy in rng.sample(list(copies.values()), len(copies)):
                copy.take(keys, players)
    return tuple(_figures(copies, warm=plan.statements // 4))


def _copies(stack: ExitStack, books: URL) -> Iterator[tuple[str, _Copy]]:
    conninfo = books.render_as_string(hide_password=False).replace("+psycopg", "")
    for number, (name, index) in enumerate(INDEXES.items()):
        connection = stack.enter_context(closing(psycopg.connect(conninfo, autocommit=True)))
        connection.execute("SET synchronous_commit = off")
        yield name, _Copy(connection, f"bets_{number}", index)


def _statements(count: int) -> Iterator[tuple[list[int], list[str]]]:
    """Rounds in the order of time, seven bets each, of players whom chance takes from many."""
    rng = random.Random(7)
    for number in range(count):
        first = number * ROUNDS_OF_A_STATEMENT
        keys = [(first + place // 7) << 21 for place in range(BETS)]
        yield keys, [f"player-{rng.randrange(PLAYERS)}" for _ in range(BETS)]


def _figures(copies: dict[str, _Copy], *, warm: int) -> Iterator[Figure]:
    at = {"N": BETS}
    for name, copy in copies.items():
        yield Figure(NAME, f"{name}, processor of a bet", statistics.median(copy.processor_us[warm:]), "µs", at)
        yield Figure(NAME, f"{name}, log of a bet", statistics.mean(copy.log_bytes[warm:]), "bytes", at)
