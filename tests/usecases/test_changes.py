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
from tests.support.world import World

pytestmark = pytest.mark.slow

NEW_RATE: Body = {"base": "EUR", "rates": {"GBP": "1.18"}}


def ask(world: World, **more: Any) -> Any:
    return world.ask("rate-sheet", NEW_RATE, role=Role.RATES, **more)


def approve(world: World, **more: Any) -> Any:
    return world.approve(role=Role.RATES, **more)


def sheet_number(world: World) -> int:
    number: int = world.get("/v1/rates?base=EUR").ok()["number"]
    return number


def test_what_one_asks_for_another_approves_and_only_then_it_is_done(world: World) -> None:
    requested = ask(world).ok(201)
    assert (requested["state"], requested["maker"], sheet_number(world)) == ("pending", "Ann", 1)
    assert requested["effect"]["after"]["number"] == 2

    approved = approve(world).ok()
    assert (approved["state"], approved["decision"]["checker"], sheet_number(world)) == ("approved", "Bob", 2)


def test_nobody_approves_what_they_asked_for(world: World) -> None:
    ask(world).ok(201)

    approve(world, by="Ann").problem(403, "same-user")
    assert sheet_number(world) == 1


def test_the_database_itself_refuses_a_checker_who_is_the_maker(world: World) -> None:
    ask(world).ok(201)
    decision = """
        INSERT INTO change_decisions
            (request_id, maker, checker, outcome, reason, confirmed, is_emergency, is_final, decided_at, entry_seq)
        VALUES ('q1', 'Ann', 'Ann', 'approved', 'checked', '{}', :emergency, true, now(), 1)
    """

    with pytest.raises(IntegrityError) as caught, world.engine.begin() as session:
        session.execute(text(decision), {"emergency": False})

    assert isinstance(caught.value.orig, psycopg.errors.CheckViolation)
    assert caught.value.orig.diag.constraint_name == "ck_change_decisions_two_people"


def test_an_approval_says_why(world: World) -> None:
    ask(world).ok(201)
    key = world.person("Bob", Role.RATES)

    for body in ({}, {"reason": None}, {"reason": ""}, {"reason": 5}):
        world.post("/v1/change-requests/q1/approval", body, key=key).problem(422, "validation", "/reason")

    assert sheet_number(world) == 1


def test_a_machine_asks_and_never_approves(world: World) -> None:
    robot = Principal("robot", Role.RATES, is_automaton=True)
    key = world.key_of(robot)
    ask(world).ok(201)

    world.post("/v1/change-requests/q1/approval", {"reason": "checked"}, key=key).problem(403, "user-approval-required")
    body = {"request_id": "q2", "kind": "rate-sheet", "payload": NEW_RATE, "reason": "the morning's rates"}
    assert world.post("/v1/change-requests", body, key=key).status == 201


def test_the_same_request_again_is_a_replay_and_another_is_a_conflict(world: World) -> None:
    first = ask(world).ok(201)
    assert world.person("Bob", Role.RATES)
    before = world.books.counts()

    again = ask(world).ok(200)
    assert {**again, "effect": None} == {**first, "effect": None}
    ask(world, reason="otherwise").problem(409, "request-conflict")
    ask(world, by="Bob").problem(409, "request-conflict")
    assert world.books.counts() == before


def test_the_same_approval_again_is_a_replay_and_another_decision_a_conflict(world: World) -> None:
    ask(world).ok(201)
    approve(world).ok()
    assert world.person("Cleo", Role.RATES)
    before = world.books.counts()

    assert approve(world).ok()["state"] == "approved"
    approve(world, by="Cleo").problem(409, "change-decided")
    approve(world, reason="for another reason").problem(409, "change-decided")
    rejection = world.post("/v1/change-requests/q1/rejection", {"reason": "no"}, key=world.person("Bob", Role.RATES))
    rejection.problem(409, "change-decided")
    assert world.books.counts() == before


def test_a_rejected_change_is_never_done(world: World) -> None:
    ask(world).ok(201)
    bob = world.person("Bob", Role.RATES)
    assert world.post("/v1/change-requests/q1/rejection", {"reason": "no"}, key=bob).ok()["state"] == "rejected"

    approve(world).problem(409, "change-decided")
    assert sheet_number(world) == 1


def test_a_request_expires(world: World) -> None:
    ask(world).ok(201)
    world.clock.advance(timedelta(days=7))

    approve(world).problem(409, "change-expired")
    assert world.get("/v1/change-requests/q1").ok()["state"] == "expired"


def test_a_request_against_an_older_state_is_refused_at_its_approval(world: World) -> None:
    ask(world).ok(201)
    world.publish(GBP="1.19")

    approve(world).problem(409, "change-stale")
    ask(world, request_id="q2", base_version="1").problem(409, "change-stale")
    assert sheet_number(world) == 2


def test_whether_it_is_a_dry_run_is_not_said_twice(world: World) -> None:
    ask(world).ok(201)

    approve(world, query="?dry_run=false&dry_run=true").problem(422, "validation", "?dry_run")

    assert world.get("/v1/change-requests/q1").ok()["state"] == "pending"


