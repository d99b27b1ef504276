"""What a finance report is made of: what it can be asked, the books it stands on, and how it becomes a document."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final

from sqlalchemy import select

from jackpot_service.database.transactions import Session
from jackpot_service.domain.closed_periods import KeptReport, Period
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.errors import Refused
from jackpot_service.ledger import instants
from jackpot_service.ledger.instants import Positions
from jackpot_service.records import closed_periods, references, rounds
from jackpot_service.records.pinned import UnknownTable
from jackpot_service.records.rounds import UnknownRound
from jackpot_service.records.schema import JackpotRow
from jackpot_service.reports.documents import Document, Section
from jackpot_service.reports.finance import spans
from jackpot_service.reports.finance.spans import Part, Span
from jackpot_service.version import service_version

HEAD: Final = "head"
"""For those who ask for one section: what is asked, of when and by whom it was made, and where the books stood."""


class BadQuestion(Refused):
    """The report cannot be asked that."""

    code = "question-invalid"
    title = "Invalid parameters of the report"


class By(StrEnum):
    """What rows are summed by."""

    JACKPOT = "jackpot"
    CASINO = "casino"
    TABLE = "table"
    CURRENCY = "currency"
    DAY = "day"
    MONTH = "month"
    CYCLE = "cycle"


class Takes(StrEnum):
    """What a report can be asked besides of which jackpot, period and instant."""

    CASINO = "casino_id"
    TABLE = "table_id"
    ROUND = "round_id"
    BY = "by"


@dataclass(frozen=True, slots=True)
class Asked:
    """
    What somebody asks of a report: of all jackpots or one, and so of casinos, tables and rounds.

    `start` is included and `end` is not; None is the beginning of the books, and all that is booked now. A round that
    is open for longer than `longest_open` is an exception.
    """

    jackpot_id: str | None = None
    casino_id: str | None = None
    table_id: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    by: tuple[By, ...] = ()
    round_id: str | None = None
    longest_open: timedelta = field(default=timedelta(minutes=15), compare=False)


@dataclass(frozen=True, slots=True)
class Stand:
    """A jackpot's book as a report sees it: the part that it covers, and where it stood before and at the end."""

    jackpot_id: str
    base: str
    start: Positions
    end: Positions
    span: Span


@dataclass(frozen=True, slots=True)
class Scope:
    """What a report is made from: the question, the books, and the acts up to `acts_end` in the reference book."""

    asked: Asked
    stands: Sequence[Stand]
    acts_end: int
    made_at: datetime


@dataclass(frozen=True, slots=True)
class Report:
    """
    A report: how it is called, what it takes, and how its sections are made, in a session that sees one instant.

    `by` are the groupings that it knows, `usual` what it does unless asked, the first of them if that is not said.
    `sections` are their names, in their order, whatever is asked. `needs` is what has to be stated of what it takes.
    `is_for_casinos` tells whether somebody who is bound to a casino may ask it, of that casino. `is_kept` tells whether
    closing a period keeps its hash; `report_version` is raised whenever the same books make it say something else.
    """

    name: str
    title: str
    make: Callable[[Session, Scope], Sequence[Section]]
    takes: frozenset[Takes] = field(default_factory=frozenset)
    by: tuple[By, ...] = ()
    usual: tuple[By, ...] = ()
    sections: tuple[str, ...] = ()
    needs: frozenset[Takes] = field(default_factory=frozenset)
    is_for_casinos: bool = False
    is_kept: bool = True
    report_version: int = 1


def books_of(session: Session, asked: Asked) -> tuple[str, ...]:
    """
    The books that a report stands on: the reference book, then jackpots by id.

    Raises: UnknownJackpot; UnknownCasino; UnknownTable, also for one of another casino than is asked about;
    UnknownRound, if no table that is asked about has one of its id now, whatever the period.
    """
    if asked.casino_id is not None:
        references.require_casino(session, asked.casino_id)
    if asked.table_id is not None:
        _require_table(session, asked.table_id, casino_id=asked.casino_id)
    jackpot_ids = _jackpots_of(session, asked)
    if asked.round_id is not None:
        _require_round(session, jackpot_ids, asked.round_id, asked)
    return (REFERENCE_BOOK, *jackpot_ids)


def _jackpots_of(session: Session, asked: Asked) -> Sequence[str]:
    if asked.jackpot_id is None:
        return references.jackpot_ids(session)
    references.require_base(session, asked.jackpot_id)
    return (asked.jackpot_id,)


def _require_table(session: Session, table_id: str, *, casino_id: str | None) -> None:
    table = references.table(session, table_id)
    if table is None or casino_id not in {None, table.casino_id}:
        message = f"There is no table {table_id}."
        raise UnknownTable(message, table_id=table_id)


