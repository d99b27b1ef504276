"""The limits of single tables of a jackpot, as they are in force for the next bet."""

from marshmallow import fields

from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, look, principal
from jackpot_service.api.schemas import AnswerSchema, decimal, described, listed
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.principals import READERS
from jackpot_service.reports.table_limits import LimitedTables, limited_tables

blueprint = Blueprint(
    "table-limits", __name__, url_prefix="/v1/jackpots/<id:jackpot_id>", description="Limits of single tables."
)


class TableLimitsSchema(AnswerSchema):
    """Bounds of a table's stakes, in the base currency; null where the table has none of its own."""

    token = decimal("Exactly this is a stake.", allow_none=True)
    least_stake = decimal("A stake is worth at least this.", allow_none=True)
    largest_stake = decimal("A stake is worth at most this.", allow_none=True)


class LimitedTableSchema(AnswerSchema):
    """A table with limits of its own."""

    table_id = fields.String(required=True)
    version = described(fields.Integer, "The version of the jackpot's table limits that set them.")
    limits = fields.Nested(TableLimitsSchema(), required=True)


class LimitedTablesSchema(AnswerSchema):
    """The tables of a jackpot that have limits of their own; a stake keeps these and the jackpot's."""

    jackpot_id = fields.String(required=True)
    currency = described(fields.String, "The base currency, of all these amounts.")
    tables = listed(LimitedTableSchema)


@blueprint.route("/table-limits", methods=["GET"])
@allow(*READERS)
@refused_with("jackpot-unknown")
@blueprint.response(200, LimitedTablesSchema())
def get_table_limits(jackpot_id: str) -> LimitedTables:
    """List the tables that have limits of their own; a key with a casino sees that casino's."""
    return look(lambda session: limited_tables(session, principal(), jackpot_id))
