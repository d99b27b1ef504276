"""The rules of a jackpot as a page prints them: in sentences, and what each tier pays in any currency of the sheet."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from jackpot_service.domain.accounts import Meter
from jackpot_service.domain.allocation import payable_minor
from jackpot_service.domain.money import RateSheet, plain
from jackpot_service.domain.prizes import FixedAmount, MeterPart, StakeMultiple, Tier
from jackpot_service.domain.rules import FundedBy, JackpotRules, Policy

_POLICY_TEXT = {
    Policy.SHARED_BY_STAKE: (
        "A royal flush is shared by every bettor on a dealt hand of the round, in proportion to the stakes' value in "
        "the base currency; each is paid in his own currency."
    ),
    Policy.AGGREGATE_PRO_RATA: (
        "Several winners are each entitled on the same meter; together beyond it, all are scaled alike."
    ),
    Policy.MINOR_FIRST: (
        "With several winners, the lower tiers are paid first, and the royal flushes share equally what is left."
    ),
    Policy.EQUAL_SHARE: (
        "Several winners of a tier split its prize equally; together beyond the meter, all are scaled alike."
    ),
}


def in_sentences(rules: JackpotRules) -> tuple[str, ...]:
    """Print the rules of a jackpot, a sentence a rule."""
    return (
        _split_text(rules),
        *(_prize_text(rules, tier) for tier in Tier if tier in rules.prizes),
        _POLICY_TEXT[rules.policy],
        _stakes_text(rules),
        *_own_stakes_text(rules),
        f"A player may bet on {rules.hands_per_player} hand(s) of a round.",
        f"Once won, the jackpot starts again with its reserve, at least {plain(rules.reset_amount)} {rules.base}.",
        *_limit_text(rules),
        "Amounts are rounded once, down to a payable unit; what is left stays in the jackpot.",
        *_closing_text(rules),
        "Folding a hand and the dealer's hand do not matter.",
        "Bets of a cancelled round and on a dead hand are refunded.",
    )


def _closing_text(rules: JackpotRules) -> tuple[str, ...]:
    return ("A round is settled only after its betting was closed.",) if rules.close_required else ()


def _split_text(rules: JackpotRules) -> str:
    split = rules.split
    return (
        f"Of every bet, {_per_cent(split.meter)} goes to the current prize, {_per_cent(split.reserve)} to the start of "
        f"the next, {_per_cent(split.prize_fund)} to the fixed prizes and {_per_cent(split.house)} to the house."
    )


def _per_cent(part: Decimal) -> str:
    return f"{plain(part * Decimal(100))} %"


def _prize_text(rules: JackpotRules, tier: Tier) -> str:
    name = tier.value.replace("_", " ").capitalize()
    match rules.prizes[tier]:
        case MeterPart(fraction):
            return f"{name}: {_per_cent(fraction)} of the jackpot."
        case StakeMultiple(times):
            source = "the prize fund" if rules.fixed_prizes_from is FundedBy.PRIZE_FUND else "the jackpot"
            return f"{name}: {times} times the stake, from {source}."
        case FixedAmount(amount):
            return f"{name}: {plain(amount)} {rules.base}, from the jackpot."


def _stakes_text(rules: JackpotRules) -> str:
    if rules.token is not None:
        return f"A bet is one token of {plain(rules.token)} {rules.base}."
    return f"A bet may be worth up to {plain(rules.largest_stake or Decimal(0))} {rules.base}."


def _own_stakes_text(rules: JackpotRules) -> tuple[str, ...]:
    return tuple(
        f"A bet in {currency} may be at most {plain(most)}, whatever that is worth."
        for currency, most in rules.largest_stakes.items()
    )


def _limit_text(rules: JackpotRules) -> tuple[str, ...]:
    if rules.limit is None:
        return ()
    return (f"At most {plain(rules.limit)} {rules.base} is on offer; what comes beyond starts the next jackpot.",)


@dataclass(frozen=True, slots=True)
class PaytableLine:
    """
    The prize of a tier: a part of the meter, so many times the stake, or an amount in the base currency.

    `amount_minor` is for display, in whole minor units rounded down. It is the part of the meter now, the prize of a
    stake of one unit (of the token, where there is one), or the amount.
    """

    tier: Tier
    meter_part: Decimal | None
    stake_multiple: int | None
    fixed_amount: Decimal | None
    amount_minor: int


def paytable(rules: JackpotRules, *, meter: Meter, sheet: RateSheet, currency: str) -> tuple[PaytableLine, ...]:
    """Print the paytable in a currency, best tier first. Raises: NoRate."""
    return tuple(
        _line(tier, rules, meter=meter, sheet=sheet, currency=currency) for tier in Tier if tier in rules.prizes
    )


def _line(tier: Tier, rules: JackpotRules, *, meter: Meter, sheet: RateSheet, currency: str) -> PaytableLine:
    match rules.prizes[tier]:
        case MeterPart(fraction):
            amount = Fraction(meter.exact) * Fraction(fraction)
            return PaytableLine(tier, fraction, None, None, payable_minor(amount, currency=currency, sheet=sheet))
        case StakeMultiple(times):
            return PaytableLine(tier, None, times, None, times * _stake_minor(rules, currency=currency, sheet=sheet))
        case FixedAmount(amount):
            minor = payable_minor(Fraction(amount), currency=currency, sheet=sheet)
            return PaytableLine(tier, None, None, amount, minor)


def _stake_minor(rules: JackpotRules, *, currency: str, sheet: RateSheet) -> int:
    """The stake that a printed prize is for: the token, or one unit of the currency."""
    rate = sheet.rate(currency)
    return 10**rate.exponent if rules.token is None else rate.most_minor_within(rules.token)
