"""Revoking a key: every process refuses it within a quarter of a minute, and for good."""

from dataclasses import dataclass

from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts
from jackpot_service.domain.errors import Conflict, NotFound
from jackpot_service.domain.journal import EntryKind
from jackpot_service.records import keys as records
from jackpot_service.records.keys import ListedKey
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act


class UnknownKey(NotFound):
    """No key of this id."""

    code = "key-unknown"
    title = "Unknown key"


class KeyRevoked(Conflict):
    """It was revoked before, by another request."""

    code = "key-revoked"
    title = "The key was revoked before"


@dataclass(frozen=True, slots=True)
class Revocation:
    """The revoked key; whether this call repeats an earlier."""

    key: ListedKey
    is_replay: bool


def revoke_key(session: Session, act: Act, key_id: str) -> Revocation:
    """
    Put a key out of force; the same request again changes nothing.

    Raises: UnknownKey; RequestConflict; KeyRevoked.
    """
    acts.lock(session)
    asked = {"key_id": key_id, "reason": act.reason}
    replayed = acts.find_replay(session, act, EntryKind.KEY_REVOKED, asked)
    key = find(session, key_id)
    if replayed is not None:
        return Revocation(key, is_replay=True)
    if key.revoked_at is not None:
        message = f"Key {key_id} was revoked at {key.revoked_at}."
        raise KeyRevoked(message, key_id=key_id)
    acts.post(
        session,
        act,
        EntryKind.KEY_REVOKED,
        subject=f"key {key_id}",
        before={"revoked_at": None},
        after=facts.of_revocation(key_id=key_id, principal=key.principal.name, revoked_at=act.now),
        asked=asked,
    )
    records.revoke(session, key_id, at=act.now)
    return Revocation(find(session, key_id), is_replay=False)


def find(session: Session, key_id: str) -> ListedKey:
    """Raises: UnknownKey."""
    found = records.find(session, key_id)
    if found is None:
        message = f"There is no key {key_id}."
        raise UnknownKey(message, key_id=key_id)
    return found
