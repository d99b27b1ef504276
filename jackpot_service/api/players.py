"""A player's bets with their rounds, by the casino's own id of the player; for people, not for tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from marshmallow import fields

from jackpot_service.api.lists import Cursor, PeriodQuerySchema, cursor_at, page, page_schema, place_in
from jackpot_service.api.reading import at_replica
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, now, principal
from jackpot_service.api.round_records import TakenBetSchema
from jackpot_service.api.schemas import AnswerSchema, Moment, described, word
from jackpot_service.auth.authenticator import allow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Role
from jackpot_service.domain.rounds import RoundState
from jackpot_service.records.players import BetFilters, BetPosition, PlayedBet, latest_bets
from jackpot_service.usecases.fields import Identifier

READERS = (Role.FINANCE, Role.OPERATOR, Role.AUDITOR)

blueprint = Blueprint(
    "players",
    __name__,
    url_prefix="/v1/players",
    description="Bets of players. An id of a player is a casino's own; two casinos may give the same one.",
)


def position_in(text: str) -> BetPosition | None:
    """Read where a player's bets go on; None if it is no such place."""
    place = place_in(text)
    return None if place is None else BetPosition(*place)


class PlayersBetsQuerySchema(PeriodQuerySchema):
    """Which bets of a player; the period is of the openings of their rounds."""

    jackpot_id = Identifier(load_default=None)
    casino_id = Identifier(load_default=None)
    after = Cursor(position_in)


class PlayedRoundSchema(AnswerSchema):
    """A round as lists over all tables name it."""

    jackpot_id = fields.String(required=True)
    casino_id = fields.String(required=True)
    table_id = fields.String(required=True)
    round_id = fields.String(required=True)
    state = word(RoundState)
    opened_at = Moment(required=True)
    game_number = fields.String(required=True, allow_none=True)


class PlayedBetSchema(TakenBetSchema):
    """A bet of a player, with its round."""

    received_at = described(Moment, "When it came to the service.")
    booked_at = described(Moment, "When it was booked.")
    round = fields.Nested(PlayedRoundSchema(), required=True)

    def get_attribute(self, obj: PlayedBet, attr: str, default: Any) -> Any:  # noqa: ANN401  as the base
        """Read the round's members from the bet itself, which has them."""
        return obj if attr == "round" else super().get_attribute(obj, attr, default)


@blueprint.route("/<id:player_id>/bets", methods=["GET"])
@allow(*READERS)
@at_replica
@refused_with("history-took-too-long")
@blueprint.arguments(PlayersBetsQuerySchema(), location="query")
@blueprint.response(200, page_schema(PlayedBetSchema, "PlayersBets"))
def get_player_bets(query: Mapping[str, Any], player_id: str) -> Mapping[str, Any]:
    """
    List a player's bets, void ones too, those of the latest rounds first; a key with a casino sees that casino's.

    A player without bets, or without any that the key may see, has an empty list.
    """
    filters = BetFilters(
        jackpot_id=query["jackpot_id"],
        casino_id=query["casino_id"],
        start=query["start"],
        end=query["end"],
        after=query["after"],
    )

    def rows(session: Session, limit: int) -> Sequence[PlayedBet]:
        return latest_bets(session, principal(), player_id, filters, limit=limit, now=now())

    return page(query, rows, lambda bet: cursor_at(*bet.position))
