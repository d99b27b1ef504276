"""Who may decide what, what finance sees of refused bets, and what players read before they bet. Scenarios 56 to 58."""

import html
from decimal import Decimal

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support.bets import bet
from tests.support.hands import FLUSH, ROYAL_FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow


def test_scenario_56_money_by_hand_is_asked_by_operators_and_decided_by_finance(world: World) -> None:
    """Demand 5: a table, versioned by two people, says who asks and who decides; as shipped, two departments."""
    world.open(base_amount="1000")
    memo = {"jackpot_id": "j1", "account": "reserve", "amount": "1", "document": "memo 1", "cause": "count-error"}
    world.ask("adjustment", memo, by="Fay", role=Role.FINANCE).problem(403, "role-forbidden")
    world.ask("adjustment", memo).ok(201)
    world.approve(by="Otto", role=Role.OPERATOR).problem(403, "role-forbidden")
    world.approve(reason="").problem(422, "validation")

    night = world.key_of(Principal("Nina", Role.OPERATOR, department="night-shift"))
    both = {"requested_by": ["operator"], "decided_by": ["operator"], "needs_other_department": True}
    world.change("change-policy", {"kinds": {"adjustment": both}}, request_id="policy")

    world.approve(by="Bob", role=Role.FINANCE).problem(403, "role-forbidden")
    world.approve(by="Otto", role=Role.OPERATOR).problem(403, "same-department")
    world.post("/v1/change-requests/q1/approval", {"reason": "counted again"}, key=night).ok()
    assert world.books.balance("j1", "pool:reserve") == Decimal(1)
    assert world.get("/v1/change-policy").ok()["version"] == 2


def test_scenario_57_a_casino_whose_bets_are_all_refused_is_one_line_with_a_count(world: World) -> None:
    """Demand 7: refusals by which a whole casino's bets may be lost are counted by kind, table and hour."""
    world.open(base_amount="1000")
    for number in range(5):
        world.post_bets(bet(f"b{number}", currency="CHF"), round_id=f"r{number}").problem(422, "no-rate")

    (flood,) = world.get("/v1/exceptions").ok()["items"]

    assert (flood["kind"], flood["table_id"], flood["count"]) == ("no-rate", "T1", 5)


def test_scenario_57_the_history_of_a_player_is_read_by_finance_and_not_by_the_rates_desk(world: World) -> None:
    """Demand 7: bets, awards and rounds of a player, for roles that may see them."""
    world.open(base_amount="1000")
    world.bet(bet("mine", player_id="ann"), bet("other", player_id="ben", hand="2"))
    world.settle(hand("1", FLUSH), hand("2", ROYAL_FLUSH))
    world.bet(bet("later", player_id="ann"), round_id="r2")

    assert [item["round_id"] for item in world.get("/v1/rounds?player_id=ann").ok()["items"]] == ["r2", "r1"]
    awards = world.get("/v1/awards?player_id=ann").ok()["items"]
    assert {(award["bet_id"], award["tier"]) for award in awards} == {("mine", "flush"), ("mine", "royal_flush")}
    world.get("/v1/awards?player_id=ann", key=world.key(Role.RATES)).problem(403, "role-forbidden")


def test_scenario_58_players_read_the_return_the_odds_and_the_prizes_before_they_bet(world: World) -> None:
    """Demand 8: the rules sheet, from the same constants as the report of the return."""
    world.open(base_amount="1000")

    sheet = world.get("/v1/jackpots/j1/rules?currency=GBP&lang=en").ok()
    page = world.get("/v1/jackpots/j1/rules.html?currency=GBP&lang=de")

    assert sheet["theoretical_return"]["text"] == "81.84 %"
    odds = {prize["tier"]: prize["odds"] for prize in sheet["prizes"]}
    assert (odds["royal_flush"], odds["flush"]) == ("1 in 649,740", "1 in 508.80")
    assert (page.status, page.media_type) == (200, "text/html")
    assert "81,84 %" in html.unescape(page.text)


def test_scenario_58_the_share_of_a_royal_flush_is_asked_for_at_any_time_of_an_open_round(world: World) -> None:
    """Demand 8: what one unit staked would get now."""
    world.open(base_amount="1000")
    world.bet(bet("a"))
    path = "/v1/tables/T1/rounds/r1/payout-per-unit"

    first = world.get(path, role=Role.TABLE).ok()["payout_per_unit"]
    world.bet(bet("b", hand="2"))
    second = world.get(path, role=Role.TABLE).ok()["payout_per_unit"]

    # 1,000 and 0.45 of each stake, of one unit and of two.
    assert (Decimal(first), Decimal(second)) == (Decimal("1000.45"), Decimal("500.45"))
