"""Rounds of all tables: those that wait for their end, and those of a game number, a player or a bet."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from marshmallow import fields

from jackpot_service.api.lists import Cursor, PeriodQuerySchema, cursor_at, page, page_schema, place_in
from jackpot_service.api.players import READERS, PlayedRoundSchema
from jackpot_service.api.reading import at_replica
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, now, principal
from jackpot_service.api.schemas import decimal, described
from jackpot_service.auth.authenticator import allow, require_role
from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Role
from jackpot_service.domain.rounds import RoundState
from jackpot_service.records.round_search import FoundRound, RoundFilters, RoundPosition, latest_rounds
from jackpot_service.usecases.fields import Flag, Identifier, QueryNumber

OLDEST_S: Final = 10**9
"""Some thirty years, in seconds."""

OF_PEOPLE: Final = ("player_id", "game_number")
"""Filters for people who look into something; a table server knows its rounds by their ids."""

blueprint = Blueprint(
    "round-search",
    __name__,
    url_prefix="/v1/rounds",
    description="Rounds of all tables: those that wait for their end, and those of a game number, a player or a bet.",
)


def position_in(text: str) -> RoundPosition | None:
    """Read where a list of rounds goes on; None if it is no such place."""
    place = place_in(text)
    return None if place is None else RoundPosition(*place)


class RoundSearchQuerySchema(PeriodQuerySchema):
    """Which rounds; the period is of their openings."""

    list_name = "rounds"

    state = fields.Enum(RoundState, by_value=True, load_default=None)
    ended = Flag(
        load_default=None,
        metadata={"description": "`false`: rounds that wait for their end, open or closed. `true`: all others."},
    )
    older_than = QueryNumber(
        0, OLDEST_S, load_default=None, metadata={"description": "Opened at least so many seconds ago."}
    )
    jackpot_id = Identifier(load_default=None)
    casino_id = Identifier(load_default=None)
    table_id = Identifier(load_default=None)
    bet_id = Identifier(load_default=None, metadata={"description": "Rounds with a bet of this id, void or not."})
    player_id = Identifier(
        load_default=None, metadata={"description": "Rounds with a bet of this player. Not for table servers."}
    )
    game_number = Identifier(
        load_default=None,
        metadata={
            "description": "The number that players see. It may be that of another round on another day. Not for "
            "table servers."
        },
    )
    after = Cursor(position_in)


class FoundRoundSchema(PlayedRoundSchema):
    """A round of a list over all tables."""

    rules_version = described(fields.Integer, "The rules version, fixed when the round was first seen.")
    rate_sheet = described(fields.Integer, "The rate sheet, fixed when the round was first seen.")
    bet_count = described(fields.Integer, "Bets accepted and not void.")
    total_stake_base = decimal("Their stakes' value in the base currency.", attribute="weight")


@blueprint.route("", methods=["GET"])
@allow(Role.TABLE, *READERS)
@at_replica
@refused_with("history-took-too-long")
@blueprint.arguments(RoundSearchQuerySchema(), location="query")
@blueprint.response(200, page_schema(FoundRoundSchema, "FoundRounds"))
def get_rounds(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    List rounds of all tables, the latest first; a key with a casino or with tables sees those of its own.

    A table server that starts again asks for `ended=false`: these rounds wait for bets, a result or a cancellation.

    A search that would read too much is answered 503 `history-took-too-long`: ask about a shorter period.
    """
    if any(query[name] is not None for name in OF_PEOPLE):
        require_role(principal(), frozenset(READERS))
    at = now()
    filters = filters_of(query, at=at)

    def rows(session: Session, limit: int) -> Sequence[FoundRound]:
        return latest_rounds(session, principal(), filters, limit=limit, now=at)

    return page(query, rows, lambda round_: cursor_at(*round_.position))


def filters_of(query: Mapping[str, Any], *, at: datetime) -> RoundFilters:
    """Put a query together, as its schema reads it, that is asked at an instant."""
    age = query["older_than"]
    ends = [query["end"], None if age is None else at - timedelta(seconds=age)]
    return RoundFilters(
        game_number=query["game_number"],
        state=query["state"],
        has_ended=query["ended"],
        jackpot_id=query["jackpot_id"],
        casino_id=query["casino_id"],
        table_id=query["table_id"],
        player_id=query["player_id"],
        bet_id=query["bet_id"],
        start=query["start"],
        end=min((end for end in ends if end is not None), default=None),
        after=query["after"],
    )
