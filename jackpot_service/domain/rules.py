"""
The rules of a jackpot as one value: how a bet is split, what pays, who shares, and what stakes are taken.

The printed rules, the paytable and the settlement read the same `JackpotRules`. A version of it is stored as the
document that `as_document` makes, and read back by `from_document`; both together lose nothing.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any

from jackpot_service.domain import payout_tiers, prizes
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.money import ONE, POOL_DECIMALS, ZERO, has_decimals, plain
from jackpot_service.domain.payout_tiers import MOST_APPROVALS, PayoutTier
from jackpot_service.domain.prizes import FixedAmount, MeterPart, Prize, StakeMultiple, Tier

SPLIT_DECIMALS = 4
STAKE_DECIMALS = 4
LARGEST_AMOUNT = Decimal(10**15)
MOST_HANDS = 10
"""A deck deals no more hands of five cards."""


class BadRules(Refused, code="rules-invalid", title="Invalid rules"):
    """The parameters do not make a jackpot."""


class Policy(StrEnum):
    """How several winners of one round are paid."""

    SHARED_BY_STAKE = "shared_by_stake"
    """The round's bettors share the whole meter in proportion to their converted stakes."""
    AGGREGATE_PRO_RATA = "aggregate_pro_rata"
    """Each winner is entitled on the same meter; together beyond it, all are scaled alike."""
    MINOR_FIRST = "minor_first"
    """The lower tiers are paid first; the royal flushes share equally what is left."""
    EQUAL_SHARE = "equal_share"
    """A tier's entitlement is figured once and split equally among its winners; then as pro rata."""


class FundedBy(StrEnum):
    """The pool that pays the fixed prizes."""

    PRIZE_FUND = "prize_fund"
    METER = "meter"


class DeadHand(StrEnum):
    """The treatment of bets on a hand with a wrong number of cards. The hand itself wins nothing."""

    REFUND = "refund"
    """They are refunded."""
    PLAY_ON = "play-on"
    """They stay in play: where a round shares, they have their part in the share."""


@dataclass(frozen=True, slots=True)
class Split:
    """The parts of every bet that go to the pools; the house takes what they do not."""

    meter: Decimal
    reserve: Decimal
    prize_fund: Decimal

    @property
    def house(self) -> Decimal:
        """The house's part: what the pools do not take."""
        return ONE - (self.meter + self.reserve + self.prize_fund)


@dataclass(frozen=True, slots=True)
class JackpotRules:
    """
    One version of a jackpot's rules.

    `split`, `prizes`, `policy`, `fixed_prizes_from`, `token`, the bounds of stakes, `hands_per_player`, `dead_hand` and
    `close_required` belong to a bet and are taken from its round's version. `close_required` says that a result is
    taken only after betting was closed. `reset_amount`, `limit` and `payout_tiers` belong to the jackpot and are taken
    from its cycle's. Amounts are in units of the jackpot's base currency, but `largest_stakes`: for single currencies,
    by their codes, what a stake may be at most in their own units. A stake in one of them keeps both that and
    `largest_stake`. `displayed` says that anybody may see the meter and the last hit, without a key: the newest version
    counts, at once, since nothing of the play depends on it.
    """

    rulebook: str
    source: str
    base: str
    split: Split
    prizes: Mapping[Tier, Prize]
    policy: Policy
    fixed_prizes_from: FundedBy
    hands_per_player: int
    largest_stake: Decimal | None
    token: Decimal | None
    reset_amount: Decimal
    limit: Decimal | None = None
    payout_tiers: tuple[PayoutTier, ...] = ()
    least_stake: Decimal | None = None
    largest_stakes: Mapping[str, Decimal] = field(default_factory=dict)
    close_required: bool = False
    dead_hand: DeadHand = DeadHand.REFUND
    displayed: bool = False

    def __post_init__(self) -> None:
        _require_split(self)
        _require_stakes(self)
        _require_policy(self)
        _require_prizes(self)
        _require_amounts(self)
        _require_payout_tiers(self)

    @property
    def is_shared(self) -> bool:
        """Whether a royal flush is shared by the round's bettors, rather than owned by the hand."""
        return self.policy is Policy.SHARED_BY_STAKE

    def pays_from_meter(self, tier: Tier) -> bool:
        """Whether a hand of this tier is paid from the meter, so that settling it needs the meter's exact amount."""
        return isinstance(self.prizes[tier], MeterPart) or self.fixed_prizes_from is FundedBy.METER


