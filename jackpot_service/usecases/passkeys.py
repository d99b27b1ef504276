"""Passkeys: registered by a person for themselves, and revoked by them, or by an operator."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from jackpot_service import passkeys as ceremonies
from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts
from jackpot_service.domain.facts import base64url, instant
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.passkeys import (
    MOST_LIVE,
    BadAssertion,
    BadRegistration,
    LastPasskey,
    Passkey,
    PasskeyLimitReached,
    PasskeyNotShown,
    PasskeyRevoked,
    PasskeyTaken,
    UnknownPasskey,
)
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.passkeys import Assertion, NewCredential, Site
from jackpot_service.records import passkeys as records
from jackpot_service.records.passkeys import Challenge, ListedPasskey
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act

ANSWERED_WITHIN: Final = timedelta(minutes=15)
"""How long a challenge waits for its answer: as long as a key that was shown is believed before an approval."""

MOST_CHALLENGES: Final = 50
"""Challenges of a person that wait at a time: a change request that is shown again is another."""

CHALLENGE_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class RegisterPasskey:
    """
    A passkey to register: its name, and what the authenticator answered to the challenge of a site.

    `by_passkey` says whether who acts has shown a passkey of theirs just before.
    """

    act: Act
    name: str
    credential: NewCredential
    site: Site
    by_passkey: bool = False


@dataclass(frozen=True, slots=True)
class PasskeyChanged:
    """The passkey as it stands, and whether this call repeats an earlier."""

    listed: ListedPasskey
    is_replay: bool


def begin_registration(session: Session, act: Act, site: Site, *, by_passkey: bool = False) -> dict[str, Any]:
    """
    Return what a browser is asked for, so that an authenticator makes a passkey of who acts.

    Raises: UserRequired; PasskeyNotShown; PasskeyLimitReached.
    """
    acts.require_user(act)
    person = act.principal.name
    known = _require_may_add(session, person, by_passkey=by_passkey)
    challenge = secrets.token_bytes(CHALLENGE_BYTES)
    add_challenge(session, act, challenge)
    return ceremonies.creation_options(site, person, challenge, known=known)


def add_challenge(session: Session, act: Act, challenge: bytes, **about: Any) -> None:  # noqa: ANN401  see records
    """Write a challenge to who acts, and remove those that nobody can answer any more."""
    person = act.principal.name
    made_before = act.now - ANSWERED_WITHIN
    records.remove_challenges(session, made_before=made_before, principal=person, but=MOST_CHALLENGES - 1)
    records.add_challenge(session, challenge, principal=person, at=act.now, **about)


def take_challenge(session: Session, act: Act, client_data: bytes) -> tuple[bytes, Challenge | None]:
    """Return the challenge that who acts has answered; None of one that does not wait. Raises: BadAssertion."""
    challenge = ceremonies.challenge_in(client_data)
    taken = records.take_challenge(session, challenge, principal=act.principal.name)
    is_waiting = taken is not None and act.now < taken.made_at + ANSWERED_WITHIN
    return challenge, taken if is_waiting else None


def require_signature(
    session: Session,
    assertion: Assertion,
    *,
    site: Site,
    challenge: bytes,
    at: datetime,
    person: str | None = None,
    unused_since: datetime | None = None,
) -> Passkey:
    """
    Hold that a passkey in force, of a person or of anybody, has signed a challenge for a site, and note its use.

    With `unused_since`, the time of the challenge, it has signed nothing else since: so a challenge that is stored
    nowhere is good once. Raises: BadAssertion.
    """
    listed = records.by_credential(session, assertion.credential_id)
    is_in_force = listed is not None and listed.revoked_at is None and listed.passkey.rp_id == site.rp_id
    if listed is None or not is_in_force or person not in {None, listed.passkey.principal}:
        message = f"{person or 'Nobody'} has no such passkey for {site.rp_id}."
        raise BadAssertion(message)
    passkey = listed.passkey
    count = ceremonies.require_signed(assertion, passkey, site, challenge, sign_count=listed.sign_count)
    if not records.note_use(session, passkey.passkey_id, sign_count=count, at=at, used_before=unused_since):
        message = "The passkey was used meanwhile, or its counter went back."
        raise BadAssertion(message)
    return passkey


def register_passkey(session: Session, command: RegisterPasskey) -> PasskeyChanged:
    """
    Register a passkey of who acts.

    The first needs no more than their key. To add another, they have shown one.

    Raises: UserRequired; RequestConflict; PasskeyNotShown; BadRegistration; BadAssertion; PasskeyTaken;
    PasskeyLimitReached.
    """
    act, new = command.act, command.credential
    acts.require_user(act)
    acts.lock(session)
    request = {"name": command.name, "credential_id": base64url(new.credential_id), "reason": act.reason}
    replayed = acts.find_replay(session, act, EntryKind.PASSKEY_REGISTERED, request)
    if replayed is not None:
        return PasskeyChanged(require_passkey(session, replayed.after["passkey_id"]), is_replay=True)
    _require_may_add(session, act.principal.name, by_passkey=command.by_passkey)
    challenge, waiting = take_challenge(session, act, new.client_data)
    if waiting is None or waiting.request_id is not None:
        message = "It answers no challenge of a registration that waits. Begin anew."
        raise BadRegistration(message)
    credential = ceremonies.registered(new, command.site, challenge)
    if records.by_credential(session, credential.credential_id) is not None:
        message = "This credential was registered before."
        raise PasskeyTaken(message)
    passkey = Passkey(
        secrets.token_hex(8),
        act.principal.name,
        command.name,
        credential.credential_id,
        credential.public_key,
        credential.sign_count,
        command.site.rp_id,
    )
    seq = acts.record(
        session,
        act,
        EntryKind.PASSKEY_REGISTERED,
        subject=f"passkey {passkey.passkey_id}",
        after=passkey.facts,
        request=request,
    )
    records.add(session, passkey, entry_seq=seq)
    return PasskeyChanged(require_passkey(session, passkey.passkey_id), is_replay=False)


def _require_may_add(session: Session, person: str, *, by_passkey: bool) -> Sequence[Passkey]:
    """Return a person's passkeys. Raises: PasskeyLimitReached; PasskeyNotShown."""
    live = records.live_of(session, person)
    if len(live) >= MOST_LIVE:
        message = f"{person} has {len(live)} passkeys: revoke one."
        raise PasskeyLimitReached(message)
    if live and not by_passkey:
        message = f"{person} has a passkey: sign in to the pages with it, and add the next at /account."
        raise PasskeyNotShown(message)
    return live


