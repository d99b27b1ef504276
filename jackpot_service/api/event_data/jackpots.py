"""The data of events about a jackpot's life, its settings, and money that people moved."""

from marshmallow import Schema, fields

from jackpot_service.api.event_data.acts import ActDataSchema
from jackpot_service.api.rules_document import JackpotRulesSchema, TableLimitsDocumentSchema
from jackpot_service.api.schemas import Moment, decimal, described, word
from jackpot_service.domain.lives import Life
from jackpot_service.domain.rules import FundedBy
from jackpot_service.usecases.changes.adjustment import Cause, Pool


class JackpotDataSchema(ActDataSchema):
    """A jackpot, and its base currency."""

    jackpot_id = fields.String(required=True)
    currency = described(fields.String, "The base currency, of all amounts that name no other.")


class JackpotStateDataSchema(JackpotDataSchema):
    """A jackpot takes no bets from now on, or takes them again."""

    state = word(Life)


class JackpotOpenedDataSchema(JackpotDataSchema):
    """A jackpot was opened."""

    base_amount = decimal("The amount that its meter begins with.")
    rules_version = fields.Integer(required=True)
    rules = fields.Nested(JackpotRulesSchema(), required=True)
    cycle = fields.Integer(required=True)


class PoolBalancesSchema(Schema):
    """The balances of a jackpot's pools. Of the meter they are the players' part and the house's."""

    meter_players = decimal("May be negative for a while.")
    meter_house = decimal("The seed that is left.")
    reserve = decimal("The start of the next meter.")
    prize_fund = decimal("May be negative.")


class PoolsMovedDataSchema(JackpotDataSchema):
    """People moved money of a jackpot."""

    pools = fields.Nested(PoolBalancesSchema(), required=True, metadata={"description": "The balances after it."})


class TransferredSchema(Schema):
    """The players' money of a retired jackpot."""

    meter = decimal("Of its meter.")
    reserve = decimal("Of its reserve.")
    prize_fund = decimal("Of its prize fund.")


class JackpotRetiredDataSchema(PoolsMovedDataSchema):
    """A jackpot ended."""

    state = word(Life)
    to = described(fields.String, "The jackpot that gets the players' money.")
    transferred = fields.Nested(TransferredSchema(), required=True)
    to_house_seed = decimal("The amount that went back to the house.")


class TransferReceivedDataSchema(PoolsMovedDataSchema):
    """The players' money of a retired jackpot arrived."""

    from_ = described(fields.String, "The jackpot that ended.", data_key="from")
    transferred = fields.Nested(TransferredSchema(), required=True)


class AmountMovedDataSchema(PoolsMovedDataSchema):
    """The house took back seed of its own, or filled the prize fund; a negative amount went the other way."""

    amount = decimal("In the base currency, exact.")


class JackpotAdjustedDataSchema(AmountMovedDataSchema):
    """A pool was corrected by a difference."""

    account = word(Pool, "The pool. Of the meter it is the players' part.")
    document = fields.String(required=True)
    cause = word(Cause)


class FixedPrizesSchema(Schema):
    """The average cost of the fixed prizes, against the part of a bet that pays them."""

    paid_from = word(FundedBy)
    cost = fields.String(
        required=True, metadata={"description": "Of one unit staked, exact: a fraction.", "format": "fraction"}
    )
    cost_percent = decimal("The same in per cent, rounded to ten decimals.")
    split_percent = decimal("The part of a bet that pays them, in per cent.")


class RulesChangedDataSchema(JackpotDataSchema):
    """A new version of a jackpot's rules was approved; it waits for the next cycle."""

    rules_version = fields.Integer(required=True)
    rules = fields.Nested(JackpotRulesSchema(), required=True)
    fixed_prizes = fields.Nested(FixedPrizesSchema(), required=True)


class SetLimitsSchema(Schema):
    """A version of the limits of a jackpot's tables, and what it set."""

    version = fields.Integer(required=True)
    document = fields.Nested(TableLimitsDocumentSchema(), required=True)


class TableLimitsChangedDataSchema(JackpotDataSchema):
    """A table got limits of its own, in force for the next bet."""

    table_id = fields.String(required=True)
    limits = fields.Nested(SetLimitsSchema(), required=True)


class StatementSettledDataSchema(ActDataSchema):
    """A casino paid its balance for a period (negative: was paid)."""

    jackpot_id = fields.String(required=True)
    casino_id = fields.String(required=True)
    currency = described(fields.String, "Of the amount and the balances.")
    reference = fields.String(required=True)
    from_ = described(Moment, "The period's first instant.", data_key="from")
    to = described(Moment, "The period's end, which is excluded.")
    amount = decimal("In units of the currency.")
    balance_before = decimal("The amount that the casino was owed before.")
    balance_after = decimal("The amount that it is owed after it.")
