"""
The facts that entries of rounds recorded, in the form that their digests cover: described, and shown as written.

`domain/facts.py` and the corrections write it.
"""

from typing import Any

from marshmallow import Schema, fields, validate

from jackpot_service.api.schemas import Moment, decimal, described, listed, word
from jackpot_service.api.written import Row
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.outcomes import HandStatus
from jackpot_service.domain.payout_tiers import Evidence
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rules import FundedBy, Policy

FRACTION = r"^-?\d+(/\d+)?$"


def amounts_by_account(description: str) -> fields.Dict:
    """Return a field of amounts in the base currency, by the accounts that they moved."""
    return fields.Dict(
        keys=fields.String(),
        values=decimal("In the base currency, exact."),
        required=True,
        metadata={"description": description},
    )


def _texts(description: str) -> fields.List[Any]:
    return fields.List(fields.String(), required=True, metadata={"description": description})


def _hands() -> fields.List[Any]:
    name = described(fields.String, "The name of the hand.")
    hand = Row(name, word(HandStatus), _texts("Its cards, in the order of their names."))
    return fields.List(hand, required=True, metadata={"description": "Name, status and cards of each, by name."})


class EntitlementSchema(Schema):
    """The part of the meter to which a winner is entitled."""

    bet_id = fields.String(required=True)
    tier = word(Tier)
    amount = fields.String(
        required=True,
        validate=validate.Regexp(FRACTION),
        metadata={"description": "In the base currency, exact: a whole number or a fraction.", "format": "fraction"},
    )


class StatedCountSchema(Schema):
    """The number of live bets that a table server stated, and the table's own time."""

    bet_count = fields.Integer(required=True)
    occurred_at = Moment(required=True, allow_none=True)


class VoidsFactsSchema(Schema):
    """Voids: the bets that they made void, those that had not come yet, and why."""

    voided = _texts("The ids of booked bets.")
    tombstones = _texts("The ids of bets that had not come.")
    occurred_at = Moment(required=True, allow_none=True)
    reason = described(fields.String, "Stated once betting is closed.", allow_none=True)


class BetsFactsSchema(Schema):
    """The facts that bets recorded besides themselves. A member is there only where there is something to say."""

    game_number = fields.String(metadata={"description": "The number that players see, by the first bets that say it."})
    limits_version = fields.Integer(metadata={"description": "Of the table's own limits that they were taken under."})


class StatedResultSchema(StatedCountSchema):
    """A result as it was sent."""

    hands = _hands()
    dealer = _texts("The dealer's cards, in the order of their names.")


class SettlementFactsSchema(Schema):
    """A settlement with the sums of the live stakes. Amounts are exact, in the base currency unless said otherwise."""

    stakes = fields.List(
        Row(
            fields.String(required=True),
            described(fields.Integer, "Whole minor units of the currency."),
            described(fields.Integer, "The number of bets."),
        ),
        required=True,
        metadata={"description": "Currency, minor units and number of bets of each currency."},
    )
    cycle = described(fields.Integer, "In which the round ended.")
    positions = fields.List(
        fields.Integer(), required=True, metadata={"description": "Every stripe's seq as the pools were read."}
    )
    policy = word(Policy)
    meter_before = decimal("M: on offer after refunds, the round's own contributions included.")
    weight = decimal("W: the value of the bets on dealt hands.")
    entitlements = listed(EntitlementSchema, "The entitlements of the winners to the meter.")
    refunds = _texts("The ids of the bets that were refunded.")
    meter_after = decimal("On offer after the settlement.")
    reserve_after = decimal("The reserve after it.")
    prize_fund_after = decimal("The prize fund after it; may be negative.")
    overflow = decimal("The amount that a limit had kept off the offer, moved to the reserve at a hit.")
    carried = decimal("On a hit, what is left of M; otherwise null.", allow_none=True)
    house_seed = decimal("The amount that the house paid in to reach the reset amount.")
    cycle_after = described(fields.Integer, "The running cycle after it: one more on a hit.")


class ResultFactsSchema(Schema):
    """A result: what was stated, and what it came to."""

    result = fields.Nested(StatedResultSchema(), required=True)
    settlement = fields.Nested(SettlementFactsSchema(), required=True)
    game_number = fields.String(metadata={"description": "The number that players see, if no bets had said it."})


class CancellationFactsSchema(Schema):
    """A cancellation as it was sent, and the cycle that it fell in."""

    reason = fields.String(required=True)
    cycle = fields.Integer(required=True)
    hands = _hands()
    occurred_at = Moment(required=True, allow_none=True)


class VerdictAwardSchema(Schema):
    """An award as a verdict made it, or took it back."""

    bet_id = fields.String(required=True)
    tier = word(Tier)
    amount_minor = described(fields.Integer, "Whole minor units of `currency`.")
    currency = fields.String(required=True)
    cost = decimal("In the base currency, exact.")
    funded_by = word(FundedBy)
    state = word(AwardState)
    correction = described(fields.Integer, "The verdict that made it; 0 is the settlement.")


class MetRequirementSchema(Schema):
    """The demands of the payout tiers that the awards reach, which were met."""

    approvals = described(fields.Integer, "So many people approve, besides the one who requests it.")
    evidence = fields.List(word(Evidence), required=True)


class VerdictSchema(Schema):
    """Another verdict on a settled round. Amounts are exact, in the base currency unless said otherwise."""

    table_id = fields.String(required=True)
    round_id = fields.String(required=True)
    round_key = described(fields.Integer, "The ledger's own number of the round.")
    number = described(fields.Integer, "Its place among the corrections, from 1.")
    result = fields.Nested(StatedResultSchema(), required=True)
    cycle = described(fields.Integer, "In which the round was settled.")
    positions = fields.List(
        fields.Integer(), required=True, metadata={"description": "Every stripe's seq as the pools were read."}
    )
    meter = decimal("M: on offer when the round was settled.")
    weight = decimal("The value of the bets on dealt hands.")
    entitlements = listed(EntitlementSchema, "The entitlements of the winners to the meter.")
    awards = listed(VerdictAwardSchema, "The awards that it made.")
    reversed = listed(VerdictAwardSchema, "The awards that it took back.")
    refunds = _texts("The ids of the bets that are refunded under it.")
    charged_to = amounts_by_account("The amounts that the pools pay for all that is due under it, by account.")
    requirement = fields.Nested(MetRequirementSchema(), required=True)
    postings = fields.List(
        Row(
            described(fields.String, "The account."),
            described(fields.String, "The currency."),
            decimal("In units of the currency, exact; below zero it lowers the balance."),
            word(Movement),
        ),
        required=True,
        metadata={"description": "Account, currency, amount and movement of each, in the order booked."},
    )
    house_seed = decimal("The amount that the house paid in.")
    meter_after = decimal("On offer after it.")
    reserve_after = decimal("The reserve after it.")
    prize_fund_after = decimal("The prize fund after it; may be negative.")
