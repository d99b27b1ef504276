"""The query of the finance page: a jackpot, a number of days, and the instant of every figure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from typing import Any, Final

import flask

from jackpot_service.api.request_context import look, now
from jackpot_service.api.schemas import RequestSchema
from jackpot_service.domain.facts import instant
from jackpot_service.pages.lists import ReadQuery, read_query
from jackpot_service.records import references
from jackpot_service.reports.finance.period import midnight
from jackpot_service.reports.questions import By, Question
from jackpot_service.usecases.fields import Identifier, Instant, QueryNumber

USUAL_DAYS: Final = 30

USUAL_S: Final = 10
"""Without an instant a page is as of the last second of the clock that is a multiple of it."""

CHOICES: Final = (7, 30, 90, 365)
"""The numbers of days to which the page has a link; any other may be typed."""

MOST_DAYS: Final = 366

HAS_NOT_COME: Final = "has not come yet"


class FinanceQuerySchema(RequestSchema):
    """Of which jackpot, for how many days up to which instant."""

    jackpot = Identifier(load_default=None)
    days = QueryNumber(1, MOST_DAYS, load_default=USUAL_DAYS)
    as_of = Instant(load_default=None)


@dataclass(frozen=True, slots=True)
class FinanceQuery:
    """
    The question that every figure of the page answers.

    Its period begins with a UTC day and ends at `as_of`; the day of `as_of` is the last of its `days`.
    """

    jackpot_id: str
    base: str
    days: int
    as_of: datetime

    @property
    def today(self) -> date:
        """The UTC day of the instant, which is not over."""
        return self.as_of.astimezone(UTC).date()

    @property
    def as_of_typed(self) -> str:
        """The instant as it may be typed."""
        return str(instant(self.as_of)).replace(".000000Z", "Z")

    @property
    def first_day(self) -> date:
        """The day with which the period begins."""
        return date.fromordinal(max(self.today.toordinal() - self.days + 1, 1))

    @property
    def start(self) -> datetime:
        """The instant at which the period begins."""
        return midnight(self.first_day)

    @property
    def since_beginning(self) -> Question:
        """The question about the jackpot from its beginning to the instant."""
        return Question(jackpot_id=self.jackpot_id, as_of=self.as_of)

    def question(self, *by: By) -> Question:
        """Return the question about the period, grouped perhaps."""
        return Question(jackpot_id=self.jackpot_id, start=self.start, as_of=self.as_of, by=by)

    def address(self, endpoint: str = "pages.show_finance", **values: Any) -> str:  # noqa: ANN401  as url_for takes
        """Return the address of a page that answers the same question."""
        stated = {"jackpot": self.jackpot_id, "days": self.days, "as_of": instant(self.as_of)}
        return flask.url_for(endpoint, **{**stated, **values})


@dataclass(frozen=True, slots=True)
class TypedQuery:
    """A query as it was typed, the jackpots there are, and what it asks: None if there are none, or it is wrong."""

    read: ReadQuery
    jackpot_ids: tuple[str, ...]
    query: FinanceQuery | None


def _usual(at: datetime) -> datetime:
    return at.replace(second=at.second - at.second % USUAL_S, microsecond=0)


def typed_query(typed: Mapping[str, str]) -> TypedQuery:
    """
    Read a query; without a jackpot it is about the first, without an instant see `USUAL_S`.

    Noting a new instant on each stripe makes bets wait, and panels are read once an instant. So all who look in ten
    seconds share one.

    Raises: UnknownJackpot.
    """
    names = [name for name in FinanceQuerySchema().fields if name in typed]
    read = read_query(FinanceQuerySchema(), {name: typed[name] for name in names})
    jackpot_ids = tuple(look(references.jackpot_ids))
    at = now()
    if read.values and read.values["as_of"] is not None and read.values["as_of"] > at:
        read = ReadQuery(read.typed, {}, {"as_of": HAS_NOT_COME})
    if not read.values or not jackpot_ids:
        return TypedQuery(read, jackpot_ids, None)
    jackpot_id = read.values["jackpot"] or jackpot_ids[0]
    base = look(partial(references.require_base, jackpot_id=jackpot_id))
    return TypedQuery(
        read,
        jackpot_ids,
        FinanceQuery(jackpot_id, base, read.values["days"], read.values["as_of"] or _usual(at)),
    )
