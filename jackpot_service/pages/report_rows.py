"""Rows of reports for pages: made as the API makes them, within the same places and bounds; and links to reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jackpot_service.api.reports import opened_question
from jackpot_service.domain.facts import instant
from jackpot_service.pages.links import page_address
from jackpot_service.reports import making
from jackpot_service.reports.finance.registry import report_of
from jackpot_service.reports.questions import Question

Rows = Sequence[Mapping[str, Any]]
"""Rows of a section, each by the names of its columns."""


def report_rows(name: str, question: Question, *sections: str) -> Sequence[Rows]:
    """Make a report, and return the rows of some of its sections. Raises: as `opened_question`."""
    with opened_question(report_of(name), question) as opened:
        by_name = {section.name: section for section in making.bounded(opened.in_time).sections}
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
    """Return where a report stands as a page; None if that is not for the reader."""
    stated = {
        "jackpot_id": question.jackpot_id,
        "from": _instant(question.start),
        "as_of": _instant(question.as_of),
        "by": ",".join(question.by),
        **more,
    }
    return page_address("pages.show_report", name=name, **stated)


def statement_link(casino_id: str, question: Question) -> str | None:
    """Return where a casino's statement of a period stands; None if that is not for the reader."""
    stated = {"from": _instant(question.start), "to": _instant(question.as_of)}
    return page_address("pages.show_statement", casino_id=casino_id, **stated)


def account_link(jackpot_id: str, account: str, currency: str, *, end: datetime | None) -> str | None:
    """Return where an account of a jackpot's book stands, up to an instant; None if that is not for the reader."""
    stated = {"to": instant(end), "currency": currency}
    return page_address("pages.show_account_book", jackpot_id=jackpot_id, account=account, **stated)


def _instant(edge: object) -> str | None:
    return instant(edge) if isinstance(edge, datetime) else None
