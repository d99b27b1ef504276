"""The data of events about a jackpot's life and settings, and money that people moved, in `currency`, its base."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

from jackpot_client.values.documents import JackpotRules, TableLimitsDocument
from jackpot_client.values.event_data import ActData
from jackpot_client.values.words import Cause, FundedBy, JackpotState, Pool


@dataclass(frozen=True, slots=True, kw_only=True)
class JackpotData(ActData):
    """A jackpot, and its base currency."""

    jackpot_id: str
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JackpotStateData(JackpotData):
    """A jackpot was suspended or resumed."""

    state: JackpotState | str


@dataclass(frozen=True, slots=True, kw_only=True)
class JackpotOpenedData(JackpotData):
    """A jackpot was opened; its meter begins with `base_amount`."""

    base_amount: Decimal
    rules_version: int
    rules: JackpotRules
    cycle: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolBalances:
    """The balances of a jackpot's pools; of the meter they are the players' part and the house's."""

    meter_players: Decimal
    meter_house: Decimal
    reserve: Decimal
    prize_fund: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolsMovedData(JackpotData):
    """People moved money of a jackpot; `pools` are the balances after it."""

    pools: PoolBalances


@dataclass(frozen=True, slots=True, kw_only=True)
class Transferred:
    """The players' money of a retired jackpot."""

    meter: Decimal
    reserve: Decimal
    prize_fund: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class JackpotRetiredData(PoolsMovedData):
    """A jackpot ended: the players' money went `to` another, the house's back to the house."""

    state: JackpotState | str
    to: str
    transferred: Transferred
    to_house_seed: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferReceivedData(PoolsMovedData):
    """The players' money arrived `from_` a retired jackpot."""

    from_: str
    transferred: Transferred


@dataclass(frozen=True, slots=True, kw_only=True)
class AmountMovedData(PoolsMovedData):
    """The house took back seed of its own, or filled the prize fund; a negative amount went the other way."""

    amount: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class JackpotAdjustedData(AmountMovedData):
    """A pool (`account`) was corrected by a difference, which a document shows."""

    account: Pool | str
    document: str
    cause: Cause | str


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedPrizes:
    """The average cost of the fixed prizes for one unit staked, against the part of a bet that pays them."""

    paid_from: FundedBy | str
    cost: Fraction
    cost_percent: Decimal
    split_percent: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesChangedData(JackpotData):
    """A new version of a jackpot's rules was approved; it waits for the next cycle."""

    rules_version: int
    rules: JackpotRules
    fixed_prizes: FixedPrizes


@dataclass(frozen=True, slots=True, kw_only=True)
class SetLimits:
    """A version of the limits of a jackpot's tables, and what it set."""

    version: int
    document: TableLimitsDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLimitsChangedData(JackpotData):
    """A table got limits of its own, in force for the next bet."""

    table_id: str
    limits: SetLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementSettledData(ActData):
    """A casino paid its balance for a period (negative: was paid), in units of the currency; `to` is excluded."""

    jackpot_id: str
    casino_id: str
    currency: str
    reference: str
    from_: datetime
    to: datetime
    amount: Decimal
    balance_before: Decimal
    balance_after: Decimal
