"""
Monitoring: health, readiness and figures for a Prometheus.

The event loop answers whether the process is alive and can write, behind no other call. The figures of the books need
a key; every worker reads the same books, so any may answer. Workers count their own events together
(`telemetry/counters.py`).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final

import flask
from marshmallow import fields
from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from jackpot_service.api import fast_path
from jackpot_service.api.readiness import Ready
from jackpot_service.api.request_context import Blueprint, RequestContext, context, look, now, principal
from jackpot_service.api.schemas import AnswerSchema, described, word
from jackpot_service.auth.authenticator import allow, anyone, require_house
from jackpot_service.database.replica import Look, ReplicaState
from jackpot_service.domain.principals import Role
from jackpot_service.reports.gauges import Gauges, gauges
from jackpot_service.telemetry import counters
from jackpot_service.usecases.changes.registry import KINDS

ALIVE: Final = {"status": "ok"}

health = Blueprint("health", __name__, description="For load balancers; no key.")


class HealthSchema(AnswerSchema):
    """How it is."""

    status = fields.String(required=True)


class ReplicaSchema(AnswerSchema):
    """The replica at which lists, reports and feeds are read; they are read at the primary unless it is in use."""

    state = word(ReplicaState)
    lag_s = described(fields.Float, "How many seconds it is behind at most; null if nobody knows.", allow_none=True)


class ReadinessSchema(AnswerSchema):
    """Whether it can take bets, and each thing that this depends on."""

    status = fields.String(required=True)
    database_writable = fields.Boolean(required=True)
    migrations_current = fields.Boolean(required=True)
    clock_right = described(fields.Boolean, "Whether its clock and the database's differ by two seconds at most.")
    bets_accepted = described(fields.Boolean, "False for a moment after bets failed for want of the database.")
    on_several_machines = described(fields.Boolean, "Whether its tables stand on several machines, with Citus.")
    replica = fields.Nested(
        ReplicaSchema(),
        required=True,
        allow_none=True,
        metadata={"description": "Of this process; null if there is none. It stops no bets."},
    )
    warnings = described(fields.List, "Matters that somebody should look into soon.", cls_or_instance=fields.String())


_READINESS: Final = ReadinessSchema()


@health.route("/healthz", methods=["GET"])
@anyone
@health.response(200, HealthSchema())
def get_health() -> Mapping[str, Any]:
    """Show that the process answers."""
    return ALIVE


@health.route("/readyz", methods=["GET"])
@anyone
@health.response(200, ReadinessSchema())
@health.alt_response(503, schema=ReadinessSchema(), description="It cannot take bets now.")
def get_readiness() -> tuple[Ready, int]:
    """Show whether it can take bets: the database is a writable primary of the right schema, and the clock is right."""
    ready = context().readiness.look()
    return ready, _status_of(ready)


def _status_of(ready: Ready) -> HTTPStatus:
    return HTTPStatus.OK if ready.is_ready else HTTPStatus.SERVICE_UNAVAILABLE


async def _take_health(_context: RequestContext) -> fast_path.Answer:
    return fast_path.Answer(ALIVE)


async def _take_readiness(context: RequestContext) -> fast_path.Answer:
    ready = await context.readiness.current()
    return fast_path.Answer(_READINESS.dump(ready), _status_of(ready))


OPEN_CALLS: Final = (
    fast_path.OpenCall(re.compile("/healthz"), _take_health),
    fast_path.OpenCall(re.compile("/readyz"), _take_readiness),
)
"""The same calls as the event loop answers them."""


metrics = Blueprint("metrics", __name__, description="For those who watch the service.")

TEXT: Final = "text/plain"


@metrics.route("/metrics", methods=["GET"])
@allow(Role.AUDITOR, Role.OPERATOR, Role.FINANCE)
@metrics.response(200, {"type": "string"}, content_type=TEXT, description="In the text format of Prometheus.")
def get_metrics() -> flask.Response:
    """
    Show ages of rate sheets, jackpots' pools, waiting changes, refusals, months ahead and jobs: floats, to be watched.

    They are of the whole house: not for a key with a casino. Failures are counted since the service was started.
    """
    require_house(principal())
    at = now()
    values = look(lambda session: gauges(session, at=at))
    replica = context().reads.replica
    text = generate_latest(_Read(values, at)) + generate_latest(counters.collector())
    if replica is not None:
        text += generate_latest(_Replica(replica.last))
    return flask.Response(text, content_type=CONTENT_TYPE_PLAIN_0_0_4)


@dataclass(frozen=True)
class _Replica(Collector):
    """The replica as the worker that answers has last seen it."""

    last: Look

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield each gauge; the lag only if somebody knows it."""
        yield GaugeMetricFamily(
            "jackpot_replica_in_use",
            "Whether lists, reports and feeds are read at the replica, and not at the primary.",
            value=self.last.state is ReplicaState.IN_USE,
        )
        lag_s = self.last.lag_s
        if lag_s is not None:
            yield GaugeMetricFamily(
                "jackpot_replica_lag_seconds", "How far the replica is behind at most.", value=lag_s
            )


