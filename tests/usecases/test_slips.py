"""Slips of awards: numbered by their casino without a gap, with the whole calculation, and marked as duplicates."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, STRAIGHT, hand
from tests.support.payouts import held_from, shipped
from tests.support.world import World

pytestmark = pytest.mark.slow


def win(world: World, round_id: str = "r1", **at: Any) -> str:
    world.bet(bet("a", currency="GBP", stake_minor=200), round_id=round_id, **at)
    award_id: str = world.settle(hand("1", FLUSH), round_id=round_id, **at)["awards"][0]["award_id"]
    return award_id


def printed(world: World, award_id: str, request_id: str = "s1", *, key: str | None = None, query: str = "") -> Answer:
    path = f"/v1/awards/{award_id}/slip{query}"
    return world.post(path, {"request_id": request_id}, key=key or world.key(Role.TABLE))


def text_of(page: Answer, status: int = 201) -> str:
    """What the page says, in one line."""
    assert page.status == status, page.text
    assert page.media_type == "text/html"
    return html.unescape(" ".join(re.sub(r"<style>.*?</style>|<[^>]+>", " ", page.text, flags=re.DOTALL).split()))


def test_a_share_of_the_top_prize_shows_m_and_w_and_the_exact_fraction(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"), bet("b", hand="2", stake_minor=200))
    award = world.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING))["awards"][0]

    slip_text = text_of(printed(world, award["award_id"]))

    assert "On offer, M 1,001.35 EUR Value of the round's stakes, W 3 EUR Formula stake x M / W" in slip_text
    assert "Due, exactly 20027/60 = 333.783333333333333333 EUR Payable, rounded down 333.78 EUR" in slip_text


def test_numbers_have_no_gap_and_each_further_print_is_a_duplicate(world: World) -> None:
    world.open(base_amount="1000")
    world.add_casino("c2")
    world.add_table("T2", jackpot_id="j1", casino_id="c2")
    first, second, of_other = win(world), win(world, "r2"), win(world, "r3", table_id="T2")
    server = world.key(Role.TABLE, casino_id="c2")

    assert "Slip 1 of casino c1" in text_of(printed(world, first))
    assert "Slip 1 of casino c2" in text_of(printed(world, of_other, "s2", key=server))
    assert "Slip 2 of casino c1" in text_of(printed(world, second, "s3"))
    again = text_of(printed(world, first, "s4"))

    assert "Slip 1 of casino c1" in again
    assert "DUPLICATE, copy 2" in again
    assert "DUPLICATE" not in text_of(printed(world, first), 200), "the same request says the same"
    assert "DUPLICATE, copy 3" in text_of(printed(world, first, "s5", key=world.person("Olga", Role.OPERATOR)))
    shown = text_of(world.get(f"/v1/awards/{first}/slip", key=world.key(Role.AUDITOR)), 200)
    assert "Slip 1 of casino c1" in shown
    assert "DUPLICATE Casino" in shown, "whatever is not printed by a request is no original"
    assert world.books.mismatches() == ()


def test_a_slip_is_printed_in_german(world: World) -> None:
    world.open(base_amount="1000")
    slip_text = text_of(printed(world, win(world), query="?lang=de"))
    assert "Beleg 1 des Casinos c1" in slip_text
    assert "Zahlbar, abgerundet 50,00 GBP" in slip_text


def test_the_evidence_that_was_asked_for_stands_on_the_slip(world: World) -> None:
    world.open(base_amount="1000", settings=shipped())
    world.bet(bet("a"))
    award = world.settle(hand("1", ROYAL_FLUSH))["awards"][0]
    for number, kind in enumerate(("surveillance", "cards-checked")):
        body = {"request_id": f"e{number}", "kind": kind, "statement": f"memo {number}"}
        path = "/v1/tables/T1/rounds/r1/evidence"
        world.post(path, body, key=world.person("Fay", Role.FINANCE)).ok(201)
    printed(world, award["award_id"]).problem(409, "award-state")
    world.change("held-awards", {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "decision": "approve"})

    slip_text = text_of(printed(world, award["award_id"]))

    assert "Evidence the recording of the surveillance memo 0 a check of the cards memo 1" in slip_text


def test_an_award_of_a_correction_shows_the_figures_of_that_correction(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", NOTHING))
    world.clock.advance(timedelta(hours=3))
    result: Body = {"bet_count": 1, "hands": [hand("1", STRAIGHT)]}
    world.change("round-correction", {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "result": result})
    [award] = world.get("/v1/awards").ok()["items"]

    slip_text = text_of(printed(world, award["award_id"]))

    assert f"Payable, rounded down {award['amount_minor'] / 100:.2f} EUR" in slip_text
    assert "Prize Straight" in slip_text
    assert "Settled 2026-11-20 12:" in slip_text, "the correction made it, three hours after the settlement"


def test_nobody_prints_what_is_not_to_be_paid_or_is_not_theirs(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("1")})
    award_id = win(world)
    printed(world, award_id).problem(409, "award-state")
    printed(world, "aw_0").problem(404, "award-unknown")
    world.get(f"/v1/awards/{award_id}/slip").problem(404, "slip-unknown")
    world.add_casino("c2")
    printed(world, award_id, key=world.key_of(Principal("Carl", Role.FINANCE, "c2"))).problem(404, "award-unknown")
    printed(world, award_id, key=world.key(Role.AUDITOR)).problem(403, "role-forbidden")
    printed(world, award_id, "a b").problem(422, "validation")
    printed(world, award_id, query="?lang=xx").problem(422, "validation")
    assert world.books.value("SELECT count(*) FROM slip_prints") == 0


def test_a_slip_says_that_an_award_is_not_to_be_paid_any_more_also_where_it_is_asked_for_again(world: World) -> None:
    world.open(base_amount="1000")
    award_id = win(world)
    text_of(printed(world, award_id))
    stop = {"request_id": "stop", "reason": "doubt"}
    world.put(f"/v1/awards/{award_id}/stop", stop, key=world.person("Ida", Role.AUDITOR)).ok(201)

    printed(world, award_id, "s2").problem(409, "award-state")
    for page in (printed(world, award_id), world.get(f"/v1/awards/{award_id}/slip")):
        slip_text = text_of(page, 200)
        assert "NOT PAYABLE: stopped" in slip_text
        assert "Unpaid 0.00 GBP" in slip_text


def test_the_rest_that_a_correction_awards_is_less_by_what_was_paid_before(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    [first] = world.settle(hand("1", STRAIGHT))["awards"]
    body = {"request_id": "p", "reference": "slip"}
    world.put(f"/v1/awards/{first['award_id']}/payment", body, key=world.key(Role.TABLE)).ok(201)
    result: Body = {"bet_count": 1, "hands": [hand("1", FLUSH)]}
    world.change("round-correction", {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "result": result})
    [rest] = world.get("/v1/awards?state=payable").ok()["items"]

    slip_text = text_of(printed(world, rest["award_id"]))

    paid, left = first["amount_minor"] / 100, rest["amount_minor"] / 100
    exact = f"Due, exactly {paid + left:g} = {paid + left:g} EUR Paid by earlier verdicts {paid:.2f} EUR"
    assert f"{exact} Payable, rounded down {left:.2f} EUR" in slip_text


def test_a_slip_shows_what_was_withheld_and_what_was_handed_over(world: World) -> None:
    world.open(base_amount="1000")
    rule = {"casino_id": "c1", "currency": "GBP", "report_at_minor": 1000, "withhold_at_minor": 1000, "percent": "20"}
    world.change("casino-withholding", rule)
    award_id = win(world)
    body = {"request_id": "p", "reference": "slip 9", "withheld_minor": 1000}
    world.put(f"/v1/awards/{award_id}/payment", body, key=world.key(Role.TABLE)).ok(201)

    assert "slip 9 10.00 GBP 40.00 GBP Unpaid 0.00 GBP" in text_of(printed(world, award_id))
