"""The search for rounds: by table, casino, jackpot, state, player, bet, game number, award and day."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

import flask
from marshmallow import ValidationError
from werkzeug.wrappers import Response

from jackpot_service.api.lists import cursor_at, page
from jackpot_service.api.request_context import look, now, principal
from jackpot_service.api.round_search import RoundSearchQuerySchema, filters_of
from jackpot_service.database.transactions import Session
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.rounds import RoundState
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.choices import choices_of
from jackpot_service.pages.lists import ReadQuery, address_with, days_to_instants, read_query
from jackpot_service.pages.roles import WATCHERS
from jackpot_service.records import awards, references
from jackpot_service.records.round_search import FoundRound, latest_rounds
from jackpot_service.usecases.readers import identifier

WAITING: Final = "waiting"
"""As a state: rounds that wait for their end, open or closed."""

NO_AWARD: Final = "There is no award of this id."

FIELDS: Final = (
    ("table_id", "Table"),
    ("casino_id", "Casino"),
    ("jackpot_id", "Jackpot"),
    ("game_number", "Game number"),
    ("player_id", "Player"),
    ("bet_id", "Bet"),
    ("award_id", "Award"),
)
"""The fields of the form that take an id, and their labels."""

_KNOWN: Final = frozenset({name for name, _ in FIELDS} | {"state", "from", "to", "after"})


@blueprint.route("/rounds", methods=["GET"])
@people(*WATCHERS)
def show_rounds() -> Response:
    """Show the latest rounds that fit the form; an award's id leads to its round."""
    typed = {name: value for name, value in flask.request.args.items() if name in _KNOWN}
    award_id = typed.pop("award_id", "").strip()
    query = _read(typed)
    if award_id:
        try:
            return _to_award(award_id)
        except (NotFound, ValidationError):
            query = ReadQuery({**query.typed, "award_id": award_id}, {}, {**query.errors, "award_id": NO_AWARD})
    listed: Mapping[str, Any] = {"items": (), "next": None} if query.errors else _find(query)
    html = flask.render_template(
        "rounds.html",
        query=query,
        fields=FIELDS,
        choices=choices_of(name for name, _ in FIELDS),
        states=[("", "any"), (WAITING, "waiting for its end"), *((state.value, state.value) for state in RoundState)],
        rounds=listed["items"],
        bases=_bases(listed["items"]),
        has_game_numbers=any(round_.game_number for round_ in listed["items"]),
        next_page=address_with(query.typed, after=listed["next"]) if listed["next"] else None,
        first_page=address_with({**query.typed, "after": ""}) if "after" in query.typed else None,
        is_filtered=bool(query.typed.keys() - {"after"}),
    )
    return flask.Response(html, HTTPStatus.UNPROCESSABLE_ENTITY if query.errors else HTTPStatus.OK)


def _read(typed: Mapping[str, str]) -> ReadQuery:
    """Read the form in the words of the API: days become instants, of which the last day is a whole one."""
    fields = {name: value.strip() for name, value in typed.items()}
    if fields.get("state") == WAITING:
        fields = {**fields, "state": "", "ended": "false"}
    errors = days_to_instants(fields)
    read = read_query(RoundSearchQuerySchema(), fields)
    stated = {name: value.strip() for name, value in typed.items() if value.strip()}
    errors = {**read.errors, **errors}
    return ReadQuery(stated, {} if errors else read.values, errors)


def _find(query: ReadQuery) -> Mapping[str, Any]:
    at = now()
    filters = filters_of(query.values, at=at)

    def rows(session: Session, limit: int) -> Sequence[FoundRound]:
        return latest_rounds(session, principal(), filters, limit=limit, now=at)

    return page(query.values, rows, lambda round_: cursor_at(*round_.position))


def _bases(rounds: Sequence[FoundRound]) -> Mapping[str, str]:
    """The base currencies of the jackpots of some rounds."""
    jackpot_ids = {round_.jackpot_id for round_ in rounds}
    return look(lambda session: references.bases_of(session, jackpot_ids))


def _to_award(award_id: str) -> Response:
    """Raises: NotFound; ValidationError for what no id is."""
    identifier(award_id)
    record = look(lambda session: awards.visible(session, principal(), award_id))
    bet_id = record.award.bet_id
    address = flask.url_for(
        "pages.show_round",
        table_id=record.table_id,
        round_id=record.round_id,
        bet_id=bet_id,
        _anchor=f"bet-{bet_id}",
    )
    return flask.redirect(address, HTTPStatus.SEE_OTHER)
