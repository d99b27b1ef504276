"""Registering a person who signs in elsewhere: a subject of the issuer of tokens is a key without a secret."""

from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts, principals
from jackpot_service.domain.principals import LONGEST_SUBJECT, BadPrincipal, Principal
from jackpot_service.records import keys as records
from jackpot_service.records.keys import NewKey, Subject
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act, AlreadyExists
from jackpot_service.usecases.create_key import book_key, new_id


def add_person(session: Session, act: Act, principal: Principal, subject: Subject) -> bool:
    """
    Let a subject of an issuer speak as a person, once: the same again changes nothing. Returns whether it was now.

    Raises: BadPrincipal for a machine, or a subject that no issuer could name; KeyForbidden; AlreadyExists if the
    subject is somebody else; PrincipalConflict; KeyLimitReached; UnknownCasino.
    """
    principals.require_possible(principal)
    principals.require_may_create(act.principal, principal)
    _require_subject(principal, subject)
    acts.lock(session)
    live = records.live_of_subject(session, subject)
    if live is not None:
        if live.principal == principal:
            return False
        message = f"That subject is {live.principal.name}."
        raise AlreadyExists(message, principal=live.principal.name)
    asked = {**facts.of_principal(principal), "issuer": subject.issuer, "subject": subject.subject}
    book_key(session, act, NewKey(new_id(), subject, principal), asked=asked)
    return True


def _require_subject(principal: Principal, subject: Subject) -> None:
    if principal.is_machine:
        message = "Tokens are for people; a machine has a key."
        raise BadPrincipal(message)
    if not principals.is_subject(subject.subject) or not subject.subject.strip():
        message = f"A subject is a text of 1 to {LONGEST_SUBJECT} ASCII characters."
        raise BadPrincipal(message)
