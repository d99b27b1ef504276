"""
Business figures for a Prometheus that asks with a key; every worker reads the same books, so any may answer.

What workers count themselves they count together (`telemetry/counters.py`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import flask
from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from jackpot_service.api.request_context import Blueprint, look, now, principal
from jackpot_service.auth.authenticator import allow, require_house
from jackpot_service.domain.principals import Role
from jackpot_service.reports.gauges import Gauges, gauges
from jackpot_service.telemetry import counters
from jackpot_service.usecases.changes.registry import KINDS

blueprint = Blueprint("metrics", __name__, description="For those who watch the service.")

TEXT: Final = "text/plain"


@blueprint.route("/metrics", methods=["GET"])
@allow(Role.AUDITOR, Role.OPERATOR, Role.FINANCE)
@blueprint.response(200, {"type": "string"}, content_type=TEXT, description="In the text format of Prometheus.")
def get_metrics() -> flask.Response:
    """
    Show ages of rate sheets, jackpots' pools, waiting changes, kept refusals and months ahead: floats, to be watched.

    They are of the whole house: not for a key with a casino. What goes wrong is counted since the service was started.
    """
    require_house(principal())
    at = now()
    found = look(lambda session: gauges(session, at=at))
    text = generate_latest(_Read(found, at)) + generate_latest(counters.collector())
    return flask.Response(text, content_type=CONTENT_TYPE_PLAIN_0_0_4)


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

    def _sheet_ages(self) -> GaugeMetricFamily:
        said = "How long the rate sheet in force has been so, of each base currency of a jackpot."
        family = GaugeMetricFamily("jackpot_rate_sheet_age_seconds", said, labels=["base"])
        for sheet in self.gauges.sheets:
            age = sheet.age(at=self.at)
            if age is not None:
                family.add_metric([sheet.base], age.total_seconds())
        return family

    def _pools(self) -> GaugeMetricFamily:
        said = "What a jackpot's pool holds in its base currency, as booked."
        family = GaugeMetricFamily("jackpot_pool_amount", said, labels=["jackpot_id", "currency", "pool"])
        for held in self.gauges.pools:
            for pool, amount in (("meter", held.meter), ("reserve", held.reserve), ("prize_fund", held.prize_fund)):
                family.add_metric([held.jackpot_id, held.base, pool], float(amount))
        return family


def _by_kind(name: str, said: str, counts: Mapping[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, said, labels=["kind"])
    for kind, count in sorted(counts.items()):
        family.add_metric([kind], count)
    return family
