"""Change requests: one person asks, another decides, and the books say who, why, before and after."""

from datetime import timedelta
from typing import Any

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from structlog.testing import capture_logs

from jackpot_service.domain.principals import Principal, Role
from tests.support.answers import Body
from tests.support.house import House

NEW_RATE: Body = {"base": "EUR", "rates": {"GBP": "1.18"}}


def ask(house: House, **more: Any) -> Any:
    return house.ask("rate-sheet", NEW_RATE, role=Role.RATES, **more)


def approve(house: House, **more: Any) -> Any:
    return house.approve(role=Role.RATES, **more)


def sheet_number(house: House) -> int:
    number: int = house.get("/v1/rates?base=EUR").ok()["number"]
    return number


def test_what_one_asks_for_another_approves_and_only_then_it_is_done(house: House) -> None:
    asked = ask(house).ok(201)
    assert (asked["state"], asked["maker"], sheet_number(house)) == ("pending", "Ann", 1)
    assert asked["effect"]["after"]["number"] == 2

    approved = approve(house).ok()
    assert (approved["state"], approved["decision"]["checker"], sheet_number(house)) == ("approved", "Bob", 2)


def test_nobody_approves_what_they_asked_for(house: House) -> None:
    ask(house).ok(201)

    approve(house, by="Ann").problem(403, "same-person")
    assert sheet_number(house) == 1


def test_the_database_itself_refuses_a_checker_who_is_the_maker(house: House) -> None:
    ask(house).ok(201)
    decision = """
        INSERT INTO change_decisions
        VALUES ('q1', 'Ann', 'Ann', 'approved', NULL, '{}', :emergency, now(), 1)
    """

    with pytest.raises(IntegrityError) as caught, house.engine.begin() as session:
        session.execute(text(decision), {"emergency": False})

    assert isinstance(caught.value.orig, psycopg.errors.CheckViolation)
    assert caught.value.orig.diag.constraint_name == "ck_change_decisions_two_people"


def test_a_machine_asks_and_never_approves(house: House) -> None:
    robot = Principal("robot", Role.RATES, is_automaton=True)
    key = house.key_of(robot)
    ask(house).ok(201)

    house.post("/v1/change-requests/q1/approval", {}, key=key).problem(403, "machine-approval")
    asked = {"request_id": "q2", "kind": "rate-sheet", "payload": NEW_RATE, "reason": "the morning's rates"}
    assert house.post("/v1/change-requests", asked, key=key).status == 201


def test_the_same_request_again_is_a_replay_and_another_is_a_conflict(house: House) -> None:
    first = ask(house).ok(201)
    assert house.person("Bob", Role.RATES)
    before = house.books.counts()

    again = ask(house).ok(200)
    assert {**again, "effect": None} == {**first, "effect": None}
    ask(house, reason="otherwise").problem(409, "request-conflict")
    ask(house, by="Bob").problem(409, "request-conflict")
    assert house.books.counts() == before


def test_the_same_approval_again_is_a_replay_and_another_decision_a_conflict(house: House) -> None:
    ask(house).ok(201)
    approve(house).ok()
    assert house.person("Cleo", Role.RATES)
    before = house.books.counts()

    assert approve(house).ok()["state"] == "approved"
    approve(house, by="Cleo").problem(409, "change-decided")
    approve(house, reason="for another reason").problem(409, "change-decided")
    rejection = house.post("/v1/change-requests/q1/rejection", {"reason": "no"}, key=house.person("Bob", Role.RATES))
    rejection.problem(409, "change-decided")
    assert house.books.counts() == before


def test_a_rejected_change_is_never_done(house: House) -> None:
    ask(house).ok(201)
    bob = house.person("Bob", Role.RATES)
    assert house.post("/v1/change-requests/q1/rejection", {"reason": "no"}, key=bob).ok()["state"] == "rejected"

    approve(house).problem(409, "change-decided")
    assert sheet_number(house) == 1


