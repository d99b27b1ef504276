"""Principals, the keys by which they show who they are, and who made those."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, Select, and_, exists, func, insert, or_, select, text, tuple_, update

from jackpot_service.database.models import EntryRow, KeyRow, PrincipalRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role

USES_APART = timedelta(minutes=1)
"""How exactly the last use of a key is known: it is written once in so long, however often the key is shown."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Somebody as an issuer of tokens knows them."""

    issuer: str
    subject: str


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key as it is stored: the hash of its secret, or the subject of an issuer that it is; and whom it shows."""

    key_id: str
    shown: bytes | Subject
    principal: Principal

    @property
    def columns(self) -> dict[str, Any]:
        """The values that its act shows, by the names of the table's columns."""
        subject = self.shown if isinstance(self.shown, Subject) else None
        return {
            "key_id": self.key_id,
            "principal": self.principal.name,
            "table_ids": sorted(self.principal.table_ids),
            "secret_hash": None if isinstance(self.shown, Subject) else self.shown,
            "issuer": None if subject is None else subject.issuer,
            "subject": None if subject is None else subject.subject,
        }


@dataclass(frozen=True, slots=True)
class LiveKey:
    """A key in force; a subject's has no hash."""

    key_id: str
    secret_hash: bytes | None
    principal: Principal
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class ListedKey:
    """A key as people see it: neither its secret nor the hash of it. `seq` is its act's, and its place in a list."""

    seq: int
    key_id: str
    principal: Principal
    issuer: str | None
    subject: str | None
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


# Principals.


def principal(session: Session, name: str) -> Principal | None:
    """Return the principal of a name, or one whose name is the same in other letters, or looks so; None if none is."""
    is_alike = or_(
        PrincipalRow.name == name,
        func.name_in_one_case(PrincipalRow.name) == func.name_in_one_case(name),
        func.name_by_look(PrincipalRow.name) == func.name_by_look(name),
    )
    question = select(*_PRINCIPAL).where(is_alike).order_by((PrincipalRow.name == name).desc(), PrincipalRow.name)
    row = session.execute(question.limit(1)).one_or_none()
    return None if row is None else _principal(row)


def add_principal(session: Session, new: Principal, *, entry_seq: int) -> None:
    """Write a principal."""
    session.execute(
        insert(PrincipalRow).values(
            name=new.name,
            role=new.role.value,
            casino_id=new.casino_id,
            is_automaton=new.is_automaton,
            department=new.department,
            entry_seq=entry_seq,
        )
    )


def people_of_house(session: Session) -> Sequence[Principal]:
    """
    Return the principals without a casino who can act: those with a key that was not revoked, and the command line.

    They are in the order of their names, and without the tables of their keys.
    """
    has_key = exists().where(KeyRow.principal == PrincipalRow.name, KeyRow.revoked_at.is_(None))
    can_act = or_(has_key, PrincipalRow.name == SYSTEM_OPERATOR.name)
    question = select(*_PRINCIPAL).where(PrincipalRow.casino_id.is_(None), can_act).order_by(PrincipalRow.name)
    return [_principal(row) for row in session.execute(question)]


# Keys.


def add(session: Session, key: NewKey, *, entry_seq: int) -> None:
    """Write a key."""
    session.execute(insert(KeyRow).values(**key.columns, revoked_at=None, last_used_at=None, entry_seq=entry_seq))


def live(session: Session, key_id: str) -> LiveKey | None:
    """The key, or None if there is none of this id or it was revoked."""
    return _live(session, _LIVE.where(KeyRow.key_id == key_id, KeyRow.revoked_at.is_(None)))


def ids_in_force(session: Session) -> frozenset[str]:
    """Return the ids of all secrets that were not revoked."""
    in_force = select(KeyRow.key_id).where(KeyRow.revoked_at.is_(None), KeyRow.secret_hash.is_not(None))
    return frozenset(session.scalars(in_force))


def live_of_subject(session: Session, subject: Subject) -> LiveKey | None:
    """The key that is a subject of an issuer, or None if nobody in force is that."""
    is_it = and_(KeyRow.issuer == subject.issuer, KeyRow.subject == subject.subject, KeyRow.revoked_at.is_(None))
    return _live(session, _LIVE.where(is_it))


def live_ids(session: Session, principal_name: str, *, of_subjects: bool) -> Sequence[str]:
    """The ids of a principal's live keys, the oldest first: its secrets, or the subjects that it is."""
    is_subject = KeyRow.subject.is_not(None) if of_subjects else KeyRow.subject.is_(None)
    return session.scalars(
        select(KeyRow.key_id)
        .where(KeyRow.principal == principal_name, KeyRow.revoked_at.is_(None), is_subject)
        .order_by(KeyRow.entry_seq)
    ).all()