def _require(holds: bool, message: str) -> None:  # noqa: FBT001  a guard reads as a sentence: require that it holds
    if not holds:
        raise BadRules(message)


def _require_split(rules: JackpotRules) -> None:
    parts = {"meter": rules.split.meter, "reserve": rules.split.reserve, "prize_fund": rules.split.prize_fund}
    for name, part in parts.items():
        _require(part.is_finite() and ZERO <= part <= ONE, f"split.{name} must lie between 0 and 1, not {part}.")
        _require(has_decimals(part, SPLIT_DECIMALS), f"split.{name} may have at most {SPLIT_DECIMALS} decimals.")
    _require(rules.split.house >= ZERO, "The parts of a split may sum to at most 1.")
    if rules.fixed_prizes_from is FundedBy.METER:
        _require(not rules.split.prize_fund, "The meter pays these fixed prizes; split.prize_fund must be 0.")


def _require_stakes(rules: JackpotRules) -> None:
    _require(1 <= rules.hands_per_player <= MOST_HANDS, f"A player may have 1 to {MOST_HANDS} hands.")
    _require(
        (rules.largest_stake is None) != (rules.token is None),
        "Stakes are bounded either by largest_stake or by a token.",
    )
    _require(
        rules.token is None or not rules.largest_stakes,
        "Where a token is the stake, no currency has a largest stake of its own.",
    )
    _require(rules.token is None or rules.least_stake is None, "Where a token is the stake, there is no least stake.")
    _require(
        rules.least_stake is None or rules.largest_stake is None or rules.least_stake <= rules.largest_stake,
        "The least stake may not exceed the largest.",
    )


def _require_policy(rules: JackpotRules) -> None:
    _require(Tier.ROYAL_FLUSH in rules.prizes, "A jackpot needs a prize for the royal flush.")
    if rules.is_shared:
        _require(rules.fixed_prizes_from is FundedBy.PRIZE_FUND, "A shared meter cannot pay fixed prizes.")
    else:
        _require(
            rules.fixed_prizes_from is FundedBy.METER, "Where a hand owns the meter, it pays the fixed prizes too."
        )


def _require_prizes(rules: JackpotRules) -> None:
    for tier, prize in rules.prizes.items():
        match prize:
            case MeterPart(fraction):
                _require(
                    fraction.is_finite() and ZERO < fraction <= ONE and has_decimals(fraction, SPLIT_DECIMALS),
                    f"prizes.{tier}, a part of the meter, is above 0, at most 1, with up to {SPLIT_DECIMALS} decimals.",
                )
                _require(
                    tier is Tier.ROYAL_FLUSH or not rules.is_shared,
                    "Of a shared meter only a royal flush takes a part.",
                )
            case StakeMultiple(times):
                _require(times >= 1, f"prizes.{tier} is at least once the stake.")
            case FixedAmount(amount):
                require_amount(f"prizes.{tier}", amount, decimals=STAKE_DECIMALS)
                _require(amount > ZERO, f"prizes.{tier} must be positive, not {amount}.")
                _require(
                    rules.token is not None and rules.fixed_prizes_from is FundedBy.METER,
                    f"prizes.{tier}, a fixed amount, needs a token as the stake, and a meter that pays it.",
                )


def _require_amounts(rules: JackpotRules) -> None:
    amounts = {
        "reset_amount": (rules.reset_amount, POOL_DECIMALS),
        "limit": (rules.limit, POOL_DECIMALS),
        "largest_stake": (rules.largest_stake, STAKE_DECIMALS),
        "least_stake": (rules.least_stake, STAKE_DECIMALS),
        "token": (rules.token, STAKE_DECIMALS),
        **{f"largest_stake.{currency}": (most, STAKE_DECIMALS) for currency, most in rules.largest_stakes.items()},
    }
    for name, (amount, decimals) in amounts.items():
        if amount is not None:
            require_amount(name, amount, decimals=decimals)
            _require(amount > ZERO or name == "reset_amount", f"{name} must be positive, not {amount}.")
    if rules.limit is not None:
        _require(rules.reset_amount <= rules.limit, "The reset amount may not exceed the limit.")


