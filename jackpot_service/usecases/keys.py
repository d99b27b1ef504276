"""
Keys and their principals: made once, seen whole once, revoked for good.

The first key of a name makes a principal; every later key of it must agree. A user who signs in elsewhere has a key
without a secret: a subject of the issuer of tokens. The maker of a key releases nothing that was won by it.
"""

import hashlib
import secrets
from dataclasses import dataclass, field, replace

from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts, principals
from jackpot_service.domain.errors import Conflict, Forbidden, NotFound, Refused
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import LONGEST_SUBJECT, BadPrincipal, Principal
from jackpot_service.records import keys, references
from jackpot_service.records import keys as records
from jackpot_service.records.immutable import UnknownTable
from jackpot_service.records.keys import ListedKey, NewKey, Subject
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act, AlreadyExists


def ensure(session: Session, act: Act, principal: Principal) -> None:
    """
    Add a principal where its name is new, with the lock held; where it is known, hold that it is the same.

    Raises: PrincipalConflict, also for a name that looks like another; BadPrincipal; UnknownCasino; UnknownTable, also
    for a table of another casino.
    """
    _require_places(session, principal)
    known = records.principal(session, principal.name)
    if known is not None:
        principals.require_same(known, principal)
        return
    principals.require_legible(principal.name)
    seq = acts.record(
        session,
        replace(act, request_id=None),
        EntryKind.PRINCIPAL_ADDED,
        subject=f"principal {principal.name}",
        after=facts.facts_of_principal(principal),
    )
    records.add_principal(session, principal, entry_seq=seq)


def _require_places(session: Session, principal: Principal) -> None:
    casino_id = principal.casino_id
    if casino_id is not None:
        references.require_casino(session, casino_id)
    for table_id in sorted(principal.table_ids):
        table = references.table(session, table_id)
        if table is None or table.casino_id != casino_id:
            message = f"Casino {casino_id} has no table {table_id}."
            raise UnknownTable(message, table_id=table_id)


PREFIX = "jk"
SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class KeyCreated:
    """A key that was created. `key` is the whole of it, `jk_<id>_<secret>`; None where this call repeats an earlier."""

    key_id: str
    key: str | None = field(repr=False)

    @property
    def whole(self) -> str:
        """The key, for the call that has created it just now. Raises: LookupError in a replay: it is shown once."""
        if self.key is None:
            message = f"Key {self.key_id} was created before."
            raise LookupError(message)
        return self.key


def hash_of(secret: str) -> bytes:
    """The hash that is stored of a secret. 256 random bits need no slow hash."""
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
    request = _request_of(act, principal)
    replayed = acts.find_replay(session, act, EntryKind.KEY_CREATED, request)
    if replayed is not None:
        return KeyCreated(replayed.after["key_id"], None)
    key_id, secret = new_id(), secrets.token_urlsafe(SECRET_BYTES)
    book_key(session, act, NewKey(key_id, hash_of(secret), principal), request=request)
    return KeyCreated(key_id, f"{PREFIX}_{key_id}_{secret}")


def new_id() -> str:
    """A key's id: random, and no secret."""
    return secrets.token_hex(8)


def book_key(session: Session, act: Act, key: NewKey, *, request: Facts) -> None:
    """
    Write a key and its act, with the lock held, and the principal if it is the first.

    Raises: PrincipalConflict; KeyLimitReached; UnknownCasino; UnknownTable.
    """
    ensure(session, act, key.principal)
    live = records.live_ids(session, key.principal.name, of_subjects=isinstance(key.shown, Subject))
    principals.require_room(key.principal.name, live=len(live))
    recorded = facts.facts_of_key(**key.columns)
    seq = acts.record(session, act, EntryKind.KEY_CREATED, subject=f"key {key.key_id}", after=recorded, request=request)
    records.add(session, key, entry_seq=seq)


def _request_of(act: Act, principal: Principal) -> Facts:
    return {
        **facts.facts_of_principal(principal),
        "table_ids": sorted(principal.table_ids),
        "reason": act.reason,
    }


