"""An award in doubt is stopped by one person, released by two, and not paid in between."""

from typing import Any, Final

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support import correcting
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, STRAIGHT, dead, hand
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.slow

ROUND: Final[Body] = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1"}
RELEASE: Final[Body] = ROUND | {"decision": "release"}


@pytest.fixture
def won(world: World) -> World:
    """A flush on hand 1 that is payable: EUR 25.00 to b1; hand 2 lost."""
    world.open(base_amount="1000")
    world.bet(bet("b1"), bet("b2", hand="2"))
    world.settle(hand("1", FLUSH), hand("2", NOTHING))
    return world


def award(world: World, bet_id: str = "b1", *, round_id: str = "r1") -> Body:
    awards: list[Body] = world.round(round_id)["settlement"]["awards"]
    return next(award for award in awards if award["bet_id"] == bet_id)


def stop(
    world: World, award_id: str, *, by: str = "Fay", role: Role = Role.FINANCE, key: str | None = None, **more: Any
) -> Answer:
    body = {"request_id": "stop-1", "reason": "the cards are being checked", **more}
    return world.put(f"/v1/awards/{award_id}/stop", body, key=key or world.person(by, role))


def pay(world: World, award_id: str) -> Answer:
    return world.put(
        f"/v1/awards/{award_id}/payment", {"request_id": "paid", "reference": "slip"}, key=world.key(Role.TABLE)
    )


def test_two_people_release_it_and_it_is_paid(won: World) -> None:
    award_id = award(won)["award_id"]
    stop(won, award_id).ok(201)

    effect = won.change("held-awards", RELEASE)

    assert effect["before"] == {"state": "stopped"}
    assert award(won)["state"] == "payable"
    assert [item["award_id"] for item in won.get("/v1/awards?state=payable").ok()["items"]] == [award_id]
    assert won.get("/v1/awards?state=stopped").ok()["items"] == []
    assert pay(won, award_id).ok(201)["state"] == "paid"
    assert won.books.mismatches() == ()


def test_one_person_does_not_release_it(won: World) -> None:
    stop(won, award(won)["award_id"], by="Ann", role=Role.OPERATOR).ok(201)
    won.ask("held-awards", RELEASE).ok(201)

    won.approve(by="Ann").problem(403, "same-user")

    assert award(won)["state"] == "stopped"


def test_the_same_stop_again_takes_no_further_step(won: World) -> None:
    award_id = award(won)["award_id"]
    first = stop(won, award_id).ok(201)
    before = won.books.counts()

    assert stop(won, award_id).ok(200) == first
    assert won.books.counts() == before


def test_a_second_stop_is_refused_also_after_the_release(won: World) -> None:
    award_id = award(won)["award_id"]
    stop(won, award_id).ok(201)

    stop(won, award_id, by="Gus", request_id="stop-2").problem(409, "award-state")
    won.change("held-awards", RELEASE)
    stop(won, award_id, request_id="stop-3").problem(409, "award-state")


def test_an_award_that_is_paid_or_held_is_not_stopped(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("200")})
    world.bet(bet("b1"), bet("b2", hand="2"))
    world.settle(hand("1", ROYAL_FLUSH), hand("2", FLUSH))
    held, flush = (
        award(world),
        next(award for award in world.round()["settlement"]["awards"] if award["tier"] == "flush"),
    )
    pay(world, flush["award_id"]).ok(201)

    stop(world, held["award_id"]).problem(409, "award-state")
    stop(world, flush["award_id"], request_id="stop-2").problem(409, "award-state")


def test_a_service_account_stops_nothing(won: World) -> None:
    award_id = award(won)["award_id"]
    robot = won.key_of(Principal("watcher", Role.FINANCE, is_automaton=True))

    stop(won, award_id, key=robot).problem(403, "user-required")
    stop(won, award_id, key=won.key(Role.TABLE)).problem(403, "role-forbidden")
    stop(won, award_id, key=won.key(Role.RATES)).problem(403, "role-forbidden")
    assert award(won)["state"] == "payable"


