"""A casino records that it paid an award: once, however often it says so; and everybody sees what became of it."""

from datetime import timedelta
from typing import Any, Final

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, hand
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.slow


@pytest.fixture
def won(world: World) -> World:
    """A flush that is payable in round r1, and a four of a kind that is held in r2."""
    world.open(base_amount="1000", settings={"payout_tiers": held_from("250")})
    world.bet(bet("a"))
    world.settle(hand("1", FLUSH))
    world.bet(bet("a"), round_id="r2")
    world.settle(hand("1", FOUR_OF_A_KIND), round_id="r2")
    world.clock.advance(timedelta(hours=1))
    return world


def award_of(world: World, round_id: str = "r1") -> str:
    award_id: str = world.round(round_id)["settlement"]["awards"][0]["award_id"]
    return award_id


def pay(world: World, award_id: str, *, key: str | None = None, request_id: str = "p1", **more: Any) -> Answer:
    body = {"request_id": request_id, "reference": "slip 7", "paid_at": "2026-11-20T09:30:00Z", **more}
    return world.put(f"/v1/awards/{award_id}/payment", body, key=key or world.key(Role.TABLE))


def listed(world: World, query: str = "", **more: Any) -> list[tuple[str, str]]:
    """Round and state of each award that is listed."""
    items = world.get(f"/v1/awards{query}", **more).ok()["items"]
    return [(item["round_id"], item["state"]) for item in items]


def test_a_casino_records_the_payment_of_an_award(won: World) -> None:
    balance = won.books.balance("j1", "casino:c1")

    paid = pay(won, award_of(won)).ok(201)

    assert (paid["state"], paid["paid_minor"]) == ("paid", paid["amount_minor"])
    assert [step["step"] for step in paid["steps"]] == ["payable"]
    [payment] = paid["payments"]
    assert won.books.rows(f"SELECT FROM acts WHERE seq = {payment.pop('act')} AND subject = 'award {paid['award_id']}'")
    assert payment == {
        "amount_minor": paid["amount_minor"],
        "reference": "slip 7",
        "paid_at": "2026-11-20T09:30:00.000000Z",
        "channel": None,
        "payer": None,
        "withheld_minor": 0,
        "reversed_by": None,
    }
    assert won.books.balance("j1", "casino:c1") == balance
    assert won.round()["settlement"]["awards"][0]["state"] == "paid"


def test_a_casino_that_meets_a_request_id_of_the_house_is_not_told_what_it_stands_for(won: World) -> None:
    payload = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r2", "decision": "approve"}
    won.ask("held-awards", payload, request_id="q1").ok(201)

    answer = pay(won, award_of(won), request_id="q1")

    answer.problem(409, "request-conflict")
    assert not {word for word in ("Ann", "change", "held") if word in answer.text}


def test_the_same_payment_again_is_no_further_one(won: World) -> None:
    first = pay(won, award_of(won)).ok(201)
    before = won.books.counts()

    assert pay(won, award_of(won)).ok(200) == first
    assert pay(won, award_of(won), request_id="p2").ok(200) == first
    assert won.books.counts() == before


def test_another_payment_of_a_paid_award_is_a_conflict(won: World) -> None:
    pay(won, award_of(won)).ok(201)
    before = won.books.counts()

    pay(won, award_of(won), reference="slip 8").problem(409, "request-conflict")
    pay(won, award_of(won), reference="slip 8", request_id="p2").problem(409, "award-state")
    pay(won, award_of(won), paid_at=None, request_id="p3").problem(409, "award-state")
    pay(won, award_of(won, "r2")).problem(409, "request-conflict")
    assert won.books.counts() == before


def test_a_held_award_is_not_paid_before_it_is_approved(won: World) -> None:
    held = award_of(won, "r2")
    problem = pay(won, held).problem(409, "award-state")
    assert problem["state"] == "held"

    approval = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r2", "decision": "approve"}
    won.change("held-awards", approval)

    finance = won.key(Role.FINANCE, casino_id="c1")
    won.clock.advance(timedelta(hours=1))
    pay(won, held, key=finance, paid_at="2026-11-20T09:59:00Z").problem(422, "dated-before-award", "/paid_at")
    paid = pay(won, held, key=finance, paid_at="2026-11-20T10:01:00Z").ok(201)
    assert [step["step"] for step in paid["steps"]] == ["held", "approved"]
    assert [step["act"] is None for step in paid["steps"]] == [True, False]


def test_a_rejected_award_is_not_paid(won: World) -> None:
    rejection = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r2", "decision": "reject"}
    won.change("held-awards", rejection)

    assert pay(won, award_of(won, "r2")).problem(409, "award-state")["state"] == "rejected"


def test_whose_award_it_is_not_does_not_see_it(won: World) -> None:
    won.add_casino("c2")
    won.add_table("T9")
    award_id = award_of(won)
    strangers = [
        won.key(Role.TABLE, casino_id="c2"),
        won.key(Role.TABLE, casino_id="c1", table_ids=("T9",)),
        won.key(Role.FINANCE, casino_id="c2"),
    ]
    before = won.books.counts()

    for key in strangers:
        pay(won, award_id, key=key).problem(404, "award-unknown")
        won.get(f"/v1/awards/{award_id}", key=key).problem(404, "award-unknown")
        assert listed(won, key=key) == []
        assert listed(won, "?casino_id=c1", key=key) == []
    assert won.books.counts() == before


