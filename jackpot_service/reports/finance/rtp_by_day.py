"""Return to players by day: each day alone, and all days up to it together, with the band of chance."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain.statistics import band_of_chance
from jackpot_service.reports.documents import Row, Section, Value
from jackpot_service.reports.finance import award_figures, rtp
from jackpot_service.reports.finance.columns import columns, days, percents
from jackpot_service.reports.finance.frame import Report, Scope
from jackpot_service.reports.finance.period import BookPeriod
from jackpot_service.reports.finance.rtp import Played, Turnover

DAYS: Final = columns(
    "jackpot_id",
    days(day="Day"),
    "paid_from",
    rtp.COMPARED,
    rtp.STRAYED,
    percents(low_percent="By chance alone at least, % of turnover", high_percent="At most, % of turnover"),
)


@dataclass(frozen=True, slots=True)
class _Day:
    """A day on which a hand was judged or an award took a step, and what was played on it."""

    day: date
    played: Played


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Compare, day by day, what was awarded with what the rules give, as `rtp` does."""
    alone = [day for book in scope.books for day in _days(session, book)]
    return (
        Section("days", "Return of each day", DAYS, _rows(alone)),
        Section("cumulative", "Return from the start to the end of each day", DAYS, _rows(_summed(alone))),
    )


def _days(session: Session, book: BookPeriod) -> Iterator[_Day]:
    judged, taken = rtp.turnovers_by_day(session, book), award_figures.steps_by_day(session, book)
    for day in sorted({*judged, *taken}):
        yield _Day(day, Played(book, judged.get(day, ()), award_figures.made(taken.get(day, ()))))


def _summed(alone: Iterable[_Day]) -> Iterator[_Day]:
    """Add each day to the days before it of its jackpot."""
    before: Played | None = None
    for day in alone:
        if before is None or before.book is not day.played.book:
            before = replace(day.played, turnovers=(), awards=())
        before = Played(
            day.played.book,
            _by_version((*before.turnovers, *day.played.turnovers)),
            award_figures.together((*before.awards, *day.played.awards)),
        )
        yield _Day(day.day, before)


def _by_version(turnovers: Iterable[Turnover]) -> Sequence[Turnover]:
    sums: dict[int, Turnover] = {}
    for turnover in turnovers:
        version = turnover.rules_version
        sums[version] = sums[version].plus(turnover) if version in sums else turnover
    return list(sums.values())


def _rows(listed: Iterable[_Day]) -> list[Row]:
    return [
        (jackpot_id, day.day, *figures, *_band(day.played.turnover, *figures))
        for day in listed
        for jackpot_id, *figures in rtp.funds(day.played)
    ]


def _band(turnover: Decimal, *figures: Value) -> tuple[Value, Value]:
    """Return the band of chance of fixed prizes, in per cent of the turnover."""
    named = dict(zip((column.name for column in rtp.FUNDS[1:]), figures, strict=True))
    deviation, theoretical = named["deviation"], named["theoretical"]
    if not isinstance(deviation, Decimal) or not isinstance(theoretical, Decimal):
        return None, None
    return band_of_chance(theoretical, deviation, turnover) or (None, None)


REPORT = Report("rtp-by-day", "Return to players by day", make, sections=("days", "cumulative"))
