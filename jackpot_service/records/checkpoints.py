"""Checkpoints of the books: closed periods, reconciled days, seals, and where verifications stood."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Row, func, insert, select, text

from jackpot_service.database.models import (
    ClosedPeriodRow,
    EntryRow,
    ReconciledDayRow,
    SealRow,
    StripeRow,
    VerificationRow,
)
from jackpot_service.database.transactions import Session
from jackpot_service.domain import seals
from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.closed_periods import ClosedPeriod, KeptReport, Period, facts_of
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.money import plain
from jackpot_service.domain.seals import Seal, SealedStripe
from jackpot_service.ledger.instants import Positions
from jackpot_service.ledger.verification import Reached, Verified, VerifiedStripe


def last_period(session: Session) -> ClosedPeriod | None:
    """The last period that was closed; None if none was."""
    periods = latest_periods(session, limit=1)
    return periods[0] if periods else None


def latest_periods(
    session: Session, *, limit: int | None = None, before: int | None = None
) -> tuple[ClosedPeriod, ...]:
    """The periods that were closed, the latest first: all, or those that were before an act of this seq."""
    table = ClosedPeriodRow.__table__
    question = select(table).order_by(table.c.ends_at.desc()).limit(limit)
    if before is not None:
        question = question.where(table.c.entry_seq < before)
    return tuple(map(period_of, session.execute(question)))


def find_period(session: Session, period: Period) -> ClosedPeriod | None:
    """A period, if it was closed as exactly that."""
    table = ClosedPeriodRow.__table__
    row = session.execute(select(table).where(table.c.ends_at == period.end)).one_or_none()
    return None if row is None or row.starts_at != period.start else period_of(row)


def add_period(session: Session, closed: ClosedPeriod) -> None:
    """Write that a period is closed."""
    session.execute(
        insert(ClosedPeriodRow).values(
            starts_at=closed.period.start,
            ends_at=closed.period.end,
            reports=facts_of(closed.period, closed.reports)["reports"],
            entry_seq=closed.entry_seq,
        )
    )


def period_of(row: Row[Any]) -> ClosedPeriod:
    """Read a period from its row."""
    reports = {name: KeptReport(report["report_version"], report["sha256"]) for name, report in row.reports.items()}
    return ClosedPeriod(Period(row.starts_at, row.ends_at), reports, row.entry_seq)


# The first entry after the last eighth that was read is of the next: those without an entry have no row. Only the last
# of a day has one always: with it the day is read as a whole, and nothing is booked in it any more. Each stripe says
# what its jackpot's last eighth was and where its own entries go on, so that this is asked where its rows stand.
_TO_RECONCILE = text(
    """
    SELECT jackpots.jackpot_id, jackpots.base, waits.day, waits.eighth
    FROM (
        SELECT goes_on.jackpot_id,
               CASE WHEN is_left THEN last_day ELSE next_day END AS day,
               CASE WHEN is_left THEN 7
                    ELSE CAST(extract(hour FROM booked_at AT TIME ZONE 'UTC') AS int) / 3 END AS eighth
        FROM (
            SELECT stripes.jackpot_id, last.day AS last_day, last.eighth AS last_eighth,
                   min(entries.booked_at) AS booked_at, (min(entries.booked_at) AT TIME ZONE 'UTC')::date AS next_day
            FROM stripes
            LEFT JOIN LATERAL (
                SELECT day, eighth, ends
                FROM reconciled_days
                WHERE reconciled_days.jackpot_id = stripes.jackpot_id AND report_version = :report_version
                  AND (CAST(:read_by AS timestamptz) IS NULL OR read_at <= :read_by)
                ORDER BY day DESC, eighth DESC
                LIMIT 1
            ) AS last ON true
            LEFT JOIN LATERAL (
                SELECT o.booked_at
                FROM entries AS o
                WHERE o.jackpot_id = stripes.jackpot_id AND o.stripe_no = stripes.stripe_no
                  AND o.seq = coalesce(last.ends[stripes.stripe_no + 1], 0) + 1
                LIMIT 1
            ) AS entries ON true
            WHERE NOT stripes.jackpot_id = ANY(CAST(:without AS text[]))
            GROUP BY stripes.jackpot_id, last.day, last.eighth
        ) AS goes_on
        CROSS JOIN LATERAL (
            SELECT coalesce(last_eighth < 7, false) AND coalesce(next_day > last_day, true)
        ) AS left_over (is_left)
    ) AS waits
    JOIN jackpots ON jackpots.jackpot_id = waits.jackpot_id
    WHERE (waits.day + (waits.eighth + 1) * interval '3 hours') AT TIME ZONE 'UTC' <= :before
    ORDER BY waits.day, waits.eighth, waits.jackpot_id
    LIMIT CAST(:most AS bigint)
    """
)


@dataclass(frozen=True, slots=True)
class DayToReconcile:
    """An eighth of a UTC day of a jackpot's book, and the jackpot's base currency."""

    jackpot_id: str
    base: str
    day: date
    eighth: int


@dataclass(frozen=True, slots=True)
class DayPart:
    """An eighth of a day that was read: what was booked after `starts` up to `ends`, a seq of each stripe."""

    day: date
    eighth: int
    starts: Positions
    ends: Positions


@dataclass(frozen=True, slots=True)
class ReconciledDay:
    """An eighth of a day of a jackpot's book that was read for a report version, and its sums."""

    jackpot_id: str
    report_version: int
    part: DayPart
    sums: Sequence[Mapping[str, Any]]


