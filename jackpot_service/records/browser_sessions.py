"""The sessions of people who have signed in with a browser, by the hash of the secret that each one's cookie holds."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import delete, exists, insert, or_, select, text, update

from jackpot_service.database.models import BrowserSessionRow, KeyRow, PasskeyRevocationRow
from jackpot_service.database.transactions import Session


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """
    A session: whose key began it, when its person last showed who they are, and when they were last here.

    `seen_at` is written once a minute at most, so it may be a minute behind. `passkey_id` is the passkey that began it,
    and `proof_passkey_id` the one by which they showed it last; None if that was a key or an account.
    """

    key_id: str
    began_at: datetime
    proved_at: datetime
    seen_at: datetime
    passkey_id: str | None
    proof_passkey_id: str | None

    def seen(self, at: datetime) -> "BrowserSession":
        """Return it with its person seen at a time, unless they were seen later."""
        return replace(self, seen_at=max(self.seen_at, at))

    def ends_at(self, *, idle: timedelta, longest: timedelta) -> datetime:
        """When it ends if its person does nothing more."""
        return min(self.seen_at + idle, self.began_at + longest)


def add(
    session: Session,
    secret_hash: bytes,
    *,
    key_id: str,
    at: datetime,
    proved_at: datetime,
    passkey_id: str | None = None,
) -> None:
    """Begin a session of a person who has shown who they are at a time, which may be before; perhaps by a passkey."""
    times = {"began_at": at, "proved_at": proved_at, "seen_at": at}
    by = {"key_id": key_id, "passkey_id": passkey_id, "proof_passkey_id": passkey_id}
    session.execute(insert(BrowserSessionRow).values(secret_hash=secret_hash, **by, **times))


def find(session: Session, secret_hash: bytes) -> BrowserSession | None:
    """Return a session, which may have ended by time; None if there is none, or it, or a passkey of it, was ended."""
    passkeys = (BrowserSessionRow.passkey_id, BrowserSessionRow.proof_passkey_id)
    is_revoked = exists().where(PasskeyRevocationRow.passkey_id.in_(passkeys))
    question = select(
        BrowserSessionRow.key_id,
        BrowserSessionRow.began_at,
        BrowserSessionRow.proved_at,
        BrowserSessionRow.seen_at,
        *passkeys,
    ).where(BrowserSessionRow.secret_hash == secret_hash, ~is_revoked)
    row = session.execute(question).one_or_none()
    return None if row is None else BrowserSession(*row)


def note_seen(session: Session, secret_hash: bytes, *, at: datetime) -> None:
    """Note that a session's person was here. A note that a crash loses is written again, so it waits for no disk."""
    session.execute(text("SET LOCAL synchronous_commit = off"))
    session.execute(update(BrowserSessionRow).where(BrowserSessionRow.secret_hash == secret_hash).values(seen_at=at))


def note_proof(session: Session, secret_hash: bytes, *, at: datetime, passkey_id: str | None = None) -> None:
    """Note that a session's person has shown again who they are, perhaps by a passkey."""
    proof = {"proved_at": at, "seen_at": at, "proof_passkey_id": passkey_id}
    session.execute(update(BrowserSessionRow).where(BrowserSessionRow.secret_hash == secret_hash).values(**proof))


def remove(session: Session, secret_hash: bytes) -> None:
    """End a session."""
    session.execute(delete(BrowserSessionRow).where(BrowserSessionRow.secret_hash == secret_hash))


def remove_all(session: Session, principal: str) -> int:
    """End all sessions of a person; returns how many there were."""
    keys = select(KeyRow.key_id).where(KeyRow.principal == principal)
    return session.execute(delete(BrowserSessionRow).where(BrowserSessionRow.key_id.in_(keys))).rowcount


def remove_ended(session: Session, *, seen_before: datetime, begun_before: datetime) -> None:
    """Remove the sessions that have ended by time, of any key."""
    is_over = or_(BrowserSessionRow.seen_at <= seen_before, BrowserSessionRow.began_at <= begun_before)
    session.execute(delete(BrowserSessionRow).where(is_over))


def remove_eldest(session: Session, key_id: str, *, but: int) -> None:
    """Remove all sessions that a key began but the latest, of which so many stay."""
    latest = (
        select(BrowserSessionRow.secret_hash)
        .where(BrowserSessionRow.key_id == key_id)
        .order_by(BrowserSessionRow.began_at.desc(), BrowserSessionRow.secret_hash)
    )
    session.execute(delete(BrowserSessionRow).where(BrowserSessionRow.secret_hash.in_(latest.offset(but))))
