"""Signing somebody out of the pages, everywhere; what they do next is up to them, and to their keys."""

from dataclasses import dataclass

import structlog

from jackpot_service.database.transactions import Session
from jackpot_service.records import browser_sessions
from jackpot_service.usecases import keys
from jackpot_service.usecases.acts import Act

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class SignedOut:
    """Somebody who was signed out, and of how many sessions."""

    principal: str
    sessions: int


def sign_out(session: Session, act: Act, key_id: str) -> SignedOut:
    """
    End all sessions of the owner of a key, by whichever of their keys or accounts they have begun.

    A session is no part of the books, so this is no act of theirs: the log has who did it, and why. Raises: UnknownKey.
    """
    name = keys.find(session, key_id).principal.name
    sessions = browser_sessions.remove_all(session, name)
    log.info("signed-out-by-operator", principal=name, sessions=sessions, by=act.principal.name, reason=act.reason)
    return SignedOut(name, sessions)
