"""An award that nobody claims is unclaimed after its casino's days, is noted once, and two people forfeit it."""

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Final

import pytest

from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.usecases.note_unclaimed import AT_A_TIME, Noted, note_unclaimed
from tests.support import asking, correcting
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, hand
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.slow

DAYS: Final = 30
CLAIMS: Final[Body] = {"casino_id": "c1", "claim_days": DAYS}


@pytest.fixture
def won(world: World) -> World:
    """A flush of GBP 25.00 (EUR 29.25) that is payable in round r1, at a casino that sets 30 days."""
    world.open(base_amount="1000")
    world.bet(bet("a", currency="GBP"))
    world.settle(hand("1", FLUSH))
    world.change("casino-claims", CLAIMS, request_id="claims")
    return world


def award_of(world: World, bet_id: str = "a") -> Body:
    items: list[Body] = world.get("/v1/awards").ok()["items"]
    return next(item for item in items if item["bet_id"] == bet_id)


def forfeiture(world: World, bet_id: str = "a") -> Body:
    return {"jackpot_id": "j1", "award_id": award_of(world, bet_id)["award_id"]}


def forfeit(world: World, bet_id: str = "a") -> Body:
    return world.change("award-forfeiture", forfeiture(world, bet_id), request_id=f"forfeit-{bet_id}")


def pay(world: World, reference: str = "slip", **more: Any) -> Answer:
    body = {"request_id": reference, "reference": reference, **more}
    return world.put(f"/v1/awards/{award_of(world)['award_id']}/payment", body, key=world.key(Role.TABLE))


def in_state(world: World, state: str) -> list[str]:
    return [item["bet_id"] for item in world.get(f"/v1/awards?state={state}").ok()["items"]]


def note(world: World) -> Noted:
    return world.transact(partial(note_unclaimed, principal=SYSTEM_OPERATOR, now=world.clock(), after=None))


def noted(world: World) -> list[Body]:
    items: list[Body] = world.get("/v1/exceptions?kind=award-unclaimed").ok()["items"]
    return items


def let_it_pass(world: World, days: int = DAYS) -> None:
    world.clock.advance(timedelta(days=days))


def test_an_award_is_unclaimed_once_its_days_are_over_and_is_still_paid(won: World) -> None:
    until = award_of(won)["claimable_until"]
    assert until.startswith("2026-12-20T09:")
    let_it_pass(won, DAYS - 1)
    assert in_state(won, "payable") == ["a"]
    won.ask("award-forfeiture", forfeiture(won)).problem(409, "award-claimable")

    let_it_pass(won, 1)

    assert in_state(won, "unclaimed") == ["a"]
    assert in_state(won, "payable") == []
    assert award_of(won)["state"] == "unclaimed"
    pay(won, amount_minor=1).ok(201)
    assert in_state(won, "unclaimed") == ["a"]
    assert in_state(won, "part-paid") == []
    assert pay(won, "rest").ok(201)["state"] == "paid"
    assert in_state(won, "unclaimed") == []
    assert award_of(won)["claimable_until"] is None


def test_without_days_no_award_becomes_unclaimed(won: World) -> None:
    let_it_pass(won)
    won.change("casino-claims", CLAIMS | {"claim_days": None, "forfeited_to": "meter"}, request_id="never")

    assert award_of(won)["state"] == "payable"
    assert award_of(won)["claimable_until"] is None
    problem = won.ask("award-forfeiture", forfeiture(won)).problem(409, "award-claimable")
    assert problem["claimable_until"] is None
    assert note(won) == Noted(0, 0, None)


def test_a_stop_lasts_as_long_as_it_does_and_the_days_begin_anew_with_the_release(won: World) -> None:
    body = {"request_id": "stop", "reason": "in doubt"}
    path = f"/v1/awards/{award_of(won)['award_id']}/stop"
    won.put(path, body, key=won.person("Fay", Role.FINANCE)).ok(201)
    let_it_pass(won)
    assert award_of(won)["state"] == "stopped"
    won.ask("award-forfeiture", forfeiture(won), request_id="early").problem(409, "award-state")
    release = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "decision": "release"}
    won.change("held-awards", release, request_id="release")
    assert in_state(won, "payable") == ["a"]

    let_it_pass(won)
    forfeit(won)

    assert in_state(won, "forfeited") == ["a"]
    assert won.books.mismatches() == ()


