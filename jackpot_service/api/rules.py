"""The rules sheet of a jackpot, for players and inspectors: as data with sentences, and as a page to print."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import flask
from marshmallow import fields

from jackpot_service.api import rules_page
from jackpot_service.api.jackpots import CurrencyQuerySchema
from jackpot_service.api.pages import HTML, answer, language_field
from jackpot_service.api.parsing import in_query
from jackpot_service.api.rates import SourceSchema
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, look, now, principal
from jackpot_service.api.rules_document import JackpotRulesSchema
from jackpot_service.api.schemas import (
    AnswerSchema,
    Moment,
    PaidMeterSchema,
    body_of_paid_meter,
    decimal,
    described,
    listed,
    word,
)
from jackpot_service.api.table_limits import LimitedTableSchema
from jackpot_service.api.written import Written
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.acceptance import CurrencyNotAccepted, StakeOutOfRange
from jackpot_service.domain.languages import Language, Words
from jackpot_service.domain.paytables import PaytableLine
from jackpot_service.domain.principals import READERS
from jackpot_service.domain.printed_limits import limits_text
from jackpot_service.domain.printed_rates import Conversion
from jackpot_service.domain.printed_rules import in_sentences, odds_text, return_text
from jackpot_service.domain.prizes import MeterPart, Tier
from jackpot_service.domain.rules import JackpotRules, as_document
from jackpot_service.domain.shapes import LARGEST_MINOR
from jackpot_service.domain.statistics import hands_per_win, meter_return, prize_fund_return, rounded
from jackpot_service.reports.rules_sheet import RulesQuestion, RulesSheet, RulesVersion, TableOnSheet, rules_sheet
from jackpot_service.translations import words_in
from jackpot_service.usecases.fields import QueryNumber

blueprint = Blueprint(
    "rules", __name__, url_prefix="/v1/jackpots", description="Rules sheets of jackpots, for everyone with a key."
)


class RulesQuerySchema(CurrencyQuerySchema):
    """In which currency and language, and for which stake."""

    lang = language_field("The language of all texts.")
    stake_minor = QueryNumber(
        1,
        LARGEST_MINOR,
        load_default=None,
        metadata={"description": "Show the prizes of this stake, too: minor units of the currency, within the rules."},
    )


class SplitSchema(AnswerSchema):
    """The parts of every bet; together 1."""

    meter = decimal("To the current prize.")
    reserve = decimal("To the start of the next.")
    prize_fund = decimal("To the fixed prizes.")
    house = decimal("To the house.")


class ReturnSchema(AnswerSchema):
    """The theoretical return of a bet, in per cent, as the report `rtp` figures it; the house's seeds come on top."""

    meter_percent = decimal("Through meter and reserve.")
    prize_fund_percent = decimal("Through the prize fund.")
    percent = decimal("Both.")
    text = described(fields.String, "Both, rounded down to two decimals, as the language writes it: `81.84 %`.")


class RulesVersionSchema(AnswerSchema):
    """A version of the rules, as parameters and in sentences."""

    version = fields.Integer(required=True)
    approved_at = described(Moment, "When it was booked: approved, or opened with the jackpot.")
    sha256 = described(
        fields.String,
        "The SHA-256, in hexadecimal, of `rules` as canonical JSON: UTF-8, keys sorted, no white space, no escapes but "
        "those that JSON needs. In Python: `json.dumps(rules, sort_keys=True, separators=(',', ':'), "
        "ensure_ascii=False)`. It depends on no language and no currency.",
    )
    rules = Written(
        JackpotRulesSchema(),
        required=True,
        metadata={
            "description": "The parameters. `least_stake` is there if there is one, and `largest_stakes` if any "
            "currency has its own. `close_required` is there if a result is taken only after betting was closed, "
            "`dead_hand` if bets on dead hands play on, and `payout_tiers` if awards are held."
        },
    )
    split = fields.Nested(SplitSchema(), required=True)
    theoretical_return = fields.Nested(ReturnSchema(), required=True)
    text = fields.List(fields.String(), required=True, metadata={"description": "The rules in sentences."})


class ConversionSchema(AnswerSchema):
    """By which rate all amounts of `currency` in this answer are converted."""

    rate = decimal("Base units per one unit of the currency; 1 of the base currency.")
    exponent = described(fields.Integer, "Decimals of the currency's minor unit.")
    rate_sheet = described(fields.Integer, "The sheet in force; null if there is none.", allow_none=True)
    effective_at = described(Moment, "Since when it is in force; null without a sheet.", allow_none=True)
    source = fields.Nested(
        SourceSchema(),
        required=True,
        allow_none=True,
        metadata={"description": "Of the rate: the document of the sheet it came with; null for figures by hand."},
    )
    source_sheet = described(
        fields.Integer, "The sheet with which the rate came: it may be an earlier one.", allow_none=True
    )


