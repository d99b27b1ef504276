"""Rules, limits and rate sheets as rounds and versions hold them. Amounts are exact, in the base currency."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from jackpot_client.values.words import DeadHand, Evidence, FundedBy, Policy, Tier


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSplit:
    """The parts of a stake that the pools take; the house has the rest."""

    meter: Decimal
    reserve: Decimal
    prize_fund: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPrize:
    """A prize, of which one member is there: a part of the meter, so many times the stake, or an amount."""

    meter_part: Decimal | None = None
    stake_multiple: int | None = None
    fixed_amount: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentTier:
    """A payout tier: what an award `from_` an amount on needs before it is payable; of `prizes`, or of all if empty."""

    from_: Decimal
    prizes: tuple[Tier | str, ...]
    approvals: int
    evidence: tuple[Evidence | str, ...]
    notify: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JackpotRules:
    """
    The rules of a jackpot; `prizes` are by tier, `largest_stakes` by currency, in its own units.

    A stake is the `token`, or lies between `least_stake` and `largest_stake`. With `close_required` a result is taken
    only after betting was closed. `displayed` opens the feed to all.
    """

    rulebook: str
    source: str
    base: str
    split: DocumentSplit
    prizes: Mapping[str, DocumentPrize]
    policy: Policy | str
    fixed_prizes_from: FundedBy | str
    hands_per_player: int
    largest_stake: Decimal | None
    largest_stakes: Mapping[str, Decimal] = field(default_factory=dict)
    least_stake: Decimal | None = None
    token: Decimal | None
    reset_amount: Decimal
    limit: Decimal | None
    payout_tiers: tuple[DocumentTier, ...] = ()
    close_required: bool = False
    dead_hand: DeadHand | str = DeadHand.REFUND
    displayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLimitsDocument:
    """The bounds that a table has of its own; None is none."""

    token: Decimal | None = None
    least_stake: Decimal | None = None
    largest_stake: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRate:
    """A rate: base units per one unit of a currency that has so many decimals."""

    currency: str
    rate: Decimal
    exponent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSheet:
    """A rate sheet."""

    base: str
    number: int
    rates: tuple[DocumentRate, ...]
