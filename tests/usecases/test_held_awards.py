"""Held awards are decided by two people: their money goes to the casino, or back to whoever paid it. Decision 23."""

from decimal import Decimal
from typing import Final

import pytest

from jackpot_service.domain.accounts import Pools
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.correcting import correct, pay
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, STRAIGHT_FLUSH, dead, hand
from tests.support.payouts import held_from
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow

APPROVE: Body = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "decision": "approve"}
REJECT: Body = APPROVE | {"decision": "reject"}
REINSTATE: Body = APPROVE | {"decision": "reinstate"}


def states(world: World, round_id: str = "r1") -> dict[tuple[str, str], str]:
    """The state of each award of a round, now."""
    awards = world.round(round_id)["settlement"]["awards"]
    return {(award["bet_id"], award["tier"]): award["state"] for award in awards}


@pytest.fixture
def held(world: World) -> World:
    """Two fixed prizes held, 275 in sum: EUR 250, and GBP 21.37 at 1.17."""
    world.open(base_amount="1000", settings={"payout_tiers": held_from("250")})
    world.bet(bet("a", hand="1"), bet("b", hand="2", currency="GBP"))
    world.settle(hand("1", FOUR_OF_A_KIND), hand("2", FLUSH))
    return world


def test_approved_awards_are_credited_to_the_casino_in_their_own_currencies(held: World) -> None:
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


def test_rejected_prizes_return_to_the_prize_fund_at_their_booked_cost(held: World) -> None:
    held.change("held-awards", REJECT)

    assert held.books.balance("j1", "awards:held") == 0
    assert held.books.pools("j1").prize_fund == Decimal("0.3184") + Decimal("0.372528")
    assert held.books.moved("j1", "casino:c1", "award") == 0
    assert set(states(held).values()) == {"rejected"}


def test_some_of_a_rounds_held_awards_are_approved_and_the_others_rejected(held: World) -> None:
    held.change("held-awards", APPROVE | {"bets": ["b"]}, request_id="q1")
    assert held.books.balance("j1", "awards:held") == 250

    held.change("held-awards", REJECT | {"bets": ["a"]}, request_id="q2")

    assert states(held) == {("a", "four_of_a_kind"): "rejected", ("b", "flush"): "payable"}
    assert held.books.balance("j1", "awards:held") == 0
    assert held.books.pools("j1").prize_fund == Decimal("0.690928") - Decimal("29.25")


def test_rejected_shares_return_to_the_running_meter_the_players_money_first(world: World) -> None:
    """M = 999.10 of the house, and 0.90 of the players: by bet id, the first award has the players' money."""
    world.open(base_amount="999.10", settings={"payout_tiers": held_from("500")})
    world.bet(bet("a", hand="1"), bet("b", hand="2"))
    world.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING))
    world.bet(bet("c"), round_id="r2")
    before = world.books.pools("j1")

    effect = world.change("held-awards", REJECT | {"bets": ["a"]}, request_id="q1")

    (award,) = effect["after"]["awards"]
    assert award["returned_to"] == {"pool:meter:players": "0.9", "pool:meter:house": "499.1"}
    assert world.books.pools("j1") == before + Pools(Decimal("0.9"), Decimal("499.1"))

    effect = world.change("held-awards", REJECT, request_id="q2")
    (award,) = effect["after"]["awards"]
    assert award["returned_to"] == {"pool:meter:house": "500"}
    assert world.meter()["cycle"] == 2


def test_a_rejected_part_of_the_meter_returns_and_leaves_the_seed_where_it_is(world: World) -> None:
    world.open(CYBER, base_amount="99999.30", settings={"payout_tiers": held_from("5000")})
    world.bet(bet("a"))
    world.settle(hand("1", STRAIGHT_FLUSH))
    assert world.books.pools("j1") == Pools(Decimal(0), Decimal(90000))

    world.change("held-awards", REJECT)

    assert world.books.pools("j1") == Pools(Decimal("0.70"), Decimal("99999.30"))


def reject_and_reinstate(world: World) -> Body:
    world.change("held-awards", REJECT, request_id="no")
    return world.change("held-awards", REINSTATE, request_id="yes")


def test_rejected_prizes_are_reinstated_as_if_they_had_been_approved(held: World) -> None:
    effect = reject_and_reinstate(held)

    assert (effect["before"], effect["after"]["step"]) == ({"state": "rejected"}, "reinstated")
    assert [award["taken_from"] for award in effect["after"]["awards"]] == [
        {"pool:prize_fund": "250"},
        {"pool:prize_fund": "29.25"},
    ]
    assert held.books.balance("j1", "awards:held") == 0
    assert held.books.balance("j1", "casino:c1") == -1 + 250
    assert held.books.balance("j1", "casino:c1", "GBP") == -1 + 25
    assert held.books.pools("j1").prize_fund == Decimal("0.690928") - Decimal("279.25")
    assert set(states(held).values()) == {"payable"}
    pay(held, "a")
    assert states(held)["a", "four_of_a_kind"] == "paid"