def day_to_reconcile(
    session: Session, *, report_version: int, before: datetime, without: Collection[str] = ()
) -> DayToReconcile | None:
    """The first eighth of a day that is over at an instant and was not read yet, of all jackpots but some."""
    days = _to_reconcile(session, report_version=report_version, before=before, without=list(without), most=1)
    return next(days, None)


def days_to_reconcile(
    session: Session, *, report_version: int, before: datetime, read_by: datetime | None = None
) -> list[DayToReconcile]:
    """The first such eighth of each jackpot that has any, the oldest first; those read after `read_by` wait."""
    return list(_to_reconcile(session, report_version=report_version, before=before, read_by=read_by))


def _to_reconcile(session: Session, **query: Any) -> Iterator[DayToReconcile]:  # noqa: ANN401  as the statement takes
    stated = {"without": [], "read_by": None, "most": None, **query}
    return (DayToReconcile(*row) for row in session.execute(_TO_RECONCILE, stated))


@dataclass(frozen=True, slots=True)
class LastDay:
    """The last day of a jackpot that was read, and when it was."""

    day: date
    read_at: datetime


def books_begun_at(session: Session) -> datetime | None:
    """When the first entry of all books was booked, an act; None if there is none."""
    entry = EntryRow
    first = (entry.jackpot_id == REFERENCE_BOOK, entry.stripe_no == 0, entry.seq == 1)
    return session.scalar(select(entry.booked_at).where(*first))


def last_reading(session: Session) -> datetime | None:
    """When a part of a day was last read, of whichever jackpot; None if none ever was."""
    return session.scalar(select(func.max(ReconciledDayRow.read_at)))


def last_day(session: Session, jackpot_id: str, *, report_version: int, at: datetime, before: date) -> LastDay | None:
    """The last day of a jackpot before another one of which all that was read was read by an instant; None if none."""
    row = ReconciledDayRow
    last = session.execute(
        select(row.day, row.read_at)
        .where(
            row.jackpot_id == jackpot_id,
            row.report_version == report_version,
            row.read_at <= at,
            row.day < before,
        )
        .order_by(row.day.desc(), row.eighth.desc())
        .limit(1)
    ).one_or_none()
    return None if last is None else LastDay(*last)


def add_day(session: Session, read: ReconciledDay, *, now: datetime) -> None:
    """Write what an eighth of a day came to."""
    session.execute(
        insert(ReconciledDayRow).values(
            jackpot_id=read.jackpot_id,
            report_version=read.report_version,
            day=read.part.day,
            eighth=read.part.eighth,
            starts=list(read.part.starts),
            ends=list(read.part.ends),
            sums=list(read.sums),
            read_at=now,
        )
    )


def reconciled_days(
    session: Session, jackpot_id: str, *, report_version: int, first: date = date.min, end: date = date.max
) -> list[DayPart]:
    """The eighths that were read of a jackpot's days, from one up to another, not included; without their sums."""
    row = ReconciledDayRow
    question = (
        select(row.day, row.eighth, row.starts, row.ends)
        .where(row.jackpot_id == jackpot_id, row.report_version == report_version, row.day >= first, row.day < end)
        .order_by(row.day, row.eighth)
    )
    return [DayPart(day, eighth, tuple(starts), tuple(ends)) for day, eighth, starts, ends in session.execute(question)]


def sums_of_part(session: Session, jackpot_id: str, part: DayPart, *, report_version: int) -> list[dict[str, Any]]:
    """Read the sums of an eighth of a day that was reconciled."""
    sums: list[dict[str, Any]] = session.execute(
        select(ReconciledDayRow.sums).where(
            ReconciledDayRow.jackpot_id == jackpot_id,
            ReconciledDayRow.report_version == report_version,
            ReconciledDayRow.day == part.day,
            ReconciledDayRow.eighth == part.eighth,
        )
    ).scalar_one()
    return sums


SEALS_AT_ONCE = 10
"""How many seals are in memory at a time; one of a large house is a few hundred kilobytes."""


@dataclass(frozen=True, slots=True)
class KeptSeal:
    """A seal as it is kept: its bytes, whatever may have become of them, its act, and the key that signed it."""

    number: int
    content: bytes
    entry_seq: int
    public_key: bytes

    @property
    def sha256(self) -> str:
        """The hash that the next seal names."""
        return seals.sha256(self.content)


