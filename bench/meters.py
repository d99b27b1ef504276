"""How often the meter can be read: as it is, at most a second old, and by those who have it already."""

from dataclasses import dataclass
from socket import socket

from bench import wire
from bench.figures import Figure
from bench.requests import OK, MeterRequests, etag_of
from bench.site import Site
from bench.targets import CACHED_METER_PER_SECOND, METER_PER_SECOND, Target

NAME = "meters"

CONNECTIONS = 32


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to read each way."""

    seconds: float


def measure(site: Site, plan: Plan) -> tuple[Figure, ...]:
    """Read the meter in each way, while nothing is booked."""
    with wire.connect(site.service.port) as connection:
        etag = _etag(site, connection)
    ways: tuple[tuple[str, MeterRequests, Target | None], ...] = (
        ("plain", MeterRequests(site.service), METER_PER_SECOND),
        ("max_age=1", MeterRequests(site.service, query="?max_age=1"), CACHED_METER_PER_SECOND),
        ("not modified", MeterRequests(site.service, etag=etag), None),
    )
    return tuple(figure for name, requests, target in ways for figure in _way(site, plan, name, requests, target))


def _etag(site: Site, connection: socket) -> bytes:
    return etag_of(wire.ask(connection, MeterRequests(site.service).make(0), expected=OK))


def _way(site: Site, plan: Plan, name: str, requests: MeterRequests, target: Target | None) -> tuple[Figure, ...]:
    site.log(f"meters: {name}")
    load = site.load(site.service, requests, connections=CONNECTIONS, seconds=plan.seconds)
    return (
        Figure(NAME, name, load.requests_per_second, "requests/s", target=target),
        Figure(NAME, f"{name}, p99", load.latencies.percentile_ms(99), "ms"),
        Figure(NAME, f"{name}, the generator's own", load.generator_us_per_request, "µs/request"),
    )
