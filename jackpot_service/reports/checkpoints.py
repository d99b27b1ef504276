"""Where the books stood when somebody looked: notes of verifications, seals, and how far each book is reconciled."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime, timedelta
from typing import Final, TypeVar

from sqlalchemy import select, text, tuple_

from jackpot_service.database.models import SealRow, StripeRow, VerificationRow
from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import seals
from jackpot_service.domain.closed_periods import ClosedPeriod
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.jobs import Job
from jackpot_service.domain.principals import Principal
from jackpot_service.ledger.instants import Positions
from jackpot_service.records import checkpoints, jobs, references
from jackpot_service.records.acts import RecordedAct, acts_of
from jackpot_service.reports.finance import reconciled_sums

T = TypeVar("T")

DUE_EVERY: Final = timedelta(hours=36)
"""A proof and a seal are due every night; half a day later somebody should look why there was none."""

# Asked of each book by itself, all in one round trip.
_BOOK: Final = """
SELECT (SELECT array_agg(s.seq ORDER BY s.stripe_no) FROM stripes s WHERE s.jackpot_id = %(jackpot_id)s::text),
       (SELECT max(d.day)
        FROM reconciled_days d
        WHERE d.jackpot_id = %(jackpot_id)s::text AND d.report_version = %(report_version)s)
"""


class UnknownPeriod(NotFound, code="period-unknown", title="Unknown closed period"):
    """No act of this number closed a period."""


class UnknownSeal(NotFound, code="seal-unknown", title="Unknown seal"):
    """No seal has this number."""


@dataclass(frozen=True, slots=True)
class VerificationHead:
    """
    Where a verification stood that had found nothing wrong, at its end (`is_whole`) or on its way there.

    `continues` is the note from which it went on; None for one from zero. The counts are those of the run.
    """

    number: int
    begun_at: datetime
    noted_at: datetime
    service_version: str
    continues: int | None
    is_whole: bool
    entries: int
    rounds: int
    bets: int
    awards: int


@dataclass(frozen=True, slots=True)
class SealHead:
    """
    A seal without what it seals: its number, its hash as its act says it, its key, and who made it when.

    `public_key` are the 32 bytes of the key that the ledger kept with it, in hexadecimal.
    """

    number: int
    sha256: str
    public_key_id: str
    public_key: str
    principal: str
    booked_at: datetime
    act: int


@dataclass(frozen=True, slots=True)
class BookEnd:
    """The end of a jackpot's book: the last seq of each stripe, by its number, and the last day reconciled in part."""

    jackpot_id: str
    positions: Positions
    reconciled_to: date | None


@dataclass(frozen=True, slots=True)
class StripeHead:
    """The end of a stripe's chain: the seq and the head of its last entry, and when that was booked."""

    book: str
    stripe_no: int
    seq: int
    head: str
    booked_at: datetime


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The last checkpoint of each kind, None where there is none, and the end of each jackpot's book, by id."""

    verification: VerificationHead | None
    whole_verification: VerificationHead | None
    seal: SealHead | None
    closed_period: ClosedPeriod | None
    books: Sequence[BookEnd]


def last_checkpoints(session: Session) -> Checkpoints:
    """Read the last checkpoint of each kind, each at an instant of its own."""
    return Checkpoints(
        verification=_first(latest_verifications(session, limit=1)),
        whole_verification=_first(latest_verifications(session, limit=1, is_whole=True)),
        seal=_first(latest_seals(session, limit=1)),
        closed_period=checkpoints.last_period(session),
        books=_book_ends(session),
    )


def latest_verifications(
    session: Session,
    *,
    limit: int,
    before: int | None = None,
    is_whole: bool | None = None,
    noted_by: datetime | None = None,
) -> Sequence[VerificationHead]:
    """
    List the notes of verifications, the latest first: those below a number, perhaps only of whole ones.

    Perhaps only of those that were noted by an instant.
    """
    columns = (getattr(VerificationRow, column.name) for column in fields(VerificationHead))
    question = select(*columns).order_by(VerificationRow.number.desc()).limit(limit)
    if before is not None:
        question = question.where(VerificationRow.number < before)
    if is_whole is not None:
        question = question.where(VerificationRow.is_whole.is_(is_whole))
    if noted_by is not None:
        question = question.where(VerificationRow.noted_at <= noted_by)
    return [VerificationHead(*row) for row in session.execute(question)]


# The root of the chain of notes that a note is the end of: the one that began at zero.
_ZERO: Final = text("""
WITH RECURSIVE chain AS (
    SELECT number, continues, begun_at FROM verifications WHERE number = :number
    UNION ALL
    SELECT earlier.number, earlier.continues, earlier.begun_at
    FROM chain
    JOIN verifications earlier ON earlier.number = chain.continues
)
SELECT begun_at FROM chain WHERE continues IS NULL
""")


