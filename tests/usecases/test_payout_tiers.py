"""Payout tiers: which awards wait, how many people approve them, and which evidence has to be there first."""

from typing import Any, Final

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from jackpot_service.domain.payout_tiers import Evidence
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.ledger.mismatches import Code
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, hand
from tests.support.payouts import held_from, shipped
from tests.support.reading import past_the_service
from tests.support.world import World

pytestmark = pytest.mark.slow

HELD: Final[Body] = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1"}
APPROVE: Final[Body] = HELD | {"decision": "approve"}


def evidence(
    world: World, kind: str, /, *, by: str = "Sue", role: Role = Role.AUDITOR, key: str | None = None, **more: Any
) -> Answer:
    body = {"request_id": f"{kind}-{by}", "kind": kind, "statement": f"{kind}, camera 12"} | more
    return world.post("/v1/tables/T1/rounds/r1/evidence", body, key=key or world.person(by, role))


def states(world: World) -> set[str]:
    return {award["state"] for award in world.round("r1")["settlement"]["awards"]}


@pytest.fixture
def hit(world: World) -> World:
    """A royal flush at a jackpot with the tiers that are shipped."""
    world.open(base_amount="100000", settings=shipped())
    world.bet(bet("b1"), bet("b2", hand="2"))
    world.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING))
    return world


def test_as_shipped_a_fixed_prize_is_payable_at_once(world: World) -> None:
    world.open(base_amount="1000", settings=shipped())
    world.bet(bet("b1"))

    assert [award["state"] for award in world.settle(hand("1", FOUR_OF_A_KIND))["awards"]] == ["payable"]


def test_a_meter_asked_for_by_its_tag_is_shown_again_once_it_is_paid(hit: World) -> None:
    tag = hit.get("/v1/jackpots/j1/meter").headers["etag"]
    evidence(hit, "surveillance").ok(201)
    evidence(hit, "cards-checked").ok(201)
    hit.change("held-awards", APPROVE)

    assert hit.get("/v1/jackpots/j1/meter").headers["etag"] != tag


def test_a_jackpot_that_was_never_hit_has_no_payment(world: World) -> None:
    world.open()

    assert world.get("/v1/jackpots/j1/meter").ok()["payment"] is None


def test_a_service_accounts_evidence_is_none(hit: World) -> None:
    robot = hit.key_of(Principal("robot", Role.AUDITOR, is_automaton=True))

    evidence(hit, "surveillance", key=robot).problem(403, "user-required")
    evidence(hit, "surveillance", key=hit.key(Role.TABLE)).problem(403, "role-forbidden")

    assert hit.get("/v1/tables/T1/rounds/r1/evidence").ok()["missing"] == ["surveillance", "cards-checked"]


def test_the_same_evidence_again_is_a_replay_and_other_under_its_id_a_conflict(hit: World) -> None:
    first = evidence(hit, "surveillance").ok(201)
    before = hit.books.counts()

    assert evidence(hit, "surveillance").ok(200) == first
    evidence(hit, "surveillance", statement="camera 13").problem(409, "request-conflict")
    assert hit.books.counts() == before


def test_evidence_on_a_paid_award_is_refused(hit: World) -> None:
    evidence(hit, "surveillance").ok(201)
    evidence(hit, "cards-checked").ok(201)
    hit.change("held-awards", APPROVE)
    for number, award in enumerate(hit.round("r1")["settlement"]["awards"]):
        body = {"request_id": f"p{number}", "reference": "slip"}
        hit.put(f"/v1/awards/{award['award_id']}/payment", body, key=hit.key(Role.FINANCE, casino_id="c1")).ok(201)
    before = hit.books.counts()

    evidence(hit, "surveillance", request_id="late").problem(409, "award-state")

    assert hit.books.counts() == before


