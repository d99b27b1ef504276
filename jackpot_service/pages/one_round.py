"""A round as one reads it: cards, stakes, the sharing of the jackpot, bets with their awards, and its entries."""

from collections.abc import Sequence
from functools import partial
from typing import Final

import flask
from marshmallow import ValidationError

from jackpot_service.api.audit import READERS
from jackpot_service.api.request_context import act, look, principal
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.change_links import Links
from jackpot_service.pages.lists import address_with
from jackpot_service.pages.policy_words import POLICY_PHRASES
from jackpot_service.pages.roles import WATCHERS
from jackpot_service.pages.shown_rounds import ShownBet, hands_of_cancelled, shown_bets, shown_verdict
from jackpot_service.reports.player_rounds import record_of_player
from jackpot_service.reports.round_calculation import calculation_of
from jackpot_service.reports.rounds import round_record
from jackpot_service.usecases.readers import identifier
from jackpot_service.usecases.record_evidence import RoundEvidence, evidence_of

BETS_A_PAGE: Final = 200

LONGEST_PLACE: Final = 9
"""Digits of the place of a bet; no round has so many."""


@blueprint.route("/tables/<id:table_id>/rounds/<id:round_id>", methods=["GET"])
@people(*WATCHERS)
def show_round(table_id: str, round_id: str) -> str:
    """Show a round whole; with `player_id`, only that player's bets and awards."""
    record = act(lambda session: round_record(session, principal(), table_id=table_id, round_id=round_id))
    evidence = look(lambda session: evidence_of(session, principal(), table_id, round_id))
    calculation = calculation_of(record)
    player_id = _player_id()
    bets = shown_bets(record if player_id is None else record_of_player(record, player_id), calculation)
    first = _first(bets)
    links = Links()
    verdicts = tuple(shown_verdict(verdict, record) for verdict in calculation.verdicts)
    return flask.render_template(
        "round.html",
        record=record,
        round=record.view.round,
        base=record.rules.base,
        calculation=calculation,
        in_force=verdicts[-1] if verdicts else None,
        earlier=verdicts[-2::-1],
        hands_of_cancelled=hands_of_cancelled(record),
        bets=bets[first : first + BETS_A_PAGE],
        bets_listed=len(bets),
        first_bet=first,
        player_id=player_id,
        links=links.round_links(record),
        award_links=partial(links.award_links, corrections=len(record.corrections)),
        has_won_jackpot=any(verdict.is_hit for verdict in calculation.verdicts),
        knows_people=principal().casino_id is None,
        sees_acts=principal().role in READERS,
        evidence=evidence if _is_to_show(evidence) else None,
        policy_phrases=POLICY_PHRASES,
        next_page=_page_of_bets(first + BETS_A_PAGE) if first + BETS_A_PAGE < len(bets) else None,
        previous_page=_page_of_bets(max(0, first - BETS_A_PAGE)) if first else None,
    )


def _player_id() -> str | None:
    """The player of the query; None for what no id is, so that the whole round is shown."""
    try:
        return identifier(flask.request.args.get("player_id", ""))
    except ValidationError:
        return None


def _first(bets: Sequence[ShownBet]) -> int:
    """Return the place of the first bet to show, by the query: `bet_id` is on the page, or `first`; otherwise 0."""
    bet_id, text = flask.request.args.get("bet_id"), flask.request.args.get("first", "")
    if bet_id is not None:
        place = next((place for place, shown in enumerate(bets) if shown.booked.bet.bet_id == bet_id), 0)
        return place - place % BETS_A_PAGE
    place = int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_PLACE else 0
    return place if place < len(bets) else 0


def _page_of_bets(first: int) -> str:
    player_id = _player_id()
    return address_with({} if player_id is None else {"player_id": player_id}, first=str(first)) + "#bets"


def _is_to_show(evidence: RoundEvidence) -> bool:
    return evidence.requirement is not None or bool(evidence.recorded)
