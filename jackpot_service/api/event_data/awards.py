"""The data of events about awards."""

from marshmallow import Schema, fields

from jackpot_service.api.event_data.acts import ActDataSchema
from jackpot_service.api.event_data.rounds import RoundIdsSchema
from jackpot_service.api.recorded_facts import amounts_by_account
from jackpot_service.api.schemas import Moment, decimal, described, word
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.claims import ForfeitedTo
from jackpot_service.domain.payments import Channel
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rules import FundedBy


class AwardDataSchema(RoundIdsSchema, ActDataSchema):
    """An award as it was made, whatever became of it."""

    award_id = fields.String(required=True)
    correction = described(fields.Integer, "The verdict that made it; 0 is the settlement.")
    bet_id = fields.String(required=True)
    player_id = described(fields.String, "A pseudonym.")
    hand = fields.String(required=True)
    tier = word(Tier)
    amount_minor = described(fields.Integer, "Whole minor units of `currency`.")
    currency = described(fields.String, "The player's own currency.")
    cost_base = decimal("The cost to the pool that paid it, in `base_currency`, exact.")
    base_currency = described(fields.String, "The jackpot's.")
    funded_by = word(FundedBy)


class AwardMadeDataSchema(AwardDataSchema):
    """One bet's prize."""

    state = word(AwardState, "Its first state: `held` or `payable`.")


class AwardRejectedDataSchema(AwardDataSchema):
    """A held award is not paid."""

    returned_to = amounts_by_account("Where its money went back, by account.")


class AwardReinstatedDataSchema(AwardDataSchema):
    """A rejected award is payable after all."""

    taken_from = amounts_by_account("Where its money came from, by account.")


class EventPaymentSchema(Schema):
    """A payment as the casino stated it."""

    amount_minor = described(fields.Integer, "Whole minor units of the award's currency.")
    withheld_minor = described(fields.Integer, "The part of it that the casino kept for its authority.")
    reference = fields.String(required=True)
    paid_at = Moment(required=True, allow_none=True)
    channel = word(Channel, allow_none=True)
    payer = fields.String(required=True, allow_none=True)


class AwardPaidDataSchema(AwardDataSchema):
    """The casino recorded that it paid an award, or a part of it."""

    payment = fields.Nested(EventPaymentSchema(), required=True)


class PaymentReversedDataSchema(AwardPaidDataSchema):
    """Two people reversed a payment that was recorded wrongly."""

    reverses = described(fields.Integer, "The act that recorded the payment: its seq.")


class ForfeitureSchema(Schema):
    """The rest of an award that was forfeited."""

    amount_minor = described(fields.Integer, "Whole minor units of the award's currency.")
    cost = decimal("In the base currency, exact.")
    to = word(ForfeitedTo, "`statutory`, or `meter` where it went back to the jackpot.")
    claims_version = described(fields.Integer, "The version of the casino's claims that says so.")
    claimable_until = Moment(required=True)


class AwardForfeitedDataSchema(AwardDataSchema):
    """Two people forfeited the unpaid rest of an award that nobody claimed."""

    forfeiture = fields.Nested(ForfeitureSchema(), required=True)
