"""Held awards are decided by two people: their money goes to the casino, or back to whoever paid it. Decision 23."""

from decimal import Decimal

import pytest

from jackpot_service.domain.pools import Pools
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.fixtures import books_verify
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, STRAIGHT_FLUSH, hand
from tests.support.house import CYBER, House

__all__ = ["books_verify"]

APPROVE: Body = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "decision": "approve"}
REJECT: Body = APPROVE | {"decision": "reject"}


def states(house: House, round_id: str = "r1") -> dict[tuple[str, str], str]:
    """The state of each award of a round, now."""
    awards = house.round(round_id)["settlement"]["awards"]
    return {(award["bet_id"], award["tier"]): award["state"] for award in awards}


@pytest.fixture
def held(house: House) -> House:
    """Two fixed prizes held, 275 in sum: EUR 250, and GBP 21.37 at 1.17."""
    house.open(base_amount="1000", settings={"held_threshold": "275"})
    house.bet(bet("a", hand="1"), bet("b", hand="2", currency="GBP"))
    house.settle(hand("1", FOUR_OF_A_KIND), hand("2", FLUSH))
    return house


def test_approved_awards_are_credited_to_the_casino_in_their_own_currencies(held: House) -> None:
    assert held.books.balance("j1", "awards:held") == Decimal("279.25")

    effect = held.change("held-awards", APPROVE)

    assert (effect["before"], effect["after"]["step"]) == ({"state": "held"}, "approved")
    assert [award["cost"] for award in effect["after"]["awards"]] == ["250", "29.25"]
    assert held.books.balance("j1", "awards:held") == 0
    assert held.books.moved("j1", "casino:c1", "release") == 250 + 25
    assert held.books.balance("j1", "casino:c1", "GBP") == -1 + 25
    assert held.books.moved("j1", "fx:GBP", "release") == -25
    assert held.books.moved("j1", "fx:EUR", "release") == Decimal("29.25")
    assert set(states(held).values()) == {"payable"}


def test_rejected_prizes_return_to_the_prize_fund_at_their_booked_cost(held: House) -> None:
    held.change("held-awards", REJECT)

    assert held.books.balance("j1", "awards:held") == 0
    assert held.books.pools("j1").prize_fund == Decimal("0.3184") + Decimal("0.372528")
    assert held.books.moved("j1", "casino:c1", "award") == 0
    assert set(states(held).values()) == {"rejected"}


def test_some_of_a_rounds_held_awards_are_approved_and_the_others_rejected(held: House) -> None:
    held.change("held-awards", APPROVE | {"bets": ["b"]}, request_id="q1")
    assert held.books.balance("j1", "awards:held") == 250

    held.change("held-awards", REJECT | {"bets": ["a"]}, request_id="q2")

    assert states(held) == {("a", "four_of_a_kind"): "rejected", ("b", "flush"): "payable"}
    assert held.books.balance("j1", "awards:held") == 0
    assert held.books.pools("j1").prize_fund == Decimal("0.690928") - Decimal("29.25")


def test_rejected_shares_return_to_the_running_meter_the_players_money_first(house: House) -> None:
    """M = 999.10 of the house, and 0.90 of the players: by bet id, the first award has the players' money."""
    house.open(base_amount="999.10", settings={"held_threshold": "1000"})
    house.bet(bet("a", hand="1"), bet("b", hand="2"))
    house.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING))
    house.bet(bet("c"), round_id="r2")
    before = house.books.pools("j1")

    effect = house.change("held-awards", REJECT | {"bets": ["a"]}, request_id="q1")

    (award,) = effect["after"]["awards"]
    assert award["returned_to"] == {"pool:meter:players": "0.9", "pool:meter:house": "499.1"}
    assert house.books.pools("j1") == before + Pools(Decimal("0.9"), Decimal("499.1"))

    effect = house.change("held-awards", REJECT, request_id="q2")
    (award,) = effect["after"]["awards"]
    assert award["returned_to"] == {"pool:meter:house": "500"}
    assert house.meter()["cycle"] == 2