def _require_payout_tiers(rules: JackpotRules) -> None:
    for place, tier in enumerate(rules.payout_tiers):
        name = f"payout_tiers.{place}"
        require_amount(f"{name}.from", tier.from_amount)
        _require(1 <= tier.approvals <= MOST_APPROVALS, f"{name}.approvals must be 1 to {MOST_APPROVALS}.")
        for prize in tier.prizes:
            _require(prize in rules.prizes, f"{name}.prizes names {prize}, which {rules.rulebook} does not pay.")
        for member in ("prizes", "evidence", "notify"):
            named = getattr(tier, member)
            _require(len(set(named)) == len(named), f"{name}.{member} names something twice.")


def require_amount(name: str, amount: Decimal, *, decimals: int = POOL_DECIMALS) -> None:
    """Raises: BadRules unless an amount is finite, at least 0, below 10^15, and written with no more decimals."""
    _require(
        amount.is_finite() and ZERO <= amount < LARGEST_AMOUNT, f"{name} must lie between 0 and 10^15, not {amount}."
    )
    _require(has_decimals(amount, decimals), f"{name} may have at most {decimals} decimals.")


def as_document(rules: JackpotRules) -> dict[str, Any]:
    """
    Write the rules as strings, integers and nulls, for storage and digests; amounts without trailing zeros.

    `least_stake`, `largest_stakes`, `payout_tiers` and what follows it are written only where they say something. So
    digests of books older than they are cover documents without.
    """
    tiers = [payout_tiers.as_document(tier) for tier in rules.payout_tiers]
    own = {currency: plain(most) for currency, most in rules.largest_stakes.items()}
    return {
        "rulebook": rules.rulebook,
        "source": rules.source,
        "base": rules.base,
        "split": {
            "meter": plain(rules.split.meter),
            "reserve": plain(rules.split.reserve),
            "prize_fund": plain(rules.split.prize_fund),
        },
        "prizes": {str(tier): prizes.as_document(prize) for tier, prize in rules.prizes.items()},
        "policy": str(rules.policy),
        "fixed_prizes_from": str(rules.fixed_prizes_from),
        "hands_per_player": rules.hands_per_player,
        "largest_stake": _text(rules.largest_stake),
        **({"largest_stakes": own} if own else {}),
        **({} if rules.least_stake is None else {"least_stake": plain(rules.least_stake)}),
        "token": _text(rules.token),
        "reset_amount": plain(rules.reset_amount),
        "limit": _text(rules.limit),
        **({"payout_tiers": tiers} if tiers else {}),
        **({"close_required": True} if rules.close_required else {}),
        **({} if rules.dead_hand is DeadHand.REFUND else {"dead_hand": str(rules.dead_hand)}),
        **({"displayed": True} if rules.displayed else {}),
    }


def sha256_of(rules: JackpotRules) -> str:
    """
    Figure the SHA-256 of the rules: of their document as canonical JSON.

    That is UTF-8 with keys sorted by code point, without white space; only what JSON must escape is escaped.
    """
    canonical = json.dumps(as_document(rules), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def from_document(document: Mapping[str, Any]) -> JackpotRules:
    """Read the rules back from `as_document`. Raises: BadRules if what it says cannot run a jackpot."""
    return JackpotRules(
        rulebook=document["rulebook"],
        source=document["source"],
        base=document["base"],
        split=Split(**{part: Decimal(fraction) for part, fraction in document["split"].items()}),
        prizes={tier: prizes.from_document(document["prizes"][tier]) for tier in Tier if tier in document["prizes"]},
        policy=Policy(document["policy"]),
        fixed_prizes_from=FundedBy(document["fixed_prizes_from"]),
        hands_per_player=document["hands_per_player"],
        largest_stake=_amount(document["largest_stake"]),
        token=_amount(document["token"]),
        reset_amount=Decimal(document["reset_amount"]),
        limit=_amount(document["limit"]),
        largest_stakes={currency: Decimal(most) for currency, most in document.get("largest_stakes", {}).items()},
        least_stake=_amount(document.get("least_stake")),
        payout_tiers=tuple(map(payout_tiers.from_document, document.get("payout_tiers", ()))),
        close_required=document.get("close_required", False),
        dead_hand=DeadHand(document.get("dead_hand", DeadHand.REFUND)),
        displayed=document.get("displayed", False),
    )


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else plain(amount)


def _amount(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