def test_who_made_a_key_of_the_round_records_no_evidence_of_it(world: World) -> None:
    world.open(base_amount="1000", settings=shipped())
    body = {"principal": "a table", "role": "table", "casino_id": "c1", "request_id": "k1", "reason": "rotated"}
    world.post("/v1/keys", body, key=world.person("Olga", Role.OPERATOR)).ok(201)
    world.bet(bet("b1"))
    world.settle(hand("1", ROYAL_FLUSH))

    evidence(world, "surveillance", by="Olga", role=Role.OPERATOR).problem(403, "key-maker")
    evidence(world, "surveillance").ok(201)

    assert world.books.mismatches() == ()


def test_a_casino_does_not_see_who_recorded_evidence(hit: World) -> None:
    evidence(hit, "surveillance").ok(201)
    hit.add_casino("c2")
    own, other = (
        hit.key_of(Principal(f"finance of {casino_id}", Role.FINANCE, casino_id)) for casino_id in ("c1", "c2")
    )

    [recorded] = hit.get("/v1/tables/T1/rounds/r1/evidence", key=own).ok()["recorded"]

    assert (recorded["principal"], recorded["statement"]) == (None, "surveillance, camera 12")
    hit.get("/v1/tables/T1/rounds/r1/evidence", key=other).problem(404, "table-unknown")
    hit.get("/v1/tables/T1/rounds/r1/evidence", key=hit.key(Role.TABLE)).problem(403, "role-forbidden")


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"kind": "photo"}, "kind"),
        ({"statement": "x" * 10_000}, "statement"),
        ({"statement": ""}, "statement"),
        ({"sha256": "AB" * 32}, "sha256"),
        ({"sha256": "ab"}, "sha256"),
        ({"principal": "Ann"}, "principal"),
    ],
)
def test_evidence_that_says_nothing_is_refused(hit: World, wrong: Body, name: str) -> None:
    evidence(hit, "surveillance", **wrong).problem(422, "validation", f"/{name}")


def test_evidence_of_a_round_that_does_not_wait_is_refused(world: World) -> None:
    world.open()
    body = {"request_id": "e", "kind": "witness", "statement": "seen"}
    key = world.person("Sue", Role.AUDITOR)

    world.post("/v1/tables/T1/rounds/none/evidence", body, key=key).problem(404, "round-unknown")
    world.post("/v1/tables/T9/rounds/r1/evidence", body, key=key).problem(404, "table-unknown")
    world.bet(bet("b1"))
    world.post("/v1/tables/T1/rounds/r1/evidence", body, key=key).problem(409, "award-state")
    assert world.get("/v1/tables/T1/rounds/r1/evidence").ok()["requirement"] is None


@pytest.fixture
def large(world: World) -> World:
    """Four of a kind, EUR 250.00, which three people approve, once somebody was a witness."""
    world.open(base_amount="1000", settings={"payout_tiers": held_from("250", Evidence.WITNESS, approvals=3)})
    world.bet(bet("b1"), bet("b2", hand="2"))
    world.settle(hand("1", FOUR_OF_A_KIND), hand("2", FLUSH))
    evidence(world, "witness").ok(201)
    return world


PAID_BY: Final = """
    UPDATE entries SET principal = '{}'
    WHERE jackpot_id = '-' AND seq = (SELECT max(seq) FROM entries WHERE jackpot_id = '-' AND kind = 'award_paid')
"""


def test_a_tables_key_records_no_payment_of_what_people_approve(large: World) -> None:
    large.ask("held-awards", APPROVE).ok(201)
    for name in ("Bob", "Cleo", "Dan"):
        large.approve(by=name).ok()
    four, flush = (award["award_id"] for award in large.round("r1")["settlement"]["awards"])
    before = large.books.counts()

    paying = {"request_id": "paid", "reference": "slip"}
    large.put(f"/v1/awards/{four}/payment", paying, key=large.key(Role.TABLE)).problem(403, "user-required")

    assert large.books.counts() == before
    large.put(
        f"/v1/awards/{flush}/payment", {"request_id": "flush", "reference": "slip"}, key=large.key(Role.TABLE)
    ).ok(201)
    large.put(f"/v1/awards/{four}/payment", paying, key=large.person("Ann", Role.OPERATOR)).ok(201)
    assert large.books.mismatches() == ()
    past_the_service(large.database_url, PAID_BY.format("a table"))
    assert Code.AWARD_PRINCIPAL in {mismatch.code for mismatch in large.books.mismatches()}
    past_the_service(large.database_url, PAID_BY.format("Ann"))