class AmountsSchema(AnswerSchema):
    """Amounts of the rules in the currency, for display: whole minor units, rounded down."""

    unit = described(fields.Integer, "The stake that `amount_minor` of a prize is for: the token, or one unit.")
    token = fields.Integer(required=True, allow_none=True)
    least_stake = fields.Integer(required=True, allow_none=True)
    largest_stake = fields.Integer(required=True, allow_none=True)
    reset_amount = fields.Integer(required=True)
    limit = fields.Integer(required=True, allow_none=True)


class PrizeSchema(AnswerSchema):
    """A tier: its prize and its odds."""

    tier = word(Tier)
    hands_per_win = decimal("Hands of five cards for one that wins it, on average, rounded to ten decimals.")
    odds = described(fields.String, "The same as the language writes it: `1 in 649,740`.")
    meter_part = decimal("1 is the whole meter.", allow_none=True)
    stake_multiple = fields.Integer(required=True, allow_none=True)
    fixed_amount = decimal("In units of the base currency, whatever the token is worth.", allow_none=True)
    is_shared = described(fields.Boolean, "Whether the bettors of the round share it by their stakes.")
    amount_minor = described(
        fields.Integer, "In minor units of the currency: of the meter now, for one unit or token, or the amount."
    )
    stake_amount_minor = described(fields.Integer, "The same for `stake_minor`; null without it.", allow_none=True)


class ClaimPeriodSchema(AnswerSchema):
    """For how long awards can be claimed at a casino."""

    casino_id = fields.String(required=True)
    claim_days = described(fields.Integer, "Of 24 hours; null: no award becomes unclaimed there.", allow_none=True)


class TableAmountsSchema(AnswerSchema):
    """The same bounds in the currency, for display: whole minor units, rounded down; the least stake rounded up."""

    token = fields.Integer(required=True, allow_none=True)
    least_stake = fields.Integer(required=True, allow_none=True)
    largest_stake = fields.Integer(required=True, allow_none=True)


class TableOnSheetSchema(LimitedTableSchema):
    """A table with limits of its own, in the base currency; a stake keeps these and the rules."""

    amounts = fields.Nested(TableAmountsSchema(), required=True)
    text = described(fields.String, "The limits in a sentence.")


class RulesSheetSchema(RulesVersionSchema):
    """The rules of the running cycle, and those that wait for the next."""

    jackpot_id = fields.String(required=True)
    rulebook = fields.String(required=True)
    lang = word(Language)
    currency = described(fields.String, "The currency of amounts in minor units.")
    conversion = fields.Nested(ConversionSchema(), required=True)
    meter = fields.Nested(PaidMeterSchema(), required=True)
    amounts = fields.Nested(AmountsSchema(), required=True)
    stake_minor = described(fields.Integer, "As it was asked.", allow_none=True)
    prizes = listed(PrizeSchema, "Best tier first.")
    claims = listed(ClaimPeriodSchema, "Of the casinos of the jackpot's tables; for a casino's key of its own.")
    tables = listed(
        TableOnSheetSchema,
        "The tables that have limits of their own, for the next bet. A key with a casino sees that casino's. They are "
        "no part of `rules`.",
    )
    pending = fields.Nested(
        RulesVersionSchema(),
        required=True,
        allow_none=True,
        metadata={"description": "Approved, and in force once the jackpot is won. An open round keeps its prizes."},
    )


@blueprint.route("/<id:jackpot_id>/rules", methods=["GET"])
@allow(*READERS)
@refused_with("currency-not-accepted", "jackpot-unknown", "no-rate", "stake-out-of-range")
@blueprint.arguments(RulesQuerySchema(), location="query")
@blueprint.response(200, RulesSheetSchema())
def get_rules(query: Mapping[str, Any], jackpot_id: str) -> Mapping[str, Any]:
    """Print the rules of the running cycle, and those that wait for the next, as data and in sentences."""
    sheet, words = _rules_sheet(query, jackpot_id), words_in(query["lang"])
    state, conversion = sheet.state, sheet.conversion
    currency = conversion.rate.currency
    return {
        "jackpot_id": jackpot_id,
        "rulebook": state.rules.rulebook,
        "lang": words.language,
        "currency": currency,
        "conversion": _body_of_conversion(conversion),
        "meter": body_of_paid_meter(state.meter, currency, state.sheet, state.payment),
        "amounts": sheet.amounts,
        "stake_minor": sheet.stake_minor,
        "prizes": [_body_of_prize(line, sheet, words) for line in sheet.lines],
        "claims": [
            {"casino_id": casino_id, "claim_days": claim_days} for casino_id, claim_days in sheet.claim_periods.items()
        ],
        **_body_of_version(sheet.version, sheet, words, conversion),
        "tables": [_body_of_table(table, sheet, words) for table in sheet.tables],
        "pending": None if sheet.pending is None else _body_of_version(sheet.pending, sheet, words, None),
    }