@dataclass(frozen=True)
class _Read(Collector):
    """Gauges that were read at an instant, as prometheus-client writes them."""

    gauges: Gauges
    at: datetime

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield each gauge with all its labels."""
        yield self._sheet_ages()
        yield self._pools()
        yield _by_kind(
            "jackpot_change_requests_pending",
            "Change requests that wait for another person.",
            dict.fromkeys(KINDS, 0) | dict(self.gauges.pending_changes),
        )
        yield _by_kind(
            "jackpot_exceptions_kept", "Refusals kept for finance, since the beginning.", self.gauges.exceptions
        )
        yield GaugeMetricFamily(
            "jackpot_bet_months_ahead",
            "Months after the current one that have a partition of bets.",
            value=self.gauges.months_ahead,
        )
        yield GaugeMetricFamily(
            "jackpot_reconciliation_days_behind",
            "Days since the first day began that is over and not reconciled; 0 if there is none.",
            value=self.gauges.days_behind,
        )
        yield self._jobs()
        waits_since = self.gauges.waits_since
        yield GaugeMetricFamily(
            "jackpot_job_waits_seconds",
            "How long the first of the jobs that wait has waited; 0 if none does.",
            value=0 if waits_since is None else max(0.0, (self.at - waits_since).total_seconds()),
        )
        yield GaugeMetricFamily(
            "jackpot_book_mismatches",
            "Mismatches that a verification job has found; 0 again when one from zero has found nothing since.",
            value=self.gauges.mismatches,
        )

    def _jobs(self) -> GaugeMetricFamily:
        family = GaugeMetricFamily("jackpot_jobs", "Jobs that are not over, by state.", labels=["state"])
        for state, count in sorted(self.gauges.jobs.items()):
            family.add_metric([state], count)
        return family

    def _sheet_ages(self) -> GaugeMetricFamily:
        description = "How long the rate sheet in force has been so, of each base currency of a jackpot."
        family = GaugeMetricFamily("jackpot_rate_sheet_age_seconds", description, labels=["base"])
        for sheet in self.gauges.sheets:
            age = sheet.age(at=self.at)
            if age is not None:
                family.add_metric([sheet.base], age.total_seconds())
        return family

    def _pools(self) -> GaugeMetricFamily:
        description = "The balance of a jackpot's pool in its base currency, as booked."
        family = GaugeMetricFamily("jackpot_pool_amount", description, labels=["jackpot_id", "currency", "pool"])
        for held in self.gauges.pools:
            for pool, amount in (("meter", held.meter), ("reserve", held.reserve), ("prize_fund", held.prize_fund)):
                family.add_metric([held.jackpot_id, held.base, pool], float(amount))
        return family


def _by_kind(name: str, description: str, counts: Mapping[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, description, labels=["kind"])
    for kind, count in sorted(counts.items()):
        family.add_metric([kind], count)
    return family