def test_an_unclaimed_award_is_an_exception_once_which_one_person_acknowledges(won: World) -> None:
    assert note(won) == Noted(0, 0, None)
    let_it_pass(won)

    assert note(won) == Noted(1, 1, None)
    assert note(won) == Noted(1, 0, None)

    (exception,) = noted(won)
    assert (exception["kind"], exception["table_id"], exception["round_id"]) == ("award-unclaimed", "T1", "r1")
    assert exception["facts"]["award_id"] == award_of(won)["award_id"]
    assert (exception["facts"]["unpaid_minor"], exception["facts"]["currency"]) == (2500, "GBP")
    seen = {"request_id": "seen", "reason": "the player was written to"}
    path = f"/v1/exceptions/{exception['exception_id']}/acknowledgement"
    won.post(path, seen, key=won.person("Fay", Role.FINANCE)).ok(201)
    assert note(won) == Noted(1, 0, None)
    assert won.books.mismatches() == ()


def test_unclaimed_awards_are_noted_some_at_a_time(won: World, monkeypatch: pytest.MonkeyPatch) -> None:
    won.bet(bet("b"), round_id="r2")
    won.settle(hand("1", FLUSH), round_id="r2")
    let_it_pass(won)
    monkeypatch.setattr("jackpot_service.usecases.note_unclaimed.AT_A_TIME", 1)
    assert AT_A_TIME > 1

    after, seen = None, 0
    while True:
        page = won.transact(partial(note_unclaimed, principal=SYSTEM_OPERATOR, now=won.clock(), after=after))
        seen, after = seen + page.new, page.after
        if after is None:
            break

    assert seen == len(noted(won)) == 2


def test_a_prize_of_the_prize_fund_goes_back_there_if_the_casino_gives_it_to_the_jackpot(won: World) -> None:
    won.change("casino-claims", CLAIMS | {"forfeited_to": "meter"}, request_id="meter")
    fund, owed = won.books.balance("j1", "pool:prize_fund"), won.books.balance("j1", "casino:c1", "GBP")
    let_it_pass(won)

    forfeit(won)

    assert won.books.balance("j1", "pool:prize_fund") - fund == pytest.approx(29.25, abs=0)
    assert won.books.balance("j1", "casino:c1", "GBP") == owed - 25
    assert won.books.mismatches() == ()


