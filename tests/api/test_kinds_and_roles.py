"""Each kind of change is for certain roles: a key of any other neither asks for one nor decides one."""

from collections.abc import Iterator, Mapping
from typing import Final

import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.usecases.changes.registry import KINDS
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.fixtures import books_verify
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, STRAIGHT, forfeited, hand
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]

CHANGES: Final = "/v1/change-requests"

PAYLOADS: Final[Mapping[str, Body]] = {
    "rate-sheet": {"base": "EUR", "rates": {"GBP": "1.18"}},
    "rules": {"jackpot_id": "j1", "settings": {"payout_tiers": [{"from": "500"}]}},
    "table-limits": {"jackpot_id": "j1", "table_id": "T1", "largest_stake": "50"},
    "retirement": {"jackpot_id": "j2", "to": "j1"},
    "adjustment": {
        "jackpot_id": "j1",
        "account": "reserve",
        "amount": "1",
        "document": "memo 1",
        "cause": "count-error",
    },
    "seed-recovery": {"jackpot_id": "j1", "amount": "1"},
    "prize-fund-true-up": {"jackpot_id": "j1"},
    "held-awards": {"jackpot_id": "j1", "table_id": "T1", "round_id": "held", "decision": "approve"},
    "compensation": {
        "jackpot_id": "j1",
        "table_id": "T1",
        "round_id": "cancelled",
        "bet_id": "b1",
        "amount_minor": 100,
        "currency": "EUR",
        "document": "minutes 1",
    },
    "declined-compensation": {"jackpot_id": "j1", "table_id": "T1", "round_id": "denied", "bet_id": "b1"},
    "round-correction": {
        "jackpot_id": "j1",
        "table_id": "T1",
        "round_id": "lost",
        "result": {"bet_count": 1, "hands": [hand("1", STRAIGHT)]},
    },
    "statement-settlement": {
        "jackpot_id": "j1",
        "casino_id": "c1",
        "currency": "EUR",
        "from": "2026-10-01T00:00:00Z",
        "to": "2026-11-01T00:00:00Z",
        "amount": "1.00",
        "reference": "2026-10",
    },
}
"""What may be asked for in the house `played`, so that nothing but a role can be wrong with it."""

ROLES: Final = {name: kind.roles for name, kind in KINDS.items()}

ALLOWED: Final = [(kind, role) for kind in KINDS for role in Role if role in ROLES[kind]]


@pytest.fixture
def played(world: World) -> World:
    """A jackpot with a round that lost, a held award, a cancelled round and a denied prize; and an empty jackpot."""
    world.open(base_amount="1000", settings={"reset_amount": "300", "payout_tiers": held_from("200")})
    world.open(jackpot_id="j2", tables=("T2",))
    world.bet(bet(stake_minor=10_000), round_id="lost")
    world.settle(hand("1", NOTHING), round_id="lost")
    world.bet(bet(), round_id="held")
    world.settle(hand("1", FOUR_OF_A_KIND), round_id="held")
    world.bet(bet(), round_id="cancelled")
    world.cancel(round_id="cancelled")
    world.bet(bet(), round_id="denied")
    world.settle(forfeited("1", FLUSH), round_id="denied")
    return world


def ask(world: World, kind: str, *, key: str, request_id: str, query: str = "") -> Answer:
    body = {"request_id": request_id, "kind": kind, "payload": PAYLOADS[kind], "reason": "as agreed"}
    return world.post(f"{CHANGES}{query}", body, key=key)


def approve(world: World, request_id: str, *, key: str, query: str = "") -> Answer:
    return world.post(f"{CHANGES}/{request_id}/approval{query}", {"reason": "checked"}, key=key)


def reject(world: World, request_id: str, *, key: str) -> Answer:
    return world.post(f"{CHANGES}/{request_id}/rejection", {"reason": "not so"}, key=key)


def calls(world: World, kind: str, *, key: str, request_id: str) -> Iterator[Answer]:
    """Everything that somebody can try with a kind of change, of which a request waits."""
    for query in ("", "?dry_run=true"):
        yield ask(world, kind, key=key, request_id="another", query=query)
        yield ask(world, kind, key=key, request_id=request_id, query=query)
        yield approve(world, request_id, key=key, query=query)
    yield reject(world, request_id, key=key)


def test_every_kind_of_change_is_known_by_its_name_and_has_a_payload_here() -> None:
    assert KINDS.keys() == set(KINDS) == PAYLOADS.keys()
    assert {name: kind.name for name, kind in KINDS.items()} == {name: name for name in KINDS}


def test_no_kind_of_change_is_for_nobody_or_for_a_key_that_a_casino_holds() -> None:
    deciding = {Role.OPERATOR, Role.RATES}

    assert {kind: roles for kind, roles in ROLES.items() if not roles or roles - deciding} == {}


def test_a_key_of_another_role_neither_asks_for_a_change_nor_decides_one(
    played: World, subtests: pytest.Subtests
) -> None:
    for kind in KINDS:
        with subtests.test(kind):
            maker, *_ = sorted(ROLES[kind])
            ask(played, kind, key=played.person(f"Mia of {maker}", maker), request_id=kind).ok(201)
            keys = {role: played.key(role) for role in Role if role not in ROLES[kind]}
            before = played.books.counts()

            for key in keys.values():
                for answer in calls(played, kind, key=key, request_id=kind):
                    answer.problem(403, "role-forbidden")

            assert len(keys) == len(Role) - len(ROLES[kind])
            assert played.books.counts() == before
            assert played.get(f"{CHANGES}/{kind}").ok()["state"] == "pending"


@pytest.mark.parametrize("kind", KINDS)
def test_a_decided_change_is_as_little_for_a_key_of_another_role(played: World, kind: str) -> None:
    maker, *_ = sorted(ROLES[kind])
    ask(played, kind, key=played.person("Mia", maker), request_id="q1").ok(201)
    approve(played, "q1", key=played.person("Max", maker)).ok()

    for role in set(Role) - ROLES[kind]:
        for answer in calls(played, kind, key=played.key(role), request_id="q1"):
            answer.problem(403, "role-forbidden")


@pytest.mark.parametrize(("kind", "role"), ALLOWED)
def test_a_key_of_a_role_that_a_kind_is_for_asks_approves_and_rejects(played: World, kind: str, role: Role) -> None:
    maker, checker = played.person("Mia", role), played.person("Max", role)

    ask(played, kind, key=maker, request_id="q0", query="?dry_run=true").ok(200)
    for request_id in ("q1", "q2"):
        ask(played, kind, key=maker, request_id=request_id).ok(201)
    rejected = reject(played, "q1", key=checker).ok()
    approved = approve(played, "q2", key=checker).ok()

    assert (rejected["state"], rejected["effect"]) == ("rejected", None)
    assert (approved["state"], approved["maker"], approved["decision"]["checker"]) == ("approved", "Mia", "Max")
    assert approved["effect"]["after"]
