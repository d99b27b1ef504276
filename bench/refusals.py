"""
What it costs to refuse a bet, as a share of what it costs to book one: processor time of the workers and of PostgreSQL.

A flood takes from the bets what it uses of the machine, so both count. The workers' own share of it is told as well.

Each flood sends the requests of bets and is refused for one reason. Some are sent to a service of their own on the same
database: its limit of a key is low, and its limit of failed sign-ins is above any flood.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from bench import load, processor, servers
from bench.figures import Figure
from bench.requests import BetRequests, Requests
from bench.servers import Server
from bench.site import Site
from bench.targets import COMPARED_CONNECTIONS, REFUSAL_OF_BET, Target

NAME = "overload"

_WRONG_KEY = "jk_0123456789abcdef_wrong"
_FIRST = 1000
"""So many requests come before those that are measured: more than any limit lets through at once."""

_AT = {"N": 1, "connections": COMPARED_CONNECTIONS}

_LIMITS = {"JACKPOT_KEY_RATE": "1", "JACKPOT_SIGN_IN_RATE": "1000000"}


class RefusedBets(BetRequests):
    """Batches of one bet by a key, or by none, whose answers begin as given."""

    def __init__(self, server: Server, expected: bytes) -> None:
        super().__init__(server, bets=1)
        self.expected = expected

    def make(self, connection_no: int) -> bytes:
        """Write a batch; without a key its head says nothing of one."""
        return super().make(connection_no).replace(b"Authorization: Bearer \r\n", b"")

    def check(self, answer: bytes) -> None:
        """Take any answer that began as expected."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds of a processor for one request."""

    workers: float
    database: float

    @property
    def whole(self) -> float:
        """What the request took from all others on the machine."""
        return self.workers + self.database


def measure(site: Site, *, seconds: float) -> Iterator[Figure]:
    """Measure a bet, then each refusal. Raises: ServerFailed, LoadFailed."""
    usual, log = site.service, site.directory / "limited.log"
    bet = _cost(usual, BetRequests(usual, bets=1), seconds)
    yield from _figures_of_cost("a bet", bet)
    with servers.serving(usual.database, log, key=usual.key, settings=_LIMITS) as limited:
        floods = (
            ("no key, 401", usual, "", b"HTTP/1.1 401 "),
            ("wrong keys above their limit, 429", usual, _WRONG_KEY, b"HTTP/1.1 4"),  # The first are 401.
            ("key above its limit, 429", limited, usual.key, b"HTTP/1.1 "),  # The first are booked.
            ("key of another role, 403", usual, servers.add_key(usual.database, "auditor"), b"HTTP/1.1 403 "),
        )
        for name, server, key, expected in floods:
            site.log(f"overload: refusals, {name}")
            cost = _cost(server, RefusedBets(replace(server, key=key), expected), seconds)
            yield from _figures_of_cost(name, cost)
            yield from _compared(name, cost, bet, target=REFUSAL_OF_BET)
        # A key that nobody has seen is looked up in the database, but so many times a second of an address only.
        name = "wrong key that is looked up, 401"
        cost = _cost(limited, RefusedBets(replace(limited, key=_WRONG_KEY), b"HTTP/1.1 401 "), seconds)
        yield from _figures_of_cost(name, cost)
        yield from _compared(name, cost, bet)


def _figures_of_cost(name: str, cost: Cost) -> Iterator[Figure]:
    yield Figure(NAME, name, cost.workers, "µs of the workers", _AT)
    yield Figure(NAME, name, cost.database, "µs of PostgreSQL", _AT)


def _compared(name: str, cost: Cost, bet: Cost, *, target: Target | None = None) -> Iterator[Figure]:
    yield Figure(NAME, f"{name}, of a bet", cost.whole / bet.whole, "share", _AT, target=target)
    yield Figure(NAME, f"{name}, workers alone, of a bet", cost.workers / bet.workers, "share", _AT)


def _cost(server: Server, requests: Requests, seconds: float) -> Cost:
    """Return what a request of a flood takes, from when limits are reached."""
    load.run(server.port, requests, connections=COMPARED_CONNECTIONS, seconds=load.MOST_SECONDS, most_requests=_FIRST)
    workers, database = processor.workers_seconds(server), processor.database_seconds(server)
    load_ = load.run(server.port, requests, connections=COMPARED_CONNECTIONS, seconds=seconds)
    us_a_request = 1e6 / load_.requests
    return Cost(
        workers=(processor.workers_seconds(server) - workers) * us_a_request,
        database=(processor.database_seconds(server) - database) * us_a_request,
    )
