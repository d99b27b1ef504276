"""Rounds by their game number, which is what a player knows of a round; for people, not for tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from jackpot_service.api.lists import Cursor, PeriodQuerySchema, cursor_at, page, page_schema, place_in
from jackpot_service.api.players import READERS, PlayedRoundSchema
from jackpot_service.api.request_context import Blueprint, principal
from jackpot_service.auth.authenticator import allow
from jackpot_service.database.transactions import Session
from jackpot_service.records.game_numbers import FoundRound, RoundFilters, RoundPosition, latest_rounds
from jackpot_service.usecases.fields import Identifier

blueprint = Blueprint(
    "game-numbers",
    __name__,
    url_prefix="/v1/rounds",
    description="Rounds by the number that players see, which may be that of another round on another day.",
)


def position_in(text: str) -> RoundPosition | None:
    """Read where a list of rounds goes on; None if it is no such place."""
    found = place_in(text)
    return None if found is None else RoundPosition(*found)


class GameNumberQuerySchema(PeriodQuerySchema):
    """Which rounds of a game number; the period is of their openings."""

    game_number = Identifier(required=True)
    jackpot_id = Identifier(load_default=None)
    casino_id = Identifier(load_default=None)
    table_id = Identifier(load_default=None)
    after = Cursor(position_in)


@blueprint.route("", methods=["GET"])
@allow(*READERS)
@blueprint.arguments(GameNumberQuerySchema(), location="query")
@blueprint.response(200, page_schema(PlayedRoundSchema, "FoundRounds"))
def get_rounds(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List the rounds of a game number, the latest first; a key with a casino sees that casino's."""
    filters = RoundFilters(
        query["game_number"],
        jackpot_id=query["jackpot_id"],
        casino_id=query["casino_id"],
        table_id=query["table_id"],
        start=query["start"],
        end=query["end"],
        after=query["after"],
    )

    def rows(session: Session, limit: int) -> Sequence[FoundRound]:
        return latest_rounds(session, principal(), filters, limit=limit)

    return page(query, rows, lambda found: cursor_at(*found.position))