def live_ids_of(session: Session, principal_name: str) -> Sequence[str]:
    """The ids of all live keys of a principal, the oldest first."""
    question = select(KeyRow.key_id).where(KeyRow.principal == principal_name, KeyRow.revoked_at.is_(None))
    return session.scalars(question.order_by(KeyRow.entry_seq)).all()


def find(session: Session, key_id: str) -> ListedKey | None:
    """The key, live or not; None if there is none of this id."""
    row = session.execute(_listed().where(KeyRow.key_id == key_id)).one_or_none()
    return None if row is None else _listed_key(row)


def by_name(session: Session, *, limit: int, after: int | None) -> Sequence[ListedKey]:
    """List keys by their principals' names, each one's oldest first: those after the key of an act's seq."""
    place = tuple_(KeyRow.principal, KeyRow.entry_seq)
    question = _listed().order_by(KeyRow.principal, KeyRow.entry_seq).limit(limit)
    if after is not None:
        last = select(KeyRow.principal, KeyRow.entry_seq).where(KeyRow.entry_seq == after)
        question = question.where(place > last.scalar_subquery())
    return [_listed_key(row) for row in session.execute(question)]


def revoke(session: Session, key_id: str, *, at: datetime) -> None:
    """Put a key out of force, for good."""
    session.execute(update(KeyRow).where(KeyRow.key_id == key_id).values(revoked_at=at))


def note_use(session: Session, key_id: str, *, at: datetime) -> None:
    """
    Note that a live key was used, at most once in `USES_APART`.

    Cheap, and never in anybody's way: it waits for no lock, nor for a disk or a replica: a note that a crash loses is
    written again.
    """
    session.execute(text("SET LOCAL synchronous_commit = off"))
    to_note = (
        select(KeyRow.key_id)
        .where(KeyRow.key_id == key_id, KeyRow.revoked_at.is_(None))
        .where(or_(KeyRow.last_used_at.is_(None), KeyRow.last_used_at <= at - USES_APART))
        .with_for_update(skip_locked=True)
    )
    session.execute(update(KeyRow).where(KeyRow.key_id == to_note.scalar_subquery()).values(last_used_at=at))


_PRINCIPAL = (
    PrincipalRow.name,
    PrincipalRow.role,
    PrincipalRow.casino_id,
    PrincipalRow.is_automaton,
    PrincipalRow.department,
)

_LIVE: Select[*tuple[Any, ...]] = select(
    *_PRINCIPAL, KeyRow.table_ids, KeyRow.key_id, KeyRow.secret_hash, KeyRow.last_used_at
).join(PrincipalRow, PrincipalRow.name == KeyRow.principal)


def _listed() -> Select[*tuple[Any, ...]]:
    act = and_(EntryRow.jackpot_id == REFERENCE_BOOK, EntryRow.stripe_no == 0, EntryRow.seq == KeyRow.entry_seq)
    return (
        select(
            *_PRINCIPAL,
            KeyRow.table_ids,
            KeyRow.entry_seq,
            KeyRow.key_id,
            KeyRow.issuer,
            KeyRow.subject,
            EntryRow.received_at,
            KeyRow.last_used_at,
            KeyRow.revoked_at,
        )
        .join(PrincipalRow, PrincipalRow.name == KeyRow.principal)
        .join(EntryRow, act)
    )


def _live(session: Session, question: Select[*tuple[Any, ...]]) -> LiveKey | None:
    row = session.execute(question).one_or_none()
    if row is None:
        return None
    return LiveKey(row.key_id, row.secret_hash, _principal(row, row.table_ids), row.last_used_at)


def _listed_key(row: Row[*tuple[Any, ...]]) -> ListedKey:
    return ListedKey(
        row.entry_seq,
        row.key_id,
        _principal(row, row.table_ids),
        row.issuer,
        row.subject,
        row.received_at,
        row.last_used_at,
        row.revoked_at,
    )


def _principal(row: Row[*tuple[Any, ...]], table_ids: Sequence[str] = ()) -> Principal:
    return Principal(row.name, Role(row.role), row.casino_id, frozenset(table_ids), row.is_automaton, row.department)


def is_maker_on_both_sides(session: Session, *, jackpot_id: str, round_key: int, actor: str, at: datetime) -> bool:
    """
    Return whether one person made a key of the round, and is the actor or made a key of the actor's.

    A key of the round is one that a principal who booked an entry of it could use then. Keys that were made on the
    machine are nobody's. The database's triggers ask the same function.
    """
    return bool(session.scalar(select(func.is_key_maker_on_both_sides(jackpot_id, round_key, actor, at))))
