"""Exceptions as a report: by kind, one by one with what came of them, and the rounds left open, as of any instant."""

from datetime import timedelta
from typing import Any

import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.reports import making
from tests.support.asking import figures, only, report, report_answer, rows, rows_of
from tests.support.bets import bet
from tests.support.hands import NOTHING, hand
from tests.support.world import World

LONG = timedelta(minutes=16)


@pytest.fixture
def refusing(world: World) -> World:
    """A house of two casinos in which each refused something: a stake, and a bet after the result."""
    world.add_casino("c2")
    world.open(base_amount="1000")
    world.add_table("T2", jackpot_id="j1", casino_id="c2")
    world.post_bets(bet(stake_minor=10_001)).problem(422, "stake-out-of-range")
    world.bet(bet(), table_id="T2")
    world.settle(hand("1", NOTHING), table_id="T2")
    world.post_bets(bet("late"), table_id="T2").problem(409, "round-settled")
    return world


def acknowledge(world: World, exception_id: str, reason: str = "looked into") -> None:
    key = world.person("Fay", Role.FINANCE)
    body = {"request_id": f"a-{exception_id}", "reason": reason}
    world.post(f"/v1/exceptions/{exception_id}/acknowledgement", body, key=key).ok(201)


def listed(world: World, section: str = "exceptions", **query: Any) -> list[Any]:
    return rows(world, "exceptions", section, **query)


def test_scenario_6_and_17_what_was_refused_is_told_with_its_table_and_round(refusing: World) -> None:
    first, second = listed(refusing)

    assert (first["kind"], first["table_id"], first["round_id"]) == ("stake-out-of-range", "T1", None)
    assert (second["kind"], second["casino_id"], second["jackpot_id"]) == ("late-bet", "c2", "j1")
    assert second["round_id"] == "r1"
    assert second["detail"]
    assert [(row["kind"], row["exceptions"], row["unacknowledged"]) for row in listed(refusing, "kinds")] == [
        ("late-bet", 1, 1),
        ("stake-out-of-range", 1, 1),
    ]


def refuse_five(world: World, *, first: int = 0) -> None:
    for number in range(first, first + 5):
        world.post_bets(bet(currency="CHF"), round_id=f"n{number}").problem(422, "no-rate")


def test_a_flood_is_one_line_that_says_how_many_refusals_it_stands_for(refusing: World) -> None:
    refuse_five(refusing)

    kinds = {row["kind"]: (row["exceptions"], row["refusals"]) for row in listed(refusing, "kinds")}
    assert kinds == {"late-bet": (1, 1), "no-rate": (1, 5), "stake-out-of-range": (1, 1)}
    assert only(listed(refusing), kind="no-rate")["refusals"] == 5


def test_a_line_of_an_hour_that_runs_at_the_end_of_a_stated_period_counts_as_one(refusing: World) -> None:
    refuse_five(refusing)
    during = refusing.clock()
    refusing.clock.advance(timedelta(hours=1))
    over = refusing.clock()
    before = report(refusing, "exceptions", as_of=during), report(refusing, "exceptions", as_of=over)
    refuse_five(refusing, first=5)

    assert only(listed(refusing, as_of=during), kind="no-rate")["refusals"] == 1
    assert only(listed(refusing, "kinds", as_of=over), kind="no-rate")["refusals"] == 5
    assert [row["refusals"] for row in listed(refusing) if row["kind"] == "no-rate"] == [5, 5]
    again = report(refusing, "exceptions", as_of=during), report(refusing, "exceptions", as_of=over)
    assert [figures(document) for document in again] == [figures(document) for document in before]


def test_what_is_refused_by_a_clock_that_is_behind_joins_no_instant_that_was_asked_about(refusing: World) -> None:
    then = refusing.clock()
    before = report(refusing, "exceptions", as_of=then)
    refusing.clock.advance(timedelta(minutes=-1))
    refusing.post_bets(bet("later"), table_id="T2").problem(409, "round-settled")

    assert figures(report(refusing, "exceptions", as_of=then)) == figures(before)
    assert len(listed(refusing)) == 3


