"""Rates at a glance: the sheets in force, several currencies through time, and what open rounds still use."""

from collections.abc import Mapping, Sequence
from typing import Any

from marshmallow import fields

from jackpot_service.api.lists import cursor, page, page_schema
from jackpot_service.api.rates import RateSchema, SheetHeadSchema, SheetsQuerySchema
from jackpot_service.api.reading import at_replica
from jackpot_service.api.request_context import Blueprint, look, now, principal
from jackpot_service.api.schemas import AnswerSchema, RequestSchema, described, listed
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.principals import READERS, Role
from jackpot_service.reports import rates
from jackpot_service.reports.rates import RateInUse
from jackpot_service.usecases.changes.rate_sheet import MOST_CURRENCIES
from jackpot_service.usecases.fields import CurrencyCode, CurrencyCodes

blueprint = Blueprint(
    "rate-views", __name__, url_prefix="/v1/rates", description="Rate sheets in force, through time, and in use."
)

PEOPLE = (Role.FINANCE, Role.RATES, Role.OPERATOR, Role.AUDITOR)


class HistoriesQuerySchema(SheetsQuerySchema):
    """The sheets of a base currency, and the currencies whose rates to show."""

    currency = CurrencyCodes(most=MOST_CURRENCIES, default="all", load_default=tuple)


class RatesThenSchema(SheetHeadSchema):
    """The rates of some currencies in a sheet."""

    rates = listed(RateSchema, "By currency; one that the sheet does not have is left out.")


class SheetsInForceSchema(AnswerSchema):
    """The sheets in force."""

    items = listed(SheetHeadSchema, "One of each base currency that has one, by base currency.")


class BaseQuerySchema(RequestSchema):
    """The base currency of jackpots."""

    base = CurrencyCode(required=True)


class RateInUseSchema(AnswerSchema):
    """How many rounds that have not ended use a rate."""

    currency = described(fields.String, "Of a bet of the round, void or not.")
    rate_sheet = described(fields.Integer, "The sheet that the rounds were opened with.")
    open_rounds = described(fields.Integer, "A round with bets in two currencies counts for both.")


class RatesInUseSchema(AnswerSchema):
    """The rates that rounds use which have not ended."""

    items = listed(RateInUseSchema, "By currency and sheet.")


@blueprint.route("/in-force", methods=["GET"])
@allow(*READERS)
@at_replica
@blueprint.response(200, SheetsInForceSchema())
def get_sheets_in_force() -> Mapping[str, Any]:
    """Show of each base currency which sheet is in force now, without its rates."""
    return {"items": look(lambda session: rates.sheets_in_force(session, at=now()))}


@blueprint.route("/histories", methods=["GET"])
@allow(*READERS)
@at_replica
@blueprint.arguments(HistoriesQuerySchema(), location="query")
@blueprint.response(200, page_schema(RatesThenSchema, "Histories"))
def get_rate_histories(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List what several currencies were worth, or all of them, sheet by sheet, the latest first."""
    listed_page = page(
        query,
        lambda session, limit: rates.histories(
            session, query["base"], query["currency"], limit=limit, before=query["after"]
        ),
        lambda then: cursor(then.head.number),
    )
    items = [{**SheetHeadSchema().dump(then.head), "rates": then.rates} for then in listed_page["items"]]
    return {**listed_page, "items": items}


@blueprint.route("/use", methods=["GET"])
@allow(*PEOPLE)
@at_replica
@blueprint.arguments(BaseQuerySchema(), location="query")
@blueprint.response(200, RatesInUseSchema())
def get_rates_in_use(query: Mapping[str, Any]) -> Mapping[str, Sequence[RateInUse]]:
    """Count the rounds that have not ended by the rates that they use; a key with a casino sees those of its casino."""
    return {"items": look(lambda session: rates.rates_in_use(session, principal(), query["base"]))}