class UnknownKey(NotFound, code="key-unknown", title="Unknown key"):
    """No key of this id."""


class KeyRevoked(Conflict, code="key-revoked", title="The key was revoked before"):
    """The key was revoked before, by another request."""


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
    request = {"key_id": key_id, "reason": act.reason}
    replayed = acts.find_replay(session, act, EntryKind.KEY_REVOKED, request)
    key = find(session, key_id)
    if replayed is not None:
        return Revocation(key, is_replay=True)
    if key.revoked_at is not None:
        message = f"Key {key_id} was revoked at {facts.instant(key.revoked_at)}."
        raise KeyRevoked(message, key_id=key_id)
    acts.record(
        session,
        act,
        EntryKind.KEY_REVOKED,
        subject=f"key {key_id}",
        before={"revoked_at": None},
        after=facts.facts_of_revocation(key_id=key_id, principal=key.principal.name, revoked_at=act.now),
        request=request,
    )
    records.revoke(session, key_id, at=act.now)
    return Revocation(find(session, key_id), is_replay=False)


def find(session: Session, key_id: str) -> ListedKey:
    """Raises: UnknownKey."""
    key = records.find(session, key_id)
    if key is None:
        message = f"There is no key {key_id}."
        raise UnknownKey(message, key_id=key_id)
    return key


class NoIssuer(Refused, code="issuer-not-configured", title="The service takes no tokens"):
    """The service is configured without an issuer of tokens, so nobody could show one."""


@dataclass(frozen=True, slots=True)
class UserAdded:
    """The key that stands for a subject of an issuer, and whether it was added by this call."""

    key_id: str
    is_new: bool


def add_user(session: Session, act: Act, principal: Principal, subject: Subject) -> UserAdded:
    """
    Let a subject of an issuer speak as a user, once: the same again changes nothing.

    Raises: BadPrincipal for a service account, or a subject that no issuer could name; KeyForbidden; AlreadyExists if
    the subject is somebody else; PrincipalConflict; KeyLimitReached; UnknownCasino; RequestConflict.
    """
    principals.require_possible(principal)
    principals.require_may_create(act.principal, principal)
    _require_subject(principal, subject)
    acts.lock(session)
    content = {**facts.facts_of_principal(principal), "issuer": subject.issuer, "subject": subject.subject}
    request = acts.request_of(act, content) or content
    replayed = acts.find_replay(session, act, EntryKind.KEY_CREATED, request)
    if replayed is not None:
        return UserAdded(replayed.after["key_id"], is_new=False)
    live = records.live_of_subject(session, subject)
    if live is not None:
        if live.principal == principal:
            return UserAdded(live.key_id, is_new=False)
        message = f"That subject is {live.principal.name}."
        raise AlreadyExists(message, principal=live.principal.name)
    key = NewKey(new_id(), subject, principal)
    book_key(session, act, key, request=request)
    return UserAdded(key.key_id, is_new=True)


def _require_subject(principal: Principal, subject: Subject) -> None:
    if principal.is_service_account:
        message = "Tokens are for users; a service account has a key."
        raise BadPrincipal(message)
    if not principals.is_subject(subject.subject) or not subject.subject.strip():
        message = f"A subject is a text of 1 to {LONGEST_SUBJECT} ASCII characters."
        raise BadPrincipal(message)


class KeyMaker(Forbidden, code="key-maker", title="The maker of a key releases nothing that was won by it"):
    """The round was played by a key whose maker acts now, or made the key that acts now."""


def require_not_maker(session: Session, act: Act, *, jackpot_id: str, round_key: int) -> None:
    """Raises: KeyMaker if who acts, or made the key of who acts, made a key by which a round was played."""
    name = act.principal.name
    if keys.is_maker_on_both_sides(session, jackpot_id=jackpot_id, round_key=round_key, actor=name, at=act.now):
        # Not everybody who may pay may know whose keys those are.
        message = f"A key by which this round was played was made by {name}, or by who made a key of {name}."
        raise KeyMaker(message, principal=name)
