"""Large awards wait: for evidence, for as many people as their payout tier says, for a stop. Scenarios 45, 47, 48."""

from typing import Any, Final

import pytest

from jackpot_service.domain.payout_tiers import Evidence
from jackpot_service.domain.principals import Role
from jackpot_service.domain.rulebooks import RULEBOOK_IDS
from jackpot_service.ledger.mismatches import Code
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, hand
from tests.support.payouts import held_from, shipped
from tests.support.reading import past_the_service
from tests.support.world import World

pytestmark = pytest.mark.slow

APPROVE: Final[Body] = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "decision": "approve"}
PAYING: Final[Body] = {"request_id": "paid", "reference": "slip"}
SHA256: Final = "ab" * 32

PAID_BY: Final = """
    UPDATE entries SET principal = '{}'
    WHERE jackpot_id = '-' AND seq = (SELECT max(seq) FROM entries WHERE jackpot_id = '-' AND kind = 'award_paid')
"""


def evidence(world: World, kind: str, *, by: str = "Sue", role: Role = Role.AUDITOR, **more: Any) -> Answer:
    body = {"request_id": f"{kind}-{by}", "kind": kind, "statement": f"{kind}, camera 12"} | more
    return world.post("/v1/tables/T1/rounds/r1/evidence", body, key=world.person(by, role))


def awards(world: World) -> list[Body]:
    settled_awards: list[Body] = world.round("r1")["settlement"]["awards"]
    return settled_awards


def states(world: World) -> set[str]:
    return {award["state"] for award in awards(world)}


@pytest.fixture
def hit(world: World) -> World:
    """A royal flush of EUR 100,000.90 for two bettors, at a jackpot with the tiers that are shipped."""
    world.open(base_amount="100000", settings=shipped())
    world.bet(bet("b1"), bet("b2", hand="2"))
    world.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING))
    return world


@pytest.mark.parametrize("role", [Role.FINANCE, Role.OPERATOR, Role.AUDITOR])
def test_scenario_45_one_person_stops_an_award_and_nobody_pays_it(world: World, role: Role) -> None:
    """Demand 3: one person of finance, the operators or the auditors stops what is payable."""
    world.open(base_amount="1000")
    world.bet(bet("b1"), bet("b2", hand="2"))
    (award,) = world.settle(hand("1", FLUSH), hand("2", NOTHING))["awards"]
    path, owed = f"/v1/awards/{award['award_id']}", world.books.balance("j1", "casino:c1")

    body = {"request_id": "stop-1", "reason": "the cards are being checked"}
    stopped = world.put(f"{path}/stop", body, key=world.person("Sam", role)).ok(201)

    assert (stopped["state"], [step["step"] for step in stopped["steps"]]) == ("stopped", ["payable", "stopped"])
    world.put(f"{path}/payment", PAYING, key=world.key(Role.TABLE)).problem(409, "award-state")
    assert world.books.balance("j1", "casino:c1") == owed
    listed = world.get("/v1/awards?state=stopped").ok()["items"]
    assert [award_["award_id"] for award_ in listed] == [award["award_id"]]
    assert world.get("/v1/awards?state=payable").ok()["items"] == []


@pytest.mark.parametrize("rulebook", RULEBOOK_IDS)
def test_scenario_47_as_shipped_no_royal_flush_is_payable_at_once(world: World, rulebook: str) -> None:
    """Demand 3: under no rulebook, as it is shipped, is a royal flush payable at once."""
    world.open(rulebook, base_amount="10000", settings=shipped())
    world.bet(bet("b1"))

    settlement = world.settle(hand("1", ROYAL_FLUSH))

    assert {award["state"] for award in settlement["awards"]} == {"held"}
    assert world.books.balance("j1", "awards:held") > 10_000
    award_id = settlement["awards"][0]["award_id"]
    world.put(f"/v1/awards/{award_id}/payment", PAYING, key=world.key(Role.TABLE)).problem(409, "award-state")