def test_what_was_acknowledged_later_is_not_acknowledged_before(refusing: World) -> None:
    then = refusing.clock()
    before = report(refusing, "exceptions", as_of=then)
    acknowledge(refusing, listed(refusing)[0]["exception_id"], "a typing error")

    assert figures(report(refusing, "exceptions", as_of=then)) == figures(before)
    assert listed(refusing, as_of=then)[0]["acknowledged_by"] is None
    now = listed(refusing)[0]
    assert (now["acknowledged_by"], now["reason"]) == ("Fay", "a typing error")
    assert only(listed(refusing, "kinds"), kind="stake-out-of-range")["acknowledged"] == 1


def test_a_period_holds_what_was_noticed_in_it(refusing: World) -> None:
    then = refusing.clock()
    refusing.post_bets(bet("later"), table_id="T2").problem(409, "round-settled")

    assert len(listed(refusing, end=then)) == 2
    assert len(listed(refusing, start=then)) == 1
    assert listed(refusing, start=then, end=then) == []


def test_too_many_for_an_answer_are_a_file_and_leave_nothing_open(
    refusing: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "MOST_ROWS", 1)

    report_answer(refusing, "exceptions").problem(409, "report-too-long")

    lines = report_answer(refusing, "exceptions", format="csv", section="exceptions").text.splitlines()
    assert len(lines) == 3
    assert report_answer(refusing, "exceptions", format="csv", section="kinds").text.count("\r\n") == 3


def test_it_is_of_one_jackpot_casino_or_table_if_asked(refusing: World) -> None:
    refusing.open(jackpot_id="j2", tables=("T3",))

    assert [row["table_id"] for row in listed(refusing, casino_id="c2")] == ["T2"]
    assert [row["table_id"] for row in listed(refusing, table_id="T1")] == ["T1"]
    assert listed(refusing, jackpot_id="j2") == []
    report_answer(refusing, "exceptions", table_id="T9").problem(404, "table-unknown")
    report_answer(refusing, "exceptions", by="casino").problem(422, "question-invalid")


def test_a_casinos_key_sees_what_happened_to_the_casino(refusing: World) -> None:
    own = refusing.key(Role.FINANCE, casino_id="c2")
    refusing.bet(bet("a"), round_id="open")
    refusing.clock.advance(LONG)

    document = refusing.get("/v1/reports/exceptions", key=own).ok()

    assert [row["table_id"] for row in rows_of(document, "exceptions")] == ["T2"]
    assert [row["kind"] for row in rows_of(document, "kinds")] == ["late-bet"]
    assert rows_of(document, "open_rounds") == []


def test_a_round_that_was_open_too_long_stays_so_as_of_then(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"), bet("b"), bet("c"))
    world.void("c")
    world.clock.advance(LONG)
    then = world.clock()
    before = report(world, "exceptions", as_of=then)
    world.bet(bet("later"))
    world.void("b")
    world.settle(hand("1", NOTHING))

    (row,) = rows_of(before, "open_rounds")

    assert (row["table_id"], row["round_id"], row["bets"], row["minutes"]) == ("T1", "r1", 2, 16)
    assert figures(report(world, "exceptions", as_of=then)) == figures(before)
    assert listed(world, "open_rounds") == []


def test_a_round_that_has_been_open_for_a_short_time_is_none(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet())

    assert listed(world, "open_rounds") == []


def test_an_open_round_that_was_acknowledged_says_so(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet())
    world.clock.advance(LONG)
    (item,) = world.get("/v1/exceptions").ok()["items"]
    then = world.clock()
    acknowledge(world, item["exception_id"], "the dealer was ill")

    assert [row["reason"] for row in listed(world, "open_rounds")] == ["the dealer was ill"]
    assert [row["reason"] for row in listed(world, "open_rounds", as_of=then)] == [None]


def test_an_emergency_approval_is_an_exception_of_the_house(world: World) -> None:
    world.open(base_amount="1000")
    then = world.clock()
    world.switch_emergency()
    raised = {"jackpot_id": "j1", "account": "meter", "amount": "1", "document": "memo", "cause": "count-error"}
    world.ask("adjustment", raised).ok(201)
    world.approve(by="Ann", emergency=True).ok()

    (row,) = listed(world, start=then)

    assert (row["kind"], row["jackpot_id"], row["principal"]) == ("emergency-approval", "j1", "Ann")
    assert listed(world, as_of=then) == []
    own = world.key(Role.FINANCE, casino_id="c1")
    assert rows_of(world.get("/v1/reports/exceptions", key=own).ok(), "exceptions") == []
