"""People with passkeys: what they do in one transaction each, by an authenticator of software."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from jackpot_service.database.transactions import Session
from jackpot_service.domain.changes import Outcome
from jackpot_service.domain.passkeys import Passkey
from jackpot_service.domain.principals import Principal
from jackpot_service.passkeys import LOCALHOST
from jackpot_service.records import changes
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.effects import effect_of
from jackpot_service.usecases.changes.requests import ChangeDecidedNow, DecideChange, decide_change
from jackpot_service.usecases.changes.signed_approvals import Shown, begin_approval
from jackpot_service.usecases.passkeys import RegisterPasskey, begin_registration, register_passkey
from tests.support import people
from tests.support.authenticator import Authenticator


def register(session: Session, *, person: Principal, authenticator: Authenticator, now: datetime) -> Passkey:
    """Have a person register a passkey of an authenticator."""
    act = people.enrol(session, Act(person, now, uuid4().hex, "a passkey"))
    options = begin_registration(session, replace(act, request_id=None), LOCALHOST, by_passkey=True)
    command = RegisterPasskey(act, "blue", authenticator.make(options), LOCALHOST, by_passkey=True)
    return register_passkey(session, command).listed.passkey


def sign(
    session: Session,
    *,
    person: Principal,
    request_id: str,
    authenticator: Authenticator,
    now: datetime,
    is_emergency: bool = False,
    **client: Any,
) -> Shown:
    """Have a person look at a change request, and sign it with its effect."""
    act = people.enrol(session, Act(person, now, reason="checked"))
    change = changes.find(session, request_id)
    assert change is not None
    effect = effect_of(session, change, act)
    assert effect is not None
    options = begin_approval(session, act, change, effect, LOCALHOST, is_emergency=is_emergency)
    return Shown(authenticator.sign(options, **client), LOCALHOST)


def approve(
    session: Session, *, person: Principal, request_id: str, now: datetime, is_emergency: bool = False, **signing: Any
) -> ChangeDecidedNow:
    """Have a person approve what they have just signed, as `sign` takes it."""
    shown = sign(session, person=person, request_id=request_id, now=now, is_emergency=is_emergency, **signing)
    act = Act(person, now, reason="checked")
    command = DecideChange(act, request_id, Outcome.APPROVED, is_emergency=is_emergency, shown=shown)
    return decide_change(session, command)
