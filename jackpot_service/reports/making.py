"""
Making a report: the instants of its question are resolved first, then it is read in one snapshot, within bounds.

Once an instant is resolved, nothing is booked before it any more, so that its positions are final. Stripes that have
not passed it are raised to it one at a time. Each has a transaction of its own, which locks it for no longer than a bet
does. No row is written for it: see docs/decisions/instants.md.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import sqlalchemy
from sqlalchemy import text

from jackpot_service.database.failures import HeldUp
from jackpot_service.database.reads import Reads
from jackpot_service.database.transactions import Session, read, transact
from jackpot_service.domain import facts
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.errors import Conflict, Refused, Unavailable
from jackpot_service.ledger import instants
from jackpot_service.ledger.instants import Positions
from jackpot_service.records import references
from jackpot_service.reports import questions
from jackpot_service.reports.documents import Document, Row, Section
from jackpot_service.reports.finance import frame
from jackpot_service.reports.finance.frame import Report
from jackpot_service.reports.questions import Parameters, Question

MOST_ROWS: Final = 10_000
"""Rows of a section in an answer that is held in memory; files have no such bound."""

_IS_REPLICA = text("SELECT pg_is_in_recovery()")


class InstantAhead(Refused, code="instant-ahead", title="The instant lies ahead"):
    """An instant that has not come: further entries may be booked before it."""


class InstantNotResolved(Conflict, code="instant-not-resolved", title="The instant was not resolved on the primary"):
    """A replica cannot keep the books from changing before an instant: only the primary can."""


class ReportTookTooLong(Unavailable, code="report-took-too-long", title="The report took too long"):
    """The books hold more than can be looked through while somebody waits."""


class ReportTooLong(Conflict, code="report-too-long", title="The report has too many rows for this"):
    """More rows than an answer holds."""


def parameters_of(
    session: Session, report: Report, question: Question, longest_open: timedelta, *, now: datetime
) -> Parameters:
    """
    Return a report's parameters: a question's, with instants in the place of days.

    Raises: BadQuestion; UnknownCasino; InstantAhead for the later of two ends, since nobody resolves that one.
    """
    parameters = Parameters(**question.stated, longest_open=longest_open)
    frame.require_possible(report, parameters)
    start, end = questions.edges_of(session, question)
    ends = sorted(instant for instant in (end, question.as_of) if instant is not None)
    for later in ends[1:]:
        require_past(later, now=now)
    return replace(parameters, start=start, end=ends[0] if ends else None)


@contextmanager
def made(
    reads: Reads, report: Report, parameters: Parameters, *, now: datetime, longest_s: float | None = None
) -> Iterator[Document]:
    """
    Make a report; its rows are read as long as the block runs, which `longest_s` bounds unless it is None.

    Its instants are fixed at the primary; a replica is read once they are fixed there too.

    Raises: as `fix`; ReportTookTooLong; ReplicaBrokeOff.
    """
    fix(reads.primary, report, parameters, now=now)
    try:
        with reads.snapshot(longest_s=longest_s, holds=partial(_is_fixed, parameters=parameters)) as reading:
            document = frame.make(reading.value, report, parameters, made_at=now)
            with _closing_rows(document):
                yield replace(document, fresh_at=reading.fresh_at)
    except HeldUp as error:
        if longest_s is None:
            raise
        message = f"It took longer than {longest_s:g} seconds: ask for less, or for a job that makes it."
        raise ReportTookTooLong(message) from error


@contextmanager
def _closing_rows(document: Document) -> Iterator[None]:
    """After the block no row is read any more: a reader who stops in the midst of a list leaves no cursor open."""
    try:
        yield
    finally:
        for section in document.sections:
            section.close()


def fix(engine: sqlalchemy.Engine, report: Report, parameters: Parameters, *, now: datetime) -> None:
    """
    Fix the instants of a report in each of its books: from then on the report says the same for ever.

    The later instant is resolved, which a stripe that has passed it has passed with the earlier one. The reference book
    comes first: from then on no jackpot is opened before the instant, so those that are there then are all that ever
    belong to it. Impossible parameters, and unknown names, are refused before anything is written.

    Raises: BadQuestion, UnknownJackpot, UnknownCasino, UnknownTable, UnknownRound; as `resolve`.
    """
    frame.require_possible(report, parameters)
    read(engine, partial(frame.books_of, parameters=parameters))
    latest = _latest(parameters)
    if latest is None:
        return
    resolve(engine, REFERENCE_BOOK, latest, now=now)
    for jackpot_id in read(engine, partial(frame.books_of, parameters=parameters))[1:]:
        resolve(engine, jackpot_id, latest, now=now)


def _latest(parameters: Parameters) -> datetime | None:
    return max((edge for edge in (parameters.start, parameters.end) if edge is not None), default=None)


def _is_fixed(session: Session, parameters: Parameters) -> bool:
    """Whether a session, which sees one instant, sees the instants of a report fixed in each of its books."""
    books, latest = frame.books_of(session, parameters), _latest(parameters)
    return latest is None or instants.are_passed(session, books, latest)


def positions_at(engine: sqlalchemy.Engine, jackpot_id: str, instant: datetime, *, now: datetime) -> Positions:
    """
    Resolve an instant in a jackpot's book, and return the positions of its stripes then.

    Raises: UnknownJackpot; as `resolve`.
    """
    read(engine, partial(references.require_base, jackpot_id=jackpot_id))
    resolve(engine, jackpot_id, instant, now=now)
    return read(engine, partial(instants.at, book=jackpot_id, instant=instant))


def resolve(engine: sqlalchemy.Engine, book: str, instant: datetime, *, now: datetime) -> None:
    """
    Let nothing be booked in a book before an instant any more; the book must exist.

    Stripe 0 is raised first. A stripe that is added later is not behind stripe 0, so the list that is made after it is
    whole.

    Raises: InstantAhead, and InstantNotResolved on a replica, unless every stripe has passed the instant.
    """
    find_behind = partial(instants.behind, book=book, instant=instant)
    behind = read(engine, find_behind)
    if not behind:
        return
    read(engine, partial(_require_resolvable, instant=instant, now=now))
    if behind[0] == 0:
        _raise(engine, book, [0], instant)
        behind = read(engine, find_behind)
    if behind:
        _raise(engine, book, behind, instant)


def require_past(instant: datetime, *, now: datetime) -> None:
    """Raises: InstantAhead for an instant that has not come."""
    if instant > now:
        message = f"{facts.instant(instant)} has not come yet; state an instant that is over."
        raise InstantAhead(message)


def _require_resolvable(session: Session, instant: datetime, *, now: datetime) -> None:
    require_past(instant, now=now)
    if session.scalar(_IS_REPLICA):
        message = f"Ask the primary about {facts.instant(instant)} first; a replica then answers the same."
        raise InstantNotResolved(message)


def _raise(engine: sqlalchemy.Engine, book: str, stripe_nos: Sequence[int], instant: datetime) -> None:
    transact(engine, partial(instants.raise_stripes, book=book, stripe_nos=stripe_nos, instant=instant))


def in_time(document: Document, until: float) -> Document:
    """Let the rows of a report be read until an instant of the monotonic clock; later ones raise HeldUp."""

    def in_time_only(section: Section) -> Iterator[Row]:
        with closing(section):
            for row in section.rows:
                if time.monotonic() > until:
                    message = "The reading took too long."
                    raise HeldUp(message)
                yield row

    return _with_rows(document, in_time_only)


def bounded(document: Document) -> Document:
    """Let no section of a report have more rows than are held in memory; the next one raises ReportTooLong."""

    def first_only(section: Section) -> Iterator[Row]:
        with closing(section):
            for number, row in enumerate(section.rows):
                if number == MOST_ROWS:
                    message = f"{section.title} has more than {MOST_ROWS:,} rows: ask for a file, or for less."
                    raise ReportTooLong(message, section=section.name, rows=MOST_ROWS)
                yield row

    return _with_rows(document, first_only)


def _with_rows(document: Document, rows: Callable[[Section], Iterable[Row]]) -> Document:
    return replace(document, sections=[replace(section, rows=rows(section)) for section in document.sections])
