"""
What it costs the service to refuse a bet, as a share of what it costs to book one: the processor time of its workers.

Each flood sends the requests of bets and is refused for one reason. Some are sent to a service of their own on the same
database: its limit of a key is low, and its limit of failed sign-ins is above any flood.
"""

from collections.abc import Iterator
from dataclasses import replace

from bench import load, servers
from bench.figures import Figure
from bench.requests import BetRequests, Requests
from bench.servers import Server
from bench.site import Site
from bench.targets import COMPARED_CONNECTIONS, REFUSAL_OF_BET

NAME = "overload"

_WRONG_KEY = "jk_0123456789abcdef_wrong"
_FIRST = 1000
"""So many requests come before those that are measured: more than any limit lets through at once."""

_LIMITS = {"JACKPOT_KEY_RATE": "1", "JACKPOT_SIGN_IN_RATE": "1000000"}


class RefusedBets(BetRequests):
    """Batches of one bet by a key, or by none, whose answers begin as given."""

    def __init__(self, server: Server, expected: bytes) -> None:
        super().__init__(server, bets=1)
        self.expected = expected

    def make(self, lane: int) -> bytes:
        """Write a batch; without a key its head says nothing of one."""
        return super().make(lane).replace(b"Authorization: Bearer \r\n", b"")

    def check(self, answer: bytes) -> None:
        """Take any answer that began as expected."""


def measure(site: Site, *, seconds: float) -> Iterator[Figure]:
    """Measure a bet, then each refusal. Raises: ServerFailed, LoadFailed."""
    usual, log = site.service, site.directory / "limited.log"
    at = {"N": 1, "connections": COMPARED_CONNECTIONS}
    bet_us = _cost_us(usual, BetRequests(usual, bets=1), seconds)
    yield Figure(NAME, "a bet", bet_us, "µs of the workers", at)
    with servers.serving(usual.database, log, key=usual.key, settings=_LIMITS) as limited:
        floods = (
            ("no key, 401", usual, "", b"HTTP/1.1 401 "),
            ("wrong keys above their limit, 429", usual, _WRONG_KEY, b"HTTP/1.1 4"),  # The first are 401.
            ("key above its limit, 429", limited, usual.key, b"HTTP/1.1 "),  # The first are booked.
            ("key of another role, 403", usual, servers.add_auditor(usual.database), b"HTTP/1.1 403 "),
        )
        for name, server, key, expected in floods:
            site.tell(f"overload: refusals, {name}")
            refused = RefusedBets(replace(server, key=key), expected)
            cost_us = _cost_us(server, refused, seconds)
            yield Figure(NAME, name, cost_us, "µs of the workers", at)
            yield Figure(NAME, f"{name}, of a bet", cost_us / bet_us, "share", at, target=REFUSAL_OF_BET)
        # A key that nobody has seen is looked up in the database, but so many times a second of an address only.
        looked_up = RefusedBets(replace(limited, key=_WRONG_KEY), b"HTTP/1.1 401 ")
        cost_us = _cost_us(limited, looked_up, seconds)
        yield Figure(NAME, "wrong key that is looked up, 401", cost_us, "µs of the workers", at)
        yield Figure(NAME, "wrong key that is looked up, 401, of a bet", cost_us / bet_us, "share", at)


def _cost_us(server: Server, requests: Requests, seconds: float) -> float:
    """Return the processor time of the workers for a request of a flood, from when limits are reached."""
    load.run(server.port, requests, connections=COMPARED_CONNECTIONS, seconds=load.MOST_SECONDS, most_requests=_FIRST)
    before = servers.worker_seconds(server)
    found = load.run(server.port, requests, connections=COMPARED_CONNECTIONS, seconds=seconds)
    return (servers.worker_seconds(server) - before) / found.requests * 1e6
