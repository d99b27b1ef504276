"""The rate sheet in force."""

from collections.abc import Mapping

import flask
from marshmallow import Schema, fields

from jackpot_service.api import answers
from jackpot_service.api.door import Blueprint, act, answer, now
from jackpot_service.api.fields import CurrencyCode
from jackpot_service.api.schemas import RequestSchema, decimal
from jackpot_service.auth import allow
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Role
from jackpot_service.reports.rates import sheet_in_force

blueprint = Blueprint("rates", __name__, url_prefix="/v1/rates", description="Rate sheets, for everyone with a key.")


class BaseQuerySchema(RequestSchema):
    """Which base currency."""

    base = CurrencyCode(required=True)


class RateSchema(Schema):
    """One rate of a sheet."""

    currency = fields.String(required=True)
    rate = decimal("Base units per one unit of the currency.")
    exponent = fields.Integer(required=True, metadata={"description": "Decimals of the minor unit, pinned with it."})


class SheetSchema(Schema):
    """A rate sheet."""

    base = fields.String(required=True)
    number = fields.Integer(required=True)
    effective_at = fields.DateTime(required=True)
    rates = fields.List(fields.Nested(RateSchema()), required=True)


@blueprint.route("", methods=["GET"])
@allow(*Role)
@blueprint.arguments(BaseQuerySchema(), location="query")
@blueprint.response(200, SheetSchema())
def get_rates(query: Mapping[str, str]) -> flask.Response:
    """Show the sheet of a base currency in force now."""
    found = act(lambda session: sheet_in_force(session, query["base"], at=now()))
    return answer(
        {
            "base": found.sheet.base,
            "number": found.sheet.number,
            "effective_at": instant(found.effective_at),
            "rates": [answers.of_rate(rate) for rate in found.sheet.rates.values()],
        }
    )
