"""
Money that people move between a jackpot's pools and the house: adjustments, recovery of seed, true-up of a prize fund.

Each is decided from the pools as they are under the lock of all stripes, and never puts a pool where it may not be.
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from jackpot_service.domain import accounts, posting_rules
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.journal import Postings
from jackpot_service.domain.money import EXACT, POOL_DECIMALS, ZERO, has_decimals, negated, plain
from jackpot_service.domain.pools import Pools
from jackpot_service.domain.rules import LARGEST_AMOUNT


class Pool(StrEnum):
    """What can be adjusted. Of the meter it is the players' part: the house's has its own ways in and out."""

    METER = "meter"
    RESERVE = "reserve"
    PRIZE_FUND = "prize_fund"


class Cause(StrEnum):
    """Why a pool is adjusted: a closed list, so that adjustments can be counted by it."""

    EQUIPMENT_MALFUNCTION = "equipment-malfunction"
    COUNT_ERROR = "count-error"
    PROMOTIONAL_CONTRIBUTION = "promotional-contribution"
    REGULATOR_ORDER = "regulator-order"
    REVERSED_ADJUSTMENT = "reversed-adjustment"
    OTHER_DOCUMENTED = "other-documented"


class BadAmount(Refused):
    """The amount cannot be moved."""

    code = "amount-invalid"
    title = "The amount cannot be moved"


class BelowZero(Refused):
    """The pool does not hold so much."""

    code = "below-zero"
    title = "The pool would fall below zero"


class AboveLimit(Refused):
    """The meter would hold more than its limit lets it offer."""

    code = "above-limit"
    title = "The meter would exceed its limit"


class SeedCommitted(Refused):
    """So much of the house's money is not free: it is not there, or it carries what the players were promised."""

    code = "seed-committed"
    title = "The house's seed is not free"


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A difference by which a pool is corrected, the document that shows why, and the cause."""

    pool: Pool
    amount: Decimal
    document: str
    cause: Cause


def adjusted(
    adjustment: Adjustment, pools: Pools, *, limit: Decimal | None, base: str, refundable: Decimal = ZERO
) -> Postings:
    """
    Decide an adjustment; the house bears it. Players' money below zero is filled from the house's part first.

    `refundable` is what refunds may still take back from the pool that is adjusted, and so has to stay there. A prize
    fund may be below zero, by an adjustment too.

    Raises: BadAmount; BelowZero if it takes more than there is; AboveLimit if it adds what the limit keeps off offer.

    Source: domain decisions 2 and 21 (docs/decisions/money-by-hand.md).
    """
    _require_amount(adjustment.amount)
    account = _ACCOUNTS[adjustment.pool]
    filled = posting_rules.for_fill(pools.fill, base=base) if adjustment.pool is Pool.METER else Postings()
    postings = filled + posting_rules.for_adjustment(account, adjustment.amount, base=base)
    after = pools + postings.pools()
    if (
        adjustment.pool is not Pool.PRIZE_FUND
        and adjustment.amount < ZERO
        and _held(after, adjustment.pool) < refundable
    ):
        held = plain(_held(pools + filled.pools(), adjustment.pool))
        kept = f", of which open rounds may take back {plain(refundable)}" if refundable else ""
        message = f"{account} holds {held} {base}{kept}; it cannot be adjusted by {plain(adjustment.amount)}."
        raise BelowZero(message)
    if adjustment.pool is Pool.METER and adjustment.amount > ZERO:
        _require_within(limit, after, base=base)
    return postings


def recovered(amount: Decimal, pools: Pools, *, limit: Decimal | None, promised: Decimal, base: str) -> Postings:
    """
    Decide a recovery of house seed: positive, the house takes seed back; negative, it puts seed into the meter.

    Players' money below zero is filled from the house's part first. `promised` is what the running cycle was to start
    with: what is on offer after the house took something back is at least that.

    Raises: BadAmount; SeedCommitted; AboveLimit if seed would be put in that the limit keeps off offer.
    """
    _require_amount(amount)
    postings = posting_rules.for_fill(pools.fill, base=base) + posting_rules.for_recovery(amount, base=base)
    after = pools + postings.pools()
    if amount < ZERO:
        _require_within(limit, after, base=base)
        return postings
    if after.meter_house < ZERO:
        held = plain(EXACT.add(after.meter_house, amount))
        message = f"Of the meter {held} {base} is the house's."
        raise SeedCommitted(message)
    if after.on_offer(limit) < promised:
        message = (
            f"The meter would offer {plain(after.on_offer(limit))}; this cycle was promised {plain(promised)} {base}."
        )
        raise SeedCommitted(message)
    return postings


def promised(reset_amount: Decimal, *, base_amount: Decimal, cycle: int) -> Decimal:
    """What a cycle was to start with: the reset amount of its rules, of the first also the base amount."""
    return max(reset_amount, base_amount) if cycle == 1 else reset_amount


def trued_up(amount: Decimal | None, pools: Pools, *, base: str) -> Postings:
    """
    Decide a true-up of the prize fund by an amount, at most to zero; None is exactly to zero.

    A surplus goes to the house, a shortage is paid by it: the fund's deviation is the house's risk.

    Raises: BadAmount if there is nothing to true up, or the amount leads away from zero or beyond it.
    """
    missing = negated(pools.prize_fund)
    amount = missing if amount is None else amount
    if not amount or not has_decimals(amount, POOL_DECIMALS) or not min(missing, ZERO) <= amount <= max(missing, ZERO):
        message = f"The prize fund holds {plain(pools.prize_fund)} {base}; it is trued up by {plain(missing)} at most."
        raise BadAmount(message)
    return posting_rules.for_true_up(amount, base=base)


_ACCOUNTS = {
    Pool.METER: accounts.METER_PLAYERS,
    Pool.RESERVE: accounts.RESERVE,
    Pool.PRIZE_FUND: accounts.PRIZE_FUND,
}


def _held(pools: Pools, pool: Pool) -> Decimal:
    return {Pool.METER: pools.meter_players, Pool.RESERVE: pools.reserve, Pool.PRIZE_FUND: pools.prize_fund}[pool]


def _require_within(limit: Decimal | None, after: Pools, *, base: str) -> None:
    if limit is not None and after.meter > limit:
        message = f"The meter would hold {plain(after.meter)}; its limit is {plain(limit)} {base}."
        raise AboveLimit(message)


def _require_amount(amount: Decimal) -> None:
    if not amount or abs(amount) >= LARGEST_AMOUNT or not has_decimals(amount, POOL_DECIMALS):
        message = f"An amount is not 0, below 10^15, and has at most {POOL_DECIMALS} decimals."
        raise BadAmount(message)
