"""The frame of finance reports: their parameters, the books they stand on, and how they become documents."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import select, text

from jackpot_service.database import long_lists
from jackpot_service.database.models import JackpotRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain import currencies
from jackpot_service.domain.closed_periods import KeptReport, Period
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.ledger import instants
from jackpot_service.ledger.instants import Positions
from jackpot_service.records import checkpoints, references, rounds
from jackpot_service.records.immutable import UnknownTable
from jackpot_service.records.rounds import UnknownRound
from jackpot_service.reports.documents import HEAD, Column, Document, Row, Section
from jackpot_service.reports.finance import period
from jackpot_service.reports.finance.period import BookPeriod
from jackpot_service.reports.questions import BadQuestion, By, Parameter, Parameters
from jackpot_service.version import service_version


@dataclass(frozen=True, slots=True)
class Scope:
    """The basis of a report: its parameters, the books, and the acts up to `acts_end` in the reference book."""

    parameters: Parameters
    books: Sequence[BookPeriod]
    acts_end: int
    made_at: datetime


@dataclass(frozen=True, slots=True)
class Report:
    """
    A report: its name and title, its parameters, and how its sections are made, in a session that sees one instant.

    `by` are its groupings; `default` are those of a question that names none, the first of them unless stated.
    `sections` are the names of its sections, in their order, whatever the question. `optional` parameters may be
    stated, `required` ones must be. `is_for_casinos`: a key that is bound to a casino may read it, of that casino.
    `is_kept`: closing a period keeps its hash. `report_version` is raised whenever it says something else of the same
    books. `signs` says, in the head of a report of balances, who owes a positive one.
    """

    name: str
    title: str
    make: Callable[[Session, Scope], Sequence[Section]]
    optional: frozenset[Parameter] = frozenset()
    by: tuple[By, ...] = ()
    default: tuple[By, ...] = ()
    sections: tuple[str, ...] = ()
    required: frozenset[Parameter] = field(default_factory=frozenset)
    is_for_casinos: bool = False
    is_kept: bool = True
    report_version: int = 1
    signs: str | None = None


def books_of(session: Session, parameters: Parameters) -> tuple[str, ...]:
    """
    Return the books that a report stands on: the reference book, then jackpots by id.

    Raises: UnknownJackpot; UnknownCasino; UnknownTable, also for one of another casino than the report's;
    UnknownRound, if no table of the report has a round of its id now, whatever the period.
    """
    if parameters.casino_id is not None:
        references.require_casino(session, parameters.casino_id)
    if parameters.table_id is not None:
        _require_table(session, parameters.table_id, casino_id=parameters.casino_id)
    jackpot_ids = _jackpots_of(session, parameters)
    if parameters.round_id is not None:
        _require_round(session, jackpot_ids, parameters.round_id, parameters)
    return (REFERENCE_BOOK, *jackpot_ids)


def _jackpots_of(session: Session, parameters: Parameters) -> Sequence[str]:
    if parameters.jackpot_id is None:
        return references.jackpot_ids(session)
    references.require_base(session, parameters.jackpot_id)
    return (parameters.jackpot_id,)


def _require_table(session: Session, table_id: str, *, casino_id: str | None) -> None:
    table = references.table(session, table_id)
    if table is None or casino_id not in {None, table.casino_id}:
        message = f"There is no table {table_id}."
        raise UnknownTable(message, table_id=table_id)


def _require_round(session: Session, jackpot_ids: Iterable[str], round_id: str, parameters: Parameters) -> None:
    if not any(
        rounds.is_at_some_table(session, jackpot_id, round_id, **parameters.in_sql) for jackpot_id in jackpot_ids
    ):
        message = f"No table that is asked about has a round {round_id}."
        raise UnknownRound(message, round_id=round_id)


def require_possible(report: Report, parameters: Parameters) -> None:
    """
    Refuse what no report can answer.

    Raises: BadQuestion for parameters that the report does not have, or lacks, or a period that ends too early;
    UnknownCurrency.
    """
    for name in Parameter:
        is_stated = bool(parameters.stated[name])
        if is_stated and name not in report.optional | report.required:
            message = f"The report {report.name} takes no {name.noun}."
            raise BadQuestion(message)
        if not is_stated and name in report.required:
            message = f"The report {report.name} needs a {name.noun}."
            raise BadQuestion(message)
    if not set(parameters.by) <= set(report.by) or len(set(parameters.by)) < len(parameters.by):
        message = f"The report {report.name} sums by {', '.join(report.by) or 'nothing'}, each once."
        raise BadQuestion(message)
    if parameters.currency is not None:
        currencies.known(parameters.currency)
    if parameters.start is not None and parameters.end is not None and parameters.end < parameters.start:
        message = "The period ends before it begins."
        raise BadQuestion(message)


def require_section(report: Report, name: str | None) -> None:
    """Raises: BadQuestion for a section that the report does not have; None is all of them, HEAD their head."""
    if name not in {None, HEAD, *report.sections}:
        message = f"The report {report.name} has no section {name}; it has {', '.join((HEAD, *report.sections))}."
        raise BadQuestion(message)


def make(session: Session, report: Report, parameters: Parameters, *, made_at: datetime) -> Document:
    """
    Make a report, in a session that sees one instant; its rows may be read while it is written out.

    It says the same for ever if the instants of its parameters were resolved before.
    """
    scope = _scope(session, parameters, made_at=made_at)
    stated = {name.removesuffix("_id"): value for name, value in parameters.stated.items()}
    stated["by"] = ", ".join(parameters.by)
    return Document(
        name=report.name,
        title=report.title,
        version=service_version(),
        made_at=made_at,
        start=parameters.start,
        end=parameters.end,
        scope={name: value for name, value in stated.items() if value},
        positions={REFERENCE_BOOK: (scope.acts_end,), **{book.jackpot_id: book.end for book in scope.books}},
        opening_positions={book.jackpot_id: book.start for book in scope.books if parameters.start and book.start},
        sections=report.make(session, scope),
        report_version=report.report_version,
        kept_report=kept_report_of(session, report, parameters),
        signs=report.signs,
    )


def kept_report_of(session: Session, report: Report, parameters: Parameters) -> KeptReport | None:
    """Return the hash of a report, in any version, that was kept of exactly its period and of the whole house."""
    if parameters.end is None or parameters != Parameters(start=parameters.start, end=parameters.end):
        return None
    closed = checkpoints.find_period(session, Period(parameters.start, parameters.end))
    return None if closed is None else closed.reports.get(report.name)


def _scope(session: Session, parameters: Parameters, *, made_at: datetime) -> Scope:
    def at(book: str, instant: datetime | None) -> Positions:
        return instants.now(session, book) if instant is None else instants.at(session, book, instant)

    books = []
    for jackpot_id in books_of(session, parameters)[1:]:
        end = at(jackpot_id, parameters.end)
        if not any(end):
            continue  # The jackpot was opened later; reports of earlier instants do not change by that.
        start = (0,) * len(end) if parameters.start is None else at(jackpot_id, parameters.start)
        base = session.execute(select(JackpotRow.base).where(JackpotRow.jackpot_id == jackpot_id)).scalar_one()
        books.append(period.between(session, jackpot_id, base, start, end))
    return Scope(parameters, books, sum(at(REFERENCE_BOOK, parameters.end)), made_at)


@dataclass(frozen=True, slots=True)
class LongList:
    """
    A list that is as long as the books, read through a cursor of the server while it is written out.

    The statement's aliases are the columns after the jackpot and its base currency, which come first in each row.
    `more` are parameters of its own. `joins_by_hash` is for a statement that needs `long_lists.joining_by_hash`.
    """

    session: Session
    statement: str
    scope: Scope
    columns: Sequence[Column]
    more: Mapping[str, Any] = field(default_factory=dict)
    joins_by_hash: bool = False
    _readings: list[Generator[Row, None, None]] = field(default_factory=list, init=False)

    def __iter__(self) -> Iterator[Row]:
        """Read the rows, a page at a time: nothing else may be asked of the session until all are read, or `close`."""
        reading = self._rows()
        self._readings.append(reading)
        return reading

    def close(self) -> None:
        """End every reading, also one that stands still: somebody may hold it, such as the traceback of an error."""
        for reading in self._readings:
            reading.close()
        self._readings.clear()

    def _rows(self) -> Generator[Row, None, None]:
        names = [column.name for column in self.columns[2:]]
        for book in self.scope.books:
            query = {**list_parameters(self.scope, book), **self.more}
            of_book = book.jackpot_id, book.base
            reading = long_lists.rows_of(self.session, self.statement, query, names, joins_by_hash=self.joins_by_hash)
            with closing(reading) as rows:
                for row in rows:
                    yield of_book + row

    def count(self) -> int:
        """Count the rows: the database looks for all of them, and hands over none."""
        query = text(f"SELECT count(*) FROM ({self.statement}) AS listed")  # noqa: S608  it counts a statement of a report
        with long_lists.joining_by_hash(self.session) if self.joins_by_hash else nullcontext():
            counts = [
                self.session.scalar(query, {**list_parameters(self.scope, book), **self.more})
                for book in self.scope.books
            ]
        return sum(count for count in counts if count is not None)

    def section(self, name: str, title: str) -> Section:
        """Return the list as a section."""
        return Section(name, title, self.columns, self, self.count)


def list_parameters(scope: Scope, book: BookPeriod) -> Mapping[str, Any]:
    """
    Return the parameters of a statement about all entries of a period, one by one.

    `start` and `upto` bound stripe 0. `as_of` is the end.
    """
    bounds = book.bounds
    return {
        **bounds,
        "start": bounds["starts"][0],
        "upto": book.end[0],
        "acts_end": scope.acts_end,
        "as_of": scope.parameters.end or scope.made_at,
        **scope.parameters.in_sql,
        "round_id": scope.parameters.round_id,
    }
