"""The data of events about rounds, and of hits. Amounts in minor units name their currency."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from jackpot_client.values.event_data import RoundActData, RoundIds
from jackpot_client.values.words import Evidence, Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class BetSum:
    """A sum of stakes in a currency, and of how many bets."""

    currency: str
    amount_minor: int
    bets: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AwardSum:
    """A sum of awards in a currency, and how many they are."""

    currency: str
    amount_minor: int
    awards: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTerms(RoundIds):
    """A round, with the terms that were fixed at its opening."""

    rules_version: int
    rate_sheet: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundSettledData(RoundTerms):
    """A round has its result; `is_hit` is whether it won the jackpot. Amounts are in `currency`, the jackpot's."""

    cycle: int
    occurred_at: datetime | None
    stakes: tuple[BetSum, ...]
    refunds: tuple[BetSum, ...]
    awards: tuple[AwardSum, ...]
    currency: str
    policy: Policy | str
    total_stake_base: Decimal
    meter_before: Decimal
    meter_after: Decimal
    reserve_after: Decimal
    prize_fund_after: Decimal
    house_seed: Decimal
    is_hit: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCancelledData(RoundTerms):
    """A round was called off; `refunds` are all its live stakes."""

    cycle: int
    occurred_at: datetime | None
    reason: str
    refunds: tuple[BetSum, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BettingClosedData(RoundTerms):
    """A round takes no more bets; `bet_count` are its live ones."""

    bet_count: int
    occurred_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BetsVoidedData(RoundTerms):
    """Bets became void; `tombstones` are ids of bets that had not come yet."""

    occurred_at: datetime | None
    bet_ids: tuple[str, ...]
    tombstones: tuple[str, ...]
    reason: str | None
    refunds: tuple[BetSum, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCorrectedData(RoundActData):
    """Another verdict on a settled round is in force: `correction` is its number. Amounts are in `currency`."""

    currency: str
    correction: int
    cycle: int
    meter: Decimal
    total_stake_base: Decimal
    awards: tuple[AwardSum, ...]
    reversed: tuple[AwardSum, ...]
    refunded_bet_ids: tuple[str, ...]
    charged_to: Mapping[str, Decimal]
    house_seed: Decimal
    meter_after: Decimal
    reserve_after: Decimal
    prize_fund_after: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCompensatedData(RoundActData):
    """The house granted an amount for a bet that would have won, or took one back (negative)."""

    bet_id: str
    player_id: str
    amount_minor: int
    currency: str
    cost_base: Decimal
    base_currency: str
    document: str
    exception_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompensationDeclinedData(RoundActData):
    """Two people decided that nothing is due for a bet whose prize was denied."""

    bet_id: str
    exception_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRecordedData(RoundActData):
    """Somebody recorded evidence for awards that are not payable yet; `sha256` is that of a file."""

    evidence: Evidence | str
    statement: str
    sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterHit:
    """The amounts that a hit left: the rest of the meter, what was above the limit, and what the house paid in."""

    jackpot_id: str
    cycle: int
    currency: str
    carried: Decimal
    overflow: Decimal
    house_seed: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class JackpotHitData(AfterHit):
    """The jackpot was won; `paid` is the cost of its winners to the meter."""

    table_id: str
    round_id: str
    meter_before: Decimal
    paid: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class JackpotResetData(AfterHit):
    """The next cycle began, with this meter."""

    rules_version: int
    meter: Decimal
    reserve: Decimal