def test_the_casinos_own_finance_stops_its_awards_and_another_casinos_sees_none(won: World) -> None:
    won.add_casino("c2")
    award_id = award(won)["award_id"]

    theirs = won.key_of(Principal("Cora", Role.FINANCE, "c2"))
    stop(won, award_id, key=theirs).problem(404, "award-unknown")
    own = won.key_of(Principal("Otto", Role.FINANCE, "c1"))
    stop(won, award_id, key=own).ok(201)
    assert won.books.mismatches() == ()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"reason": ""}, "validation"),
        ({"reason": None}, "validation"),
        ({"reason": "r" * 100_000}, "validation"),
        ({"request_id": "no id at all"}, "validation"),
        ({"until": "tomorrow"}, "validation"),
    ],
)
def test_a_stop_that_says_nothing_or_too_much_is_refused(won: World, body: Body, code: str) -> None:
    answer = stop(won, award(won)["award_id"], **body)

    answer.problem(422, code)
    assert award(won)["state"] == "payable"


def test_an_unknown_award_is_not_stopped(won: World) -> None:
    stop(won, "aw_" + "0" * 32).problem(404, "award-unknown")


@pytest.mark.parametrize("decision", ["approve", "reject", "reinstate"])
def test_a_stopped_award_is_neither_approved_nor_rejected(won: World, decision: str) -> None:
    stop(won, award(won)["award_id"]).ok(201)

    assert won.ask("held-awards", ROUND | {"decision": decision}).status == 409


def test_nothing_is_released_where_nothing_was_stopped(won: World) -> None:
    won.ask("held-awards", RELEASE).problem(409, "nothing-stopped")


def test_a_correction_takes_a_stopped_award_back_and_its_own_award_is_stopped_and_released(won: World) -> None:
    stop(won, award(won)["award_id"]).ok(201)

    effect = correcting.correct(won, hand("1", STRAIGHT), hand("2", NOTHING), request_id="correction")

    assert correcting.reversed_awards(effect) == [("b1", "flush", 2500)]
    (new,) = won.get("/v1/awards?state=payable").ok()["items"]
    assert (new["tier"], new["amount_minor"]) == ("straight", 1000)
    stop(won, new["award_id"], request_id="stop-2").ok(201)
    won.change("held-awards", RELEASE, request_id="release")
    assert pay(won, new["award_id"]).ok(201)["state"] == "paid"
    assert won.books.mismatches() == ()


def test_the_reports_show_what_is_stopped_and_still_owed(won: World) -> None:
    award_id = award(won)["award_id"]
    stop(won, award_id).ok(201)

    def section(report: str, name: str) -> list[Body]:
        document: Body = won.get(f"/v1/reports/{report}", key=won.key(Role.FINANCE)).ok()
        return next(section["rows"] for section in document["sections"] if section["name"] == name)

    (listed,) = section("awards", "awards")
    assert (listed["award_id"], listed["state"]) == (award_id, "stopped")
    assert listed["stopped_at"] is not None
    assert listed["released_at"] is None
    (total,) = section("awards", "totals")
    assert (total["state"], total["amount"]) == ("stopped", "25")
    (unpaid,) = section("liability", "unpaid")
    assert (unpaid["awards"], unpaid["amount"]) == (1, "25")


def test_a_correction_for_another_hand_does_not_make_a_stopped_award_payable(won: World) -> None:
    stop(won, award(won)["award_id"]).ok(201)

    correcting.ask(won, hand("1", FLUSH), dead("2")).problem(409, "award-stopped")
    correcting.ask(won, hand("1", STRAIGHT), hand("2", NOTHING), request_id="other").ok(201)

    assert award(won)["state"] == "stopped"


def retire(world: World) -> None:
    world.open(jackpot_id="j2", tables=("T2",))
    world.change("prize-fund-true-up", {"jackpot_id": "j1"}, request_id="true-up")
    world.change("retirement", {"jackpot_id": "j1", "to": "j2"}, request_id="retire")


@pytest.mark.parametrize("is_stopped_first", [True, False])
def test_an_award_of_a_retired_jackpot_is_stopped_and_released_as_nothing_moves(
    won: World, *, is_stopped_first: bool
) -> None:
    award_id = award(won)["award_id"]
    if not is_stopped_first:
        retire(won)
    stop(won, award_id).ok(201)
    if is_stopped_first:
        retire(won)

    won.change("held-awards", RELEASE, request_id="release")

    assert pay(won, award_id).ok(201)["state"] == "paid"
    assert won.books.mismatches() == ()