def test_a_dry_run_shows_what_would_be_done_and_does_nothing(world: World) -> None:
    keys = [world.person(name, Role.RATES) for name in ("Ann", "Bob")]
    assert all(keys)
    before = world.books.counts()
    assert ask(world, query="?dry_run=true").ok()["effect"]["after"]["number"] == 2
    assert world.books.counts() == before

    ask(world).ok(201)
    before = world.books.counts()
    dry = approve(world, query="?dry_run=true").ok()
    assert dry["effect"]["after"]["number"] == 2
    assert world.books.counts() == before


def test_what_could_not_be_done_is_refused_when_it_is_asked_for(world: World) -> None:
    world.person("Ann", Role.RATES)
    before = world.books.counts()

    refused = world.ask("rate-sheet", {"base": "EUR", "rates": {"XXX": "1"}}, role=Role.RATES)

    refused.problem(422, "unknown-currency")
    assert world.books.counts() == before


def test_an_operator_does_not_change_rates(world: World) -> None:
    world.ask("rate-sheet", NEW_RATE, role=Role.OPERATOR).problem(403, "role-forbidden")


def test_one_person_alone_acts_only_where_that_is_switched_on_and_it_is_told(world: World) -> None:
    ask(world).ok(201)
    approve(world, by="Ann", emergency=True).problem(403, "emergency-off")

    world.switch_emergency()
    approve(world, by="Bob", emergency=True).problem(403, "same-user")
    approve(world, by="Ann").problem(403, "same-user")
    with capture_logs() as logs:
        approved = approve(world, by="Ann", emergency=True).ok()
        assert approve(world, by="Ann", emergency=True).ok()["state"] == "approved"

    assert [line["log_level"] for line in logs] == ["critical"]  # Once: the second was a replay.
    assert approved["decision"]["is_emergency"] is True
    assert sheet_number(world) == 2


def test_a_figure_outside_the_band_must_be_repeated_by_the_approver(world: World) -> None:
    requested = world.ask("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.40"}}, role=Role.RATES).ok(201)
    assert requested["confirm"] == {"GBP": "1.4"}

    approve(world).problem(422, "confirmation-required")
    approve(world, confirm={"GBP": "1.41"}).problem(422, "confirmation-required")
    assert approve(world, confirm={"GBP": "1.4"}).ok()["state"] == "approved"


@pytest.mark.parametrize("figure", ["1.4", "1.40", "01.4", "1.4000000000"])
def test_figures_are_compared_as_numbers(world: World, figure: str) -> None:
    world.ask("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.40"}}, role=Role.RATES).ok(201)

    assert approve(world, confirm={"GBP": figure}).ok()["state"] == "approved"
    assert approve(world, confirm={"GBP": "1.4"}).ok()["state"] == "approved"  # A replay: the same number.
    [decision] = world.books.rows("SELECT confirmed FROM change_decisions")
    assert decision["confirmed"] == {"GBP": "1.4"}


@pytest.mark.parametrize("figure", [1.4, 14, "14e-1", "1,4", " 1.4", "", None, "NaN", "+1.4"])
def test_a_figure_that_is_no_plain_number_is_refused(world: World, figure: object) -> None:
    world.ask("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.40"}}, role=Role.RATES).ok(201)

    approve(world, confirm={"GBP": figure}).problem(422, "validation", "/confirm/GBP")


def test_a_wrong_figure_is_pointed_at_and_the_right_one_is_not_said(world: World) -> None:
    world.ask("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.4375", "SEK": "0.2345"}}, role=Role.RATES).ok(201)

    for confirm, pointers in (
        ({}, ("/confirm/GBP", "/confirm/SEK")),
        ({"GBP": "1.4375"}, ("/confirm/SEK",)),
        ({"GBP": "1.4375", "SEK": "0.2346"}, ("/confirm/SEK",)),
        ({"GBP": "1.4375", "SEK": "0.2345", "a/b": "1"}, ("/confirm/a~1b",)),
    ):
        refused = approve(world, confirm=confirm)
        refused.problem(422, "confirmation-required", *pointers)
        assert not any(figure in refused.text for figure in ("1.4375", "0.2345"))
    assert approve(world, confirm={"SEK": "0.23450", "GBP": "1.4375"}).ok()["state"] == "approved"


def test_change_requests_are_listed_by_state(world: World) -> None:
    for number in range(3):
        ask(world, request_id=f"q{number}").ok(201)
    approve(world, request_id="q1").ok()

    page = world.get("/v1/change-requests?state=pending&limit=1").ok()
    assert [item["request_id"] for item in page["items"]] == ["q2"]
    following = world.get(f"/v1/change-requests?state=pending&limit=1&after={page['next']}").ok()
    assert ([item["request_id"] for item in following["items"]], following["next"]) == (["q0"], None)
    assert [item["request_id"] for item in world.get("/v1/change-requests?state=approved").ok()["items"]] == ["q1"]
