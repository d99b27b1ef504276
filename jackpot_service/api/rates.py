"""Rate sheets: the one in force, any other, all of them, and the history of a currency."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

import flask
from marshmallow import Schema, ValidationError, fields, validates_schema

from jackpot_service.api import answers
from jackpot_service.api.lists import ListQuerySchema, cursor
from jackpot_service.api.request_context import Blueprint, answer, look, now
from jackpot_service.api.schemas import RequestSchema, decimal, described
from jackpot_service.auth.authenticator import allow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.facts import instant
from jackpot_service.domain.money import plain
from jackpot_service.domain.principals import Role
from jackpot_service.records.rate_sheets import SheetHead
from jackpot_service.reports import rates
from jackpot_service.reports.rates import RateThen, SheetShown
from jackpot_service.usecases.fields import CurrencyCode, Instant, ReadField

LARGEST_NUMBER = 2**31 - 1

blueprint = Blueprint("rates", __name__, url_prefix="/v1", description="Rate sheets, for everyone with a key.")


class SheetNumber(ReadField[int]):
    """The number of a sheet, from the query."""

    described: ClassVar = {"type": "integer", "minimum": 1, "maximum": LARGEST_NUMBER}

    def read(self, value: object) -> int:
        """Raises: ValidationError."""
        if isinstance(value, str) and re.fullmatch(r"[0-9]{1,10}", value) and 1 <= int(value) <= LARGEST_NUMBER:
            return int(value)
        message = "must be the number of a sheet"
        raise ValidationError(message)


class SheetQuerySchema(RequestSchema):
    """Which sheet of a base currency: the one in force now, or at an instant, or the one of a number."""

    base = CurrencyCode(required=True)
    number = SheetNumber(load_default=None)
    as_of = Instant(
        load_default=None, metadata={"description": "The sheet in force at this instant; not with `number`."}
    )

    @validates_schema
    def require_one_way(self, data: Mapping[str, Any], **_: object) -> None:
        """Raises: ValidationError."""
        if data.get("number") is not None and data.get("as_of") is not None:
            message = "must not stand beside `number`"
            raise ValidationError(message, "as_of")


class SheetsQuerySchema(ListQuerySchema):
    """The sheets of a base currency."""

    base = CurrencyCode(required=True)


class HistoryQuerySchema(SheetsQuerySchema):
    """The sheets of a base currency, and the currency whose rates to show."""

    currency = CurrencyCode(required=True)


class RateSchema(Schema):
    """One rate of a sheet."""

    currency = fields.String(required=True)
    rate = decimal("Base units per one unit of the currency.")
    exponent = fields.Integer(required=True, metadata={"description": "Decimals of the minor unit, pinned with it."})


class SourceSchema(Schema):
    """The document that rates were taken from."""

    name = described(fields.String, "Whose it is: `ecb`, or what the maker called it.")
    date = fields.Date(required=True, metadata={"description": "The day of the document."})
    sha256 = described(fields.String, "Of the document's bytes.")


class SheetHeadSchema(Schema):
    """A rate sheet without its rates."""

    base = fields.String(required=True)
    number = fields.Integer(required=True)
    effective_at = fields.DateTime(required=True)
    source = fields.Nested(
        SourceSchema(),
        required=True,
        allow_none=True,
        metadata={"description": "Of the rates that came new with this sheet; null for figures by hand."},
    )


class SheetSchema(SheetHeadSchema):
    """A rate sheet."""

    rates = fields.List(fields.Nested(RateSchema()), required=True)


class SheetsSchema(Schema):
    """A page of rate sheets, the latest first."""

    items = fields.List(fields.Nested(SheetHeadSchema()), required=True)
    next = fields.String(required=True, allow_none=True)


class RateThenSchema(SheetHeadSchema):
    """The rate of a currency in a sheet."""

    rate = decimal("Base units per one unit; null where the sheet has no such currency.", allow_none=True)
    exponent = fields.Integer(required=True, allow_none=True)


class HistorySchema(Schema):
    """A page of a currency's rates, the latest sheet first."""

    items = fields.List(fields.Nested(RateThenSchema()), required=True)
    next = fields.String(required=True, allow_none=True)


@blueprint.route("/rates", methods=["GET"])
@allow(*Role)
@blueprint.arguments(SheetQuerySchema(), location="query")
@blueprint.response(200, SheetSchema())
def get_rates(query: Mapping[str, Any]) -> flask.Response:
    """Show the sheet of a base currency in force now or at an instant, or any by its number."""

    def find(session: Session) -> SheetShown:
        if query["number"] is not None:
            return rates.sheet_of_number(session, query["base"], query["number"])
        return rates.sheet_in_force(session, query["base"], at=query["as_of"] or now())

    found = look(find)
    listed = [answers.of_rate(rate) for rate in found.sheet.rates.values()]
    return answer({**_head(found.head), "rates": listed})


@blueprint.route("/rates/history", methods=["GET"])
@allow(*Role)
@blueprint.arguments(HistoryQuerySchema(), location="query")
@blueprint.response(200, HistorySchema())
def get_history(query: Mapping[str, Any]) -> flask.Response:
    """List what a currency was worth, sheet by sheet, the latest first."""
    base, currency, limit, before = query["base"], query["currency"], query["limit"], query["after"]
    found = look(lambda session: rates.history(session, base, currency, limit=limit + 1, before=before))
    return answer(
        {
            "items": [_rate_then(one) for one in found[:limit]],
            "next": cursor(found[limit - 1].head.number if len(found) > limit else None),
        }
    )


@blueprint.route("/rate-sheets", methods=["GET"])
@allow(*Role)
@blueprint.arguments(SheetsQuerySchema(), location="query")
@blueprint.response(200, SheetsSchema())
def get_sheets(query: Mapping[str, Any]) -> flask.Response:
    """List the sheets of a base currency, the latest first, those not yet in force among them."""
    limit = query["limit"]
    found = look(lambda session: rates.latest_sheets(session, query["base"], limit=limit + 1, before=query["after"]))
    return answer(
        {
            "items": [_head(one) for one in found[:limit]],
            "next": cursor(found[limit - 1].number if len(found) > limit else None),
        }
    )


def _head(head: SheetHead) -> dict[str, Any]:
    return {
        "base": head.base,
        "number": head.number,
        "effective_at": instant(head.effective_at),
        "source": head.source,
    }


def _rate_then(then: RateThen) -> dict[str, Any]:
    return {
        **_head(then.head),
        "rate": None if then.rate is None else plain(then.rate.base_per_unit),
        "exponent": None if then.rate is None else then.rate.exponent,
    }