def zero_begun_at(session: Session, number: int) -> datetime | None:
    """Return when the verification from zero began that a note goes back to, perhaps over others; None without it."""
    begun_at: datetime | None = session.scalar(_ZERO, {"number": number})
    return begun_at


def standing_mismatches(session: Session, *, by: datetime | None = None) -> Job | None:
    """
    Return the last verification that found something wrong, by now or an instant, for as long as that stands.

    It stands until one from zero that began later has found nothing: one that goes on from a note says nothing of
    the rows before it.
    """
    job = jobs.last_with_mismatches(session, ended_by=by)
    if job is None or job.ended_at is None:
        return None
    whole = _first(latest_verifications(session, limit=1, is_whole=True, noted_by=by))
    begun_at = None if whole is None else zero_begun_at(session, whole.number)
    return job if begun_at is None or begun_at <= job.ended_at else None


def latest_seals(
    session: Session, *, limit: int, before: int | None = None, acts_end: int | None = None
) -> Sequence[SealHead]:
    """
    List seals, the latest first: those below a number, perhaps only those made by acts up to `acts_end`.

    Their documents, which are large, are not read.
    """
    question = select(SealRow.number, SealRow.public_key, SealRow.entry_seq)
    if acts_end is not None:
        question = question.where(SealRow.entry_seq <= acts_end)
    if before is not None:
        question = question.where(SealRow.number < before)
    rows = session.execute(question.order_by(SealRow.number.desc()).limit(limit)).all()
    acts = {act.seq: act for act in acts_of(session, [row.entry_seq for row in rows])}
    return [_seal_head(number, key, acts[seq]) for number, key, seq in rows]


def seal_keys(session: Session) -> Sequence[str]:
    """List the public keys of all seals, each by its 32 bytes in hexadecimal."""
    keys = session.scalars(select(SealRow.public_key).distinct().order_by(SealRow.public_key))
    return [key.hex() for key in keys]


def _seal_head(number: int, public_key: bytes, act: RecordedAct) -> SealHead:
    return SealHead(
        number=number,
        sha256=act.after["sha256"],
        public_key_id=seals.sha256(public_key),
        public_key=public_key.hex(),
        principal=act.principal,
        booked_at=act.booked_at,
        act=act.seq,
    )


def stripe_heads(session: Session, *, limit: int, after: tuple[int, str] | None = None) -> Sequence[StripeHead]:
    """
    List the ends of all stripes by book and number, those after a number and a book, at one instant.

    The reference book comes first: its name, `-`, is before those of all jackpots.
    """
    columns = (StripeRow.jackpot_id, StripeRow.stripe_no, StripeRow.seq, StripeRow.head, StripeRow.booked_at)
    question = select(*columns).order_by(StripeRow.jackpot_id, StripeRow.stripe_no).limit(limit)
    if after is not None:
        stripe_no, book = after
        question = question.where(tuple_(StripeRow.jackpot_id, StripeRow.stripe_no) > tuple_(book, stripe_no))
    return [
        StripeHead(book, number, seq, head.hex(), booked_at)
        for book, number, seq, head, booked_at in session.execute(question)
    ]


def seal_content(session: Session, number: int) -> bytes:
    """Read the canonical bytes of a seal, as its file has them. Raises: UnknownSeal."""
    seal = checkpoints.find_seal(session, number)
    if seal is None:
        message = f"There is no seal {number}."
        raise UnknownSeal(message, number=number)
    return seal.content


def _book_ends(session: Session) -> Sequence[BookEnd]:
    jackpots = references.jackpot_ids(session)
    version = reconciled_sums.REPORT_VERSION
    with pipelined(session) as pipe:
        cursors = [pipe.send(_BOOK, {"jackpot_id": jackpot_id, "report_version": version}) for jackpot_id in jackpots]
    return [
        BookEnd(jackpot_id, tuple(positions), day)
        for jackpot_id, cursor in zip(jackpots, cursors, strict=True)
        for positions, day in cursor
    ]


def _first(items: Sequence[T]) -> T | None:
    return items[0] if items else None


def period_of_act(session: Session, principal: Principal, act: int) -> ClosedPeriod:
    """Find the period that an act closed. Raises: UnknownPeriod, also for somebody of a casino."""
    closed = next(iter(checkpoints.latest_periods(session, limit=1, before=act + 1)), None)
    if closed is None or closed.entry_seq != act or principal.casino_id is not None:
        message = f"Act {act} closed no period."
        raise UnknownPeriod(message)
    return closed
