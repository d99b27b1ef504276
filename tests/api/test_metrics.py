"""What a Prometheus reads, and that a rate sheet grown old is told before somebody plays by it for days."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from jackpot_service.domain.months import Month
from jackpot_service.domain.principals import Role
from jackpot_service.reports.reconciling import reconcile_next
from jackpot_service.schema import months
from jackpot_service.telemetry import counters
from tests.support.bets import bet
from tests.support.house import House
from tests.support.logins import owner_url
from tests.support.pages import DOCS

Labels = frozenset[tuple[str, str]]


def metrics(house: House) -> dict[tuple[str, Labels], float]:
    answer = house.get("/metrics")
    assert (answer.status, answer.media_type) == (200, "text/plain")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def one(house: House, name: str, **labels: str) -> float | None:
    return metrics(house).get((name, frozenset(labels.items())))


def warnings(house: House) -> list[str]:
    # The loop's answer may be a second old.
    found: list[str] = house.app.test_client().get("/readyz").get_json()["warnings"]
    return found


def test_the_age_of_the_sheet_in_force_is_told_of_each_base_that_a_jackpot_uses(house: House) -> None:
    house.publish("USD", EUR="0.9")
    assert one(house, "jackpot_rate_sheet_age_seconds", base="EUR") is None

    house.open()
    house.publish(GBP="1.18")
    house.clock.advance(timedelta(hours=1))

    age = one(house, "jackpot_rate_sheet_age_seconds", base="EUR")
    assert age is not None
    assert 3600 < age < 3700
    assert one(house, "jackpot_rate_sheet_age_seconds", base="USD") is None


def test_pools_are_told_as_they_are_booked(house: House) -> None:
    house.open(base_amount="1000", settings={"limit": "1000"})
    house.open(jackpot_id="j2", tables=())
    house.bet(bet())

    told = {
        pool: one(house, "jackpot_pool_amount", jackpot_id="j1", currency="EUR", pool=pool)
        for pool in ("meter", "reserve", "prize_fund")
    }
    assert told == {"meter": 1000.45, "reserve": 0.05, "prize_fund": 0.3184}
    assert one(house, "jackpot_pool_amount", jackpot_id="j2", currency="EUR", pool="meter") == 0


def test_change_requests_are_counted_while_they_wait(house: House) -> None:
    payload = {"base": "EUR", "rates": {"GBP": "1.18"}}
    for request_id in ("q1", "q2", "q3"):
        house.ask("rate-sheet", payload, request_id=request_id, role=Role.RATES).ok(201)
    assert one(house, "jackpot_change_requests_pending", kind="rate-sheet") == 3
    assert one(house, "jackpot_change_requests_pending", kind="rules") == 0

    house.approve("q1", role=Role.RATES).ok()
    assert one(house, "jackpot_change_requests_pending", kind="rate-sheet") == 2
    house.clock.advance(timedelta(days=7))
    assert one(house, "jackpot_change_requests_pending", kind="rate-sheet") == 0


def test_refusals_kept_for_finance_are_counted_by_kind(house: House) -> None:
    house.open()
    for number in (1, 2):
        house.post_bets(bet(stake_minor=10_001), round_id=f"r{number}").problem(422, "stake-out-of-range")

    assert one(house, "jackpot_exceptions_kept", kind="stake-out-of-range") == 2


def test_an_empty_house_has_metrics_too(house: House) -> None:
    assert {name for name, _ in metrics(house)} == {
        "jackpot_change_requests_pending",
        "jackpot_bet_months_ahead",
        "jackpot_reconciliation_days_behind",
        *(f"{name}_total" for name in counters.COUNTED),
        *counters.INSTANTS,
    }


def test_it_is_told_how_far_days_are_behind_that_nobody_reconciles(house: House) -> None:
    house.open()
    assert one(house, "jackpot_reconciliation_days_behind") == 0
    house.clock.advance(timedelta(days=1))
    assert one(house, "jackpot_reconciliation_days_behind") == 1
    house.bet(bet())
    house.clock.advance(timedelta(days=2))
    assert one(house, "jackpot_reconciliation_days_behind") == 3

    assert reconcile_next(house.engine, now=house.clock())
    assert one(house, "jackpot_reconciliation_days_behind") == 2
    assert reconcile_next(house.engine, now=house.clock())
    assert one(house, "jackpot_reconciliation_days_behind") == 0


@pytest.mark.parametrize("role", [Role.FINANCE, Role.OPERATOR, Role.AUDITOR])
def test_whoever_watches_shows_a_key(house: House, role: Role) -> None:
    assert house.get("/metrics", role=role).status == 200
    house.call("GET", "/metrics", key=None).problem(401, "unauthenticated")


def test_a_casinos_finance_is_told_nothing_of_the_whole_house(house: House) -> None:
    key = house.key(Role.FINANCE, casino_id="c1")
    house.call("GET", "/metrics", key=key).problem(403, "role-forbidden")


def test_a_sheet_grown_old_is_warned_of_and_bets_are_taken_all_the_same(house: House) -> None:
    house.open()
    house.clock.advance(timedelta(hours=35))
    assert warnings(house) == []

    house.clock.advance(timedelta(hours=2))
    assert warnings(house) == ["Rate sheet 1 of EUR has been in force for 37 hours."]
    house.bet(bet())

    house.publish(GBP="1.18")
    assert warnings(house) == []


def test_how_old_is_too_old_is_the_installations(house: House) -> None:
    house.open()
    house.config = replace(house.config, rates_stale_after_s=60)
    house.app = house.start()
    house.clock.advance(timedelta(minutes=2))

    assert warnings(house) == ["Rate sheet 1 of EUR has been in force for 0 hours."]


def test_a_sheet_that_is_not_there_is_warned_of_where_a_jackpot_needs_it(house: House) -> None:
    house.open(base="USD", tables=())

    assert warnings(house) == ["No rate sheet of USD is in force."]


def test_a_base_that_no_jackpot_uses_is_nobodys_worry(house: House) -> None:
    house.clock.advance(timedelta(days=30))

    assert warnings(house) == []


def test_a_next_month_without_a_partition_is_warned_of_until_somebody_makes_it(house: House, database_url: str) -> None:
    house.open()
    assert warnings(house) == []
    assert (one(house, "jackpot_bet_months_ahead") or 0) >= 1

    house.clock.at = datetime.now(UTC) + timedelta(days=365)
    house.publish(GBP="1.18")
    coming = Month.of(house.clock.at).later(1)
    assert warnings(house) == [f"Bets of {coming} have no partition yet; run: jackpot db months"]
    assert one(house, "jackpot_bet_months_ahead") == 0
    house.bet(bet())

    months.make(owner_url(database_url), now=house.clock.at)
    assert warnings(house) == []
    assert one(house, "jackpot_bet_months_ahead") == months.AHEAD


def test_a_call_whose_key_is_not_in_force_is_counted_and_logged_once_a_minute(house: House) -> None:
    before = one(house, "jackpot_sign_ins_refused_total")
    assert before is not None

    with capture_logs() as logged:
        for key in ("jk_00_secret", None):
            house.call("GET", "/v1/keys", key=key).problem(401, "unauthenticated")

    assert one(house, "jackpot_sign_ins_refused_total") == before + 2
    assert [line for line in logged if line["event"] == "sign-in-refused"] == [
        {"event": "sign-in-refused", "log_level": "warning", "address": "192.0.2.1"}
    ]


def test_every_figure_has_an_alert_and_every_alert_a_figure(house: House) -> None:
    house.open()
    house.publish(GBP="1.18")
    house.post_bets(bet(stake_minor=10_001)).problem(422, "stake-out-of-range")

    rules = yaml.safe_load((DOCS / "production" / "alerts.yml").read_text())["groups"][0]["rules"]
    watched = {name for rule in rules for name in re.findall(r"\bjackpot_\w+", rule["expr"])}
    assert watched == {name for name, _ in metrics(house)}
