"""Approvals that passkeys sign: over the request with its effect as it was shown, once, by who has one."""

from datetime import timedelta
from functools import partial
from typing import Any, Final

import pytest

from jackpot_service.database.transactions import Session
from jackpot_service.domain.changes import Change, Outcome, SameUser
from jackpot_service.domain.passkeys import BadAssertion, EffectMoved, LastPasskey, Passkey, PasskeyRequired
from jackpot_service.domain.principals import Principal, Role, UserRequired
from jackpot_service.passkeys import LOCALHOST, Site, challenge_in
from jackpot_service.records import changes
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.requests import ChangeDecidedNow, DecideChange, decide_change
from jackpot_service.usecases.changes.signed_approvals import NOTHING_SHOWN, Shown
from jackpot_service.usecases.changes.signed_effects import challenge_of
from jackpot_service.usecases.passkeys import ANSWERED_WITHIN, begin_registration, revoke_passkey
from tests.support import every_kind, signing_people
from tests.support.authenticator import Authenticator
from tests.support.bets import bet
from tests.support.every_kind import PAYLOADS
from tests.support.fixtures import books_verify
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, hand
from tests.support.payouts import held_from
from tests.support.people import checker_of
from tests.support.reading import past_the_service
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]

BOB: Final = Principal("Bob", Role.FINANCE)
FAY: Final = Principal("Fay", Role.FINANCE)
ANN: Final = Principal("Ann", Role.OPERATOR)
OTTO: Final = Principal("Otto", Role.OPERATOR)

ADJUSTMENT: Final = PAYLOADS["adjustment"]


@pytest.fixture
def blue(world: World) -> Authenticator:
    """Bob's authenticator, with a passkey; and an adjustment that Ann has asked for."""
    world.open(base_amount="1000")
    world.key_of(BOB)
    authenticator = Authenticator()
    register(world, BOB, authenticator)
    world.ask("adjustment", ADJUSTMENT).ok(201)
    return authenticator


def register(world: World, person: Principal, authenticator: Authenticator) -> Passkey:
    world.key_of(person)
    return world.transact(
        partial(signing_people.register, person=person, authenticator=authenticator, now=world.clock())
    )


def sign(
    world: World, authenticator: Authenticator, *, by: Principal = BOB, request_id: str = "q1", **more: Any
) -> Shown:
    signing = partial(signing_people.sign, person=by, request_id=request_id, authenticator=authenticator, **more)
    return world.transact(partial(signing, now=world.clock()))


def approve(
    world: World, shown: Shown = NOTHING_SHOWN, *, by: Principal = BOB, request_id: str = "q1", **more: Any
) -> ChangeDecidedNow:
    command = DecideChange(Act(by, world.clock(), reason="checked"), request_id, Outcome.APPROVED, shown=shown, **more)
    return world.transact(partial(decide_change, command=command))


def test_an_approval_is_signed_and_the_signature_is_stored_with_it(world: World, blue: Authenticator) -> None:
    shown = sign(world, blue)
    approve(world, shown)

    [decision] = world.transact(partial(stored, request_id="q1")).decisions
    assert decision.assertion is not None
    assert shown.assertion is not None
    assert decision.assertion.signature == shown.assertion.signature
    assert decision.assertion.effect["after"]["amount"] == "1"
    [act] = world.books.rows("SELECT after FROM acts WHERE decides = 'q1' AND after ? 'assertion'")
    assert act["after"]["assertion"] == decision.assertion.facts


def stored(session: Session, request_id: str) -> Change:
    change = changes.find(session, request_id)
    assert change is not None
    return change


def test_who_has_a_passkey_approves_nothing_without_it(world: World, blue: Authenticator) -> None:
    before = world.books.counts()
    with pytest.raises(PasskeyRequired):
        approve(world)
    assert world.books.counts() == before
    approve(world, sign(world, blue))


def test_a_rejection_is_not_signed(world: World, blue: Authenticator) -> None:
    del blue
    command = DecideChange(Act(BOB, world.clock(), reason="no"), "q1", Outcome.REJECTED)
    world.transact(partial(decide_change, command=command))