def test_nobody_approves_twice(large: World) -> None:
    large.ask("held-awards", APPROVE).ok(201)
    first = large.approve(by="Bob", reason="cards seen").ok()
    before = large.books.counts()

    assert large.approve(by="Bob", reason="cards seen").ok()["decisions"] == first["decisions"]
    large.approve(by="Bob", reason="seen again").problem(403, "same-user")
    large.approve(by="Ann").problem(403, "same-user")

    assert large.books.counts() == before
    assert states(large) == {"held"}


def test_one_rejection_ends_it_after_two_approvals(large: World) -> None:
    large.ask("held-awards", APPROVE).ok(201)
    large.approve(by="Bob").ok()
    large.approve(by="Cleo").ok()
    path, body = "/v1/change-requests/q1/rejection", {"reason": "the cards differ"}

    rejected = large.post(path, body, key=large.person("Dan", Role.FINANCE)).ok()

    assert (rejected["state"], rejected["decision"]["checker"]) == ("rejected", "Dan")
    large.approve(by="Eve").problem(409, "change-decided")
    assert [item["state"] for item in large.get("/v1/change-requests?state=rejected").ok()["items"]] == ["rejected"]
    assert large.get("/v1/change-requests?state=pending").ok()["items"] == []
    assert large.books.mismatches() == ()


def test_a_request_that_two_of_three_approved_is_listed_as_pending(large: World) -> None:
    large.ask("held-awards", APPROVE).ok(201)
    large.approve(by="Bob").ok()

    [waiting] = large.get("/v1/change-requests?state=pending").ok()["items"]

    assert [decision["checker"] for decision in waiting["decisions"]] == ["Bob"]
    assert waiting["decision"] is None
    assert large.get("/v1/change-requests?state=approved").ok()["items"] == []


def test_an_emergency_is_one_persons_and_final(large: World) -> None:
    large.switch_emergency()
    large.ask("held-awards", APPROVE).ok(201)

    large.approve(by="Ann", emergency=True).ok()

    assert states(large) == {"payable"}
    assert large.books.mismatches() == ()


def test_an_award_that_reaches_no_tier_needs_one_approval_though_it_was_held(large: World) -> None:
    flush = APPROVE | {"bets": ["b2"]}

    requested = large.ask("held-awards", flush).ok(201)

    assert requested["approvals_due"] == 1
    assert requested["effect"]["after"]["requirement"] == {"approvals": 1, "evidence": []}
    large.approve().ok()
    assert states(large) == {"held", "payable"}


def test_a_rejection_needs_no_evidence_and_one_approval_but_a_reinstatement_does(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("250", Evidence.WITNESS, approvals=2)})
    world.bet(bet("b1"))
    world.settle(hand("1", FOUR_OF_A_KIND))
    world.change("held-awards", HELD | {"decision": "reject"}, request_id="reject")
    reinstate = HELD | {"decision": "reinstate"}

    assert world.ask("held-awards", reinstate).problem(409, "evidence-missing")["missing"] == ["witness"]
    evidence(world, "witness").ok(201)
    assert world.ask("held-awards", reinstate).ok(201)["approvals_due"] == 2
    world.approve(by="Bob").ok()
    assert states(world) == {"rejected"}
    world.approve(by="Cleo").ok()
    assert states(world) == {"payable"}
    assert world.books.mismatches() == ()


RIGHT_RESULT: Final[Body] = {"bet_count": 1, "hands": [hand("1", ROYAL_FLUSH)]}
CORRECTION: Final[Body] = HELD | {"result": RIGHT_RESULT}


@pytest.fixture
def lost(world: World) -> World:
    """A round without a win, at a jackpot whose royal flush takes three approvals and a witness."""
    world.open(base_amount="1000", settings={"payout_tiers": held_from("250", Evidence.WITNESS, approvals=3)})
    world.bet(bet("b1"))
    world.settle(hand("1", NOTHING))
    return world


