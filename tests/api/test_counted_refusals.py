"""Refusals that may meet every bet of a casino are one line a kind, table and hour, with their count. Demand 7."""

from datetime import timedelta
from typing import Final

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.hands import NOTHING, hand
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow


def listed(world: World, query: str = "") -> list[Body]:
    items: list[Body] = world.get(f"/v1/exceptions{query}").ok()["items"]
    return items


def without_rate(world: World, number: int = 1, *, table_id: str = "T1") -> Answer:
    return world.post_bets(bet(f"b{number}", currency="PLN"), round_id=f"r{number}", table_id=table_id)


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000", tables=("T1", "T2"))
    return world


def test_a_flood_of_refusals_is_one_line_with_a_count(opened: World) -> None:
    for number in range(25):
        without_rate(opened, number).problem(422, "no-rate")

    (line,) = listed(opened)

    assert (line["kind"], line["table_id"], line["round_id"], line["count"]) == ("no-rate", "T1", None, 25)
    assert (line["casino_id"], line["jackpot_id"], line["principal"]) == ("c1", "j1", "a table")
    assert line["detail"].startswith("Refusals of the hour from 2026-11-20 09:00Z on; the first: ")
    assert line["facts"] == {
        "call": "bets",
        "round_id": "r0",
        "bets": [["b0", "player-of-b0", "1", "PLN", 100, None]],
    }
    assert opened.books.mismatches() == ()


def test_each_hour_table_and_kind_has_a_line_of_its_own(opened: World) -> None:
    without_rate(opened).problem(422, "no-rate")
    without_rate(opened, table_id="T2").problem(422, "no-rate")
    opened.post_bets(bet("x"), bet("y", player_id="player-of-x", hand="2")).problem(422, "hand-limit")
    opened.clock.advance(timedelta(hours=1))
    without_rate(opened).problem(422, "no-rate")

    assert sorted(
        (exception["kind"], exception["table_id"], exception["noticed_at"][:13], exception["count"])
        for exception in listed(opened)
    ) == [
        ("hand-limit", "T1", "2026-11-20T09", 1),
        ("no-rate", "T1", "2026-11-20T09", 1),
        ("no-rate", "T1", "2026-11-20T10", 1),
        ("no-rate", "T2", "2026-11-20T09", 1),
    ]
    assert opened.books.mismatches() == ()


def test_bets_of_a_suspended_jackpot_and_in_a_currency_that_it_does_not_take_are_counted(world: World) -> None:
    world.open(CYBER)
    world.post_bets(bet(currency="GBP")).problem(422, "currency-not-accepted", "/bets/0/currency")
    body = {"request_id": "s", "reason": "the display shows another meter"}
    world.put("/v1/jackpots/j1/suspension", body, key=world.person("Ann", Role.OPERATOR)).ok(201)
    for _ in range(3):
        world.post_bets(bet()).problem(409, "jackpot-suspended")

    assert {exception["kind"]: exception["count"] for exception in listed(world)} == {
        "currency-not-accepted": 1,
        "jackpot-suspended": 3,
    }


def test_stakes_out_of_range_are_one_line_though_each_is_of_another_round(opened: World) -> None:
    for number in range(5):
        opened.post_bets(bet(stake_minor=10_001), round_id=f"r{number}").problem(422, "stake-out-of-range")

    (line,) = listed(opened)
    assert (line["kind"], line["table_id"], line["round_id"], line["count"]) == ("stake-out-of-range", "T1", None, 5)
    assert (line["facts"]["round_id"], line["facts"]["bets"][0][4]) == ("r0", 10_001)


def test_late_bets_are_a_line_each_since_each_may_become_a_dispute_about_its_round(opened: World) -> None:
    for number in range(3):
        opened.cancel(round_id=f"r{number}")
        opened.post_bets(bet(), round_id=f"r{number}").problem(409, "round-cancelled")

    assert [(exception["round_id"], exception["count"]) for exception in listed(opened)] == [
        ("r2", 1),
        ("r1", 1),
        ("r0", 1),
    ]


AHEAD: Final = "2026-11-20T23:00:00Z"
DATED: Final[Body] = {"occurred_at": AHEAD}


def test_calls_of_a_table_whose_clock_is_ahead_are_counted(opened: World) -> None:
    opened.bet(bet("a"), round_id="r1")
    calls: tuple[tuple[str, str, Body], ...] = (
        ("POST", "r1/bets", {"bets": [{**bet("b"), **DATED}]}),
        ("POST", "r1/voids", {"bet_ids": ["a"], **DATED}),
        ("PUT", "r1/closing", {"bet_count": 1, **DATED}),
        ("PUT", "r1/result", {"bet_count": 1, "hands": [hand("1", NOTHING)], **DATED}),
        ("PUT", "r1/cancellation", {"reason": "misdeal", **DATED}),
    )
    for method, path, body in calls:
        opened.send(method, "T1", path, body).problem(422, "occurred-in-future")

    (line,) = listed(opened)
    assert (line["kind"], line["table_id"], line["round_id"], line["count"]) == ("occurred-in-future", "T1", None, 5)
    assert (line["facts"]["call"], line["facts"]["round_id"]) == ("bets", "r1")
    assert listed(opened, "?kind=occurred-in-future") == [line]


def test_the_line_is_acknowledged_once_and_goes_on_counting(opened: World) -> None:
    without_rate(opened).problem(422, "no-rate")
    (line,) = listed(opened)
    body = {"request_id": "a1", "reason": "the sheet lacks zloty; asked for"}
    path = f"/v1/exceptions/{line['exception_id']}/acknowledgement"
    opened.post(path, body, key=opened.person("Fay", Role.FINANCE)).ok(201)

    without_rate(opened, 2).problem(422, "no-rate")

    (line,) = listed(opened)
    assert (line["count"], line["acknowledgement"]["reason"]) == (2, body["reason"])
    assert listed(opened, "?acknowledged=false") == []
    assert opened.books.mismatches() == ()


def test_other_exceptions_count_one(opened: World) -> None:
    opened.cancel(round_id="r9")
    opened.post_bets(bet(), round_id="r9").problem(409, "round-cancelled")

    assert [(exception["kind"], exception["round_id"], exception["count"]) for exception in listed(opened)] == [
        ("late-bet", "r9", 1)
    ]


def test_the_refused_batch_leaves_no_bet_and_may_be_sent_again_with_a_rate(opened: World) -> None:
    before = opened.books.counts_but_exceptions()
    without_rate(opened).problem(422, "no-rate")

    assert opened.books.counts_but_exceptions() == before
