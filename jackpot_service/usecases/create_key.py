"""Creating a key. Its secret is told once and never stored; only its hash is."""

import hashlib
import secrets
from dataclasses import dataclass, field

from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts, principals
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import Principal
from jackpot_service.records import keys as records
from jackpot_service.records.keys import NewKey, Subject
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.principals import ensure

PREFIX = "jk"
SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class KeyCreated:
    """A key that was created. `key` is the whole of it, `jk_<id>_<secret>`; None where this call repeats an earlier."""

    key_id: str
    key: str | None = field(repr=False)

    @property
    def whole(self) -> str:
        """The key, of whoever has created it just now. Raises: LookupError in a replay: it is told once."""
        if self.key is None:
            message = f"Key {self.key_id} was created before."
            raise LookupError(message)
        return self.key


def hash_of(secret: str) -> bytes:
    """What is stored of a secret. 256 random bits need no slow hash."""
    return hashlib.sha256(secret.encode()).digest()


def create_key(session: Session, act: Act, principal: Principal) -> KeyCreated:
    """
    Create a key for a principal, and the principal with the first. It is seen whole this once.

    Raises: BadPrincipal; KeyForbidden; RequestConflict; PrincipalConflict; KeyLimitReached; UnknownCasino;
    UnknownTable, also for a table of another casino.
    """
    principals.require_possible(principal)
    principals.require_may_create(act.principal, principal)
    acts.lock(session)
    asked = _asked(act, principal)
    replayed = acts.find_replay(session, act, EntryKind.KEY_CREATED, asked)
    if replayed is not None:
        return KeyCreated(replayed.after["key_id"], None)
    key_id, secret = new_id(), secrets.token_urlsafe(SECRET_BYTES)
    book_key(session, act, NewKey(key_id, hash_of(secret), principal), asked=asked)
    return KeyCreated(key_id, f"{PREFIX}_{key_id}_{secret}")


def new_id() -> str:
    """A key's id: random, and no secret."""
    return secrets.token_hex(8)


def book_key(session: Session, act: Act, key: NewKey, *, asked: Facts) -> None:
    """
    Write a key and its act, with the lock held, and the principal if it is the first.

    Raises: PrincipalConflict; KeyLimitReached; UnknownCasino; UnknownTable.
    """
    ensure(session, act, key.principal)
    live = records.live_ids(session, key.principal.name, of_subjects=isinstance(key.shown, Subject))
    principals.require_room(key.principal.name, live=len(live))
    recorded = facts.of_key(**key.columns)
    seq = acts.post(session, act, EntryKind.KEY_CREATED, subject=f"key {key.key_id}", after=recorded, asked=asked)
    records.add(session, key, entry_seq=seq)


def _asked(act: Act, principal: Principal) -> Facts:
    return {
        **facts.of_principal(principal),
        "table_ids": sorted(principal.table_ids),
        "reason": act.reason,
    }
