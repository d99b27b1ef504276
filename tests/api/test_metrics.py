"""What a Prometheus reads, and that a rate sheet grown old is told before somebody plays by it for days."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from jackpot_service.api.places import Caller
from jackpot_service.api.request_context import EXTENSION
from jackpot_service.domain.principals import Role
from jackpot_service.domain.rounds import Month
from jackpot_service.reports.reconciling import reconcile_next
from jackpot_service.schema import months
from jackpot_service.telemetry import counters
from tests.support.answers import Answer
from tests.support.bets import bet
from tests.support.logins import owner_url
from tests.support.pages import DOCS
from tests.support.payouts import shipped
from tests.support.world import World

pytestmark = pytest.mark.slow

Labels = frozenset[tuple[str, str]]


def metrics(world: World) -> dict[tuple[str, Labels], float]:
    answer = world.get("/metrics")
    assert (answer.status, answer.media_type) == (200, "text/plain")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def gauge(world: World, name: str, **labels: str) -> float | None:
    return metrics(world).get((name, frozenset(labels.items())))


def warnings(world: World) -> list[str]:
    # The loop's answer may be a second old.
    listed: list[str] = world.app.test_client().get("/readyz").get_json()["warnings"]
    return listed


def test_the_age_of_the_sheet_in_force_is_told_of_each_base_that_a_jackpot_uses(world: World) -> None:
    world.publish("USD", EUR="0.9")
    assert gauge(world, "jackpot_rate_sheet_age_seconds", base="EUR") is None

    world.open(settings=shipped())
    world.publish(GBP="1.18")
    world.clock.advance(timedelta(hours=1))

    age = gauge(world, "jackpot_rate_sheet_age_seconds", base="EUR")
    assert age is not None
    assert 3600 < age < 3700
    assert gauge(world, "jackpot_rate_sheet_age_seconds", base="USD") is None


def test_pools_are_told_as_they_are_booked(world: World) -> None:
    world.open(base_amount="1000", settings={"limit": "1000"})
    world.open(jackpot_id="j2", tables=())
    world.bet(bet())

    amounts = {
        pool: gauge(world, "jackpot_pool_amount", jackpot_id="j1", currency="EUR", pool=pool)
        for pool in ("meter", "reserve", "prize_fund")
    }
    assert amounts == {"meter": 1000.45, "reserve": 0.05, "prize_fund": 0.3184}
    assert gauge(world, "jackpot_pool_amount", jackpot_id="j2", currency="EUR", pool="meter") == 0


def test_change_requests_are_counted_while_they_wait(world: World) -> None:
    payload = {"base": "EUR", "rates": {"GBP": "1.18"}}
    for request_id in ("q1", "q2", "q3"):
        world.ask("rate-sheet", payload, request_id=request_id, role=Role.RATES).ok(201)
    assert gauge(world, "jackpot_change_requests_pending", kind="rate-sheet") == 3
    assert gauge(world, "jackpot_change_requests_pending", kind="rules") == 0

    world.approve("q1", role=Role.RATES).ok()
    assert gauge(world, "jackpot_change_requests_pending", kind="rate-sheet") == 2
    world.clock.advance(timedelta(days=7))
    assert gauge(world, "jackpot_change_requests_pending", kind="rate-sheet") == 0


def test_refusals_kept_for_finance_are_counted_by_kind(world: World) -> None:
    world.open(settings=shipped())
    for number in (1, 2):
        world.post_bets(bet(stake_minor=10_001), round_id=f"r{number}").problem(422, "stake-out-of-range")

    assert gauge(world, "jackpot_exceptions_kept", kind="stake-out-of-range") == 2


def test_each_refusal_of_a_flood_counts_though_it_is_one_line(world: World) -> None:
    world.open(settings=shipped())
    for number in range(5):
        world.post_bets(bet(currency="CHF"), round_id=f"r{number}").problem(422, "no-rate")

    assert gauge(world, "jackpot_exceptions_kept", kind="no-rate") == 5


def test_an_empty_house_has_metrics_too(world: World) -> None:
    assert {name for name, _ in metrics(world)} == {
        "jackpot_change_requests_pending",
        "jackpot_bet_months_ahead",
        "jackpot_reconciliation_days_behind",
        "jackpot_job_waits_seconds",
        "jackpot_jobs",
        "jackpot_book_mismatches",
        *(f"{name}_total" for name in counters.COUNTED),
        *counters.INSTANTS,
    }


def test_it_is_told_how_far_days_are_behind_that_nobody_reconciles(world: World) -> None:
    world.open(settings=shipped())
    assert gauge(world, "jackpot_reconciliation_days_behind") == 0
    world.clock.advance(timedelta(days=1))
    assert gauge(world, "jackpot_reconciliation_days_behind") == 1
    world.bet(bet())
    world.clock.advance(timedelta(days=2))
    assert gauge(world, "jackpot_reconciliation_days_behind") == 3

    for days_behind in (3, 2, 2, 0):  # Of each day its only entry, then its end.
        assert reconcile_next(world.engine, now=world.clock())
        assert gauge(world, "jackpot_reconciliation_days_behind") == days_behind
    assert not reconcile_next(world.engine, now=world.clock())


@pytest.mark.parametrize("role", [Role.FINANCE, Role.OPERATOR, Role.AUDITOR])
def test_whoever_watches_shows_a_key(world: World, role: Role) -> None:
    assert world.get("/metrics", role=role).status == 200
    world.call("GET", "/metrics", key=None).problem(401, "unauthenticated")


def test_a_casinos_finance_is_told_nothing_of_the_whole_house(world: World) -> None:
    key = world.key(Role.FINANCE, casino_id="c1")
    world.call("GET", "/metrics", key=key).problem(403, "role-forbidden")


def test_a_sheet_grown_old_is_warned_of_and_bets_are_taken_all_the_same(world: World) -> None:
    world.open(settings=shipped())
    world.clock.advance(timedelta(hours=35))
    assert warnings(world) == []

    world.clock.advance(timedelta(hours=2))
    assert warnings(world) == ["Rate sheet 1 of EUR has been in force for 37 hours."]
    world.bet(bet())

    world.publish(GBP="1.18")
    assert warnings(world) == []


def test_how_old_is_too_old_is_the_installations(world: World) -> None:
    world.open(settings=shipped())
    world.config = replace(world.config, rates_stale_after_s=60)
    world.app = world.start()
    world.clock.advance(timedelta(minutes=2))

    assert warnings(world) == ["Rate sheet 1 of EUR has been in force for 0 hours."]


def test_a_sheet_that_is_not_there_is_warned_of_where_a_jackpot_needs_it(world: World) -> None:
    world.open(base="USD", tables=(), settings=shipped())

    assert warnings(world) == ["No rate sheet of USD is in force."]


def test_a_base_that_no_jackpot_uses_is_nobodys_worry(world: World) -> None:
    world.clock.advance(timedelta(days=30))

    assert warnings(world) == []


def test_a_next_month_without_a_partition_is_warned_of_until_somebody_makes_it(world: World, database_url: str) -> None:
    world.open(settings=shipped())
    assert warnings(world) == []
    assert (gauge(world, "jackpot_bet_months_ahead") or 0) >= 1

    world.clock.at = datetime.now(UTC) + timedelta(days=365)
    world.publish(GBP="1.18")
    coming = Month.of(world.clock.at).later(1)
    assert warnings(world) == [f"Bets of {coming} have no partition yet; run: jackpot db months"]
    assert gauge(world, "jackpot_bet_months_ahead") == 0
    world.bet(bet())

    months.make(owner_url(database_url), now=world.clock.at)
    assert warnings(world) == []
    assert gauge(world, "jackpot_bet_months_ahead") == months.AHEAD


def test_a_call_whose_key_is_not_in_force_is_counted_and_logged_once_a_minute(world: World) -> None:
    before = gauge(world, "jackpot_sign_ins_refused_total")
    assert before is not None

    with capture_logs() as logged:
        for key in ("jk_00_secret", None):
            world.call("GET", "/v1/keys", key=key).problem(401, "unauthenticated")

    assert gauge(world, "jackpot_sign_ins_refused_total") == before + 2
    assert [line for line in logged if line["event"] == "sign-in-refused"] == [
        {"event": "sign-in-refused", "log_level": "warning", "address": "192.0.2.1"}
    ]


TURNED_AWAY: Mapping[str, Callable[[World], Answer]] = {
    "bets": lambda world: world.post_bets(bet()),
    "listeners": lambda world: world.get("/v1/events?after=now&wait=1"),
    "reports": lambda world: world.get("/v1/reports/trial-balance"),
}


@pytest.mark.parametrize("what", TURNED_AWAY)
def test_a_call_that_gets_no_place_is_answered_503_and_counted(world: World, what: str) -> None:
    world.open(settings=shipped())
    context = world.app.extensions[EXTENSION]
    places = {"bets": context.bets.places, "listeners": context.listeners, "reports": context.reports}[what]
    before = gauge(world, "jackpot_calls_turned_away_total", what=what)
    assert before is not None
    assert TURNED_AWAY[what](world).status in {200, 201}

    with places.place(Caller("c9", "flood"), places.at_most):
        TURNED_AWAY[what](world).problem(503, "busy")

    assert gauge(world, "jackpot_calls_turned_away_total", what=what) == before + 1


OF_REPLICA: Final = {"jackpot_replica_in_use", "jackpot_replica_lag_seconds"}
"""Figures of a service that has one: `tests/replica/test_reading.py` reads them."""


def test_every_figure_has_an_alert_and_every_alert_a_figure(world: World) -> None:
    world.open(settings=shipped())
    world.publish(GBP="1.18")
    world.post_bets(bet(stake_minor=10_001)).problem(422, "stake-out-of-range")

    rules = yaml.safe_load((DOCS / "production" / "alerts.yml").read_text())["groups"][0]["rules"]
    watched = {name for rule in rules for name in re.findall(r"\bjackpot_\w+", rule["expr"])}
    assert watched == {name for name, _ in metrics(world)} | OF_REPLICA


def test_jobs_that_are_not_over_are_counted(world: World) -> None:
    world.open(settings=shipped())
    assert gauge(world, "jackpot_jobs", state="queued") == gauge(world, "jackpot_job_waits_seconds") == 0

    world.ask_job({"jackpot_id": "j1", "format": "hledger"}).ok(201)
    world.clock.advance(timedelta(minutes=3))

    assert gauge(world, "jackpot_jobs", state="queued") == 1
    assert gauge(world, "jackpot_jobs", state="running") == 0
    assert (gauge(world, "jackpot_job_waits_seconds") or 0) >= 180
    assert world.runner().run_next()
    assert gauge(world, "jackpot_jobs", state="queued") == gauge(world, "jackpot_job_waits_seconds") == 0