def test_some_of_the_rejected_awards_are_reinstated(held: World) -> None:
    held.change("held-awards", REJECT, request_id="no")

    held.change("held-awards", REINSTATE | {"bets": ["b"]}, request_id="yes")

    assert states(held) == {("a", "four_of_a_kind"): "rejected", ("b", "flush"): "payable"}
    held.ask("held-awards", REINSTATE | {"bets": ["b"]}).problem(409, "nothing-rejected")
    held.change("held-awards", REINSTATE, request_id="too")
    assert set(states(held).values()) == {"payable"}


def test_a_reinstated_share_comes_from_the_meter_that_got_it_back(world: World) -> None:
    """Of 1,000.00 the players' money was 0.90. What the meter begins with, 500, is seeded again only where missing."""
    world.open(base_amount="999.10", settings={"payout_tiers": held_from("500"), "reset_amount": "500"})
    world.bet(bet("a", hand="1"), bet("b", hand="2"))
    world.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING))
    world.bet(bet("c"), round_id="r2")
    before = world.books.pools("j1")

    effect = reject_and_reinstate(world)

    assert [award["taken_from"] for award in effect["after"]["awards"]] == [
        {"pool:meter:players": "0.9", "pool:meter:house": "499.1"},
        {"pool:meter:house": "500"},
    ]
    assert world.books.pools("j1") == before
    assert world.books.moved("j1", "casino:c1", "release") == 1000


def test_what_the_meter_has_not_any_more_the_house_puts_in_as_after_any_award(world: World) -> None:
    """The seed that had filled the gap was recovered after the rejection: as much is missing again."""
    world.open(CYBER, base_amount="90000", settings={"payout_tiers": held_from("900"), "reset_amount": "90000"})
    world.bet(bet("a"))
    world.settle(hand("1", STRAIGHT_FLUSH))
    world.change("held-awards", REJECT, request_id="no")
    world.change("seed-recovery", {"jackpot_id": "j1", "amount": "9000"}, request_id="recovered")
    assert world.meter()["amount_exact"] == "90000.07"

    world.change("held-awards", REINSTATE, request_id="yes")

    assert world.books.pools("j1") == Pools(Decimal(0), Decimal(90000))
    assert world.books.balance("j1", "casino:c1") == -1 + Decimal("9000.07")


def test_house_money_recovered_since_the_rejection_is_put_in_again_and_no_players_money_pays_for_it(
    world: World,
) -> None:
    """Of the award the house's part is 999.37, and the meter holds far more than its reset amount."""
    world.open(CYBER, base_amount="10000", settings={"payout_tiers": held_from("500")})
    world.bet(bet("a"))
    world.settle(hand("1", STRAIGHT_FLUSH))
    world.change("held-awards", REJECT, request_id="no")
    added = {"jackpot_id": "j1", "account": "meter", "amount": "20000", "document": "d", "cause": "count-error"}
    world.change("adjustment", added, request_id="added")
    of_the_house = str(world.books.pools("j1").meter_house)
    world.change("seed-recovery", {"jackpot_id": "j1", "amount": of_the_house}, request_id="recovered")

    world.change("held-awards", REINSTATE, request_id="yes")

    assert world.books.pools("j1") == Pools(Decimal(20000), Decimal(0))
    assert world.books.balance("j1", "house:seed") == -Decimal("999.37")


def test_a_meter_that_was_won_since_pays_no_reinstated_award(world: World) -> None:
    world.open(CYBER, settings={"payout_tiers": held_from("500")})
    world.bet(bet("a"))
    world.settle(hand("1", STRAIGHT_FLUSH))
    world.change("held-awards", REJECT, request_id="no")
    world.ask("held-awards", REINSTATE, request_id="stale").ok(201)
    world.bet(bet("b"), round_id="r2")
    world.settle(hand("1", ROYAL_FLUSH), round_id="r2")
    world.approve("stale").problem(409, "change-stale")
    before = world.books.pools("j1")

    effect = world.change("held-awards", REINSTATE, request_id="yes")

    (award,) = effect["after"]["awards"]
    assert award["taken_from"] == {"house:adjustments": award["cost"]}
    assert world.books.pools("j1") == before
    assert world.books.balance("j1", "house:adjustments") == -Decimal(award["cost"])


