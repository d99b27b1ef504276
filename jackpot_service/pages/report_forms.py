"""The form of a report, made from what the report itself says that it takes; and at which field a refusal belongs."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from jackpot_service.api.reports import ReportQuerySchema
from jackpot_service.domain.currencies import UnknownCurrency
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.shapes import DAY
from jackpot_service.pages.lists import ReadQuery, read_query
from jackpot_service.records.immutable import UnknownTable
from jackpot_service.records.references import UnknownCasino
from jackpot_service.records.rounds import UnknownRound
from jackpot_service.records.settings_in_force import UnknownJackpot
from jackpot_service.reports.finance.frame import Report
from jackpot_service.reports.finance.period import midnight
from jackpot_service.reports.making import InstantAhead
from jackpot_service.reports.questions import BadQuestion, Parameter

PARAMETERS: Final = (
    *("from", "to", "as_of", "jackpot_id", "casino_id", "table_id", "round_id"),
    *("account", "currency", "movement", "by", "section"),
)
"""The parameters of a query that pages take, in the words of the API."""

LABELS: Final[Mapping[str, str]] = {
    "from": "From",
    "to": "To, not included",
    "as_of": "As of, in UTC",
    "jackpot_id": "Jackpot",
    "casino_id": "Casino",
    "table_id": "Table",
    "round_id": "Round",
    "account": "Account",
    "currency": "Currency",
    "movement": "Movement",
    "by": "Rows by",
}

_PLACEHOLDERS: Final[Mapping[str, str]] = {
    "as_of": "2026-11-20T09:30:00Z",
    "account": "pool:reserve",
}

_FIELD_OF: Final[Mapping[type[LedgerError], str]] = {
    UnknownJackpot: "jackpot_id",
    UnknownCasino: "casino_id",
    UnknownTable: "table_id",
    UnknownRound: "round_id",
    UnknownCurrency: "currency",
}


@dataclass(frozen=True, slots=True)
class Field:
    """
    A field of the form: its name in a query, what stands in it, and what is wrong with it.

    Of `options` several may be chosen, of `choices` one: what each shows, by its value.
    """

    name: str
    label: str
    value: str
    options: Sequence[str] = ()
    choices: Mapping[str, str] = dataclasses.field(default_factory=dict)
    is_required: bool = False
    error: str = ""

    @property
    def is_day(self) -> bool:
        """Whether it is shown as a day: an instant is shown as a text, so that it stays as it is."""
        return self.name in {"from", "to"} and (not self.value or DAY.fullmatch(self.value) is not None)

    @property
    def placeholder(self) -> str:
        """An example of what it takes."""
        return _PLACEHOLDERS.get(self.name, "")

    @property
    def chosen(self) -> frozenset[str]:
        """Those of its options that are chosen, of several."""
        return frozenset(self.value.split(","))


def read_parameters(typed: Mapping[str, str]) -> ReadQuery:
    """Read a query as the API reads it."""
    return read_query(ReportQuerySchema(), typed)


def fields_of(
    report: Report, reader: Principal, query: ReadQuery, choices: Mapping[str, Mapping[str, str]]
) -> Sequence[Field]:
    """Return the fields of a report's form; somebody of a casino states none, for it is always theirs."""
    names = ["from", "to", "as_of", "jackpot_id"]
    for parameter in Parameter:
        is_taken = parameter in report.optional | report.required
        if is_taken and not (parameter is Parameter.CASINO and reader.casino_id is not None):
            names.append(parameter.value)
    return [
        Field(
            name,
            LABELS.get(name, name),
            query.typed.get(name, ""),
            options=report.by if name == Parameter.BY else (),
            choices=choices.get(name, {}),
            is_required=name in {parameter.value for parameter in report.required},
            error=query.errors.get(name, ""),
        )
        for name in names
    ]


def is_whole(report: Report, reader: Principal, typed: Mapping[str, str]) -> bool:
    """Return whether all is stated that the report cannot be made without."""
    return all(
        typed.get(parameter.value) or (parameter is Parameter.CASINO and reader.casino_id is not None)
        for parameter in report.required
    )


def field_of(error: LedgerError, values: Mapping[str, Any], *, now: datetime) -> str:
    """Return the name of the field at which a refusal belongs; empty for one that belongs to none."""
    if isinstance(error, InstantAhead):
        return next((name for name, value in _instants(values) if value is not None and _at(value) > now), "to")
    if isinstance(error, BadQuestion):
        return _field_of_question(error.detail, values)
    return next((name for kind, name in _FIELD_OF.items() if isinstance(error, kind)), "")


def _instants(values: Mapping[str, Any]) -> Sequence[tuple[str, Any]]:
    return [("to", values.get("end")), ("as_of", values.get("as_of")), ("from", values.get("start"))]


def _at(edge: datetime | date) -> datetime:
    return edge if isinstance(edge, datetime) else midnight(edge)


def _field_of_question(detail: str, values: Mapping[str, Any]) -> str:
    """A question that cannot be is refused in a sentence, which names the parameter, or is about the period."""
    if detail.startswith("The period"):
        return "to" if values.get("end") is not None else "as_of"
    if " sums by " in detail:
        return "by"
    return next((parameter.value for parameter in Parameter if detail.endswith(f" {parameter.value}.")), "")
