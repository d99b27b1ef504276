"""Gaming tables: listed, shown with the stakes that they take, and added."""

from collections.abc import Mapping
from typing import Any, Final

from marshmallow import fields, validate

from jackpot_service.api.casinos import READERS
from jackpot_service.api.lists import (
    DEFAULT_LISTED,
    LIST,
    Cursor,
    ListQuerySchema,
    cursor_at,
    matching,
    page,
    page_schema,
    with_checksum,
)
from jackpot_service.api.rates import SheetHeadSchema
from jackpot_service.api.reading import at_replica
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, act, look, now, principal, signed
from jackpot_service.api.round_search import FoundRoundSchema, RoundSearchQuerySchema
from jackpot_service.api.schemas import AnswerSchema, ReasonedSchema, described, listed, word
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.games import GAME_IDS
from jackpot_service.domain.lives import Life
from jackpot_service.domain.principals import Role
from jackpot_service.domain.shapes import IDENTIFIER
from jackpot_service.records import references
from jackpot_service.records.immutable import Table
from jackpot_service.records.round_search import FoundRound
from jackpot_service.reports.tables import TableShown, table_shown
from jackpot_service.usecases.casinos import add_table
from jackpot_service.usecases.fields import Identifier

MOST_SHOWN: Final = DEFAULT_LISTED
"""Open rounds of a table that are shown with it; `GET /v1/rounds` lists the others."""

blueprint = Blueprint(
    "tables",
    __name__,
    url_prefix="/v1/tables",
    description="Gaming tables: what they play, and which stakes they take.",
)


class TablesQuerySchema(ListQuerySchema):
    """Which tables."""

    casino_id = Identifier(load_default=None)
    jackpot_id = Identifier(load_default=None)
    after = Cursor(matching(IDENTIFIER))


class NewTableSchema(ReasonedSchema):
    """A table to add. Its casino, game and jackpot never change."""

    table_id = Identifier(required=True)
    casino_id = Identifier(required=True)
    game = fields.String(required=True, validate=validate.OneOf(GAME_IDS))
    jackpot_id = Identifier(
        load_default=None, metadata={"description": "Without it the table takes no jackpot bets, for good."}
    )


class TableSchema(AnswerSchema):
    """A gaming table."""

    table_id = fields.String(required=True)
    casino_id = fields.String(required=True)
    game = fields.String(required=True)
    jackpot_id = described(fields.String, "Null: the table takes no jackpot bets.", allow_none=True)


class AcceptedStakesSchema(AnswerSchema):
    """The stakes that the table takes in a currency: from the least to the largest, both included."""

    currency = fields.String(required=True, attribute="rate.currency")
    exponent = described(fields.Integer, "Decimals of the minor unit.", attribute="rate.exponent")
    least_minor = described(fields.Integer, "In whole minor units.")
    largest_minor = described(fields.Integer, "In whole minor units; where a token is the stake, the same.")


class TableTermsSchema(AnswerSchema):
    """The terms that a round gets that the table opens now. A round that was opened before keeps its own."""

    state = word(Life, "Of the jackpot: it takes bets while it is open.", attribute="life")
    is_accepting = fields.Boolean(required=True)
    rules_version = fields.Integer(required=True)
    rate_sheet = fields.Nested(
        SheetHeadSchema(),
        required=True,
        allow_none=True,
        attribute="sheet",
        metadata={"description": "The sheet in force; without one every bet is refused."},
    )
    hands_per_player = described(
        fields.Integer, "So many hands of a round a player may bet on.", attribute="rules.hands_per_player"
    )
    close_required = described(
        fields.Boolean, "Whether a result is taken only after betting was closed.", attribute="rules.close_required"
    )
    limits_version = described(
        fields.Integer, "The version of the jackpot's table limits that set the table's own; 0 if it has none."
    )
    stakes = listed(AcceptedStakesSchema, "The accepted currencies, by code; the bounds of jackpot and table together.")


class ShownTableSchema(TableSchema):
    """A gaming table, with the stakes that it takes and its open rounds."""

    terms = fields.Nested(
        TableTermsSchema(),
        required=True,
        allow_none=True,
        metadata={"description": "Null where the table has no jackpot."},
    )
    open_rounds = fields.Nested(
        page_schema(FoundRoundSchema, "OpenRounds"),
        required=True,
        metadata={
            "description": "Rounds that wait for bets, a result or a cancellation, the latest first. Where `next` is "
            "not null, `GET /v1/rounds` goes on after it with `ended=false` and this `table_id`."
        },
    )

    def get_attribute(self, obj: TableShown, attr: str, default: Any) -> Any:  # noqa: ANN401  as the base
        """Read all else from the table itself; there is one more open round than is shown, if there are more."""
        if attr != "open_rounds":
            return super().get_attribute(obj if attr == "terms" else obj.table, attr, default)
        items = obj.open_rounds[:MOST_SHOWN]
        has_more = len(obj.open_rounds) > MOST_SHOWN
        return {"items": items, "next": _after_open(obj.table, items[-1]) if has_more else None}


def _after_open(table: Table, last: FoundRound) -> str:
    """Return where `GET /v1/rounds` goes on after an open round of a table."""
    query = RoundSearchQuerySchema().load({"ended": "false", "table_id": table.table_id})
    return with_checksum(cursor_at(*last.position), query[LIST])


@blueprint.route("", methods=["GET"])
@allow(*READERS)
@at_replica
@blueprint.arguments(TablesQuerySchema(), location="query")
@blueprint.response(200, page_schema(TableSchema, "Tables"))
def get_tables(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List tables, by id; a key with a casino or with tables sees its own."""
    return page(
        query,
        lambda session, limit: references.tables(
            session,
            principal(),
            casino_id=query["casino_id"],
            jackpot_id=query["jackpot_id"],
            limit=limit,
            after=query["after"],
        ),
        lambda table: table.table_id,
    )


@blueprint.route("/<id:table_id>", methods=["GET"])
@allow(*READERS)
@refused_with("table-unknown")
@blueprint.response(200, ShownTableSchema())
def get_table(table_id: str) -> TableShown:
    """Show a table: its casino, game and jackpot, the stakes that it takes now, and its rounds that wait for an end."""
    return look(lambda session: table_shown(session, principal(), table_id, at=now(), rounds=MOST_SHOWN + 1))


@blueprint.route("", methods=["POST"])
@allow(Role.OPERATOR)
@refused_with("already-exists", "casino-unknown", "game-invalid", "jackpot-unknown", "request-conflict")
@blueprint.arguments(NewTableSchema())
@blueprint.response(201, TableSchema())
@blueprint.alt_response(200, schema=TableSchema(), description="The very same table was there already.")
def post_table(body: Mapping[str, Any]) -> tuple[Table, int]:
    """Add a table. One operator does it alone."""
    new = Table(body["table_id"], body["casino_id"], body["game"], body["jackpot_id"])
    added = act(lambda session: add_table(session, signed(body), new))
    return new, 201 if added else 200
