"""Passkeys of people, when they were used last, and the challenges that wait for an authenticator's answer."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, Select, and_, delete, func, insert, or_, select
from sqlalchemy.dialects.postgresql import insert as upsert

from jackpot_service.database.models import (
    EntryRow,
    PasskeyChallengeRow,
    PasskeyRevocationRow,
    PasskeyRow,
    PasskeyUseRow,
)
from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.passkeys import Passkey

IS_LIVE: Final = PasskeyRevocationRow.passkey_id.is_(None)


@dataclass(frozen=True, slots=True)
class ListedPasskey:
    """A passkey as people see it. `seq` is its act's, and its place in a list; `sign_count` is where it stands now."""

    seq: int
    passkey: Passkey
    registered_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None
    sign_count: int


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge that waits: about a change request with the effect that was shown, or about a new passkey."""

    request_id: str | None
    effect: Facts | None
    made_at: datetime


def add(session: Session, passkey: Passkey, *, entry_seq: int) -> None:
    """Write a passkey."""
    session.execute(
        insert(PasskeyRow).values(
            passkey_id=passkey.passkey_id,
            principal=passkey.principal,
            name=passkey.name,
            credential_id=passkey.credential_id,
            public_key=passkey.public_key,
            sign_count=passkey.sign_count,
            rp_id=passkey.rp_id,
            entry_seq=entry_seq,
        )
    )


def revoke(session: Session, passkey_id: str, *, at: datetime, entry_seq: int) -> None:
    """Put a passkey out of force, for good."""
    session.execute(insert(PasskeyRevocationRow).values(passkey_id=passkey_id, revoked_at=at, entry_seq=entry_seq))


def find(session: Session, passkey_id: str) -> ListedPasskey | None:
    """Return a passkey, live or not; None if there is none of this id."""
    return _listed(session, _LISTED.where(PasskeyRow.passkey_id == passkey_id))


def by_credential(session: Session, credential_id: bytes) -> ListedPasskey | None:
    """Return the passkey of a credential, live or not; None if there is none."""
    return _listed(session, _LISTED.where(PasskeyRow.credential_id == credential_id))


def live_of(session: Session, principal: str, *, rp_id: str | None = None) -> Sequence[Passkey]:
    """Return the passkeys of a person that were not revoked, for one domain or for all, the oldest first."""
    question = _LISTED.where(PasskeyRow.principal == principal, IS_LIVE).order_by(PasskeyRow.entry_seq)
    if rp_id is not None:
        question = question.where(PasskeyRow.rp_id == rp_id)
    return [passkey_of(row) for row in session.execute(question)]


def all_of(session: Session, principal: str) -> Sequence[ListedPasskey]:
    """Return all passkeys of a person, the latest first."""
    question = _LISTED.where(PasskeyRow.principal == principal).order_by(PasskeyRow.entry_seq.desc())
    return [_passkey(row) for row in session.execute(question)]


def latest(session: Session, principal: str | None, *, limit: int, before: int | None) -> Sequence[ListedPasskey]:
    """List passkeys, the latest first, of a person or of all: those before the passkey of an act's seq."""
    question = _LISTED.order_by(PasskeyRow.entry_seq.desc()).limit(limit)
    if principal is not None:
        question = question.where(PasskeyRow.principal == principal)
    if before is not None:
        question = question.where(PasskeyRow.entry_seq < before)
    return [_passkey(row) for row in session.execute(question)]


def holders(session: Session, names: Collection[str]) -> frozenset[str]:
    """Return who of some people has a passkey that was not revoked."""
    question = select(PasskeyRow.principal).join(PasskeyRevocationRow, _REVOKED, isouter=True)
    return frozenset(session.scalars(question.where(PasskeyRow.principal.in_(names), IS_LIVE)))


