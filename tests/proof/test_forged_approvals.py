"""Approvals past the passkey of who has one: the database refuses what it can, and the proof names the rest."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError

from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts
from jackpot_service.domain.changes import Outcome
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.passkeys import SignedApproval
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.ledger.mismatches import Code
from jackpot_service.records import changes, passkeys
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes import effects, requests
from jackpot_service.usecases.changes.requests import DecideChange
from jackpot_service.usecases.changes.signed_approvals import Shown
from tests.support import signing_people
from tests.support.authenticator import Authenticator
from tests.support.every_kind import PAYLOADS
from tests.support.reading import past_the_service
from tests.support.world import World

pytestmark = pytest.mark.slow

BOB: Final = Principal("Bob", Role.FINANCE)
FAY: Final = Principal("Fay", Role.FINANCE)


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    """A world in which Bob has a passkey, and Ann has asked for an adjustment; its books are wrong at the end."""
    world = World(database_url)
    world.open(base_amount="1000")
    world.key_of(FAY)
    world.ask("adjustment", PAYLOADS["adjustment"]).ok(201)
    yield world
    world.close()


@pytest.fixture
def blue(world: World) -> Authenticator:
    authenticator = Authenticator()
    world.key_of(BOB)
    world.transact(partial(signing_people.register, person=BOB, authenticator=authenticator, now=world.clock()))
    return authenticator


def sign(world: World, authenticator: Authenticator) -> Shown:
    signing = partial(signing_people.sign, person=BOB, request_id="q1", authenticator=authenticator, now=world.clock())
    return world.transact(signing)


def approve_in_the_process(
    session: Session, world: World, assertion: SignedApproval | None, *, by: Principal = BOB
) -> None:
    """Approve as who controls the process can: all that the use case does, but for its look at the signature."""
    act = Act(by, world.clock(), reason="checked")
    acts.lock(session)
    change = changes.find(session, "q1")
    assert change is not None
    command = DecideChange(act, "q1", Outcome.APPROVED)
    looked_at = effects.look_at(session, change, act)
    decision = replace(requests._decision(change, command), assertion=assertion)
    requests._approved(session, command, change, looked_at, decision)


def codes(world: World) -> set[Code]:
    return {mismatch.code for mismatch in world.books.mismatches()}


def made_up(world: World, shown: Shown, **stated: object) -> SignedApproval:
    """What was signed, with something else in it."""
    assert shown.assertion is not None
    passkey_id = world.books.value("SELECT passkey_id FROM passkeys WHERE principal = 'Bob'")
    effect = world.books.value("SELECT effect FROM passkey_challenges WHERE request_id = 'q1'")
    assertion = shown.assertion
    signed = SignedApproval(
        passkey_id, assertion.authenticator_data, assertion.client_data, assertion.signature, effect
    )
    return replace(signed, **stated)  # type: ignore[arg-type]


def test_what_was_signed_is_right_however_it_came(world: World, blue: Authenticator) -> None:
    signed = made_up(world, sign(world, blue))
    world.transact(lambda session: approve_in_the_process(session, world, signed))
    assert codes(world) == set()


def test_the_database_takes_no_approval_of_who_has_a_passkey_without_it(world: World, blue: Authenticator) -> None:
    del blue
    with pytest.raises(DBAPIError, match="a passkey signs the approval") as caught:
        world.transact(lambda session: approve_in_the_process(session, world, None))
    assert isinstance(caught.value.orig, psycopg.errors.InsufficientPrivilege)


def test_the_database_takes_no_passkey_of_somebody_else(world: World, blue: Authenticator) -> None:
    signed = made_up(world, sign(world, blue))
    with pytest.raises(DBAPIError, match="fk_change_decisions_passkey_id_checker_passkeys"):
        world.transact(lambda session: approve_in_the_process(session, world, signed, by=FAY))


def test_the_database_takes_no_passkey_that_was_revoked(world: World, blue: Authenticator) -> None:
    signed = made_up(world, sign(world, blue))
    body = {"request_id": "r1", "reason": "lost"}
    world.post(f"/v1/passkeys/{signed.passkey_id}/revocation", body, key=world.key(Role.OPERATOR)).ok(201)
    with pytest.raises(DBAPIError, match="the passkey was revoked"):
        world.transact(lambda session: approve_in_the_process(session, world, signed))


@pytest.mark.parametrize("back", [0, 1])
def test_the_database_takes_no_revocation_that_nobody_made(world: World, blue: Authenticator, back: int) -> None:
    del blue
    revoking = "INSERT INTO passkey_revocations SELECT passkey_id, now(), entry_seq - %s FROM passkeys"
    with pytest.raises(DBAPIError, match="another person, an operator, revokes the last passkey"):
        world.transact(lambda session: session.exec_driver_sql(revoking, (back,)))


def test_the_database_takes_no_revocation_of_a_last_passkey_by_its_person(world: World, blue: Authenticator) -> None:
    del blue
    with pytest.raises(DBAPIError, match="another person, an operator, revokes the last passkey"):
        world.transact(lambda session: revoke_in_the_process(session, world, by=BOB))
    otto = Principal("Otto", Role.OPERATOR)
    world.key_of(otto)
    world.transact(lambda session: revoke_in_the_process(session, world, by=otto))
    assert codes(world) == set()


def revoke_in_the_process(session: Session, world: World, *, by: Principal) -> None:
    """Revoke Bob's passkey as the use case does, but for its look at who may."""
    act = Act(by, world.clock(), "r1", "lost")
    acts.lock(session)
    [passkey] = passkeys.live_of(session, BOB.name)
    revoked = facts.facts_of_passkey_revocation(passkey_id=passkey.passkey_id, principal=BOB.name, revoked_at=act.now)
    subject = f"passkey {passkey.passkey_id}"
    seq = acts.record(
        session, act, EntryKind.PASSKEY_REVOKED, subject=subject, before={"revoked_at": None}, after=revoked
    )
    passkeys.revoke(session, passkey.passkey_id, at=act.now, entry_seq=seq)