def stripes_to_seal(session: Session) -> tuple[SealedStripe, ...]:
    """Read where every stripe of every book stands: one statement, which sees one instant of them all."""
    question = select(StripeRow.jackpot_id, StripeRow.stripe_no, StripeRow.seq, StripeRow.head).order_by(
        StripeRow.jackpot_id, StripeRow.stripe_no
    )
    return tuple(SealedStripe(*row) for row in session.execute(question))


def add_seal(session: Session, seal: Seal, *, entry_seq: int, public_key: bytes) -> None:
    """Keep a seal, with the key that shows its signature."""
    content = seal.canonical_bytes.decode("ascii")
    row = {"number": seal.number, "document": content, "entry_seq": entry_seq, "public_key": public_key}
    session.execute(insert(SealRow).values(row))


def last_seal(session: Session) -> KeptSeal | None:
    """The seal of the highest number; None if there is none."""
    row = session.execute(select(SealRow.__table__).order_by(SealRow.number.desc()).limit(1)).one_or_none()
    return None if row is None else _seal(*row)


def find_seal(session: Session, number: int) -> KeptSeal | None:
    """The seal of a number, if there is one."""
    row = session.execute(select(SealRow.__table__).where(SealRow.number == number)).one_or_none()
    return None if row is None else _seal(*row)


def every_seal(session: Session) -> Iterator[KeptSeal]:
    """Read all seals by number, some at a time."""
    after = -(2**63)
    while rows := session.execute(
        select(SealRow.__table__).where(SealRow.number > after).order_by(SealRow.number).limit(SEALS_AT_ONCE)
    ).all():
        yield from (_seal(*row) for row in rows)
        after = rows[-1].number


def _seal(number: int, document: str, entry_seq: int, public_key: bytes) -> KeptSeal:
    return KeptSeal(number, document.encode(), entry_seq, public_key)


class VerificationUnreadable(Refused, code="verification-unreadable", title="The last verification cannot be read"):
    """The last verification's note is not what verifications write."""


@dataclass(frozen=True, slots=True)
class NotedVerification:
    """Where a verification stood, at its end or on its way there."""

    number: int
    begun_at: datetime
    noted_at: datetime
    continues: int | None
    is_whole: bool
    books: Mapping[str, Verified]


def add_verification(
    session: Session,
    reached: Reached,
    *,
    begun_at: datetime,
    noted_at: datetime,
    service_version: str,
    continues: int | None,
) -> int:
    """Note where a verification stands; returns the number of the note."""
    adding = insert(VerificationRow).values(
        begun_at=begun_at,
        noted_at=noted_at,
        service_version=service_version,
        continues=continues,
        is_whole=reached.is_whole,
        entries=reached.entries,
        rounds=reached.rounds,
        bets=reached.bets,
        awards=reached.awards,
        books={book: _document(verified) for book, verified in reached.books.items()},
    )
    return session.execute(adding.returning(VerificationRow.number)).scalar_one()


def last_verification(session: Session) -> NotedVerification | None:
    """Where the last verification stood; None if there was none. Raises: VerificationUnreadable."""
    question = select(VerificationRow.__table__).order_by(VerificationRow.number.desc()).limit(1)
    row = session.execute(question).one_or_none()
    return None if row is None else _noted(row)


def noted_verification(session: Session, number: int) -> NotedVerification:
    """Where the verification of a note stood; the note must exist. Raises: VerificationUnreadable."""
    return _noted(session.execute(select(VerificationRow.__table__).where(VerificationRow.number == number)).one())


def _noted(row: Row[Any]) -> NotedVerification:
    try:
        books = {book: _verified(document) for book, document in row.books.items()}
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
        message = f"Verification {row.number} noted what none notes; begin at zero."
        raise VerificationUnreadable(message, number=row.number) from None
    return NotedVerification(row.number, row.begun_at, row.noted_at, row.continues, row.is_whole, books)


def _document(verified: Verified) -> dict[str, Any]:
    return {
        "stripes": [
            [number, stripe.seq, stripe.head.hex(), *(plain(amount) for amount in _amounts(stripe.pools))]
            for number, stripe in sorted(verified.stripes.items())
        ],
        "acts": verified.acts,
        "last_round_key": verified.last_round_key,
        "held": plain(verified.held),
        "is_whole": verified.is_whole,
        "reconciled_to": verified.reconciled_to.isoformat(),
    }


def _amounts(pools: Pools) -> tuple[Decimal, ...]:
    return pools.meter_players, pools.meter_house, pools.reserve, pools.prize_fund


def _verified(document: Mapping[str, Any]) -> Verified:
    return Verified(
        stripes={
            int(number): VerifiedStripe(int(seq), bytes.fromhex(head), Pools(*map(Decimal, amounts)))
            for number, seq, head, *amounts in document["stripes"]
        },
        acts=int(document["acts"]),
        last_round_key=int(document["last_round_key"]),
        held=Decimal(document["held"]),
        is_whole=bool(document["is_whole"]),
        reconciled_to=date.fromisoformat(document.get("reconciled_to", date.min.isoformat())),
    )
