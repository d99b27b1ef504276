"""Days that were reconciled, and the first that waits for it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import insert, select, text

from jackpot_service.database.transactions import Session
from jackpot_service.ledger.instants import Positions
from jackpot_service.records.reconciled_schema import ReconciledDayRow

# What is booked first after the last day that was read is of the next: days without an entry have no row.
_DUE = text(
    """
    SELECT jackpots.jackpot_id, jackpots.base, (next.booked_at AT TIME ZONE 'UTC')::date AS day
    FROM jackpots
    LEFT JOIN LATERAL (
        SELECT ends
        FROM reconciled_days
        WHERE reconciled_days.jackpot_id = jackpots.jackpot_id AND report_version = :report_version
        ORDER BY day DESC
        LIMIT 1
    ) AS last ON true
    CROSS JOIN LATERAL (
        SELECT min(entries.booked_at) AS booked_at
        FROM stripes
        JOIN entries ON entries.jackpot_id = stripes.jackpot_id AND entries.stripe_no = stripes.stripe_no
                    AND entries.seq = coalesce(last.ends[stripes.stripe_no + 1], 0) + 1
        WHERE stripes.jackpot_id = jackpots.jackpot_id
    ) AS next
    WHERE next.booked_at < :before AND NOT jackpots.jackpot_id = ANY(CAST(:without AS text[]))
    ORDER BY next.booked_at, jackpots.jackpot_id
    LIMIT 1
    """
)


@dataclass(frozen=True, slots=True)
class DueDay:
    """A UTC day of a jackpot's book, and the jackpot's base currency."""

    jackpot_id: str
    base: str
    day: date


@dataclass(frozen=True, slots=True)
class DayPart:
    """A day that was read: what was booked after `starts` up to `ends`, a seq of each stripe."""

    day: date
    starts: Positions
    ends: Positions


@dataclass(frozen=True, slots=True)
class ReconciledDay:
    """A day of a jackpot's book that was read for a report version, and its sums."""

    jackpot_id: str
    report_version: int
    part: DayPart
    sums: Sequence[Mapping[str, Any]]


def due(session: Session, *, report_version: int, before: datetime, without: Collection[str] = ()) -> DueDay | None:
    """The first day before an instant that was not read yet, of all jackpots but some."""
    row = session.execute(
        _DUE, {"report_version": report_version, "before": before, "without": list(without)}
    ).one_or_none()
    return None if row is None else DueDay(*row)


def add(session: Session, read: ReconciledDay, *, now: datetime) -> None:
    """Write what a day came to."""
    session.execute(
        insert(ReconciledDayRow).values(
            jackpot_id=read.jackpot_id,
            report_version=read.report_version,
            day=read.part.day,
            starts=list(read.part.starts),
            ends=list(read.part.ends),
            sums=list(read.sums),
            read_at=now,
        )
    )


def days(
    session: Session, jackpot_id: str, *, report_version: int, first: date = date.min, end: date = date.max
) -> list[DayPart]:
    """The days of a jackpot that were read, from one up to another, which is not included; without their sums."""
    row = ReconciledDayRow
    question = (
        select(row.day, row.starts, row.ends)
        .where(row.jackpot_id == jackpot_id, row.report_version == report_version, row.day >= first, row.day < end)
        .order_by(row.day)
    )
    return [DayPart(day, tuple(starts), tuple(ends)) for day, starts, ends in session.execute(question)]


def sums(session: Session, jackpot_id: str, *, report_version: int, day: date) -> list[dict[str, Any]]:
    """What a day that was read came to."""
    found: list[dict[str, Any]] = session.execute(
        select(ReconciledDayRow.sums).where(
            ReconciledDayRow.jackpot_id == jackpot_id,
            ReconciledDayRow.report_version == report_version,
            ReconciledDayRow.day == day,
        )
    ).scalar_one()
    return found
