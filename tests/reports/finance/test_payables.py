"""Payables: what casinos still have to pay, award by award and by age, as the books and the liability say."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.properties.profile import seeds
from tests.reports.finance.test_awards import PayingPlay, brute_force
from tests.support import story
from tests.support.answers import Body
from tests.support.asking import report, rows, rows_of
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, hand
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.slow

UNPAID = {"payable", "part-paid", "stopped"}


def win(world: World, round_id: str, cards: Sequence[str] = FLUSH) -> Body:
    world.bet(bet("a"), round_id=round_id)
    award: Body
    [award] = world.settle(hand("1", cards), round_id=round_id)["awards"]
    return award


def pay(world: World, award: Body, amount_minor: int | None = None) -> None:
    body = {"request_id": f"p-{award['award_id']}-{amount_minor}", "reference": f"slip of {amount_minor}"}
    stated = body if amount_minor is None else body | {"amount_minor": amount_minor}
    world.put(f"/v1/awards/{award['award_id']}/payment", stated, key=world.key(Role.TABLE)).ok(201)


def test_an_award_is_payable_from_its_approval_on_and_its_rest_grows_old(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("200")})
    for days, round_id in ((50, "oldest"), (30, "older"), (20, "paid"), (0, "new")):
        award = win(world, round_id)
        if round_id == "older":
            pay(world, award, 1000)
        if round_id == "paid":
            pay(world, award)
        world.clock.advance(timedelta(days=days))
    win(world, "held", FOUR_OF_A_KIND)
    approved = win(world, "approved", FOUR_OF_A_KIND)
    world.clock.advance(timedelta(hours=23))
    world.change("held-awards", {"jackpot_id": "j1", "table_id": "T1", "round_id": "approved", "decision": "approve"})

    listed = rows(world, "payables", "payables")
    by_round = {row["round_id"]: (row["state"], row["paid_amount"], row["unpaid_amount"], row["age"]) for row in listed}

    assert by_round == {
        "oldest": ("payable", "0", "25", "over 90"),
        "older": ("part-paid", "10", "15", "31-60"),
        "new": ("payable", "0", "25", "0-30"),
        "approved": ("payable", "0", "250", "0-30"),
    }
    assert {row["round_id"]: row["age_days"] for row in listed} == {"oldest": 100, "older": 50, "new": 0, "approved": 0}
    [payable] = [row for row in listed if row["award_id"] == approved["award_id"]]
    assert payable["payable_at"] > payable["made_at"]
    assert [(row["age"], row["awards"], row["unpaid_amount"]) for row in rows(world, "payables", "ageing")] == [
        ("0-30", 2, "275"),
        ("31-60", 1, "15"),
        ("over 90", 1, "25"),
    ]


def test_an_award_is_as_old_as_the_end_of_the_report_whenever_that_is_made(world: World) -> None:
    world.open(base_amount="1000")
    win(world, "r1")
    world.clock.advance(timedelta(days=31))
    end = world.clock()
    sections = report(world, "payables", as_of=end)["sections"]
    [row] = rows_of(report(world, "payables", as_of=end), "payables")
    assert (row["age_days"], row["age"]) == (31, "31-60")
    world.clock.advance(timedelta(days=90))
    pay(world, {"award_id": row["award_id"]})

    assert report(world, "payables", as_of=end)["sections"] == sections
    assert rows(world, "payables", "payables") == []


def test_a_casino_is_told_of_its_own_payables(world: World) -> None:
    world.open(base_amount="1000")
    world.add_casino("c2")
    win(world, "r1")
    key = world.key_of(Principal("Carl", Role.FINANCE, "c2"))
    assert [section["rows"] for section in world.get("/v1/reports/payables", key=key).ok()["sections"]] == [[], []]


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds())
def test_payables_are_the_awards_that_are_not_paid_and_the_memorandum_of_liability(world: World, seed: int) -> None:
    play = PayingPlay(world, seed)
    play.open()
    start, edges = world.clock(), []
    for _ in range(3):
        play.go_on(40)
        edges.append(world.clock())
    play.retire()
    story.require_whole(world)

    for edge in edges:
        document = report(world, "payables", as_of=edge)
        listed = rows_of(document, "payables")
        expected = {row["award_id"]: row for row in brute_force(world, start=start, end=edge) if row["state"] in UNPAID}
        assert {row["award_id"]: Fraction(row["unpaid_amount"]) for row in listed} == {
            award_id: Fraction(row["amount"] - row["paid_amount"]) for award_id, row in expected.items()
        }
        assert (
            costs(listed)
            == costs(rows_of(document, "ageing"))
            == costs(rows(world, "liability", "unpaid", as_of=edge), "cost_base")
        )


def costs(rows_: Any, column: str = "unpaid_cost_base") -> Mapping[str, Fraction]:
    """The cost of the unpaid amounts, by jackpot."""
    summed: defaultdict[str, Fraction] = defaultdict(Fraction)
    for row in rows_:
        summed[row["jackpot_id"]] += Fraction(row[column])
    return summed
