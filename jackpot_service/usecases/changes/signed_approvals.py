"""Approvals that a passkey signs: what its person is to sign, and whether an approval is what they have signed."""

from dataclasses import dataclass
from typing import Any

from jackpot_service import passkeys as ceremonies
from jackpot_service.database.transactions import Session
from jackpot_service.domain.changes import Change, Decision
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.passkeys import BadAssertion, EffectMoved, Passkey, PasskeyRequired, SignedApproval
from jackpot_service.domain.principals import Principal
from jackpot_service.passkeys import LOCALHOST, Assertion, Site
from jackpot_service.records import change_policies
from jackpot_service.records import passkeys as records
from jackpot_service.usecases import passkeys
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.effects import ChangeEffect
from jackpot_service.usecases.changes.registry import KINDS
from jackpot_service.usecases.changes.signed_effects import challenge_of, content_of, substance_of


@dataclass(frozen=True, slots=True)
class Shown:
    """The assertion of a passkey that an approver shows, if there is one, and the site that it has to be for."""

    assertion: Assertion | None = None
    site: Site = LOCALHOST


NOTHING_SHOWN = Shown()


def needs_passkey(session: Session, change: Change, person: Principal) -> bool:
    """Whether a person's approval of a change request is to be signed: they have a passkey, or the policy says so."""
    policy = change_policies.in_force(session).kinds[change.kind]
    return policy.needs_passkey or bool(records.live_of(session, person.name))


def begin_approval(
    session: Session, act: Act, change: Change, effect: ChangeEffect, site: Site, *, is_emergency: bool = False
) -> dict[str, Any]:
    """
    Return what a browser is asked for, so that a passkey of who acts signs a change request with its effect as shown.

    `is_emergency` says that they are to approve it alone.

    Raises: PasskeyRequired without a passkey of this site; ValueError for a change that cannot be made.
    """
    known = records.live_of(session, act.principal.name, rp_id=site.rp_id)
    if not known:
        message = f"{act.principal.name} has no passkey for {site.rp_id}."
        raise PasskeyRequired(message)
    content = content_of(effect)
    challenge = challenge_of(change, content, is_emergency=is_emergency)
    passkeys.add_challenge(session, act, challenge, request_id=change.request_id, effect=content)
    return ceremonies.request_options(site, challenge, known=known)


def signed(session: Session, act: Act, change: Change, shown: Shown, *, is_emergency: bool) -> SignedApproval | None:
    """
    Return what an approval was signed with; None where it need not be. With the lock of acts held.

    The challenge is answered by this: it is good once.

    Raises: PasskeyRequired; BadAssertion.
    """
    if shown.assertion is None:
        if needs_passkey(session, change, act.principal):
            message = f"An approval of {change.kind} by {act.principal.name} is signed with a passkey."
            raise PasskeyRequired(message)
        return None
    passkey, effect = _require_signed(session, act, change, shown.assertion, shown.site, is_emergency=is_emergency)
    return SignedApproval(
        passkey.passkey_id,
        shown.assertion.authenticator_data,
        shown.assertion.client_data,
        shown.assertion.signature,
        effect,
    )


def _require_signed(
    session: Session, act: Act, change: Change, assertion: Assertion, site: Site, *, is_emergency: bool
) -> tuple[Passkey, Facts]:
    challenge, waiting = passkeys.take_challenge(session, act, assertion.client_data)
    if waiting is None or waiting.effect is None or waiting.request_id != change.request_id:
        message = f"It answers no challenge about {change.request_id} that waits. Look at the effect again."
        raise BadAssertion(message)
    if challenge != challenge_of(change, waiting.effect, is_emergency=is_emergency):
        message = f"The challenge is not of {change.request_id} as it stands, or of another way to approve it."
        raise BadAssertion(message)
    person = act.principal.name
    passkey = passkeys.require_signature(session, assertion, site=site, challenge=challenge, at=act.now, person=person)
    return passkey, waiting.effect


def require_as_signed(decision: Decision, change: Change, effect: ChangeEffect) -> None:
    """Hold that a change does what an approver has signed, as it was figured just now. Raises: EffectMoved."""
    assertion = decision.assertion
    if assertion is None:
        return
    without = KINDS[change.kind].read(change.payload).left_to_booking
    if substance_of(content_of(effect), without=without) != substance_of(assertion.effect, without=without):
        message = "The books have changed since you looked. Look at the effect as it is now, and sign that."
        if decision in change.decisions:
            message = f"The books have changed since {decision.checker} approved it: make a new request."
        raise EffectMoved(message)