def test_who_has_none_approves_as_before_unless_the_policy_asks_for_one(world: World, blue: Authenticator) -> None:
    world.approve(by="Fay", role=Role.FINANCE).ok()
    world.ask("adjustment", ADJUSTMENT, request_id="q2").ok(201)
    signed = {"requested_by": ["operator"], "decided_by": ["finance"], "needs_passkey": True}
    world.change("change-policy", {"kinds": {"adjustment": signed}}, request_id="policy")

    world.approve("q2", by="Fay", role=Role.FINANCE).problem(403, "passkey-required")
    approve(world, sign(world, blue, request_id="q2"), request_id="q2")


def test_a_policy_that_needs_a_passkey_which_nobody_has_is_refused(world: World) -> None:
    world.key_of(BOB)
    signed = {"requested_by": ["operator"], "decided_by": ["finance"], "needs_passkey": True}
    policy = {"kinds": {"adjustment": signed}}
    world.ask("change-policy", policy).problem(422, "payload-invalid", "/payload/kinds/adjustment")


def test_bets_that_move_the_pools_do_not_touch_what_was_signed(world: World, blue: Authenticator) -> None:
    shown = sign(world, blue)
    world.bet(bet())
    approve(world, shown)


def test_books_that_moved_so_that_it_does_something_else_take_the_approval_back(world: World) -> None:
    world.open(base_amount="1000")
    blue = Authenticator()
    register(world, BOB, blue)
    owe(world, "w1")
    world.ask("prize-fund-true-up", {"jackpot_id": "j1"}).ok(201)
    shown = sign(world, blue)
    owe(world, "w2")
    before = world.books.counts()
    with pytest.raises(EffectMoved):
        approve(world, shown)
    assert world.books.counts() == before
    approve(world, sign(world, blue))


def test_the_last_approval_does_what_all_before_have_signed(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("250", approvals=2)})
    world.bet(bet())
    world.settle(hand("1", FOUR_OF_A_KIND))
    world.ask("held-awards", {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "decision": "approve"}).ok(201)
    blue, red = Authenticator(), Authenticator()
    register(world, BOB, blue)
    register(world, FAY, red)
    approve(world, sign(world, blue))
    another = "UPDATE change_decisions SET signed_effect = jsonb_set(signed_effect, '{currency}', '\"XXX\"')"
    past_the_service(world.database_url, another)
    with pytest.raises(EffectMoved, match="since Bob approved it"):
        approve(world, sign(world, red, by=FAY), by=FAY)
    past_the_service(world.database_url, another.replace("XXX", "EUR"))
    approve(world, sign(world, red, by=FAY), by=FAY)
    assert world.transact(partial(stored, request_id="q1")).decision is not None


def owe(world: World, round_id: str) -> None:
    """Have the prize fund pay more than it holds."""
    world.bet(bet("w", stake_minor=1000), round_id=round_id)
    world.settle(hand("1", FLUSH), round_id=round_id)


def test_an_assertion_is_good_once_and_for_its_request_alone(world: World, blue: Authenticator) -> None:
    for request_id in ("q2", "q3"):
        world.ask("casino-claims", PAYLOADS["casino-claims"], request_id=request_id).ok(201)
    shown = sign(world, blue)
    with pytest.raises(BadAssertion, match="answers no challenge about q2"):
        approve(world, shown, request_id="q2")
    approve(world, shown)
    with pytest.raises(BadAssertion, match="answers no challenge about q3"):
        approve(world, shown, request_id="q3")
    assert approve(world, shown).is_replay


def test_an_assertion_is_refused_after_a_quarter_of_an_hour(world: World, blue: Authenticator) -> None:
    shown = sign(world, blue)
    world.clock.advance(ANSWERED_WITHIN)
    with pytest.raises(BadAssertion):
        approve(world, shown)
    shown = sign(world, blue)
    world.clock.advance(ANSWERED_WITHIN - timedelta(minutes=1))
    approve(world, shown)


def test_nobody_approves_with_what_somebody_else_has_signed(world: World, blue: Authenticator) -> None:
    red = Authenticator()
    register(world, FAY, red)
    with pytest.raises(BadAssertion, match="answers no challenge"):
        approve(world, sign(world, blue), by=FAY)
    with pytest.raises(BadAssertion, match="Fay has no such passkey"):
        approve(world, sign(world, blue, by=FAY), by=FAY)


