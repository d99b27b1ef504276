"""The shapes that several answers share. They document the contract; the answers are built in `answers.py`."""

from typing import Any

from marshmallow import Schema, fields, validate

from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.rules import Tier
from jackpot_service.usecases.fields import Identifier, StrictSchema

DECIMAL = r"^-?\d+(\.\d+)?$"


def decimal(description: str, **kwargs: Any) -> fields.String:  # noqa: ANN401  a field's own options
    """An exact amount or rate, as a decimal text."""
    return fields.String(
        required=True,
        validate=validate.Regexp(DECIMAL),
        metadata={"description": description, "format": "decimal"},
        **kwargs,
    )


def described(field: type[fields.Field[Any]], description: str, **kwargs: Any) -> fields.Field[Any]:  # noqa: ANN401
    """A required field with its description."""
    return field(required=True, metadata={"description": description}, **kwargs)


def request_id() -> Identifier:
    """The caller's id of an administrative act."""
    return Identifier(required=True, metadata={"description": "The caller's id of this request, kept for ever."})


class RequestSchema(StrictSchema):
    """A body or a query."""


class RoundSchema(Schema):
    """A round as it is now; of a replayed void, as it was then."""

    jackpot_id = described(fields.String, "The jackpot that the round's bets play for.")
    table_id = described(fields.String, "The table's id.")
    round_id = described(fields.String, "The table server's id of the round.")
    state = fields.String(required=True, validate=validate.OneOf(["open", "settled", "cancelled"]))
    cycle = described(fields.Integer, "The running cycle; of a round that is over, the one it ended in.")
    rules_version = described(fields.Integer, "The rules version pinned when the round was first seen.")
    rate_sheet = described(fields.Integer, "The rate sheet pinned when the round was first seen.")
    bet_count = described(fields.Integer, "Bets accepted and not void.")
    total_stake_base = decimal("Their stakes' value in the base currency.")


class MeterSchema(Schema):
    """A jackpot's meter: what is on offer."""

    jackpot_id = fields.String(required=True)
    cycle = described(fields.Integer, "The running cycle.")
    currency = described(fields.String, "The currency of `amount` and `amount_minor`.")
    amount_minor = described(fields.Integer, "On offer, in whole minor units, rounded down; for display.")
    amount = decimal("The same as a text with the currency's decimals.")
    amount_exact = decimal("On offer, exact, in the base currency.")
    overflow = decimal("What a limit keeps off the offer, in the base currency.")
    last_movement_at = described(fields.DateTime, "Nothing has moved since.")
    version = described(fields.String, "Changes with every entry of the jackpot.")


class AwardSchema(Schema):
    """One bet's prize."""

    award_id = fields.String(required=True)
    bet_id = fields.String(required=True)
    player_id = described(fields.String, "A pseudonym; null for a bet of another casino.", allow_none=True)
    hand = fields.String(required=True)
    tier = fields.String(required=True, validate=validate.OneOf([tier.value for tier in Tier]))
    amount_minor = described(fields.Integer, "Whole minor units of `currency`, rounded down.")
    currency = described(fields.String, "The player's own currency.")
    cost_base = decimal("What it costs in the base currency, exact.")
    state = described(
        fields.String,
        "How it stands; in the answer to a result, how it began. Held and then approved, or reinstated: payable.",
        validate=validate.OneOf([state.value for state in AwardState]),
    )


class RefundSchema(Schema):
    """A stake given back."""

    bet_id = fields.String(required=True)
    player_id = fields.String(required=True)
    amount_minor = fields.Integer(required=True)
    currency = fields.String(required=True)


class SettlementSchema(Schema):
    """The verdict on a round, in the base currency unless said otherwise."""

    policy = described(fields.String, "How several winners are paid.")
    meter_before = decimal("M: on offer after refunds, the round's own contributions included.")
    total_stake_base = decimal("W: the value of the bets on dealt hands.")
    awards = described(fields.List, "By bet id, then tier.", cls_or_instance=fields.Nested(AwardSchema))
    refunds = described(fields.List, "The bets on dead hands.", cls_or_instance=fields.Nested(RefundSchema))
    meter_after = decimal("On offer after the settlement.")
    reserve_after = decimal("What starts the next jackpot.")
    prize_fund_after = decimal("What pays the fixed prizes; may be negative.")
    carried = decimal("On a hit, what is left of M; otherwise null.", allow_none=True)
    house_seed = decimal("What the house put in to reach the reset amount.")
    cycle_after = described(fields.Integer, "The running cycle after it: one more on a hit.")
