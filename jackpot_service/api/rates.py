"""Rate sheets: the one in force, any other, all of them, and the history of a currency."""

from collections.abc import Mapping
from typing import Any, Final

from marshmallow import ValidationError, fields, pre_dump, validates, validates_schema

from jackpot_service.api.lists import ListQuerySchema, cursor, page, page_schema
from jackpot_service.api.reading import at_replica
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, act, look, now, signed
from jackpot_service.api.schemas import AnswerSchema, Moment, ReasonedSchema, RequestSchema, decimal, described, listed
from jackpot_service.auth.authenticator import allow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import READERS, Role
from jackpot_service.domain.shapes import CURRENCY
from jackpot_service.reports import rates
from jackpot_service.reports.rates import RateThen, SheetShown
from jackpot_service.usecases.fields import Amount, CurrencyCode, Instant, ObjectOf, QueryNumber
from jackpot_service.usecases.publish_rates import PublishRates, publish_first_sheet

LARGEST_NUMBER = 2**31 - 1

FIRST_NUMBER: Final = 1

blueprint = Blueprint("rates", __name__, url_prefix="/v1", description="Rate sheets, for everyone with a key.")


class SheetQuerySchema(RequestSchema):
    """Which sheet of a base currency: the one in force now, or at an instant, or the one of a number."""

    base = CurrencyCode(required=True)
    number = QueryNumber(1, LARGEST_NUMBER, load_default=None)
    as_of = Instant(
        load_default=None, metadata={"description": "The sheet in force at this instant; not with `number`."}
    )

    @validates_schema
    def require_one_way(self, data: Mapping[str, Any], **_: object) -> None:
        """Raises: ValidationError."""
        if data.get("number") is not None and data.get("as_of") is not None:
            message = "must not be given with `number`"
            raise ValidationError(message, "as_of")


class SheetsQuerySchema(ListQuerySchema):
    """The sheets of a base currency."""

    base = CurrencyCode(required=True)


class HistoryQuerySchema(SheetsQuerySchema):
    """The sheets of a base currency, and the currency whose rates to show."""

    currency = CurrencyCode(required=True)


class FirstSheetSchema(ReasonedSchema):
    """The first rate sheet of a base currency. Every later one is a change that two people make."""

    base = CurrencyCode(required=True)
    rates = ObjectOf(
        Amount(),
        load_default=dict,
        metadata={"description": "Base units per one unit, by currency; without the base currency."},
    )

    @validates("rates")
    def require_currencies(self, rates: Mapping[str, Any], **_: object) -> None:
        """Raises: ValidationError."""
        if not all(map(CURRENCY.fullmatch, rates)):
            message = "names something that is not a currency's three capital letters"
            raise ValidationError(message)


class RateSchema(AnswerSchema):
    """One rate of a sheet."""

    currency = fields.String(required=True)
    rate = decimal("Base units per one unit of the currency.", attribute="base_per_unit")
    exponent = fields.Integer(required=True, metadata={"description": "Decimals of the minor unit, as of the sheet."})


class Day(fields.Date):
    """A day, which the books hold as a text."""

    def _serialize(self, value: Any, *_: Any, **__: Any) -> Any:  # noqa: ANN401  as the base
        return value


class SourceSchema(AnswerSchema):
    """The document that rates were taken from."""

    name = described(fields.String, "The publisher: `ecb`, or as the maker called it.")
    date = described(Day, "The day of the document.")
    sha256 = described(fields.String, "Of the document's bytes.")


class SheetHeadSchema(AnswerSchema):
    """A rate sheet without its rates."""

    base = fields.String(required=True)
    number = fields.Integer(required=True)
    effective_at = Moment(required=True)
    source = fields.Nested(
        SourceSchema(),
        required=True,
        allow_none=True,
        metadata={"description": "Of the rates that came new with this sheet; null for figures by hand."},
    )


_RATE: Final = RateSchema()
_HEAD: Final = SheetHeadSchema()


class SheetSchema(SheetHeadSchema):
    """A rate sheet."""

    rates = listed(RateSchema)


class RateThenSchema(SheetHeadSchema):
    """The rate of a currency in a sheet."""

    rate = decimal("Base units per one unit; null where the sheet has no such currency.", allow_none=True)
    exponent = fields.Integer(required=True, allow_none=True)

    @pre_dump
    def _flat(self, then: RateThen, **_: object) -> Mapping[str, Any]:
        rate = then.rate
        rate_members = {"rate": None, "exponent": None} if rate is None else _RATE.dump(rate)
        return {**_HEAD.dump(then.head), **rate_members}


@blueprint.route("/rates", methods=["GET"])
@allow(*READERS)
@refused_with("no-rate", "rate-sheet-unknown")
@blueprint.arguments(SheetQuerySchema(), location="query")
@blueprint.response(200, SheetSchema())
def get_rates(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """Show the sheet of a base currency in force now or at an instant, or any by its number."""

    def find(session: Session) -> SheetShown:
        if query["number"] is not None:
            return rates.sheet_of_number(session, query["base"], query["number"])
        return rates.sheet_in_force(session, query["base"], at=query["as_of"] or now())

    return _shown(look(find))


@blueprint.route("/rates/history", methods=["GET"])
@allow(*READERS)
@at_replica
@blueprint.arguments(HistoryQuerySchema(), location="query")
@blueprint.response(200, page_schema(RateThenSchema, "History"))
def get_rate_history(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List what a currency was worth, sheet by sheet, the latest first."""
    base, currency, before = query["base"], query["currency"], query["after"]
    return page(
        query,
        lambda session, limit: rates.history(session, base, currency, limit=limit, before=before),
        lambda then: cursor(then.head.number),
    )


@blueprint.route("/rate-sheets", methods=["GET"])
@allow(*READERS)
@at_replica
@blueprint.arguments(SheetsQuerySchema(), location="query")
@blueprint.response(200, page_schema(SheetHeadSchema, "Sheets"))
def get_rate_sheets(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List the sheets of a base currency, the latest first, those not yet in force among them."""
    return page(
        query,
        lambda session, limit: rates.latest_sheets(session, query["base"], limit=limit, before=query["after"]),
        lambda head: cursor(head.number),
    )


@blueprint.route("/rate-sheets", methods=["POST"])
@allow(Role.OPERATOR)
@refused_with("rate-invalid", "request-conflict", "sheet-exists", "unknown-currency")
@blueprint.arguments(FirstSheetSchema())
@blueprint.response(201, SheetSchema(), description="It is in force.")
@blueprint.alt_response(200, schema=SheetSchema(), description="The same request again.")
def post_rate_sheet(body: Mapping[str, Any]) -> tuple[Mapping[str, Any], int]:
    """
    Publish the first rate sheet of a base currency, in force at once. One operator does it alone.

    Where there is a sheet already it is 409 `sheet-exists`: ask for a change of kind `rate-sheet`.
    """
    signature = signed(body)
    command = PublishRates(signature, body["base"], body["rates"], signature.now)
    published = act(lambda session: publish_first_sheet(session, command))
    shown_sheet = look(lambda session: rates.sheet_of_number(session, body["base"], FIRST_NUMBER))
    return _shown(shown_sheet), 201 if published else 200


def _shown(shown_sheet: SheetShown) -> Mapping[str, Any]:
    return {**_HEAD.dump(shown_sheet.head), "rates": shown_sheet.sheet.rates.values()}
