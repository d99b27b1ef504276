"""The data of events about rounds, and of hits."""

from marshmallow import Schema, fields

from jackpot_service.api.event_data.acts import ActDataSchema
from jackpot_service.api.recorded_facts import amounts_by_account
from jackpot_service.api.schemas import Moment, decimal, described, listed, word
from jackpot_service.domain.payout_tiers import Evidence
from jackpot_service.domain.rules import Policy


class BetSumSchema(Schema):
    """A sum of stakes in a currency."""

    currency = fields.String(required=True)
    amount_minor = described(fields.Integer, "Whole minor units of the currency.")
    bets = described(fields.Integer, "The number of bets.")


class AwardSumSchema(Schema):
    """A sum of awards in a currency."""

    currency = fields.String(required=True)
    amount_minor = described(fields.Integer, "Whole minor units of the currency.")
    awards = described(fields.Integer, "The number of awards.")


class RoundIdsSchema(Schema):
    """The ids of a round."""

    jackpot_id = fields.String(required=True)
    table_id = fields.String(required=True)
    round_id = fields.String(required=True)
    casino_id = fields.String(required=True)


class RoundTermsSchema(RoundIdsSchema):
    """A round, with the terms that were fixed at its opening."""

    rules_version = fields.Integer(required=True)
    rate_sheet = fields.Integer(required=True)


class RoundSettledDataSchema(RoundTermsSchema):
    """A round has its result. Amounts are in `currency`, the jackpot's, but the sums, which name their own."""

    cycle = described(fields.Integer, "In which the round ended.")
    occurred_at = described(Moment, "The table's own time of the result.", allow_none=True)
    stakes = listed(BetSumSchema, "Its live bets.")
    refunds = listed(BetSumSchema, "Those of them on dead hands, unless the rules have them play on.")
    awards = listed(AwardSumSchema, "Its awards.")
    currency = fields.String(required=True)
    policy = word(Policy)
    total_stake_base = decimal("W: the value of the bets on dealt hands.")
    meter_before = decimal("M: on offer after refunds, the round's own contributions included.")
    meter_after = decimal("On offer after the settlement.")
    reserve_after = decimal("The reserve after it.")
    prize_fund_after = decimal("The prize fund after it; may be negative.")
    house_seed = decimal("The amount that the house paid in to reach the reset amount.")
    is_hit = described(fields.Boolean, "Whether it won the jackpot.")


class RoundCancelledDataSchema(RoundTermsSchema):
    """A round was called off."""

    cycle = described(fields.Integer, "In which the round ended.")
    occurred_at = described(Moment, "The table's own time of the cancellation.", allow_none=True)
    reason = fields.String(required=True)
    refunds = listed(BetSumSchema, "All its live stakes.")


class BettingClosedDataSchema(RoundTermsSchema):
    """A round takes no more bets."""

    bet_count = described(fields.Integer, "Its live bets.")
    occurred_at = described(Moment, "The table's own time of the closing.", allow_none=True)


class BetsVoidedDataSchema(RoundTermsSchema):
    """Bets became void."""

    occurred_at = described(Moment, "The table's own time of the voids.", allow_none=True)
    bet_ids = fields.List(fields.String(), required=True)
    tombstones = fields.List(
        fields.String(), required=True, metadata={"description": "Ids of bets that had not come yet."}
    )
    reason = described(fields.String, "Stated once betting is closed.", allow_none=True)
    refunds = listed(BetSumSchema)


class RoundCorrectedDataSchema(RoundIdsSchema, ActDataSchema):
    """Another verdict on a settled round is in force. Amounts are in `currency`, but the sums, which name their own."""

    currency = described(fields.String, "The jackpot's base currency.")
    correction = described(fields.Integer, "The number of the verdict.")
    cycle = described(fields.Integer, "In which the round was settled.")
    meter = decimal("M: on offer when the round was settled.")
    total_stake_base = decimal("W: the value of the bets on dealt hands.")
    awards = listed(AwardSumSchema, "Those that it made.")
    reversed = listed(AwardSumSchema, "Those that it took back.")
    refunded_bet_ids = fields.List(fields.String(), required=True)
    charged_to = amounts_by_account("The amounts that the pools pay for all that is due under it, by account.")
    house_seed = decimal("The amount that the house paid in.")
    meter_after = decimal("On offer after it.")
    reserve_after = decimal("The reserve after it.")
    prize_fund_after = decimal("The prize fund after it; may be negative.")


class RoundCompensatedDataSchema(RoundIdsSchema, ActDataSchema):
    """The house granted an amount for a bet that would have won; a negative amount takes one back."""

    bet_id = fields.String(required=True)
    player_id = fields.String(required=True)
    amount_minor = described(fields.Integer, "Whole minor units of `currency`.")
    currency = fields.String(required=True)
    cost_base = decimal("In `base_currency`, exact, at the round's rates.")
    base_currency = fields.String(required=True)
    document = fields.String(required=True)
    exception_id = described(
        fields.String, "The exception of a denied prize that it closes, if it does.", allow_none=True
    )


class CompensationDeclinedDataSchema(RoundIdsSchema, ActDataSchema):
    """Two people decided that nothing is due for a bet whose prize was denied."""

    bet_id = fields.String(required=True)
    exception_id = described(fields.String, "The exception of the denied prize, which it closes.")


class EvidenceRecordedDataSchema(RoundIdsSchema, ActDataSchema):
    """Somebody recorded evidence for awards that are not payable yet."""

    evidence = word(Evidence)
    statement = fields.String(required=True)
    sha256 = described(fields.String, "Of a file that is stored elsewhere.", allow_none=True)


class AfterHitSchema(Schema):
    """The amounts that a hit left, in `currency`, the jackpot's."""

    jackpot_id = fields.String(required=True)
    cycle = fields.Integer(required=True)
    currency = fields.String(required=True)
    carried = decimal("The rest of the meter, which the next cycle begins with.")
    overflow = decimal("The amount that a limit had kept off the offer, moved to the reserve.")
    house_seed = decimal("The amount that the house paid in to reach the reset amount.")


class JackpotHitDataSchema(AfterHitSchema):
    """The jackpot was won. Every key sees it."""

    table_id = fields.String(required=True)
    round_id = fields.String(required=True)
    meter_before = decimal("On offer before it.")
    paid = decimal("The cost of its winners to the meter.")


class JackpotResetDataSchema(AfterHitSchema):
    """The next cycle began. Every key sees it."""

    rules_version = fields.Integer(required=True)
    meter = decimal("With which it began.")
    reserve = decimal("The reserve at its beginning.")
