"""How a report is asked: the instants that it stands on are fixed first, then it is read in one snapshot."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial

import sqlalchemy

from jackpot_service.database.transactions import HeldUp, read, snapshot
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.errors import Unavailable
from jackpot_service.ledger import instants
from jackpot_service.ledger.instants import Positions
from jackpot_service.records import references
from jackpot_service.reports.documents import Document
from jackpot_service.reports.finance import frame
from jackpot_service.reports.finance.frame import Asked, Report
from jackpot_service.reports.resolving import resolve


class ReportTookTooLong(Unavailable):
    """The books hold more than can be looked through while somebody waits."""

    code = "report-took-too-long"
    title = "The report took too long"


@contextmanager
def made(
    engine: sqlalchemy.Engine, report: Report, asked: Asked, *, now: datetime, longest_s: float | None = None
) -> Iterator[Document]:
    """
    Make a report; its rows are read as long as the block runs, which `longest_s` bounds unless it is None.

    Raises: as `fix`; ReportTookTooLong.
    """
    fix(engine, report, asked, now=now)
    try:
        with snapshot(engine, longest_s=longest_s) as session:
            document = frame.make(session, report, asked, made_at=now)
            with _read_no_further(document):
                yield document
    except HeldUp as error:
        if longest_s is None:
            raise
        message = f"It took longer than {longest_s:g} seconds: ask for less, or for a job that makes it."
        raise ReportTookTooLong(message) from error


@contextmanager
def _read_no_further(document: Document) -> Iterator[None]:
    """After the block no row is read any more: whoever stopped in the midst of a list leaves no cursor open."""
    try:
        yield
    finally:
        for section in document.sections:
            if isinstance(section.rows, Generator):
                section.rows.close()


def fix(engine: sqlalchemy.Engine, report: Report, asked: Asked, *, now: datetime) -> None:
    """
    Fix the instants of a question in each book that it is about: from then on the report says the same for ever.

    The later instant is resolved, which a stripe that has passed it has passed with the earlier one. The reference book
    comes first: from then on no jackpot is opened before the instant, so those that are there then are all that ever
    belong to it. What cannot be asked, and unknown names, are refused before anything is written.

    Raises: BadQuestion, UnknownJackpot, UnknownCasino, UnknownTable, UnknownRound; what `resolve` raises.
    """
    frame.require_possible(report, asked)
    read(engine, partial(frame.books_of, asked=asked))
    edges = [edge for edge in (asked.start, asked.end) if edge is not None]
    if not edges:
        return
    resolve(engine, REFERENCE_BOOK, max(edges), now=now)
    for jackpot_id in read(engine, partial(frame.books_of, asked=asked))[1:]:
        resolve(engine, jackpot_id, max(edges), now=now)


def positions_at(engine: sqlalchemy.Engine, jackpot_id: str, instant: datetime, *, now: datetime) -> Positions:
    """
    Fix an instant in a jackpot's book, and find where its stripes stood.

    Raises: UnknownJackpot; what `resolve` raises.
    """
    read(engine, partial(references.require_base, jackpot_id=jackpot_id))
    resolve(engine, jackpot_id, instant, now=now)
    return read(engine, partial(instants.at, book=jackpot_id, instant=instant))
