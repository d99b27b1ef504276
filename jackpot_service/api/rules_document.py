"""Rules, limits and rate sheets as rounds and versions hold them: written before, and shown as they are."""

from marshmallow import Schema, fields, validate

from jackpot_service.api.schemas import decimal, described, listed, word
from jackpot_service.domain.payout_tiers import Evidence
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rules import DeadHand, FundedBy, Policy
from jackpot_service.domain.shapes import DECIMAL


def _amount(description: str) -> fields.String:
    """Return a field of an amount that is written only where there is one."""
    metadata = {"description": description, "format": "decimal"}
    return fields.String(validate=validate.Regexp(f"^{DECIMAL.pattern}$"), metadata=metadata)


class DocumentSplitSchema(Schema):
    """The parts of a stake that the pools take; the house has the rest."""

    meter = decimal("To the meter.")
    reserve = decimal("To the reserve.")
    prize_fund = decimal("To the prize fund.")


class DocumentPrizeSchema(Schema):
    """A prize: a part of the meter, so many times the stake, or an amount."""

    meter_part = _amount("1 is the whole meter.")
    stake_multiple = fields.Integer()
    fixed_amount = _amount("In the base currency.")


class DocumentTierSchema(Schema):
    """A payout tier: what an award from an amount on needs before it is payable."""

    start = decimal("In the base currency, included.", data_key="from")
    prizes = fields.List(word(Tier), required=True, metadata={"description": "Only of these; of all if empty."})
    approvals = described(fields.Integer, "So many people approve, besides the one who requests it.")
    evidence = fields.List(word(Evidence), required=True)
    notify = fields.List(fields.String(), required=True)


class JackpotRulesSchema(Schema):
    """The rules of a jackpot. A member that is not required is there only where it says something."""

    rulebook = fields.String(required=True)
    source = described(fields.String, "The published document.")
    base = described(fields.String, "The base currency.")
    split = fields.Nested(DocumentSplitSchema(), required=True)
    prizes = fields.Dict(
        keys=fields.String(),
        values=fields.Nested(DocumentPrizeSchema()),
        required=True,
        metadata={"description": "By tier."},
    )
    policy = word(Policy)
    fixed_prizes_from = word(FundedBy)
    hands_per_player = fields.Integer(required=True)
    largest_stake = decimal("In the base currency.", allow_none=True)
    largest_stakes = fields.Dict(
        keys=fields.String(),
        values=_amount("In units of the currency."),
        metadata={"description": "By currency, of those that have their own."},
    )
    least_stake = _amount("In the base currency.")
    token = decimal("The one stake that is taken, in the base currency.", allow_none=True)
    reset_amount = decimal("At which a new cycle begins at least.")
    limit = decimal("The most that is on offer.", allow_none=True)
    payout_tiers = fields.List(fields.Nested(DocumentTierSchema()))
    close_required = fields.Boolean(metadata={"description": "A result is taken only after betting was closed."})
    dead_hand = fields.Enum(DeadHand, by_value=True)
    displayed = fields.Boolean(metadata={"description": "Its feed is open to all."})


class TableLimitsDocumentSchema(Schema):
    """A table's own limits, in the base currency. A member is there only where the table has such a bound."""

    token = _amount("Exactly this is a stake.")
    least_stake = _amount("A stake is worth at least this.")
    largest_stake = _amount("A stake is worth at most this.")


class DocumentRateSchema(Schema):
    """A rate of a sheet."""

    currency = fields.String(required=True)
    rate = decimal("Base units per one unit.")
    exponent = described(fields.Integer, "Decimals of the minor unit.")


class DocumentSheetSchema(Schema):
    """A rate sheet."""

    base = fields.String(required=True)
    number = fields.Integer(required=True)
    rates = listed(DocumentRateSchema)