def test_a_passkey_that_was_revoked_signs_nothing(world: World, blue: Authenticator) -> None:
    shown = sign(world, blue)
    passkey_id = world.books.value("SELECT passkey_id FROM passkeys")
    world.key_of(OTTO)
    revoke(world, passkey_id, by=OTTO)
    with pytest.raises(BadAssertion, match="has no such passkey"):
        approve(world, shown)
    approve(world)


def test_nobody_makes_their_own_approvals_unsigned(world: World, blue: Authenticator) -> None:
    """Whoever has Bob's key alone revokes nothing of his that is the last, and an operator revokes not their own."""
    del blue
    last = register(world, BOB, Authenticator()).passkey_id
    of_ann = register(world, ANN, Authenticator()).passkey_id
    mine = world.books.value("SELECT passkey_id FROM passkeys ORDER BY entry_seq LIMIT 1")
    revoke(world, mine, by=BOB)
    for passkey_id, person in ((last, BOB), (of_ann, ANN)):
        with pytest.raises(LastPasskey):
            revoke(world, passkey_id, by=person)
    with pytest.raises(PasskeyRequired):
        approve(world)
    revoke(world, last, by=ANN)
    approve(world)


def revoke(world: World, passkey_id: str, *, by: Principal) -> None:
    act = Act(by, world.clock(), f"revoke-{passkey_id}", "lost")
    world.transact(partial(revoke_passkey, act=act, passkey_id=passkey_id))


def test_a_copy_of_an_authenticator_is_noticed_by_its_counter(world: World, blue: Authenticator) -> None:
    world.ask("casino-claims", PAYLOADS["casino-claims"], request_id="q2").ok(201)
    blue.counter = 5
    approve(world, sign(world, blue))
    blue.counter = 2
    with pytest.raises(BadAssertion, match="sign count"):
        approve(world, sign(world, blue, request_id="q2"), request_id="q2")


def test_the_passkey_of_another_site_is_none_here(world: World, blue: Authenticator) -> None:
    shown = sign(world, blue)
    elsewhere = Site("jackpot.example", "https://jackpot.example")
    with pytest.raises(BadAssertion, match=r"has no such passkey for jackpot\.example"):
        approve(world, Shown(shown.assertion, elsewhere))


def test_an_emergency_is_signed_by_its_maker(world: World, blue: Authenticator) -> None:
    del blue
    red = Authenticator()
    register(world, ANN, red)
    world.switch_emergency()
    with pytest.raises(PasskeyRequired):
        approve(world, by=ANN, is_emergency=True)
    with pytest.raises(SameUser):
        approve(world, sign(world, red, by=ANN), by=ANN)
    with pytest.raises(BadAssertion, match="another way to approve it"):
        approve(world, sign(world, red, by=ANN), by=ANN, is_emergency=True)
    approve(world, sign(world, red, by=ANN, is_emergency=True), by=ANN, is_emergency=True)


def test_a_service_account_has_none(world: World) -> None:
    robot = Principal("robot", Role.OPERATOR, is_automaton=True)
    world.key_of(robot)
    with pytest.raises(UserRequired):
        world.transact(partial(begin_registration, act=Act(robot, world.clock()), site=LOCALHOST))


@pytest.mark.parametrize("kind", PAYLOADS)
def test_every_kind_of_change_is_signed_as_it_is_done(world: World, kind: str) -> None:
    every_kind.played(world)
    for name in ("Oskar", "Otto"):
        world.person(name, Role.OPERATOR)
    blue, checker = Authenticator(), checker_of(kind)
    register(world, checker, blue)
    world.ask(kind, PAYLOADS[kind], request_id="q1").ok(201)
    shown = sign(world, blue, by=checker)
    if kind not in {"prize-fund-true-up", "retirement"}:  # The one moves what bets moved, the other waits for rounds.
        world.bet(bet(), round_id="meanwhile")
    assert approve(world, shown, by=checker).effect is not None


def test_the_challenge_is_the_hash_of_the_request_with_its_effect(world: World, blue: Authenticator) -> None:
    approve(world, sign(world, blue))
    change = world.transact(partial(stored, request_id="q1"))
    assertion = change.decisions[0].assertion
    assert assertion is not None
    assert challenge_in(assertion.client_data) == challenge_of(change, assertion.effect, is_emergency=False)
    assert world.books.value("SELECT count(*) FROM passkey_challenges") == 0
