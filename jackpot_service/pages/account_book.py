"""An account of a jackpot: its balance, and the entries that make it, the latest first, each with its document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final

import flask
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response

from jackpot_service.api.problems import problem_of
from jackpot_service.api.reports import opened_report
from jackpot_service.api.request_context import look, now
from jackpot_service.domain.errors import Conflict, LedgerError, Refused
from jackpot_service.domain.journal import Movement
from jackpot_service.ledger.instants import Positions
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.drill_down import links_of
from jackpot_service.pages.lists import ReadQuery, address_with
from jackpot_service.pages.report_forms import LABELS, Field, field_of, read_parameters
from jackpot_service.pages.reports import READERS
from jackpot_service.pages.shown_reports import ShownSection, Window, shown_sections
from jackpot_service.reports.account_entries import AccountFilter, AccountLook, latest_entries
from jackpot_service.reports.documents import Document, as_text
from jackpot_service.reports.finance import postings
from jackpot_service.reports.making import ReportTookTooLong

NAME: Final = postings.REPORT.name

FIELDS: Final = ("from", "to", "as_of", "currency", "movement")

ENTRIES_A_PAGE: Final = 50

MOST_LINES: Final = 500
"""Currencies, and movements in each, that the sums above the entries show."""

NOTHING: Final = AccountLook((), None)

_LONGEST_CURSOR: Final = 4_000

_REFUSALS: Final = (Refused, Conflict, ReportTookTooLong)


@dataclass(frozen=True, slots=True)
class AccountPage:
    """An account as its page shows it, in a period."""

    jackpot_id: str
    account: str
    document: Document
    sections: Sequence[ShownSection]
    look: AccountLook


@blueprint.route("/accounts/<id:jackpot_id>/<account>", methods=["GET"])
@people(*READERS, of_house=True)
def show_account_book(jackpot_id: str, account: str) -> Response:
    """
    Show an account: balances, what moved it, and entries by keyset. Raises: UnknownJackpot.

    Raises: NotFound for what is no name of an account.
    """
    args = flask.request.args
    query = read_parameters(
        {name: args.get(name, "") for name in FIELDS} | {"jackpot_id": jackpot_id, "account": account}
    )
    if "account" in query.errors:
        raise NotFound
    if query.errors:
        return flask.Response(_page(jackpot_id, account, query, None), HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        shown = _account(jackpot_id, account, query.values)
    except _REFUSALS as error:
        return _refused(jackpot_id, account, query, error)
    return flask.Response(_page(jackpot_id, account, query, shown))


def _account(jackpot_id: str, account: str, values: Mapping[str, Any]) -> AccountPage:
    with opened_report(values, NAME) as opened:
        balances = replace(opened.document, sections=opened.document.sections[:2])
        sections = list(shown_sections(balances, Window(0, MOST_LINES, is_exact=True), links_of(balances)))
    end = balances.positions.get(jackpot_id, ())
    sought = AccountFilter(
        jackpot_id, postings.accounts_named(account) or (), values.get("currency"), values.get("movement")
    )
    start, upto = balances.opening_positions.get(jackpot_id, ()), _cursor(end) or end
    seen = look(lambda session: latest_entries(session, sought, start=start, end=upto, limit=ENTRIES_A_PAGE))
    return AccountPage(jackpot_id, account, balances, sections, seen)


def _cursor(end: Positions) -> Positions | None:
    """Read where the list goes on: a position of each stripe, none of them after the end. None if there is none."""
    text = flask.request.args.get("after", "")
    parts = text.split(".") if len(text) <= _LONGEST_CURSOR else []
    if len(parts) != len(end) or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    positions = tuple(map(int, parts))
    return positions if all(seq <= last for seq, last in zip(positions, end, strict=True)) else None


def _refused(jackpot_id: str, account: str, query: ReadQuery, error: LedgerError) -> Response:
    field = field_of(error, query.values, now=now())
    read = ReadQuery(query.typed, {}, {field: error.detail} if field else {})
    page = _page(jackpot_id, account, read, None, alert="" if field else error.detail)
    return flask.Response(page, problem_of(error, instance=flask.request.path).status)


def _page(jackpot_id: str, account: str, query: ReadQuery, shown: AccountPage | None, *, alert: str = "") -> str:
    typed = {name: value for name, value in query.typed.items() if name in FIELDS}
    down_to = None if shown is None or shown.look.down_to is None else ".".join(map(str, shown.look.down_to))
    return flask.render_template(
        "account_book.html",
        jackpot_id=jackpot_id,
        account=account,
        shown=shown,
        document=None if shown is None else shown.document,
        alert=alert,
        fields=[Field(name, LABELS[name], typed.get(name, ""), error=query.errors.get(name, "")) for name in FIELDS],
        movements=list(Movement),
        file_address=lambda section: flask.url_for(
            "pages.send_report",
            name=NAME,
            section=section,
            format="csv",
            jackpot_id=jackpot_id,
            account=account,
            **dict[str, Any](typed),
        ),
        as_of_address=None if shown is None else address_with({**typed, "as_of": as_text(shown.document.made_at)}),
        next_page=None if down_to is None else address_with(typed, after=down_to),
        first_page=address_with(typed) if flask.request.args.get("after") else None,
    )