def test_a_rejected_part_of_the_meter_returns_and_leaves_the_seed_where_it_is(house: House) -> None:
    house.open(CYBER, base_amount="99999.30", settings={"held_threshold": "10000"})
    house.bet(bet("a"))
    house.settle(hand("1", STRAIGHT_FLUSH))
    assert house.books.pools("j1") == Pools(Decimal(0), Decimal(90000))

    house.change("held-awards", REJECT)

    assert house.books.pools("j1") == Pools(Decimal("0.70"), Decimal("99999.30"))


def test_a_replayed_result_has_the_same_body_whatever_became_of_its_awards(held: House) -> None:
    hands = (hand("1", FOUR_OF_A_KIND), hand("2", FLUSH))
    before = held.put_result(*hands).ok(200)
    held.change("held-awards", APPROVE)

    assert held.put_result(*hands).ok(200) == before
    assert {award["state"] for award in before["settlement"]["awards"]} == {"held"}


def test_nothing_is_decided_by_one_person(held: House) -> None:
    held.ask("held-awards", APPROVE).ok(201)

    held.approve(by="Ann").problem(403, "same-person")
    assert set(states(held).values()) == {"held"}


def test_what_is_not_held_is_not_decided(held: House) -> None:
    held.bet(bet("c"), round_id="r2")
    held.ask("held-awards", APPROVE | {"round_id": "r2"}).problem(409, "nothing-held")
    held.settle(hand("1", FLUSH), round_id="r2")
    held.ask("held-awards", APPROVE | {"round_id": "r2"}).problem(409, "nothing-held")
    problem = held.ask("held-awards", APPROVE | {"bets": ["a", "z"]}).problem(409, "nothing-held")
    assert problem["bet_ids"] == ["z"]

    held.change("held-awards", APPROVE)
    held.ask("held-awards", REJECT, request_id="q2").problem(409, "nothing-held")
    held.ask("held-awards", APPROVE, request_id="q3").problem(409, "nothing-held")


def test_of_two_decisions_on_one_award_the_later_is_refused(held: House) -> None:
    held.ask("held-awards", APPROVE, request_id="q1").ok(201)
    held.ask("held-awards", REJECT | {"bets": ["a"]}, request_id="q2").ok(201)
    held.ask("held-awards", REJECT | {"bets": ["b"]}, request_id="q3").ok(201)

    held.approve("q2").ok()
    held.approve("q1").problem(409, "change-stale")
    held.approve("q3").ok()

    assert set(states(held).values()) == {"rejected"}


def test_a_dry_run_tells_where_the_money_would_go_and_moves_nothing(held: House) -> None:
    held.ask("held-awards", REJECT, query="?dry_run=true").ok()
    before = held.books.counts()

    effect = held.ask("held-awards", REJECT, query="?dry_run=true").ok()["effect"]

    assert [award["returned_to"] for award in effect["after"]["awards"]] == [
        {"pool:prize_fund": "250"},
        {"pool:prize_fund": "29.25"},
    ]
    assert held.books.counts() == before


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"jackpot_id": "j9"}, 404, "jackpot-unknown"),
        ({"table_id": "T9"}, 404, "round-unknown"),
        ({"round_id": "r9"}, 404, "round-unknown"),
        ({"decision": "perhaps"}, 422, "payload-invalid"),
        ({"decision": None}, 422, "payload-invalid"),
        ({"bets": []}, 422, "payload-invalid"),
        ({"bets": ["a", "a"]}, 422, "payload-invalid"),
        ({"bets": [1]}, 422, "payload-invalid"),
        ({"bets": "a"}, 422, "payload-invalid"),
        ({"bets": ["\u0000"]}, 422, "payload-invalid"),
        ({"round_id": ""}, 422, "payload-invalid"),
        ({"zzz": 1}, 422, "payload-invalid"),
    ],
    ids=str,
)
def test_what_cannot_be_decided_is_refused_and_leaves_nothing(
    held: House, change: Body, status: int, code: str
) -> None:
    held.ask("held-awards", APPROVE, query="?dry_run=true").ok()
    before = held.books.counts()

    held.ask("held-awards", APPROVE | change).problem(status, code)

    assert held.books.counts() == before