def test_a_prize_of_a_meter_that_was_won_since_goes_to_the_running_one_as_players_money(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", ROYAL_FLUSH))
    world.change("casino-claims", CLAIMS | {"forfeited_to": "meter"}, request_id="claims")
    won_minor = award_of(world)["amount_minor"]
    before = world.books.balance("j1", "pool:meter:players")
    let_it_pass(world)

    forfeit(world)

    assert (world.books.balance("j1", "pool:meter:players") - before) * 100 == won_minor
    assert world.books.mismatches() == ()


def test_the_reports_show_a_forfeiture_where_it_belongs(won: World) -> None:
    pay(won, amount_minor=500).ok(201)
    let_it_pass(won)
    note(won)
    forfeit(won)

    def rows(report: str, section: str, **question: str) -> list[Mapping[str, Any]]:
        return asking.rows(won, report, section, jackpot_id="j1", **question)

    (listed,) = rows("awards", "awards")
    assert (listed["state"], listed["paid_amount"]) == ("forfeited", "5")
    assert listed["forfeited_at"] is not None
    totals = {row["state"]: (row["awards"], row["amount"], row["cost_base"]) for row in rows("awards", "totals")}
    assert totals == {"forfeited": (1, "20", "23.4"), "paid": (0, "5", "5.85")}
    assert rows("liability", "unpaid") == []
    assert rows("payables", "payables") == []
    statement = {row["currency"]: row for row in rows("casino-statement", "accounts", casino_id="c1")}
    assert statement["GBP"]["forfeitures"] == "20"
    assert {
        row["currency"]: row["closing"] for row in rows("trial-balance", "accounts") if "statutory" in row["account"]
    } == {"GBP": "20"}
    assert {row["differing"] for row in rows("reconciliation", "summary")} == {0}
    assert {row["variance"] for row in rows("fx", "currencies")} == {"0"}


@pytest.mark.parametrize("to", ["meter", "statutory"])
def test_everything_adds_up_wherever_the_money_goes(won: World, to: str) -> None:
    won.bet(bet("b"), round_id="r2")
    won.settle(hand("1", FOUR_OF_A_KIND), round_id="r2")
    won.change("casino-claims", {"casino_id": "c1", "claim_days": 1, "forfeited_to": to}, request_id="to")
    let_it_pass(won)
    forfeit(won)
    forfeit(won, "b")
    won.bet(bet("c"), round_id="r3")

    for report in ("reconciliation", "fx"):
        section, column = {"reconciliation": ("summary", "differing"), "fx": ("currencies", "variance")}[report]
        assert {str(row[column]) for row in asking.rows(won, report, section, jackpot_id="j1")} == {"0"}
    assert won.books.mismatches() == ()


def test_a_round_with_a_forfeited_award_is_not_corrected(won: World) -> None:
    let_it_pass(won)
    forfeit(won)

    correcting.ask(won, hand("1", NOTHING)).problem(409, "award-forfeited")


def test_a_payment_meanwhile_makes_the_request_stale(won: World) -> None:
    let_it_pass(won)
    won.ask("award-forfeiture", forfeiture(won)).ok(201)
    pay(won, amount_minor=1).ok(201)

    won.approve().problem(409, "change-stale")

    assert award_of(won)["state"] == "unclaimed"


def test_other_claims_meanwhile_make_the_request_stale(won: World) -> None:
    let_it_pass(won)
    won.ask("award-forfeiture", forfeiture(won)).ok(201)
    won.change("casino-claims", CLAIMS | {"forfeited_to": "meter"}, request_id="meter")

    won.approve().problem(409, "change-stale")


def test_one_person_forfeits_nothing_nor_do_two_of_one_department(won: World) -> None:
    let_it_pass(won)
    won.ask("award-forfeiture", forfeiture(won), by="Fay", role=Role.FINANCE).ok(201)

    won.approve(by="Fay", role=Role.FINANCE).problem(403, "same-user")
    won.approve(by="Finn", role=Role.FINANCE).problem(403, "same-department")
    won.approve(by="Oskar", role=Role.OPERATOR).ok()


def test_a_held_award_is_not_forfeited(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("20")})
    world.bet(bet("a"))
    world.settle(hand("1", FLUSH))
    world.change("casino-claims", CLAIMS, request_id="claims")
    let_it_pass(world)

    assert award_of(world)["state"] == "held"
    world.ask("award-forfeiture", forfeiture(world)).problem(409, "award-state")


def test_a_retired_jackpot_gets_nothing_back_and_the_state_does(won: World) -> None:
    won.change("casino-claims", CLAIMS | {"forfeited_to": "meter"}, request_id="meter")
    won.open(jackpot_id="j2", tables=("T2",))
    won.change("prize-fund-true-up", {"jackpot_id": "j1"}, request_id="true-up")
    won.change("retirement", {"jackpot_id": "j1", "to": "j2"}, request_id="retire")
    let_it_pass(won)

    won.ask("award-forfeiture", forfeiture(won), request_id="f").problem(409, "jackpot-retired")
    won.change("casino-claims", CLAIMS, request_id="statutory")
    forfeit(won)

    assert won.books.balance("j1", "statutory:c1", "GBP") == 25
    assert won.books.mismatches() == ()


