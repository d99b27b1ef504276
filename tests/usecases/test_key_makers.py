"""Nobody who made a key releases, or records as paid, what was won by that key; somebody else does."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support import correcting
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, STRAIGHT, hand
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.slow

HELD: Body = {"jackpot_id": "j1", "table_id": "T1", "round_id": "held", "decision": "approve"}
GIVEN: Body = {
    "jackpot_id": "j1",
    "table_id": "T1",
    "round_id": "cancelled",
    "bet_id": "a",
    "amount_minor": 100,
    "currency": "EUR",
    "document": "minutes 1",
}
CORRECTED: Body = correcting.payload(hand("1", STRAIGHT), round_id="lost")


def create(world: World, name: str, role: Role, *, by: str) -> str:
    """Have an operator create a key over the API."""
    body = {
        "request_id": uuid4().hex,
        "principal": name,
        "role": role,
        "casino_id": "c1",
        "reason": "as agreed",
    }
    key: str = world.post("/v1/keys", body, key=operator(world, by)).ok(201)["key"]
    return key


def play(world: World, round_id: str, cards: tuple[str, ...], *, key: str) -> None:
    """Bet in a round of table T1, and give its result, with a key."""
    world.send("POST", "T1", f"{round_id}/bets", {"bets": [bet("a")]}, key=key).ok(201)
    body = {"bet_count": 1, "hands": [hand("1", cards)]}
    world.send("PUT", "T1", f"{round_id}/result", body, key=key).ok(201)


def pay(world: World, key: str, *, round_id: str = "won", request_id: str = "p1") -> Answer:
    award_id = world.round(round_id)["settlement"]["awards"][0]["award_id"]
    return world.put(f"/v1/awards/{award_id}/payment", {"request_id": request_id, "reference": "slip"}, key=key)


def operator(world: World, name: str) -> str:
    """A key of an operator."""
    return world.person(name, Role.OPERATOR)


def let_operators_decide(world: World, kind: str) -> None:
    """Change the policy so that operators decide what they ask for: only they make keys of servers over the API."""
    policy = {"requested_by": ["operator"], "decided_by": ["operator"]}
    world.change("change-policy", {"kinds": {kind: policy}}, request_id="policy")


@pytest.fixture
def own(world: World) -> str:
    """Return the key of a table server that Olga created, by which rounds were won, held, lost and cancelled."""
    world.open(base_amount="1000", settings={"payout_tiers": held_from("250")})
    for name in ("Olga", "Otto", "Oda"):
        operator(world, name)
    key = create(world, "Olga's server", Role.TABLE, by="Olga")
    play(world, "won", FLUSH, key=key)
    play(world, "held", FOUR_OF_A_KIND, key=key)
    play(world, "lost", NOTHING, key=key)
    world.send("POST", "T1", "cancelled/bets", {"bets": [bet("a")]}, key=key).ok(201)
    world.send("PUT", "T1", "cancelled/cancellation", {"reason": "misdeal"}, key=key).ok(201)
    return key


# Payments.


@pytest.mark.usefixtures("own")
def test_who_made_the_key_of_a_table_records_no_payment_of_what_it_won(world: World) -> None:
    before = world.books.counts()

    pay(world, operator(world, "Olga")).problem(403, "key-maker")

    assert {table for table, count in world.books.counts().items() if count != before[table]} <= {
        *("acts", "entries", "keys", "principals")
    }
    assert world.round("won")["settlement"]["awards"][0]["state"] == "payable"


def test_the_key_itself_records_no_payment_nor_any_other_key_that_its_maker_made(world: World, own: str) -> None:
    pay(world, own).problem(403, "key-maker")
    pay(world, create(world, "Carl", Role.FINANCE, by="Olga")).problem(403, "key-maker")
    pay(world, create(world, "another server", Role.TABLE, by="Olga")).problem(403, "key-maker")


@pytest.mark.usefixtures("own")
def test_the_answer_does_not_say_whose_the_keys_are(world: World) -> None:
    answer = pay(world, create(world, "Carl", Role.FINANCE, by="Olga"))

    assert "Olga" not in answer.text


@pytest.mark.usefixtures("own")
def test_another_operator_records_the_payment(world: World) -> None:
    pay(world, operator(world, "Otto")).ok(201)
    pay(world, operator(world, "Otto")).ok(200)


@pytest.mark.usefixtures("own")
def test_who_made_the_key_stops_an_award_and_does_not_release_it(world: World) -> None:
    let_operators_decide(world, "held-awards")
    award_id = world.round("won")["settlement"]["awards"][0]["award_id"]
    body = {"request_id": "stop", "reason": "in doubt"}
    world.put(f"/v1/awards/{award_id}/stop", body, key=operator(world, "Olga")).ok(201)
    world.ask("held-awards", HELD | {"round_id": "won", "decision": "release"}).ok(201)

    world.approve(by="Olga").problem(403, "key-maker")
    world.approve(by="Otto").ok()


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("role", [Role.FINANCE, Role.TABLE])
def test_a_casinos_key_that_another_made_records_the_payment(world: World, role: Role) -> None:
    pay(world, create(world, "Carl", role, by="Otto")).ok(201)


@pytest.mark.usefixtures("own")
def test_a_casinos_key_that_was_made_on_the_machine_records_the_payment(world: World) -> None:
    pay(world, world.key_of(Principal("Carl", Role.FINANCE, "c1"))).ok(201)


def test_a_server_whose_key_was_made_on_the_machine_records_what_it_won_itself(world: World) -> None:
    world.open(base_amount="1000")
    key = world.key(Role.TABLE)
    play(world, "won", FLUSH, key=key)

    pay(world, key).ok(201)


def test_who_made_the_key_that_gave_the_result_records_no_payment_either(world: World) -> None:
    world.open(base_amount="1000")
    key = create(world, "Olga's server", Role.TABLE, by="Olga")
    world.bet(bet("a"), round_id="won")
    world.send("PUT", "T1", "won/result", {"bet_count": 1, "hands": [hand("1", FLUSH)]}, key=key).ok(201)

    pay(world, operator(world, "Olga")).problem(403, "key-maker")


def test_a_key_counts_as_long_as_it_could_be_used(world: World) -> None:
    """Olga's key was revoked long before the round, and Otto's was made long after it: neither played."""
    world.open(base_amount="1000")
    create(world, "server", Role.TABLE, by="Olga")
    (key_id,) = world.books.rows("SELECT key_id FROM keys WHERE principal = 'server'")[0].values()
    revocation = {"request_id": "v1", "reason": "rotated"}
    world.post(f"/v1/keys/{key_id}/revocation", revocation, key=operator(world, "Olga")).ok(201)
    world.clock.advance(timedelta(minutes=5))
    own = world.key_of(Principal("server", Role.TABLE, "c1"))
    for number in (1, 2):
        play(world, f"won-{number}", FLUSH, key=own)
    world.clock.advance(timedelta(minutes=5))
    create(world, "server", Role.TABLE, by="Otto")

    pay(world, operator(world, "Olga"), round_id="won-1", request_id="p1").ok(201)
    pay(world, operator(world, "Otto"), round_id="won-2", request_id="p2").ok(201)


def test_a_revoked_key_counts_for_what_it_won(world: World, own: str) -> None:
    key_id = own.split("_")[1]
    revocation = {"request_id": "v1", "reason": "rotated"}
    world.post(f"/v1/keys/{key_id}/revocation", revocation, key=operator(world, "Olga")).ok(201)
    world.clock.advance(timedelta(hours=1))

    pay(world, operator(world, "Olga")).problem(403, "key-maker")


# What two people decide.


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("kind", "payload"),
    [("held-awards", HELD), ("compensation", GIVEN), ("round-correction", CORRECTED)],
    ids=["release", "compensation", "correction"],
)
def test_who_made_the_key_approves_nothing_of_it_and_may_ask_for_it(world: World, kind: str, payload: Body) -> None:
    let_operators_decide(world, kind)
    world.ask(kind, payload, request_id="q1", by="Otto").ok(201)
    world.ask(kind, payload, request_id="q2", by="Olga").ok(201)

    world.approve("q1", by="Olga").problem(403, "key-maker")
    world.approve("q1", by="Olga", query="?dry_run=true").problem(403, "key-maker")
    world.approve("q2", by="Otto").ok()
    assert world.get("/v1/change-requests/q1").ok()["state"] == "pending"


@pytest.mark.usefixtures("own")
def test_who_made_the_key_may_reject_what_it_won_and_not_reinstate_it(world: World) -> None:
    let_operators_decide(world, "held-awards")
    world.ask("held-awards", HELD | {"decision": "reject"}, request_id="q1", by="Otto").ok(201)
    world.approve("q1", by="Olga").ok()

    world.ask("held-awards", HELD | {"decision": "reinstate"}, request_id="q2", by="Otto").ok(201)
    world.approve("q2", by="Olga").problem(403, "key-maker")
    world.approve("q2", by="Oda").ok()


@pytest.mark.usefixtures("own")
def test_who_made_the_key_approves_nothing_of_it_in_an_emergency_either(world: World) -> None:
    world.switch_emergency()
    world.ask("held-awards", HELD, by="Olga").ok(201)

    world.approve(by="Olga", emergency=True).problem(403, "key-maker")


@pytest.mark.usefixtures("own")
def test_who_made_the_key_approves_what_no_round_of_it_gains_by(world: World) -> None:
    let_operators_decide(world, "adjustment")
    adjustment: dict[str, Any] = {"jackpot_id": "j1", "account": "reserve", "amount": "1"}
    world.ask("adjustment", adjustment | {"document": "memo 1", "cause": "count-error"}, by="Otto").ok(201)

    world.approve(by="Olga").ok()