def revoke_passkey(session: Session, act: Act, passkey_id: str) -> PasskeyChanged:
    """
    Put a passkey out of force, an own one or, as an operator, anybody's; the same request again changes nothing.

    The last one of a person is revoked by somebody else, so nobody's approvals become unsigned by their key alone.

    Raises: UserRequired; UnknownPasskey; RequestConflict; PasskeyRevoked; LastPasskey.
    """
    acts.require_user(act)
    acts.lock(session)
    listed = require_passkey(session, passkey_id)
    if not may_revoke(act.principal, listed.passkey):
        raise _unknown(passkey_id)
    request = {"passkey_id": passkey_id, "reason": act.reason}
    if acts.find_replay(session, act, EntryKind.PASSKEY_REVOKED, request) is not None:
        return PasskeyChanged(listed, is_replay=True)
    if listed.revoked_at is not None:
        message = f"Passkey {passkey_id} was revoked at {instant(listed.revoked_at)}."
        raise PasskeyRevoked(message, passkey_id=passkey_id)
    if act.principal.name == listed.passkey.principal and len(records.live_of(session, act.principal.name)) == 1:
        message = f"{passkey_id} is the last passkey of {act.principal.name}: another person, an operator, revokes it."
        raise LastPasskey(message)
    seq = acts.record(
        session,
        act,
        EntryKind.PASSKEY_REVOKED,
        subject=f"passkey {passkey_id}",
        before={"revoked_at": None},
        after=facts.facts_of_passkey_revocation(
            passkey_id=passkey_id, principal=listed.passkey.principal, revoked_at=act.now
        ),
        request=request,
    )
    records.revoke(session, passkey_id, at=act.now, entry_seq=seq)
    return PasskeyChanged(require_passkey(session, passkey_id), is_replay=False)


def may_revoke(actor: Principal, passkey: Passkey) -> bool:
    """Whether somebody may revoke a passkey: their own, or as an operator anybody's."""
    return actor.name == passkey.principal or actor.role is Role.OPERATOR


def require_passkey(session: Session, passkey_id: str) -> ListedPasskey:
    """Raises: UnknownPasskey."""
    listed = records.find(session, passkey_id)
    if listed is None:
        raise _unknown(passkey_id)
    return listed


def _unknown(passkey_id: str) -> UnknownPasskey:
    message = f"There is no passkey {passkey_id}."
    return UnknownPasskey(message, passkey_id=passkey_id)
