"""
How long finance waits for its reports of a month of so many million bets, and of a month up to an instant in a day.

At the end every page is opened over the same books, see `paint`.

A report is asked in this process, and all of its rows are read and written as JSON shows them; what HTTP adds is the
same for all. The month is played beforehand, see `month`; a small one is played too, and its books are verified. The
days are reconciled before, as a runner does, and the reconciliation must find no difference.
"""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from time import perf_counter
from typing import Any

import sqlalchemy

from bench import databases, house, month, paint, servers
from bench.figures import Figure
from bench.month import Calendar
from bench.site import Site
from bench.targets import REPORT_MS, Target
from jackpot_service.database.reads import Reads
from jackpot_service.exports.files import json_rows
from jackpot_service.reports.finance.registry import report_of
from jackpot_service.reports.making import made
from jackpot_service.reports.questions import By, Parameters
from jackpot_service.reports.reconciling import reconcile_next

NAME = "reports"
RUNS = 5
MILLION = 1_000_000
SAMPLE = 20_000
"""So many bets are played in the books that are verified."""

_INSIDE = timedelta(hours=14, minutes=30)
_CASINO = house.CASINOS[0]
_TABLE = next(iter(house.CASINO_OF))


@dataclass(frozen=True, slots=True)
class Plan:
    """Over how many million bets to ask."""

    millions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Question:
    """
    A report, what it is asked besides the period, and whether it is read whole or one section of it.

    Its days start at an hour of UTC; if they are gaming days, parts of whole ones stand at both ends.
    """

    name: str
    stated: dict[str, Any] = field(default_factory=dict)
    words: str = ""
    section: str | None = None
    days: int = month.DAYS
    day_starts: time = time()
    target: Target | None = REPORT_MS

    @property
    def title(self) -> str:
        return f"{self.name}{self.words and ' '}{self.words}"

    def parameters(self, end: datetime) -> Parameters:
        """Ask it of the days before an instant, the first of them whole."""
        start = datetime.combine(end, self.day_starts, end.tzinfo) - timedelta(days=self.days)
        return Parameters(start=start, end=end, **self.stated)


_QUESTIONS = (
    _Question("meters"),
    _Question("liability"),
    _Question("pool-movements", words="by day"),
    _Question("pool-movements", {"by": (By.CYCLE,)}, "by cycle"),
    _Question("contributions", words="by casino and currency"),
    _Question("contributions", {"by": (By.TABLE, By.DAY)}, "by table and day"),
    _Question("hits"),
    _Question("casino-statement", {"casino_id": _CASINO}),
    _Question("casino-statement", {"casino_id": _CASINO}, "of gaming days", day_starts=house.DAY_STARTS),
    _Question("trial-balance"),
    _Question("rtp"),
    _Question("fx"),
    _Question("exceptions"),
    _Question("awards", words="in sums", section="totals"),
    _Question("awards", {"casino_id": _CASINO}, "in sums, of a casino", section="totals"),
    _Question("awards", {"table_id": _TABLE}, "in sums, of a table", section="totals"),
    _Question("awards", {"table_id": _TABLE}, "of a table's day", days=1),
    _Question("rounds", {"table_id": _TABLE}, "of a table's day", days=1),
    _Question("reconciliation"),
    # What is as long as the books has no target.
    _Question("awards", words="one by one", section="awards", target=None),
)


def measure(site: Site, plan: Plan) -> tuple[Figure, ...]:
    """Ask every report over every month. Raises: RuntimeError if the books are wrong, or a reconciliation differs."""
    calendar = Calendar.before(datetime.now().astimezone())
    _require_clean(site, calendar)
    return tuple(figure for millions in plan.millions for figure in _month(site, calendar, millions))


def _require_clean(site: Site, calendar: Calendar) -> None:
    """Verify the books of a small month; those of the large one would take longer than all reports."""
    books = databases.create(site.cluster, "bench_month_sample")
    month.play(books, calendar, month.IN_ORDER, bets=SAMPLE, log=lambda _: None)
    is_clean, verdict = servers.verify(books)
    if not is_clean:
        raise RuntimeError(verdict)


def _month(site: Site, calendar: Calendar, millions: int) -> Iterator[Figure]:
    books = databases.create(site.cluster, f"bench_month_{millions}")
    month.play(books, calendar, month.FAST, bets=millions * MILLION, log=site.log)
    engine = house.engine(books)
    try:
        yield from _reconciled(engine, site, calendar, millions=millions)
        for number, question in enumerate(_QUESTIONS):
            site.log(f"reports: {question.title} over {millions} million bets")
            yield from _question(engine, question, calendar, number=number, millions=millions)
        _require_reconciled(engine, calendar)
        yield from paint.measure(site, books, millions=millions)
    finally:
        engine.dispose()


def _reconciled(engine: sqlalchemy.Engine, site: Site, calendar: Calendar, *, millions: int) -> Iterator[Figure]:
    """Read what a runner has read by the instant inside the day after."""
    took_ms = []
    while True:
        began = perf_counter()
        read = reconcile_next(engine, now=calendar.ends_at + _INSIDE)
        if read is None:
            break
        took_ms.append((perf_counter() - began) * 1e3)
        if not read.eighth:
            site.log(f"reports: {read.day} reconciled over {millions} million bets")
    at = {"millions": millions, "rows": len(took_ms)}
    yield Figure(NAME, "three hours reconciled, beforehand", statistics.median(took_ms), "ms", at, None)


def _question(
    engine: sqlalchemy.Engine, question: _Question, calendar: Calendar, *, number: int, millions: int
) -> Iterator[Figure]:
    """Ask over whole days; then as of an instant that nobody has asked about, and again."""
    inside = calendar.ends_at + _INSIDE + timedelta(seconds=number)
    whole = datetime.combine(calendar.ends_at, question.day_starts, calendar.ends_at.tzinfo)
    _ask(engine, question, whole)
    for words, end, runs in (
        ("", whole, RUNS),
        (", inside a day, first", inside, 1),
        (", inside a day", inside, RUNS),
    ):
        answers = [_ask(engine, question, end) for _ in range(runs)]
        at = {"millions": millions, "rows": answers[0].rows}
        took_ms = statistics.median(answer.took_ms for answer in answers)
        yield Figure(NAME, f"{question.title}{words}", took_ms, "ms", at, question.target)


@dataclass(frozen=True, slots=True)
class _Answer:
    rows: int
    took_ms: float


def _ask(engine: sqlalchemy.Engine, question: _Question, end: datetime) -> _Answer:
    began = perf_counter()
    parameters = question.parameters(end)
    with made(Reads(engine), report_of(question.name), parameters, now=end + timedelta(days=1)) as document:
        shown = document.narrowed(question.section)
        rows = sum(1 for section in shown.sections for _ in json_rows(section))
    return _Answer(rows, (perf_counter() - began) * 1e3)


def _require_reconciled(engine: sqlalchemy.Engine, calendar: Calendar) -> None:
    """The reconciliation counts the figures that differ."""
    parameters = Parameters(start=calendar.begins_at, end=calendar.ends_at)
    with made(Reads(engine), report_of("reconciliation"), parameters, now=calendar.ends_at) as document:
        for jackpot_id, _, differing in document.narrowed("summary").sections[0].rows:
            if differing:
                message = f"{differing} figures of {jackpot_id} differ from what the documents make them"
                raise RuntimeError(message)
