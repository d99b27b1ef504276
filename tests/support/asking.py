"""Asking for a report as finance does, over HTTP, and finding things in it."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.reports.finance import registry
from jackpot_service.reports.finance.frame import Report
from jackpot_service.reports.questions import Parameter
from tests.support.answers import Answer, Body
from tests.support.world import World

Rows = list[Mapping[str, Any]]


def stated(report: Report) -> dict[str, str]:
    """What has to be stated of a report that cannot be asked without."""
    return {"casino_id": "c1"} if Parameter.CASINO in report.required else {}


def report_answer(world: World, name: str, **query: object) -> Answer:
    """Ask for a report; `start` and `end` are its period."""
    named = {{"start": "from", "end": "to"}.get(key, key): _text(value) for key, value in query.items()}
    return world.get(f"/v1/reports/{name}?{urlencode(named)}", key=world.person("Fay", Role.FINANCE))


def report(world: World, name: str, **query: object) -> Body:
    """A report that can be asked."""
    return report_answer(world, name, **query).ok()


def rows(world: World, name: str, section: str | None = None, /, **query: object) -> Rows:
    """The rows of a section of a report, the first unless named."""
    return rows_of(report(world, name, **query), section)


def rows_of(document: Body, section: str | None = None) -> Rows:
    """The rows of a section of a report that was made."""
    return next(section_["rows"] for section_ in document["sections"] if section in {None, section_["name"]})


def only(every: Rows, **where: object) -> Mapping[str, Any]:
    """The one row that has these values."""
    (row,) = (row for row in every if where.items() <= row.items())
    return row


def raise_version(monkeypatch: pytest.MonkeyPatch, name: str) -> int:
    """Have the next version of a report, as a version of the service with other words for it would; its number."""
    later = replace(registry.REPORTS[name], report_version=registry.REPORTS[name].report_version + 1)
    monkeypatch.setattr(registry, "REPORTS", {**registry.REPORTS, name: later})
    return later.report_version


def figures(document: Body) -> Body:
    """What must be the same whenever a report is asked again: all but when it was made."""
    return {name: value for name, value in document.items() if name != "made_at"}


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
