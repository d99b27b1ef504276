"""Jackpots: the list, and of each its state, rules, hits and history."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import flask
from marshmallow import ValidationError

from jackpot_service.api.audit import AuditQuerySchema
from jackpot_service.api.jackpots import HitsQuerySchema, JackpotsQuerySchema
from jackpot_service.api.lists import MOST_LISTED, cursor, page
from jackpot_service.api.request_context import look, now, principal
from jackpot_service.database.transactions import Session
from jackpot_service.domain.languages import Language
from jackpot_service.domain.paytables import PaytableLine
from jackpot_service.domain.principals import Role
from jackpot_service.domain.printed_limits import limits_text
from jackpot_service.domain.printed_rules import odds_text, prize_text, return_text, sections, tier_name
from jackpot_service.pages.access import people
from jackpot_service.pages.audit import shown_act
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.cards import shown_cards
from jackpot_service.pages.change_links import Links
from jackpot_service.pages.links import page_address
from jackpot_service.pages.lists import address_with, read_place
from jackpot_service.pages.roles import WATCHERS
from jackpot_service.pages.suspensions import suspension_form
from jackpot_service.records import references
from jackpot_service.records.settings_in_force import UnknownJackpot
from jackpot_service.reports.audit import ActQuery, latest_acts
from jackpot_service.reports.jackpots import JackpotState, jackpot_state, jackpot_states, last_hits
from jackpot_service.reports.rules_sheet import RulesQuestion, RulesSheet, rules_sheet
from jackpot_service.translations import words_in
from jackpot_service.usecases.readers import currency_code

_WORDS = words_in(Language.ENGLISH)


@blueprint.route("/jackpots", methods=["GET"])
@people(*WATCHERS)
def show_jackpots() -> str:
    """List jackpots as they stand; somebody of a casino sees those that its tables play for."""
    query = read_place(JackpotsQuerySchema(), "limit")
    listed = page(
        query.values,
        lambda session, limit: jackpot_states(
            session, at=now(), casino_id=principal().casino_id, limit=limit, after=query.values["after"]
        ),
        lambda state: state.jackpot_id,
    )
    return flask.render_template(
        "jackpots.html",
        states=listed["items"],
        next_page=address_with(query.typed, after=listed["next"]) if listed["next"] else None,
        first_page=address_with({**query.typed, "after": ""}) if "after" in query.typed else None,
    )


@blueprint.route("/jackpots/<id:jackpot_id>", methods=["GET"])
@people(*WATCHERS)
def show_jackpot(jackpot_id: str) -> str:
    """
    Show a jackpot: meter, pools, state, paytable in a currency of the query, and the rules that wait.

    Raises: UnknownJackpot; NoRate.
    """
    sheet = _sheet(jackpot_id, currency=_currency())
    hits = look(lambda session: last_hits(session, jackpot_id, limit=1))
    return flask.render_template(
        "jackpot.html",
        **_head(sheet.state),
        sheet=sheet,
        prizes=[_prize(line, sheet) for line in sheet.lines],
        last_hit=hits[0] if hits else None,
        links=Links().jackpot_links(jackpot_id),
        **suspension_form(sheet.state, principal()),
        sees_whose_money=principal().casino_id is None,
        account_address=partial(page_address, "pages.show_account_book", jackpot_id=jackpot_id),
        tables=look(
            lambda session: references.tables(
                session, principal(), jackpot_id=jackpot_id, limit=MOST_LISTED, after=None
            )
        ),
    )


@blueprint.route("/jackpots/<id:jackpot_id>/rules", methods=["GET"])
@people(*WATCHERS)
def show_rules(jackpot_id: str) -> str:
    """Show the rules in sentences, as the ledger prints them. Raises: UnknownJackpot."""
    sheet = _sheet(jackpot_id)
    pending = sheet.pending
    return flask.render_template(
        "jackpot_rules.html",
        **_head(sheet.state),
        sheet=sheet,
        whole_return=return_text(sheet.state.rules, _WORDS),
        sections=sections(sheet.state.rules, _WORDS, sheet.conversion, periods=sheet.claim_periods),
        limits=[
            limits_text(table.table_id, table.limits, _WORDS, base=sheet.state.rules.base) for table in sheet.tables
        ],
        pending_sections=() if pending is None else sections(pending.rules, _WORDS, periods=sheet.claim_periods),
    )


@blueprint.route("/jackpots/<id:jackpot_id>/hits", methods=["GET"])
@people(*WATCHERS)
def show_hits(jackpot_id: str) -> str:
    """List the hits of a jackpot, the latest first. Raises: UnknownJackpot."""
    state = _state(jackpot_id)
    query = read_place(HitsQuerySchema()).values
    listed = page(
        query,
        lambda session, limit: last_hits(session, jackpot_id, limit=limit, before=query["after"]),
        lambda hit: cursor(hit.settlement["cycle"]),
    )
    return flask.render_template(
        "jackpot_hits.html",
        **_head(state),
        hits=[(hit, shown_cards(hit.cards), principal().sees_casino(hit.round.casino_id)) for hit in listed["items"]],
        next_page=address_with({}, after=listed["next"]) if listed["next"] else None,
    )


@blueprint.route("/jackpots/<id:jackpot_id>/history", methods=["GET"])
@people(Role.AUDITOR)
def show_history(jackpot_id: str) -> str:
    """List the acts about a jackpot, the latest first: who did what, when and why. Raises: UnknownJackpot."""
    state = _state(jackpot_id)
    query = read_place(AuditQuerySchema()).values
    listed = page(
        query,
        lambda session, limit: [
            shown_act(act)
            for act in latest_acts(session, ActQuery(jackpot_id=jackpot_id), limit=limit, before=query["after"])
        ],
        lambda listed_act: cursor(listed_act.act["seq"]),
    )
    return flask.render_template(
        "jackpot_history.html",
        **_head(state),
        acts=listed["items"],
        next_page=address_with({}, after=listed["next"]) if listed["next"] else None,
    )


def _require_seen(session: Session, jackpot_id: str) -> None:
    """Raises: UnknownJackpot for one that no table of the casino plays for, if somebody of a casino asks."""
    casino_id = principal().casino_id
    if casino_id is not None and jackpot_id not in references.jackpots_at(session, casino_id):
        message = f"There is no jackpot {jackpot_id}."
        raise UnknownJackpot(message, jackpot_id=jackpot_id)


def _state(jackpot_id: str) -> JackpotState:
    """Raises: UnknownJackpot."""

    def read(session: Session) -> JackpotState:
        _require_seen(session, jackpot_id)
        return jackpot_state(session, jackpot_id, at=now())

    return look(read)


def _currency() -> str | None:
    """The currency of the query; None, for the base currency, where there is none or no code of one."""
    try:
        return currency_code(flask.request.args.get("currency"))
    except ValidationError:
        return None


def _sheet(jackpot_id: str, *, currency: str | None = None) -> RulesSheet:
    """Raises: UnknownJackpot; NoRate."""

    def read(session: Session) -> RulesSheet:
        _require_seen(session, jackpot_id)
        return rules_sheet(session, RulesQuestion(principal(), jackpot_id, currency, None), at=now())

    return look(read)


def _head(state: JackpotState) -> dict[str, Any]:
    """The values of the head that all pages of a jackpot have."""
    return {"state": state, "base": state.rules.base, "sees_history": principal().role is Role.AUDITOR}


def _prize(line: PaytableLine, sheet: RulesSheet) -> Mapping[str, Any]:
    return {
        "name": tier_name(line.tier, _WORDS),
        "prize": prize_text(sheet.state.rules, line.tier, _WORDS),
        "odds": odds_text(line.tier, _WORDS),
        "amount_minor": line.amount_minor,
    }