@blueprint.route("/<id:jackpot_id>/rules.html", methods=["GET"])
@allow(*READERS)
@refused_with("currency-not-accepted", "jackpot-unknown", "no-rate", "stake-out-of-range")
@blueprint.arguments(RulesQuerySchema(), location="query")
@blueprint.response(200, {"type": "string"}, content_type=HTML, description="The same as a page to print.")
def get_rules_page(query: Mapping[str, Any], jackpot_id: str) -> flask.Response:
    """Print the rules of the running cycle, and those that wait for the next, as a page."""
    page = rules_page.rendered(_rules_sheet(query, jackpot_id), words_in(query["lang"]), printed_at=now())
    return answer(page)


def _rules_sheet(query: Mapping[str, Any], jackpot_id: str) -> RulesSheet:
    """Read the sheet that is asked for; a stake that the rules do not take is pointed at in the query."""
    question = RulesQuestion(principal(), jackpot_id, query["currency"], query["stake_minor"])
    try:
        return look(lambda session: rules_sheet(session, question, at=now()))
    except (CurrencyNotAccepted, StakeOutOfRange) as refusal:
        refusal.field_errors = tuple(
            in_query(replace(error, pointer=f"/{error.pointer.rpartition('/')[2]}")) for error in refusal.field_errors
        )
        raise


def _body_of_version(
    version: RulesVersion, sheet: RulesSheet, words: Words, conversion: Conversion | None
) -> dict[str, Any]:
    rules = version.rules
    return {
        "version": version.version,
        "approved_at": version.approved_at,
        "sha256": version.sha256,
        "rules": as_document(rules),
        "split": rules.split,
        "theoretical_return": _body_of_return(rules, words),
        "text": in_sentences(rules, words, conversion, periods=sheet.claim_periods),
    }


def _body_of_table(table: TableOnSheet, sheet: RulesSheet, words: Words) -> dict[str, Any]:
    return {
        "table_id": table.table_id,
        "version": table.version,
        "limits": table.limits,
        "amounts": table.amounts,
        "text": limits_text(table.table_id, table.limits, words, base=sheet.state.rules.base),
    }


def _body_of_return(rules: JackpotRules, words: Words) -> dict[str, Any]:
    meter, prize_fund = meter_return(rules), prize_fund_return(rules)
    return {
        "meter_percent": rounded(100 * meter),
        "prize_fund_percent": rounded(100 * prize_fund),
        "percent": rounded(100 * (meter + prize_fund)),
        "text": return_text(rules, words),
    }


def _body_of_conversion(conversion: Conversion) -> dict[str, Any]:
    sheet = conversion.sheet
    source = None if sheet is None else sheet.source
    return {
        "rate": conversion.rate.base_per_unit,
        "exponent": conversion.rate.exponent,
        "rate_sheet": sheet and sheet.number,
        "effective_at": sheet and sheet.effective_at,
        "source_sheet": sheet and sheet.source_number,
        "source": source and {"name": source.name, "date": source.day.isoformat(), "sha256": source.sha256},
    }


def _body_of_prize(line: PaytableLine, sheet: RulesSheet, words: Words) -> dict[str, Any]:
    rules, stake_minor = sheet.state.rules, sheet.stake_minor
    return {
        "tier": line.tier,
        "hands_per_win": rounded(hands_per_win(line.tier)),
        "odds": odds_text(line.tier, words),
        "meter_part": line.meter_part,
        "stake_multiple": line.stake_multiple,
        "fixed_amount": line.fixed_amount,
        "is_shared": rules.is_shared and isinstance(rules.prizes[line.tier], MeterPart),
        "amount_minor": line.amount_minor,
        "stake_amount_minor": None if stake_minor is None else line.amount_for(stake_minor),
    }