@pytest.mark.parametrize("person", ["Fay", "Bob"])
def test_nobody_registers_a_passkey_but_as_its_act_says(world: World, blue: Authenticator, person: str) -> None:
    del blue
    adding = """
        INSERT INTO passkeys
        SELECT 'x', %s, 'x', sha256('x'), public_key, 0, rp_id, entry_seq FROM passkeys
    """
    with pytest.raises(DBAPIError, match="a person registers a passkey of their own"):
        world.transact(lambda session: session.exec_driver_sql(adding, (person,)))


def test_a_signature_that_the_process_made_up_is_named(world: World, blue: Authenticator) -> None:
    signed = made_up(world, sign(world, blue), signature=b"made up")
    world.transact(lambda session: approve_in_the_process(session, world, signed))
    assert codes(world) == {Code.ASSERTION_SIGNATURE}


def test_a_signature_by_another_authenticator_is_named(world: World, blue: Authenticator) -> None:
    shown = sign(world, blue)
    assert shown.assertion is not None
    another = Authenticator().signature(shown.assertion.authenticator_data, shown.assertion.client_data)
    signed = made_up(world, shown, signature=another)
    world.transact(lambda session: approve_in_the_process(session, world, signed))
    assert codes(world) == {Code.ASSERTION_SIGNATURE}


def test_what_was_signed_of_another_request_is_named(world: World, blue: Authenticator) -> None:
    signed = made_up(world, sign(world, blue))
    past_the_service(world.database_url, "UPDATE change_requests SET reason = 'another' WHERE request_id = 'q1'")
    world.transact(lambda session: approve_in_the_process(session, world, signed))
    assert codes(world) == {Code.ASSERTION_CHALLENGE, Code.CHANGE_RECORD}


def test_an_approval_that_was_made_without_its_trigger_is_named(world: World, blue: Authenticator) -> None:
    """By the owner, who may disable it; Bob had a passkey, though its row was hidden while the trigger looked."""
    del blue
    past_the_service(world.database_url, "UPDATE passkeys SET principal = 'Fay' WHERE principal = 'Bob'")
    world.transact(lambda session: approve_in_the_process(session, world, None))
    past_the_service(world.database_url, "UPDATE passkeys SET principal = 'Bob' WHERE principal = 'Fay'")
    assert codes(world) == {Code.ASSERTION_MISSING}