def test_scenario_47_an_approval_without_evidence_is_refused_and_names_what_is_missing(hit: World) -> None:
    """Demand 3: an approval without the evidence of the tier is refused, and names what is missing."""
    problem = hit.ask("held-awards", APPROVE).problem(409, "evidence-missing")

    assert problem["missing"] == ["surveillance", "cards-checked"]
    evidence(hit, "surveillance").ok(201)
    assert hit.ask("held-awards", APPROVE).problem(409, "evidence-missing")["missing"] == ["cards-checked"]
    assert states(hit) == {"held"}


def test_scenario_47_with_its_evidence_a_royal_flush_is_approved_and_paid(hit: World) -> None:
    """Demand 3: evidence, then two people, then a payment; the meter and the hit tell of each."""
    assert hit.get("/v1/jackpots/j1/meter").ok()["payment"] == "pending"
    first = evidence(hit, "surveillance", sha256=SHA256).ok(201)
    evidence(hit, "cards-checked", by="Fay", role=Role.FINANCE).ok(201)

    hit.change("held-awards", APPROVE)

    assert states(hit) == {"payable"}
    assert first["requirement"] == {
        "approvals": 1,
        "evidence": ["surveillance", "cards-checked"],
        "notify": ["finance", "operator"],
    }
    assert first["missing"] == ["cards-checked"]
    [recorded] = first["recorded"]
    assert (recorded["kind"], recorded["principal"], recorded["sha256"]) == ("surveillance", "Sue", SHA256)
    assert hit.get("/v1/jackpots/j1/meter").ok()["payment"] == "released"
    assert hit.get("/v1/jackpots/j1/hits").ok()["items"][0]["payment"] == "released"
    for number, award in enumerate(awards(hit)):
        path, body = f"/v1/awards/{award['award_id']}/payment", {"request_id": f"p{number}", "reference": "slip"}
        hit.put(path, body, key=hit.key(Role.FINANCE, casino_id="c1")).ok(201)
    assert hit.get("/v1/jackpots/j1/hits").ok()["items"][0]["payment"] == "paid"
    assert hit.get("/v1/jackpots/j1/meter").ok()["payment"] == "paid"


def test_scenario_47_a_tables_key_records_no_payment_of_a_royal_flush(hit: World) -> None:
    """Demand 4: an award that somebody has to approve is never acknowledged by a table's key."""
    evidence(hit, "surveillance").ok(201)
    evidence(hit, "cards-checked").ok(201)
    hit.change("held-awards", APPROVE)
    path, before = f"/v1/awards/{awards(hit)[0]['award_id']}/payment", hit.books.counts()

    hit.put(path, PAYING, key=hit.key(Role.TABLE)).problem(403, "user-required")

    assert hit.books.counts() == before
    hit.put(path, PAYING, key=hit.person("Ann", Role.OPERATOR)).ok(201)
    past_the_service(hit.database_url, PAID_BY.format("a table"))
    assert Code.AWARD_PRINCIPAL in {mismatch.code for mismatch in hit.books.mismatches()}
    past_the_service(hit.database_url, PAID_BY.format("Ann"))


def test_scenario_48_as_many_people_approve_as_the_tier_says(world: World) -> None:
    """Demand 3: a payout tier says how many approve; here three, once somebody was a witness."""
    world.open(base_amount="1000", settings={"payout_tiers": held_from("250", Evidence.WITNESS, approvals=3)})
    world.bet(bet("b1"), bet("b2", hand="2"))
    world.settle(hand("1", FOUR_OF_A_KIND), hand("2", FLUSH))
    evidence(world, "witness").ok(201)
    requested = world.ask("held-awards", APPROVE).ok(201)

    first = world.approve(by="Bob", reason="cards seen").ok()
    second = world.approve(by="Cleo").ok()

    assert (requested["approvals_due"], requested["decisions"]) == (3, [])
    assert (first["state"], second["state"], states(world)) == ("pending", "pending", {"held"})
    assert first["effect"]["before"] == {"state": "held"}
    assert [decision["checker"] for decision in second["decisions"]] == ["Bob", "Cleo"]
    third = world.approve(by="Dan").ok()
    assert (third["state"], third["decision"]["checker"], states(world)) == ("approved", "Dan", {"payable"})