def _require_round(session: Session, jackpot_ids: Iterable[str], round_id: str, asked: Asked) -> None:
    of = {"casino_id": asked.casino_id, "table_id": asked.table_id}
    if not any(rounds.is_at_some_table(session, one, round_id, **of) for one in jackpot_ids):
        message = f"No table that is asked about has a round {round_id}."
        raise UnknownRound(message, round_id=round_id)


def require_possible(report: Report, asked: Asked) -> None:
    """Raises: BadQuestion for what the report does not take, or needs, or a period that ends before it begins."""
    stated = {
        Takes.CASINO: asked.casino_id,
        Takes.TABLE: asked.table_id,
        Takes.ROUND: asked.round_id,
        Takes.BY: asked.by,
    }
    for name, value in stated.items():
        if value and name not in report.takes:
            message = f"The report {report.name} takes no {name}."
            raise BadQuestion(message)
        if not value and name in report.needs:
            message = f"The report {report.name} needs a {name}."
            raise BadQuestion(message)
    unknown = [by for by in asked.by if by not in report.by]
    if unknown or len(set(asked.by)) < len(asked.by):
        message = f"The report {report.name} sums by {', '.join(report.by) or 'nothing'}, each once."
        raise BadQuestion(message)
    if asked.start is not None and asked.end is not None and asked.end < asked.start:
        message = "The period ends before it begins."
        raise BadQuestion(message)


def require_section(report: Report, name: str | None) -> None:
    """Raises: BadQuestion for one that the report does not have; None is all of them, HEAD what stands above them."""
    if name not in {None, HEAD, *report.sections}:
        message = f"The report {report.name} has no section {name}; it has {', '.join((HEAD, *report.sections))}."
        raise BadQuestion(message)


def make(session: Session, report: Report, asked: Asked, *, made_at: datetime) -> Document:
    """
    Make a report, in a session that sees one instant; its rows may be read while it is written out.

    It says the same for ever if the instants that are asked about were resolved before.
    """
    scope = _scope(session, asked, made_at=made_at)
    stated = {
        "jackpot": asked.jackpot_id,
        "casino": asked.casino_id,
        "table": asked.table_id,
        "round": asked.round_id,
        "by": ", ".join(asked.by),
    }
    return Document(
        name=report.name,
        title=report.title,
        version=service_version(),
        made_at=made_at,
        start=asked.start,
        end=asked.end,
        scope={name: value for name, value in stated.items() if value},
        positions={REFERENCE_BOOK: (scope.acts_end,), **{stand.jackpot_id: stand.end for stand in scope.stands}},
        opening_positions={stand.jackpot_id: stand.start for stand in scope.stands if asked.start and stand.start},
        sections=report.make(session, scope),
        report_version=report.report_version,
        kept=kept(session, report, asked),
    )


def kept(session: Session, report: Report, asked: Asked) -> KeptReport | None:
    """What was kept of a report, in any version, if it was: of exactly its period, and of the whole house."""
    if asked.end is None or asked != Asked(start=asked.start, end=asked.end):
        return None
    closed = closed_periods.find(session, Period(asked.start, asked.end))
    return None if closed is None else closed.reports.get(report.name)


def until_start(session: Session, stand: Stand) -> Stand:
    """The part of a jackpot's book before the one that a report covers: what opening balances are summed from."""
    return _from_the_beginning(session, stand, stand.start)


def until_end(session: Session, stand: Stand) -> Stand:
    """A jackpot's book from its beginning to the end of what a report covers: what closing balances are summed from."""
    return _from_the_beginning(session, stand, stand.end)


def whole_days(stand: Stand) -> Stand:
    """The whole days of a part, and nothing beside them."""
    return replace(stand, span=replace(stand.span, beside=()))


def one_by_one(jackpot_id: str, base: str, part: Part) -> Stand:
    """A part of a jackpot's book for those who read all of its entries: no day of it is taken as a whole."""
    return Stand(jackpot_id, base, part.start, part.end, Span(jackpot_id, part, date.min, date.min, [part]))


def _from_the_beginning(session: Session, stand: Stand, end: Positions) -> Stand:
    nothing = (0,) * len(end)
    span = spans.between(session, stand.jackpot_id, nothing, end)
    return Stand(stand.jackpot_id, stand.base, nothing, end, span)


def _scope(session: Session, asked: Asked, *, made_at: datetime) -> Scope:
    def at(book: str, instant: datetime | None) -> Positions:
        return instants.now(session, book) if instant is None else instants.at(session, book, instant)

    stands = []
    for jackpot_id in books_of(session, asked)[1:]:
        end = at(jackpot_id, asked.end)
        if not any(end):
            continue  # It was opened later; what is told of earlier does not change by that.
        start = (0,) * len(end) if asked.start is None else at(jackpot_id, asked.start)
        base = session.execute(select(JackpotRow.base).where(JackpotRow.jackpot_id == jackpot_id)).scalar_one()
        stands.append(Stand(jackpot_id, base, start, end, spans.between(session, jackpot_id, start, end)))
    return Scope(asked, stands, sum(at(REFERENCE_BOOK, asked.end)), made_at)
