"""From payable to paid: parts, amounts withheld, slips, and awards that nobody claims. Scenarios 52 to 55."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Answer, Body
from tests.support.asking import rows
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow


def awards(world: World) -> dict[str, Body]:
    """Every award, by its bet."""
    return {item["bet_id"]: item for item in world.get("/v1/awards").ok()["items"]}


def pay(world: World, reference: str, bet_id: str = "a", **more: Any) -> Answer:
    body = {"request_id": reference.replace(" ", "-"), "reference": reference, **more}
    return world.put(f"/v1/awards/{awards(world)[bet_id]['award_id']}/payment", body, key=world.key(Role.TABLE))


def test_scenario_52_an_award_is_paid_in_parts_and_no_more_than_it_is(world: World) -> None:
    """Demand 4: payments are records, and several parts come to the award at most."""

    def unpaid() -> list[tuple[int, str]]:
        return [(row["awards"], row["amount"]) for row in rows(world, "liability", "unpaid", jackpot_id="j1")]

    def totals() -> dict[str, tuple[int, str]]:
        listed = rows(world, "awards", "totals", jackpot_id="j1")
        return {row["state"]: (row["awards"], row["amount"]) for row in listed}

    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", FLUSH))
    world.clock.advance(timedelta(hours=1))

    parameters = {"currency": "EUR", "channel": "cage", "payer": "Cleo", "paid_at": "2026-11-20T09:30:00Z"}
    first = pay(world, "slip 1", amount_minor=40, **parameters).ok(201)
    assert (first["state"], first["paid_minor"]) == ("part-paid", 40)
    assert unpaid() == [(1, "24.6")]
    assert totals() == {"payable": (1, "24.6"), "paid": (0, "0.4")}

    too_much = pay(world, "slip 2", amount_minor=2461).problem(409, "payment-too-large")
    assert (too_much["unpaid_minor"], too_much["currency"]) == (2460, "EUR")
    last = pay(world, "slip 2").ok(201)

    assert (last["state"], last["paid_minor"]) == ("paid", 2500)
    assert [payment["amount_minor"] for payment in last["payments"]] == [40, 2460]
    assert [(payment["channel"], payment["payer"]) for payment in last["payments"]] == [("cage", "Cleo"), (None, None)]
    assert unpaid() == []
    assert totals() == {"paid": (1, "25")}
    pay(world, "slip 3", amount_minor=1).problem(409, "award-state")


def test_scenario_53_gbp_25_that_nobody_claims_in_30_days_go_to_the_state(world: World) -> None:
    """Demand 4: what nobody claims goes, by two people, where the setting of the casino says."""
    world.open(base_amount="1000")
    world.bet(bet("a", currency="GBP"))
    world.settle(hand("1", FLUSH))
    world.change("casino-claims", {"casino_id": "c1", "claim_days": 30}, request_id="claims")
    books, award_id = world.books, awards(world)["a"]["award_id"]
    owed, exchanged = books.balance("j1", "casino:c1", "GBP"), books.balance("j1", "fx:GBP", "GBP")
    pay(world, "slip", amount_minor=500).ok(201)
    world.clock.advance(timedelta(days=30))
    assert awards(world)["a"]["state"] == "unclaimed"

    named = {"jackpot_id": "j1", "award_id": award_id}
    effect = world.change("award-forfeiture", named, request_id="forfeit")

    assert effect["before"] == {"state": "part-paid"}
    assert effect["after"]["forfeiture"]["amount_minor"] == 2000
    assert effect["after"]["forfeiture"]["cost"] == "23.4"
    assert books.balance("j1", "statutory:c1", "GBP") == 20
    assert books.balance("j1", "casino:c1", "GBP") == owed - 20
    assert books.balance("j1", "fx:GBP", "GBP") == exchanged
    assert (awards(world)["a"]["state"], awards(world)["a"]["paid_minor"]) == ("forfeited", 500)
    assert [item["bet_id"] for item in world.get("/v1/awards?state=forfeited").ok()["items"]] == ["a"]
    assert world.get("/v1/awards?state=unclaimed").ok()["items"] == []
    pay(world, "late").problem(409, "award-state")
    body = {"request_id": "stop", "reason": "in doubt"}
    world.put(f"/v1/awards/{award_id}/stop", body, key=world.person("Fay", Role.FINANCE)).problem(409, "award-state")
    world.ask("payment-reversal", {**named, "reference": "slip"}).problem(409, "award-state")
    world.ask("award-forfeiture", named).problem(409, "award-state")


def test_scenario_54_an_award_says_what_is_reported_and_withheld_and_its_payments_keep_no_more(world: World) -> None:
    """Demand 4: from EUR 50.00 on awards are reported, and of EUR 100.00 and more 24 per cent are withheld."""
    world.open(base_amount="1000")
    rule = {"currency": "EUR", "report_at_minor": 5000, "withhold_at_minor": 10_000, "percent": "24"}
    world.change("casino-withholding", {"casino_id": "c1", **rule})
    world.clock.advance(timedelta(hours=1))
    for bet_id, currency, stake_minor in (("a", "EUR", 400), ("b", "EUR", 300), ("c", "GBP", 400), ("d", "EUR", 100)):
        world.bet(bet(bet_id, currency=currency, stake_minor=stake_minor), round_id=bet_id)
        world.settle(hand("1", FLUSH), round_id=bet_id)

    expected = {
        bet_id: (award["reportable"], award["withholding_due_minor"]) for bet_id, award in awards(world).items()
    }
    first = pay(world, "slip-1", amount_minor=5000, withheld_minor=1000).ok(201)

    assert expected == {"a": (True, 2400), "b": (True, 0), "c": (None, None), "d": (False, 0)}
    assert (first["paid_minor"], first["withheld_minor"], first["payments"][0]["withheld_minor"]) == (5000, 1000, 1000)
    problem = pay(world, "slip-2", withheld_minor=1401).problem(409, "withholding-too-large")
    assert (problem["due_minor"], problem["withheld_minor"], problem["currency"]) == (2400, 1000, "EUR")
    last = pay(world, "slip-2", withheld_minor=1400).ok(201)
    assert (last["state"], last["withheld_minor"]) == ("paid", 2400)
    for bet_id in ("b", "c", "d"):
        pay(world, f"of-{bet_id}", bet_id, withheld_minor=1).problem(409, "withholding-too-large")
        assert pay(world, f"of-{bet_id}", bet_id, withheld_minor=0).ok(201)["state"] == "paid"


def test_scenario_55_a_slip_shows_the_way_from_the_stake_to_the_amount(world: World) -> None:
    """Demand 4: a slip is print-ready, with the calculation from the stake to what is payable."""
    world.open(base_amount="1000")
    world.bet(bet("a", currency="GBP", stake_minor=200))
    (award,) = world.settle(hand("1", FLUSH))["awards"]
    pay(world, "slip 7", amount_minor=1000, channel="cage", payer="Cleo <b>").ok(201)

    page = world.post(f"/v1/awards/{award['award_id']}/slip", {"request_id": "s1"}, key=world.key(Role.TABLE))

    assert (page.status, page.media_type) == (201, "text/html")
    printed = re.sub(r"<style>.*?</style>|<[^>]+>", " ", page.text, flags=re.DOTALL)
    text = html.unescape(" ".join(printed.split()))
    assert "<b>" not in page.text
    assert text.startswith("Slip 1 of casino c1 Slip 1 of casino c1 Casino")
    assert "DUPLICATE" not in text
    for figure in (
        "Stake 2.00 GBP Rate, by rate sheet 1 1.17 EUR Stake x rate 2.34 EUR",
        "Formula stake x 25 Due, exactly 50 = 50 GBP Payable, rounded down 50.00 GBP",
        "slip 7 cage Cleo <b> 0.00 GBP 10.00 GBP Unpaid 40.00 GBP",
        "Player player-of-a Hand 1: ",
        "Paid by, date, signature Received by the player, date, signature",
    ):
        assert figure in text
