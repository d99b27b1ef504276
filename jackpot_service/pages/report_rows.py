"""Rows of reports for pages: made as the API makes them, within the same places and bounds; and links to reports."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote, urlencode

import flask
from werkzeug.exceptions import HTTPException

from jackpot_service.api.request_context import context, look, now, principal, report_place
from jackpot_service.database import deadlines
from jackpot_service.domain.facts import instant
from jackpot_service.pages import access
from jackpot_service.reports import making
from jackpot_service.reports.documents import Document
from jackpot_service.reports.finance.registry import report_of
from jackpot_service.reports.questions import Question

Rows = Sequence[Mapping[str, Any]]
"""Rows of a section, each by the names of its columns."""

REPORTS: Final = "/reports"
STATEMENTS: Final = "/statements"
ACCOUNTS: Final = "/accounts"
"""Where the pages of reports, statements and accounts stand, if the service has them."""


@contextmanager
def report(name: str, question: Question) -> Iterator[Document]:
    """
    Make a report, whose rows are read as long as the block runs.

    Raises: as `making.made`; Busy if no place is free.
    """
    config, at = context().config, now()
    with deadlines.anew(config.report_timeout_s + config.request_timeout_s), report_place():
        named = report_of(name)
        parameters = look(lambda session: making.parameters_of(session, named, question, config.longest_open, now=at))
        with making.made(context().engine, named, parameters, now=at, longest_s=config.report_timeout_s) as document:
            yield document


def report_rows(name: str, question: Question, *sections: str) -> Sequence[Rows]:
    """Make a report, and return the rows of some of its sections; see `report`."""
    with report(name, question) as document:
        by_name = {section.name: section for section in making.bounded(document).sections}
        return [
            [dict(zip((column.name for column in section.columns), row, strict=True)) for row in section.rows]
            for section in (by_name[name] for name in sections)
        ]


@dataclass(frozen=True, slots=True)
class Link:
    """An address, and what stands there."""

    text: str
    href: str


def report_link(name: str, question: Question, **more: str) -> str | None:
    """Return where a report stands as a page; None if there is no such page for the reader."""
    stated = {
        "jackpot_id": question.jackpot_id,
        "from": _instant(question.start),
        "as_of": _instant(question.as_of),
        "by": ",".join(question.by),
        **more,
    }
    return address_there(f"{REPORTS}/{quote(name)}", stated)


def statement_link(casino_id: str, question: Question) -> str | None:
    """Return where a casino's statement of a period stands; None if there is no such page for the reader."""
    stated = {"from": _instant(question.start), "to": _instant(question.as_of)}
    return address_there(f"{STATEMENTS}/{quote(casino_id)}", stated)


def account_link(jackpot_id: str, account: str, currency: str, *, end: datetime | None) -> str | None:
    """Return where an account of a jackpot's book stands, up to an instant; None if there is no page for the reader."""
    path = f"{ACCOUNTS}/{quote(jackpot_id)}/{quote(account, safe=':')}"
    return address_there(path, {"to": instant(end), "currency": currency})


def address_there(path: str, query: Mapping[str, str | None]) -> str | None:
    """Return an address of the service if it is one of a page that the reader may open."""
    adapter = flask.current_app.create_url_adapter(flask.request)
    if adapter is None:
        return None
    try:
        endpoint, _ = adapter.match(path, method="GET")
    except HTTPException:
        return None
    if not endpoint.startswith("pages.") or not access.audience_of(endpoint).admits(principal()):
        return None
    stated = urlencode({name: value for name, value in query.items() if value})
    return f"{path}?{stated}" if stated else path


def _instant(edge: object) -> str | None:
    return instant(edge) if isinstance(edge, datetime) else None