def test_the_claims_of_a_casino_are_shown_to_the_house_and_to_its_own_finance(won: World) -> None:
    won.add_casino("c2")
    shown = {"casino_id": "c1", "version": 1, "claim_days": 30, "forfeited_to": "statutory"}
    assert won.get("/v1/casinos/c1/claims").ok() == shown
    assert won.get("/v1/casinos/c1/claims", key=won.key(Role.FINANCE, casino_id="c1")).ok() == shown
    never = {"casino_id": "c2", "version": 0, "claim_days": None, "forfeited_to": "statutory"}
    assert won.get("/v1/casinos/c2/claims").ok() == never
    won.get("/v1/casinos/c1/claims", key=won.key(Role.TABLE)).problem(403, "role-forbidden")
    won.get("/v1/casinos/c9/claims").problem(404, "casino-unknown")
    theirs = won.key_of(Principal("Cora", Role.FINANCE, "c2"))
    won.get("/v1/casinos/c1/claims", key=theirs).problem(404, "casino-unknown")


@pytest.mark.parametrize(
    ("payload", "status", "code"),
    [
        ({"casino_id": "c1"}, 422, "payload-invalid"),
        ({"casino_id": "c1", "claim_days": 0}, 422, "payload-invalid"),
        ({"casino_id": "c1", "claim_days": -1}, 422, "payload-invalid"),
        ({"casino_id": "c1", "claim_days": 36_501}, 422, "payload-invalid"),
        ({"casino_id": "c1", "claim_days": 2**63 - 1}, 422, "payload-invalid"),
        ({"casino_id": "c1", "claim_days": 1.5}, 422, "payload-invalid"),
        ({"casino_id": "c1", "claim_days": True}, 422, "payload-invalid"),
        ({"casino_id": "c1", "claim_days": "30"}, 422, "payload-invalid"),
        ({"casino_id": "c1", "claim_days": 7, "forfeited_to": "house"}, 422, "payload-invalid"),
        ({"casino_id": "c1", "claim_days": 7, "forfeited_to": None}, 422, "payload-invalid"),
        ({"casino_id": "c1", "claim_days": 7, "forfeited_to": ["meter"]}, 422, "payload-invalid"),
        ({"casino_id": "c1", "claim_days": 7, "since": "today"}, 422, "payload-invalid"),
        ({"casino_id": "no id at all", "claim_days": 7}, 422, "payload-invalid"),
        ({"casino_id": "c9", "claim_days": 7}, 404, "casino-unknown"),
        ({"claim_days": 7}, 422, "payload-invalid"),
        ([], 422, "validation"),
    ],
)
def test_claims_that_cannot_be_are_refused(world: World, payload: Any, status: int, code: str) -> None:
    world.ask("casino-claims", payload).problem(status, code)
    assert world.get("/v1/casinos/c1/claims").ok()["version"] == 0


def test_the_same_claims_again_are_refused(won: World) -> None:
    won.ask("casino-claims", CLAIMS).problem(422, "payload-invalid")


@pytest.mark.parametrize(
    ("payload", "status", "code"),
    [
        ({"jackpot_id": "j1"}, 422, "payload-invalid"),
        ({"jackpot_id": "j1", "award_id": "aw_none"}, 404, "award-unknown"),
        ({"jackpot_id": "j9", "award_id": "aw_none"}, 404, "award-unknown"),
        ({"jackpot_id": "j1", "award_id": 7}, 422, "payload-invalid"),
        ({"jackpot_id": "j1", "award_id": "aw_none", "to": "meter"}, 422, "payload-invalid"),
    ],
)
def test_a_forfeiture_of_nothing_is_refused(won: World, payload: Any, status: int, code: str) -> None:
    won.ask("award-forfeiture", payload).problem(status, code)


def test_an_award_of_another_jackpot_is_not_found(won: World) -> None:
    won.open(jackpot_id="j2", tables=("T2",))
    let_it_pass(won)

    won.ask("award-forfeiture", forfeiture(won) | {"jackpot_id": "j2"}).problem(404, "award-unknown")