def test_a_request_expires(house: House) -> None:
    ask(house).ok(201)
    house.clock.advance(timedelta(days=7))

    approve(house).problem(409, "change-expired")
    assert house.get("/v1/change-requests/q1").ok()["state"] == "expired"


def test_a_request_against_an_older_state_is_refused_at_its_approval(house: House) -> None:
    ask(house).ok(201)
    house.publish(GBP="1.19")

    approve(house).problem(409, "change-stale")
    ask(house, request_id="q2", base_version="1").problem(409, "change-stale")
    assert sheet_number(house) == 2


def test_whether_it_is_a_dry_run_is_not_said_twice(house: House) -> None:
    ask(house).ok(201)

    approve(house, query="?dry_run=false&dry_run=true").problem(422, "validation", "?dry_run")

    assert house.get("/v1/change-requests/q1").ok()["state"] == "pending"


def test_a_dry_run_shows_what_would_be_done_and_does_nothing(house: House) -> None:
    keys = [house.person(name, Role.RATES) for name in ("Ann", "Bob")]
    assert all(keys)
    before = house.books.counts()
    assert ask(house, query="?dry_run=true").ok()["effect"]["after"]["number"] == 2
    assert house.books.counts() == before

    ask(house).ok(201)
    before = house.books.counts()
    dry = approve(house, query="?dry_run=true").ok()
    assert dry["effect"]["after"]["number"] == 2
    assert house.books.counts() == before


def test_what_could_not_be_done_is_refused_when_it_is_asked_for(house: House) -> None:
    house.person("Ann", Role.RATES)
    before = house.books.counts()

    refused = house.ask("rate-sheet", {"base": "EUR", "rates": {"XXX": "1"}}, role=Role.RATES)

    refused.problem(422, "unknown-currency")
    assert house.books.counts() == before


def test_an_operator_does_not_change_rates(house: House) -> None:
    house.ask("rate-sheet", NEW_RATE).problem(403, "role-forbidden")


def test_one_person_alone_acts_only_where_that_is_switched_on_and_it_is_told(house: House) -> None:
    ask(house).ok(201)
    approve(house, by="Ann", emergency=True).problem(403, "emergency-off")

    house.switch_emergency()
    approve(house, by="Bob", emergency=True).problem(403, "same-person")
    approve(house, by="Ann").problem(403, "same-person")
    with capture_logs() as logs:
        approved = approve(house, by="Ann", emergency=True).ok()
        assert approve(house, by="Ann", emergency=True).ok()["state"] == "approved"

    assert [line["log_level"] for line in logs] == ["critical"]  # Once: the second was a replay.
    assert approved["decision"]["is_emergency"] is True
    assert sheet_number(house) == 2


def test_a_figure_outside_the_band_must_be_repeated_by_the_approver(house: House) -> None:
    asked = house.ask("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.40"}}, role=Role.RATES).ok(201)
    assert asked["to_confirm"] == {"GBP": "1.4"}

    approve(house).problem(422, "confirmation-required")
    approve(house, confirmed={"GBP": "1.400"}).problem(422, "confirmation-required")
    assert approve(house, confirmed={"GBP": "1.4"}).ok()["state"] == "approved"


def test_change_requests_are_listed_by_state(house: House) -> None:
    for number in range(3):
        ask(house, request_id=f"q{number}").ok(201)
    approve(house, request_id="q1").ok()

    page = house.get("/v1/change-requests?state=pending&limit=1").ok()
    assert [item["request_id"] for item in page["items"]] == ["q2"]
    following = house.get(f"/v1/change-requests?state=pending&limit=1&after={page['next']}").ok()
    assert ([item["request_id"] for item in following["items"]], following["next"]) == (["q0"], None)
    assert [item["request_id"] for item in house.get("/v1/change-requests?state=approved").ok()["items"]] == ["q1"]