def test_a_correction_that_awards_a_royal_flush_takes_what_its_tier_asks_for(lost: World) -> None:
    assert lost.ask("round-correction", CORRECTION).problem(409, "evidence-missing")["missing"] == ["witness"]
    evidence(lost, "witness").ok(201)

    requested = lost.ask("round-correction", CORRECTION).ok(201)
    first, second = lost.approve(by="Bob").ok(), lost.approve(by="Cleo").ok()

    assert requested["approvals_due"] == 3
    assert (first["state"], second["state"]) == ("pending", "pending")
    assert lost.books.value("SELECT count(*) FROM awards") == 0
    assert lost.approve(by="Dan").ok()["state"] == "approved"
    assert lost.books.rows("SELECT correction FROM awards") == [{"correction": 1}]
    assert lost.books.mismatches() == ()


def test_a_correction_that_awards_nothing_above_a_tier_takes_two_people(lost: World) -> None:
    requested = lost.ask("round-correction", CORRECTION | {"result": RIGHT_RESULT | {"hands": [hand("1", FLUSH)]}}).ok(
        201
    )

    assert requested["approvals_due"] == 1
    lost.approve().ok()
    assert lost.books.mismatches() == ()


def test_evidence_from_before_a_rejection_counts_no_more(large: World) -> None:
    large.change("held-awards", HELD | {"decision": "reject"}, request_id="reject")

    reinstate = HELD | {"decision": "reinstate"}
    assert large.ask("held-awards", reinstate).problem(409, "evidence-missing")["missing"] == ["witness"]
    evidence(large, "witness", request_id="again").ok(201)
    large.ask("held-awards", reinstate).ok(201)
    for name in ("Bob", "Cleo", "Dan"):
        large.approve(by=name).ok()

    assert states(large) == {"payable"}
    assert large.books.mismatches() == ()


def test_who_approved_may_still_reject(large: World) -> None:
    large.ask("held-awards", APPROVE).ok(201)
    large.approve(by="Bob").ok()
    path, body = "/v1/change-requests/q1/rejection", {"reason": "the cards are marked"}

    rejected = large.post(path, body, key=large.person("Bob", Role.FINANCE)).ok()

    assert [(decision["checker"], decision["outcome"]) for decision in rejected["decisions"]] == [
        ("Bob", "approved"),
        ("Bob", "rejected"),
    ]
    assert rejected["state"] == "rejected"
    assert large.books.mismatches() == ()


def test_a_request_that_states_fewer_approvals_than_are_due_is_stale(large: World) -> None:
    large.ask("held-awards", APPROVE).ok(201)
    past_the_service(large.database_url, "UPDATE change_requests SET approvals_due = 1 WHERE request_id = 'q1'")

    large.approve().problem(409, "change-stale")

    assert states(large) == {"held"}
    past_the_service(large.database_url, "UPDATE change_requests SET approvals_due = 3 WHERE request_id = 'q1'")


PAID: Final = """
    INSERT INTO payments (jackpot_id, round_key, act_seq, bet_id, tier, correction, amount_minor, cost, reference)
    SELECT jackpot_id, round_key, 1, bet_id, tier, correction, amount_minor, cost, 'slip'
    FROM awards WHERE bet_id = 'b1'
"""
STEP: Final = """
    INSERT INTO award_steps (jackpot_id, round_key, bet_id, tier, step, taken_at, act_seq, correction)
    SELECT jackpot_id, round_key, bet_id, tier, '{}', now(), 1, correction
    FROM award_steps WHERE bet_id = 'b1'
"""


@pytest.mark.parametrize("taken", [STEP.format("approved"), STEP.format("reinstated"), PAID])
def test_the_database_makes_no_held_award_payable_without_an_approval(large: World, taken: str) -> None:

    with pytest.raises(DBAPIError) as caught, large.engine.begin() as session:
        session.execute(text(taken))

    assert isinstance(caught.value.orig, psycopg.errors.InsufficientPrivilege)
    assert states(large) == {"held"}


