"""Rate sheets: those in force, how rates moved, and any sheet with the two people who put it in force."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import flask
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response

from jackpot_service.api.lists import cursor, page
from jackpot_service.api.rate_views import HistoriesQuerySchema
from jackpot_service.api.rates import LARGEST_NUMBER
from jackpot_service.api.request_context import context, look, now, principal
from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Role
from jackpot_service.domain.rates import Rates, stated_rates
from jackpot_service.domain.shapes import CURRENCY
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.inbox import asks_for_rates, kinds_seen
from jackpot_service.pages.lists import address_with, read_query
from jackpot_service.pages.rate_charts import chart_of
from jackpot_service.pages.rate_moves import RateMove, rate_moves
from jackpot_service.records import change_policies
from jackpot_service.reports import rates
from jackpot_service.reports.gauges import sheet_age
from jackpot_service.reports.rates import RateInUse, SheetShown, UnknownSheet
from jackpot_service.usecases.changes.rate_sheet import ChangeRates

READERS: Final = (Role.FINANCE, Role.OPERATOR, Role.RATES, Role.AUDITOR)

MOST_CHARTS: Final = 4
"""So many currencies are drawn where nobody chooses one."""

SHEETS_SHOWN: Final = 50


@blueprint.route("/rates", methods=["GET"])
@people(*READERS, of_house=True)
def show_bases() -> str | Response:
    """Show the base currencies with their sheets in force; if there is only one, its page."""
    at = now()
    heads = look(lambda session: rates.sheets_in_force(session, at=at))
    if len(heads) == 1:
        return flask.redirect(flask.url_for("pages.show_rates", base=heads[0].base), 303)
    old = {head.base for head in heads if is_old(head.base, at=at)}
    return flask.render_template("rates_bases.html", heads=heads, at=at, old=old)


@blueprint.route("/rates/<id:base>", methods=["GET"])
@people(*READERS, of_house=True)
def show_rates(base: str) -> Response:
    """Show the sheet in force, what open rounds use, and the history of some currencies. Raises: NotFound."""
    shown = sheet_in_force(base)
    before, used = look(lambda session: (rates.sheet_before(session, shown.head), _used(session, base)))
    at, band = now(), context().config.rate_band
    moves = rate_moves(stated(before), stated(shown), band=band)
    typed = {"currency": flask.request.args.get("currency", ""), "after": flask.request.args.get("after", "")}
    query = read_query(HistoriesQuerySchema(), {**typed, "base": base, "limit": str(SHEETS_SHOWN)})
    drawn: Collection[str] = query.values.get("currency", ()) or sorted(stated(shown))[:MOST_CHARTS]
    listed: Mapping[str, Any] = {"items": (), "next": None} if query.errors else _histories(query.values, base, drawn)
    html = flask.render_template(
        "rates.html",
        shown=shown,
        rows=[(move, used.get(move.currency, ())) for move in (*moves.values(), *_left(used, moves, base))],
        used_base=used.get(base, ()),
        later=[head for head in _latest(base) if head.effective_at > at],
        at=at,
        band=band,
        is_old=is_old(base, at=at),
        may_ask=may_ask(),
        currencies=sorted(stated(shown)),
        drawn=drawn if query.typed.get("currency") else (),
        charts=[chart_of(code, base, listed["items"], band=band, at=at) for code in drawn],
        is_wrong=bool(query.errors),
        earlier=address_with({"currency": typed["currency"]}, after=listed["next"]) if listed["next"] else None,
        latest=address_with({"currency": typed["currency"]}) if "after" in query.typed else None,
    )
    return flask.Response(html, 422 if query.errors else 200)


@blueprint.route("/rates/<id:base>/<number:number>", methods=["GET"])
@people(*READERS, of_house=True)
def show_sheet(base: str, number: int) -> str:
    """Show a sheet and the two people who put it in force. Raises: UnknownSheet; NotFound."""
    require_currency(base)
    if number > LARGEST_NUMBER:
        raise NotFound
    at = now()

    def read(session: Session) -> Mapping[str, Any]:
        shown = rates.sheet_of_number(session, base, number)
        return {
            "shown": shown,
            "before": rates.sheet_before(session, shown.head),
            "publication": rates.publication(session, shown.head),
            "in_force": rates.sheet_in_force(session, base, at=at).head.number == number,
            "following": _following(session, base, number),
        }

    values = look(read)
    moves = rate_moves(stated(values["before"]), stated(values["shown"]), band=context().config.rate_band)
    seen = kinds_seen(principal(), look(change_policies.in_force))
    return flask.render_template(
        "rates_sheet.html", **values, moves=list(moves.values()), sees_change=ChangeRates.name in seen, at=at
    )


def sheet_in_force(base: str) -> SheetShown:
    """Read the sheet of a base currency that is in force now. Raises: NotFound if there is none."""
    require_currency(base)
    heads = look(lambda session: rates.sheets_in_force(session, at=now()))
    if base not in {head.base for head in heads}:
        raise NotFound
    return look(lambda session: rates.sheet_in_force(session, base, at=now()))


def require_currency(base: str) -> None:
    """Raises: NotFound for what is no code of a currency."""
    if not CURRENCY.fullmatch(base):
        raise NotFound


def may_ask() -> bool:
    """Whether who is signed in may ask for a change of rates, by the change policy in force."""
    return asks_for_rates(principal(), look(change_policies.in_force))


def require_may_ask() -> None:
    """Raises: NotFound for those who ask for no change of rates."""
    if not may_ask():
        raise NotFound


def stated(shown: SheetShown | None) -> Rates:
    """Return the rates of a sheet without that of the base currency; none of no sheet."""
    return {} if shown is None else stated_rates(shown.sheet)


def is_old(base: str, *, at: datetime) -> bool:
    """Whether the sheet in force is amber: it has rates, and they have not changed for too long."""
    stale_after = timedelta(seconds=context().config.rates_stale_after_s)
    return look(lambda session: sheet_age(session, base, at=at)).warning(at=at, stale_after=stale_after) is not None


def _used(session: Session, base: str) -> Mapping[str, Sequence[RateInUse]]:
    used: defaultdict[str, list[RateInUse]] = defaultdict(list)
    for rate in rates.rates_in_use(session, principal(), base):
        used[rate.currency].append(rate)
    return used


def _left(used: Collection[str], moves: Collection[str], base: str) -> list[RateMove]:
    """The currencies that neither this sheet has nor the one before, and that open rounds still use."""
    return [RateMove(code, None, None) for code in sorted({*used} - {*moves, base})]


def _latest(base: str) -> Sequence[Any]:
    return look(lambda session: rates.latest_sheets(session, base, limit=SHEETS_SHOWN, before=None))


def _following(session: Session, base: str, number: int) -> int | None:
    """The number of the next sheet, if there is one."""
    try:
        return rates.sheet_of_number(session, base, number + 1).head.number
    except UnknownSheet:
        return None


def _histories(values: Mapping[str, Any], base: str, currencies: Collection[str]) -> Mapping[str, Any]:
    return page(
        values,
        lambda session, limit: rates.histories(session, base, currencies, limit=limit, before=values["after"]),
        lambda then: cursor(then.head.number),
    )