def test_a_correction_takes_a_reinstated_award_back_to_where_it_came_from(held: World) -> None:
    reject_and_reinstate(held)

    correct(held, hand("1", NOTHING), dead("2"))

    assert held.books.pools("j1").prize_fund == Decimal("0.3184")
    assert held.books.balance("j1", "casino:c1") == -1
    assert held.books.balance("j1", "casino:c1", "GBP") == 0
    assert held.books.balance("j1", "house:adjustments") == 0
    assert set(states(held).values()) == {"reversed"}


def test_nothing_is_reinstated_where_another_verdict_is_in_force(held: World) -> None:
    held.change("held-awards", REJECT, request_id="no")
    held.ask("held-awards", REINSTATE, request_id="early").ok(201)
    correct(held, hand("1", NOTHING), dead("2"))

    held.ask("held-awards", REINSTATE, request_id="late").problem(409, "round-corrected")
    held.approve("early").problem(409, "round-corrected")

    assert set(states(held).values()) == {"rejected"}


def test_nothing_is_reinstated_in_a_retired_jackpot(held: World) -> None:
    held.change("held-awards", REJECT, request_id="no")
    held.open(jackpot_id="j2", tables=("T2",))
    held.change("retirement", {"jackpot_id": "j1", "to": "j2"}, request_id="end")

    held.ask("held-awards", REINSTATE).problem(409, "jackpot-retired")


def test_what_was_not_rejected_is_not_reinstated(held: World) -> None:
    held.ask("held-awards", REINSTATE).problem(409, "nothing-rejected")
    held.change("held-awards", APPROVE)
    problem = held.ask("held-awards", REINSTATE | {"bets": ["a"]}, request_id="q2").problem(409, "nothing-rejected")
    assert problem["bet_ids"] == ["a"]


def test_a_replayed_result_has_the_same_body_whatever_became_of_its_awards(held: World) -> None:
    hands = (hand("1", FOUR_OF_A_KIND), hand("2", FLUSH))
    before = held.put_result(*hands).ok(200)
    held.change("held-awards", APPROVE)

    assert held.put_result(*hands).ok(200) == before
    assert {award["state"] for award in before["settlement"]["awards"]} == {"held"}


def test_nothing_is_decided_by_one_person(held: World) -> None:
    held.ask("held-awards", APPROVE).ok(201)

    held.approve(by="Ann").problem(403, "same-user")
    assert set(states(held).values()) == {"held"}


def test_what_is_not_held_is_not_decided(held: World) -> None:
    held.bet(bet("c"), round_id="r2")
    held.ask("held-awards", APPROVE | {"round_id": "r2"}).problem(409, "nothing-held")
    held.settle(hand("1", FLUSH), round_id="r2")
    held.ask("held-awards", APPROVE | {"round_id": "r2"}).problem(409, "nothing-held")
    problem = held.ask("held-awards", APPROVE | {"bets": ["a", "z"]}).problem(409, "nothing-held")
    assert problem["bet_ids"] == ["z"]

    held.change("held-awards", APPROVE)
    held.ask("held-awards", REJECT, request_id="q2").problem(409, "nothing-held")
    held.ask("held-awards", APPROVE, request_id="q3").problem(409, "nothing-held")


def test_of_two_decisions_on_one_award_the_later_is_refused(held: World) -> None:
    held.ask("held-awards", APPROVE, request_id="q1").ok(201)
    held.ask("held-awards", REJECT | {"bets": ["a"]}, request_id="q2").ok(201)
    held.ask("held-awards", REJECT | {"bets": ["b"]}, request_id="q3").ok(201)

    held.approve("q2").ok()
    held.approve("q1").problem(409, "change-stale")
    held.approve("q3").ok()

    assert set(states(held).values()) == {"rejected"}


def test_a_dry_run_tells_where_the_money_would_go_and_moves_nothing(held: World) -> None:
    held.ask("held-awards", REJECT, query="?dry_run=true").ok()
    before = held.books.counts()

    effect = held.ask("held-awards", REJECT, query="?dry_run=true").ok()["effect"]

    assert [award["returned_to"] for award in effect["after"]["awards"]] == [
        {"pool:prize_fund": "250"},
        {"pool:prize_fund": "29.25"},
    ]
    assert held.books.counts() == before


NOT_DECIDED: Final[tuple[tuple[Body, int, str], ...]] = (
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
)


def test_what_cannot_be_decided_is_refused_and_leaves_nothing(held: World, subtests: pytest.Subtests) -> None:
    held.ask("held-awards", APPROVE, query="?dry_run=true").ok()

    for number, (change, status, code) in enumerate(NOT_DECIDED):
        with subtests.test(change=change):
            before = held.books.counts()

            held.ask("held-awards", APPROVE | change, request_id=f"q{number}").problem(status, code)

            assert held.books.counts() == before