def note_use(
    session: Session, passkey_id: str, *, sign_count: int, at: datetime, used_before: datetime | None = None
) -> bool:
    """
    Note a use, with the counter that was stated; returns whether it was noted.

    It is not if the counter, of an authenticator that counts, did not go up; nor if the passkey was used last at
    `used_before` or later.
    """
    noted = upsert(PasskeyUseRow).values(passkey_id=passkey_id, sign_count=sign_count, used_at=at)
    before = PasskeyUseRow.sign_count
    is_later = or_(before < sign_count, and_(before == 0, noted.excluded.sign_count == 0))
    if used_before is not None:
        is_later = and_(is_later, PasskeyUseRow.used_at < used_before)
    noted = noted.on_conflict_do_update(
        index_elements=["passkey_id"],
        set_={"sign_count": sign_count, "used_at": func.greatest(PasskeyUseRow.used_at, at)},
        where=is_later,
    )
    return session.scalar(noted.returning(PasskeyUseRow.passkey_id)) is not None


def add_challenge(
    session: Session,
    challenge: bytes,
    *,
    principal: str,
    at: datetime,
    request_id: str | None = None,
    effect: Facts | None = None,
) -> None:
    """Write a challenge; the same once more is the same."""
    session.execute(
        upsert(PasskeyChallengeRow)
        .values(challenge=challenge, principal=principal, made_at=at, request_id=request_id, effect=effect)
        .on_conflict_do_nothing()
    )


def take_challenge(session: Session, challenge: bytes, *, principal: str) -> Challenge | None:
    """Remove a person's challenge, and return it; None if there is none, or it was answered before."""
    taken = (
        delete(PasskeyChallengeRow)
        .where(PasskeyChallengeRow.challenge == challenge, PasskeyChallengeRow.principal == principal)
        .returning(PasskeyChallengeRow.request_id, PasskeyChallengeRow.effect, PasskeyChallengeRow.made_at)
    )
    row = session.execute(taken).one_or_none()
    return None if row is None else Challenge(*row)


def remove_challenges(session: Session, *, made_before: datetime, principal: str, but: int) -> None:
    """Remove challenges that are too old, of anybody, and of a person all but the latest, of which so many stay."""
    session.execute(delete(PasskeyChallengeRow).where(PasskeyChallengeRow.made_at < made_before))
    latest = (
        select(PasskeyChallengeRow.challenge)
        .where(PasskeyChallengeRow.principal == principal)
        .order_by(PasskeyChallengeRow.made_at.desc(), PasskeyChallengeRow.challenge)
        .offset(but)
    )
    session.execute(
        delete(PasskeyChallengeRow).where(
            PasskeyChallengeRow.principal == principal, PasskeyChallengeRow.challenge.in_(latest)
        )
    )


_REVOKED: Final = PasskeyRevocationRow.passkey_id == PasskeyRow.passkey_id

_LISTED: Final[Select[*tuple[Any, ...]]] = (
    select(
        PasskeyRow.__table__,
        EntryRow.received_at,
        PasskeyUseRow.used_at,
        PasskeyRevocationRow.revoked_at,
        func.coalesce(PasskeyUseRow.sign_count, PasskeyRow.sign_count).label("counted"),
    )
    .join(
        EntryRow,
        and_(EntryRow.jackpot_id == REFERENCE_BOOK, EntryRow.stripe_no == 0, EntryRow.seq == PasskeyRow.entry_seq),
    )
    .join(PasskeyRevocationRow, _REVOKED, isouter=True)
    .join(PasskeyUseRow, PasskeyUseRow.passkey_id == PasskeyRow.passkey_id, isouter=True)
)


def _listed(session: Session, question: Select[*tuple[Any, ...]]) -> ListedPasskey | None:
    row = session.execute(question).one_or_none()
    return None if row is None else _passkey(row)


def _passkey(row: Row[*tuple[Any, ...]]) -> ListedPasskey:
    passkey = passkey_of(row)
    return ListedPasskey(row.entry_seq, passkey, row.received_at, row.used_at, row.revoked_at, row.counted)


def passkey_of(row: Any) -> Passkey:  # noqa: ANN401  a row with the columns of the table
    """Read a passkey from its row."""
    return Passkey(
        row.passkey_id,
        row.principal,
        row.name,
        row.credential_id,
        row.public_key,
        row.sign_count,
        row.rp_id,
    )