def test_an_emergency_marks_no_approval_of_others(large: World) -> None:
    large.ask("held-awards", APPROVE).ok(201)
    large.approve(by="Bob").ok()
    large.switch_emergency()
    large.approve(by="Ann", emergency=True).ok()

    acts = large.get("/v1/audit?limit=20").ok()["items"]

    marked = {(act["kind"], act["principal"]) for act in acts if act["is_emergency"]}
    assert marked == {("change_approved", "Ann"), ("awards_approved", "Ann")}


def test_a_corrected_hit_is_paid_when_its_correction_is(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("b1"), bet("b2", hand="2"))
    world.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING))
    other = {"bet_count": 2, "hands": [hand("1", ROYAL_FLUSH), {"hand": "2", "status": "forfeited"}]}
    world.change("round-correction", HELD | {"result": other}, request_id="corrected")

    assert world.get("/v1/jackpots/j1/meter").ok()["payment"] == "released"
    assert world.get("/v1/jackpots/j1/hits").ok()["items"][0]["payment"] == "released"
    for number, award in enumerate(world.get("/v1/awards?state=payable").ok()["items"]):
        body = {"request_id": f"p{number}", "reference": "slip"}
        world.put(f"/v1/awards/{award['award_id']}/payment", body, key=world.key(Role.TABLE)).ok(201)
    assert world.get("/v1/jackpots/j1/meter").ok()["payment"] == "paid"
    assert world.get("/v1/jackpots/j1/hits").ok()["items"][0]["payment"] == "paid"


def test_the_tiers_are_those_of_the_cycle_in_which_the_round_was_settled(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("250", approvals=2)}, tables=("T1", "T2"))
    world.bet(bet("b1"))
    world.settle(hand("1", FOUR_OF_A_KIND))
    settings = {"payout_tiers": [{"from": "0", "approvals": 3, "evidence": ["witness"]}]}
    world.change("rules", {"jackpot_id": "j1", "settings": settings}, request_id="stricter")
    world.bet(bet("b1"), round_id="r2")
    world.settle(hand("1", ROYAL_FLUSH), round_id="r2")

    assert world.ask("held-awards", APPROVE).ok(201)["approvals_due"] == 2
    world.bet(bet("b1"), round_id="r3", table_id="T2")
    world.settle(hand("1", FLUSH), round_id="r3", table_id="T2")
    later = {"jackpot_id": "j1", "table_id": "T2", "round_id": "r3", "decision": "approve"}
    assert world.ask("held-awards", later, request_id="q2").problem(409, "evidence-missing")["missing"] == ["witness"]


@pytest.mark.parametrize(
    "tiers",
    [
        "250",
        {"from": "250"},
        [{"approvals": 1}],
        [{"from": "250", "approvals": 0}],
        [{"from": "250", "approvals": 4}],
        [{"from": "250", "approvals": "1"}],
        [{"from": 250}],
        [{"from": "-1"}],
        [{"from": "1", "evidence": ["photo"]}],
        [{"from": "1", "evidence": ["witness", "witness"]}],
        [{"from": "1", "prizes": ["pair"]}],
        [{"from": "1", "notify": ["x" * 100]}],
        [{"from": "1", "until": "2"}],
        [{"from": "1"}] * 21,
        None,
        [None],
        [[]],
    ],
)
def test_tiers_that_cannot_be_are_refused(world: World, tiers: Any) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("300")})
    world.person("Ann", Role.OPERATOR)
    before = world.books.counts()

    answer = world.ask("rules", {"jackpot_id": "j1", "settings": {"payout_tiers": tiers}})

    assert answer.body["code"] in {"validation", "payload-invalid", "rules-invalid"}, answer.text
    assert answer.status == 422
    assert world.books.counts() == before


def test_readiness_warns_of_a_jackpot_without_tiers(world: World) -> None:
    world.open()
    world.open(jackpot_id="j2", tables=("T2",), settings=shipped())

    warnings = world.get("/readyz").ok()["warnings"]

    assert [warning for warning in warnings if "payout tiers" in warning] == [
        "Jackpot j1 has no payout tiers: every award is payable at once."
    ]
