"""Answers about what a jackpot pays and by which rules, and about its hits."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from jackpot_client.values.documents import JackpotRules
from jackpot_client.values.meters import PaidMeter
from jackpot_client.values.rounds import Award, TableLimits
from jackpot_client.values.tables import Source
from jackpot_client.values.words import HitPayment, Language, Policy, Tier


@dataclass(frozen=True, slots=True, kw_only=True)
class PaytableLine:
    """A tier: a part of the meter, a multiple of the stake or an amount; `amount_minor` is for display."""

    tier: Tier | str
    meter_part: Decimal | None
    stake_multiple: int | None
    fixed_amount: Decimal | None
    amount_minor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Paytable:
    """The prizes of a jackpot in a currency, by the rules that settle."""

    jackpot_id: str
    currency: str
    rate: Decimal
    rate_sheet: int | None
    rulebook: str
    rules_version: int
    policy: Policy | str
    lines: tuple[PaytableLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedTable:
    """A table with limits of its own, set by this version of them."""

    table_id: str
    version: int
    limits: TableLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedTables:
    """The tables of a jackpot that have limits of their own, in its base currency."""

    jackpot_id: str
    currency: str
    tables: tuple[LimitedTable, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The parts of every bet; together 1."""

    meter: Decimal
    reserve: Decimal
    prize_fund: Decimal
    house: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """The theoretical return of a bet, in per cent."""

    meter_percent: Decimal
    prize_fund_percent: Decimal
    percent: Decimal
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """The rate by which amounts of the answer are converted: base units per one unit of the currency."""

    rate: Decimal
    exponent: int
    rate_sheet: int | None
    effective_at: datetime | None
    source: Source | None
    source_sheet: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """Amounts of the rules in the currency, in whole minor units, rounded down."""

    unit: int
    token: int | None
    least_stake: int | None
    largest_stake: int | None
    reset_amount: int
    limit: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prize:
    """A tier, its prize and its odds: `hands_per_win` hands of five cards for one that wins it."""

    tier: Tier | str
    hands_per_win: Decimal
    odds: str
    meter_part: Decimal | None
    stake_multiple: int | None
    fixed_amount: Decimal | None
    is_shared: bool
    amount_minor: int
    stake_amount_minor: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimPeriod:
    """For how many days awards can be claimed at a casino; None is for ever."""

    casino_id: str
    claim_days: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAmounts:
    """A table's own limits in the currency, in whole minor units."""

    token: int | None
    least_stake: int | None
    largest_stake: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOnSheet(LimitedTable):
    """A table with limits of its own, as the rules sheet prints it."""

    amounts: TableAmounts
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesVersion:
    """
    A version of the rules, as parameters (`rules`) and in sentences (`text`).

    `sha256` is that of the parameters as JSON, which may have more members than `rules` has.
    """

    version: int
    approved_at: datetime
    sha256: str
    rules: JackpotRules
    split: Split
    theoretical_return: Return
    text: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesSheet(RulesVersion):
    """The rules of the running cycle, and those that wait for the next one."""

    jackpot_id: str
    rulebook: str
    lang: Language | str
    currency: str
    conversion: Conversion
    meter: PaidMeter
    amounts: Amounts
    stake_minor: int | None
    prizes: tuple[Prize, ...]
    claims: tuple[ClaimPeriod, ...]
    tables: tuple[TableOnSheet, ...]
    pending: RulesVersion | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A hit: the meter before it, the part that was paid, and the meter that the next cycle began with."""

    cycle: int
    casino_id: str
    table_id: str
    round_id: str
    hit_at: datetime
    currency: str
    meter_before: Decimal
    total_stake_base: Decimal
    paid: Decimal
    cards: tuple[str, ...]
    winners: int
    payment: HitPayment | str | None
    carried: Decimal
    house_seed: Decimal
    meter_after: Decimal
    awards: tuple[Award, ...]