def test_the_casinos_own_finance_and_the_operator_record_it_and_finance_of_the_house_does_not(won: World) -> None:
    award_id = award_of(won)

    pay(won, award_id, key=won.key(Role.FINANCE)).problem(403, "wrong-casino")
    pay(won, award_id, key=won.key(Role.AUDITOR)).problem(403, "role-forbidden")
    pay(won, award_id, key=won.key(Role.FINANCE, casino_id="c1")).ok(201)
    pay(won, award_id, key=won.key(Role.OPERATOR), request_id="p2").ok(200)


def test_awards_are_listed_by_state_jackpot_and_casino(won: World) -> None:
    won.add_casino("c2")
    won.add_table("T2", jackpot_id="j1", casino_id="c2")
    won.bet(bet("a"), table_id="T2", round_id="r3")
    won.settle(hand("1", FLUSH), table_id="T2", round_id="r3")
    pay(won, award_of(won)).ok(201)

    assert listed(won) == [("r3", "payable"), ("r2", "held"), ("r1", "paid")]
    assert listed(won, "?state=held") == [("r2", "held")]
    assert listed(won, "?state=paid") == [("r1", "paid")]
    assert listed(won, "?state=payable") == [("r3", "payable")]
    assert listed(won, "?state=rejected") == listed(won, "?state=reversed") == []
    assert listed(won, "?casino_id=c2") == [("r3", "payable")]
    assert listed(won, "?casino_id=c2", key=won.key(Role.TABLE)) == []
    assert listed(won, key=won.key(Role.TABLE)) == [("r2", "held"), ("r1", "paid")]
    assert listed(won, "?jackpot_id=j9") == []
    assert len(listed(won, "?jackpot_id=j1")) == 3


def test_an_approved_award_is_listed_as_payable_and_a_rejected_one_as_rejected(won: World) -> None:
    decision = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r2", "decision": "approve"}
    won.change("held-awards", decision)
    won.bet(bet("a"), round_id="r3")
    won.settle(hand("1", FOUR_OF_A_KIND), round_id="r3")
    won.change("held-awards", decision | {"round_id": "r3", "decision": "reject"}, request_id="q2")

    assert listed(won, "?state=payable") == [("r2", "payable"), ("r1", "payable")]
    assert listed(won, "?state=rejected") == [("r3", "rejected")]
    assert listed(won, "?state=held") == []


def test_a_list_goes_on_where_its_page_ended_also_inside_a_round(world: World) -> None:
    world.open(base_amount="1000")
    for round_id in ("r1", "r2"):
        world.bet(*(bet(f"b{number}", hand=str(number)) for number in range(3)), round_id=round_id)
        world.settle(hand("0", ROYAL_FLUSH), hand("1", NOTHING), hand("2", FLUSH), round_id=round_id)
    whole = [item["award_id"] for item in world.get("/v1/awards").ok()["items"]]
    assert len(whole) == 8

    seen, after = [], ""
    while True:
        page = world.get(f"/v1/awards?limit=3{after}").ok()
        seen += [item["award_id"] for item in page["items"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"

    assert seen == whole


NO_QUERIES: Final[tuple[str, ...]] = (
    "?state=approved",
    "?state=",
    "?limit=0",
    "?after=k1",
    "?after=k1.",
    "?after=kz.aw",
    "?casino_id=%00",
    "?zzz=1",
)


def test_a_list_is_asked_as_the_contract_says(won: World, subtests: pytest.Subtests) -> None:
    for query in NO_QUERIES:
        with subtests.test(query=query):
            won.get(f"/v1/awards{query}").problem(422, "validation")


NO_PAYMENTS: Final[tuple[Body, ...]] = (
    {"request_id": None},
    {"request_id": "a b"},
    {"reference": None},
    {"reference": ""},
    {"reference": "x" * 10_000},
    {"amount_minor": 0},
    {"amount_minor": -1},
    {"amount_minor": "1"},
    {"amount_minor": 1.0},
    {"currency": "eur"},
    {"channel": "pigeon"},
    {"payer": ""},
    {"reference": "\u0000"},
    {"reference": "x" * 501},
    {"paid_at": "yesterday"},
    {"paid_at": "2026-11-20T09:30:00"},
    {"paid_at": 5},
    {"zzz": 1},
)


def test_a_payment_that_says_something_else_is_refused(won: World, subtests: pytest.Subtests) -> None:
    for wrong in NO_PAYMENTS:
        with subtests.test(wrong=wrong):
            before = won.books.counts()

            pay(won, award_of(won), **wrong).problem(422, "validation")

            assert won.books.counts() == before


@pytest.mark.parametrize(
    ("paid_at", "code"),
    [("2031-01-01T00:00:00Z", "occurred-in-future"), ("2026-11-20T08:59:57Z", "dated-before-award")],
)
def test_a_payment_is_dated_after_its_award_and_not_ahead_of_the_clock(won: World, paid_at: str, code: str) -> None:
    pay(won, award_of(won), paid_at=paid_at).problem(422, code, "/paid_at")

    assert won.round()["settlement"]["awards"][0]["state"] == "payable"
    assert pay(won, award_of(won)).ok(201)["state"] == "paid"


def test_an_award_that_is_not_there_is_unknown(won: World) -> None:
    pay(won, "aw_0").problem(404, "award-unknown")
    won.get("/v1/awards/aw_0").problem(404, "award-unknown")
