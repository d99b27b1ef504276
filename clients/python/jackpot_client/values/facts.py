"""
Facts that entries of rounds recorded, in the form that their digests cover. Amounts are exact.

They are in the base currency unless their name says otherwise; `weight` is the value of the bets on dealt hands.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from jackpot_client.values.words import AwardState, Evidence, FundedBy, HandStatus, Movement, Policy, Tier


class HandRow(NamedTuple):
    """A hand as it was sent, its cards in the order of their names."""

    hand: str
    status: HandStatus | str
    cards: tuple[str, ...]


class StakeRow(NamedTuple):
    """A sum of stakes in a currency, in whole minor units, and how many bets they are."""

    currency: str
    amount_minor: int
    bets: int


class PostingRow(NamedTuple):
    """An amount on an account, in units of its currency; below zero it lowers the balance."""

    account: str
    currency: str
    amount: Decimal
    movement: Movement | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entitlement:
    """The part of the meter to which a winner is entitled."""

    bet_id: str
    tier: Tier | str
    amount: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedCount:
    """The number of live bets that a closing or a result stated, and the table's own time."""

    bet_count: int
    occurred_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedResult(StatedCount):
    """A result as it was sent."""

    hands: tuple[HandRow, ...]
    dealer: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidsFacts:
    """Voids: the booked bets that they made void, and the `tombstones` of bets that had not come yet."""

    voided: tuple[str, ...]
    tombstones: tuple[str, ...]
    occurred_at: datetime | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BetsFacts:
    """The game number that these bets were the first to say, and the version of the table's own limits, if any."""

    game_number: str | None = None
    limits_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlementFacts:
    """A settlement with the sums of the live stakes; `positions` are the seqs of all stripes as the pools were read."""

    stakes: tuple[StakeRow, ...]
    cycle: int
    positions: tuple[int, ...]
    policy: Policy | str
    meter_before: Decimal
    weight: Decimal
    entitlements: tuple[Entitlement, ...]
    refunds: tuple[str, ...]
    meter_after: Decimal
    reserve_after: Decimal
    prize_fund_after: Decimal
    overflow: Decimal
    carried: Decimal | None
    house_seed: Decimal
    cycle_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFacts:
    """A result as it was stated, and what it came to; with the game number if it was the first to say it."""

    result: StatedResult
    settlement: SettlementFacts
    game_number: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CancellationFacts:
    """A cancellation as it was sent, and the cycle that it fell in."""

    reason: str
    cycle: int
    hands: tuple[HandRow, ...]
    occurred_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictAward:
    """An award that a verdict made or took back; `correction` numbers the verdict that made it, 0 the settlement."""

    bet_id: str
    tier: Tier | str
    amount_minor: int
    currency: str
    cost: Decimal
    funded_by: FundedBy | str
    state: AwardState | str
    correction: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MetRequirement:
    """The demands of payout tiers that were met: so many people approved, and this evidence was there."""

    approvals: int
    evidence: tuple[Evidence | str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """
    Another verdict on a settled round, at the `meter` of its settlement: awards made and `reversed`, and what it moved.

    `charged_to` is what each pool account pays for all that is due under it.
    """

    table_id: str
    round_id: str
    round_key: int
    number: int
    result: StatedResult
    cycle: int
    positions: tuple[int, ...]
    meter: Decimal
    weight: Decimal
    entitlements: tuple[Entitlement, ...]
    awards: tuple[VerdictAward, ...]
    reversed: tuple[VerdictAward, ...]
    refunds: tuple[str, ...]
    charged_to: Mapping[str, Decimal]
    requirement: MetRequirement
    postings: tuple[PostingRow, ...]
    house_seed: Decimal
    meter_after: Decimal
    reserve_after: Decimal
    prize_fund_after: Decimal


EntryFacts: TypeAlias = BetsFacts | VoidsFacts | StatedCount | ResultFacts | CancellationFacts
"""The facts of an entry of a round."""

FACTS: Final[Mapping[str, type]] = {
    "bets": BetsFacts,
    "voids": VoidsFacts,
    "closing": StatedCount,
    "result": ResultFacts,
    "cancellation": CancellationFacts,
}
"""The facts of each kind of entry that has any."""

STATED: Final[Mapping[str, type]] = {"voids": VoidsFacts, "closing": StatedCount}
"""The facts that a round's record shows with its entries."""
