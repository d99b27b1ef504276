"""Asking for reports over HTTP as finance does, and reading the rows."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from jackpot_service.domain.principals import Role
from tests.support.answers import Answer, Body
from tests.support.house import House

Row = dict[str, Any]


def ask(house: House, name: str, *, key: str | None = None, **query: object) -> Answer:
    """Ask for a report; instants as they are."""
    told = {
        {"start": "from", "end": "to"}.get(one, one): value.isoformat() if isinstance(value, datetime) else value
        for one, value in query.items()
    }
    return house.get(f"/v1/reports/{name}?{urlencode(told)}", key=key or house.person("Fay", Role.FINANCE))


def report(house: House, name: str, **query: object) -> Body:
    """Ask for a report that can be made."""
    return ask(house, name, **query).ok()


def rows(document: Body, section: str) -> list[Row]:
    """The rows of a section, amounts as numbers."""
    (found,) = (one for one in document["sections"] if one["name"] == section)
    figures = {one["name"] for one in found["columns"] if one["sort"] in {"amount", "number", "percent"}}
    return [{name: _read(value, name in figures) for name, value in row.items()} for row in found["rows"]]


def _read(value: Any, is_figure: bool) -> Any:  # noqa: FBT001
    return Decimal(value) if is_figure and value is not None else value


def but_made_at(document: Body) -> Body:
    """The report as it must be whenever it is asked for the same instant."""
    return {name: value for name, value in document.items() if name != "made_at"}
