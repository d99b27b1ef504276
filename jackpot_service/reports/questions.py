"""A question about a report, for the API, the command line and jobs; and the instants that its days stand for."""

import zoneinfo
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Any, ClassVar, Final

from marshmallow import ValidationError
from marshmallow import fields as schema_fields

from jackpot_service.database.transactions import Session
from jackpot_service.domain.casinos import UTC_ZONE, Casino, gaming_day_start
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.facts import instant
from jackpot_service.domain.journal import Movement
from jackpot_service.records import references
from jackpot_service.records.references import UnknownCasino
from jackpot_service.reports.finance.period import midnight
from jackpot_service.usecases.fields import (
    AccountName,
    CurrencyCode,
    Identifier,
    Instant,
    InstantOrDay,
    ListOf,
    ReadField,
    StrictSchema,
)

Edge = datetime | date
"""Where a period begins or ends: an instant; or a day, at the instant at which it starts."""

MINUTE: Final = timedelta(minutes=1)

_EDGE: Final = (
    "An instant, or a day: the gaming day of the casino that the report is about, if it is about one; otherwise a day "
    "of UTC."
)


class BadQuestion(Refused, code="question-invalid", title="Invalid parameters of the report"):
    """The report does not have such an answer."""


class By(StrEnum):
    """A grouping of rows."""

    JACKPOT = "jackpot"
    CASINO = "casino"
    TABLE = "table"
    CURRENCY = "currency"
    DAY = "day"
    MONTH = "month"
    CYCLE = "cycle"


class Parameter(StrEnum):
    """A parameter of a report, besides jackpot, period and instant."""

    CASINO = "casino_id"
    TABLE = "table_id"
    ROUND = "round_id"
    ACCOUNT = "account"
    CURRENCY = "currency"
    MOVEMENT = "movement"
    BY = "by"

    @property
    def noun(self) -> str:
        """The word for what it states."""
        return "grouping" if self is Parameter.BY else self.removesuffix("_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """
    The jackpot, casino, table and round that a report is about; or the account, currency and movement of postings.

    None is all of them. Last come the groupings.
    """

    jackpot_id: str | None = None
    casino_id: str | None = None
    table_id: str | None = None
    round_id: str | None = None
    account: str | None = None
    currency: str | None = None
    movement: Movement | None = None
    by: tuple[By, ...] = ()

    @property
    def stated(self) -> dict[str, Any]:
        """The filters, and the groupings, by their names."""
        return {field_.name: getattr(self, field_.name) for field_ in fields(Filters)}

    @property
    def in_sql(self) -> dict[str, str | None]:
        """The parameters of a statement about a casino or a table; None for all of them."""
        return {"casino_id": self.casino_id, "table_id": self.table_id}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Filters):
    """
    A question about a report.

    `start` is included, `end` and `as_of` are not; the earlier of these two ends the report, once both have come. A day
    starts at 00:00 UTC; in a report of one casino, or of one of its tables, with the casino's gaming day.
    """

    start: Edge | None = None
    end: Edge | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters(Filters):
    """
    The parameters of a report, with instants in the place of days.

    `start` is included and `end` is not; None is the beginning of the books, and all that is booked now. A round that
    is open for longer than `longest_open` is an exception.
    """

    start: datetime | None = None
    end: datetime | None = None
    longest_open: timedelta = field(default=15 * MINUTE, compare=False)

    def as_json(self) -> dict[str, Any]:
        """Return the parameters as a job stores them."""
        edges = {"from": instant(self.start), "to": instant(self.end)}
        return {**edges, **self.stated, "by": list(self.by), "open_round_minutes": self.longest_open // MINUTE}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Parameters":
        """Read parameters as a job stored them; one that is stored by an earlier version names fewer."""
        filters: dict[str, Any] = {field_.name: stored.get(field_.name) for field_ in fields(Filters)}
        start, end = (None if stored[edge] is None else datetime.fromisoformat(stored[edge]) for edge in ("from", "to"))
        filters["by"] = tuple(map(By, stored["by"]))
        filters["movement"] = None if filters["movement"] is None else Movement(filters["movement"])
        return cls(**filters, start=start, end=end, longest_open=stored["open_round_minutes"] * MINUTE)


class Grouping(ReadField[By]):
    """A grouping of rows."""

    described: ClassVar = {"type": "string", "enum": list(By)}

    def read(self, value: object) -> By:
        """Raises: ValidationError."""
        if value in list(By):
            return By(str(value))
        message = f"must be one of {', '.join(By)}"
        raise ValidationError(message)


class QuestionSchema(StrictSchema):
    """A question: the API reads it from a query, a job from its parameters, the command line from its options."""

    start = InstantOrDay(data_key="from", metadata={"description": f"Included. {_EDGE}"})
    end = InstantOrDay(data_key="to", metadata={"description": f"Not included. {_EDGE}"})
    as_of = Instant(metadata={"description": "The state before this instant, whatever came later."})
    jackpot_id = Identifier()
    casino_id = Identifier()
    table_id = Identifier()
    round_id = Identifier()
    account = AccountName(
        metadata={
            "description": "Of the report `postings`: this account only. `pool:meter` names both parts of the meter."
        }
    )
    currency = CurrencyCode(metadata={"description": "Of the report `postings`: in this currency only."})
    movement = schema_fields.Enum(Movement, by_value=True)
    by: ReadField[tuple[By, ...]] = ListOf(Grouping(), most=len(By))


def question_of(values: Mapping[str, Any]) -> Question:
    """Return the question that loaded values ask; those of other names are not looked at."""
    named = {field_.name: values.get(field_.name) for field_ in fields(Question)}
    return Question(**{name: value for name, value in named.items() if value is not None})


def within_casino(question: Question, own: str | None) -> Question:
    """
    Return the question of a key that is bound to a casino, or to none: it is about that casino.

    Raises: UnknownCasino if it names another.
    """
    if own is None:
        return question
    if question.casino_id not in {None, own}:
        message = f"There is no casino {question.casino_id}."
        raise UnknownCasino(message, casino_id=question.casino_id)
    return replace(question, casino_id=own)


def edges_of(session: Session, question: Question) -> tuple[datetime | None, datetime | None]:
    """Return the instants at which a question's period begins and ends. Raises: BadQuestion, UnknownCasino."""
    casino = _casino(session, question)
    return _instant(question.start, casino), _instant(question.end, casino)


def _instant(edge: Edge | None, casino: Casino | None) -> datetime | None:
    """Raises: BadQuestion for a day at an end of the calendar that starts in no year that there is."""
    if edge is None or isinstance(edge, datetime):
        return edge
    if casino is None or casino.has_plain_days:
        return midnight(edge)
    zone = UTC if casino.zone == UTC_ZONE else zoneinfo.ZoneInfo(casino.zone)
    try:
        return gaming_day_start(edge, zone, casino.day_starts)
    except OverflowError:
        message = f"There is no {edge} in {casino.zone}."
        raise BadQuestion(message) from None


def _casino(session: Session, question: Question) -> Casino | None:
    """Return the casino whose days are meant. A table that is not there is refused when the report is made."""
    casino_id = question.casino_id
    if casino_id is None and question.table_id is not None:
        table = references.table(session, question.table_id)
        casino_id = None if table is None else table.casino_id
    return None if casino_id is None else references.require_casino(session, casino_id)
