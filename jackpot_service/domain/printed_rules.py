"""The rules of a jackpot as a page prints them: sections of sentences, in the words of a language."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from jackpot_service.domain import printed_procedures
from jackpot_service.domain.claims import ClaimPeriods
from jackpot_service.domain.languages import Words, message
from jackpot_service.domain.payout_tiers import Evidence, PayoutTier
from jackpot_service.domain.printed_rates import Conversion, conversion_sentences
from jackpot_service.domain.prizes import FixedAmount, MeterPart, StakeMultiple, Tier
from jackpot_service.domain.rules import FundedBy, JackpotRules, Policy
from jackpot_service.domain.statistics import hands_per_win, meter_return, prize_fund_return, rounded_down

PRINTED_DECIMALS: Final = 2
"""Of a per cent and of odds. A return is rounded down, so that it is never printed larger than it is."""

TIER_NAMES: Final = {
    Tier.ROYAL_FLUSH: message("Royal flush"),
    Tier.STRAIGHT_FLUSH: message("Straight flush"),
    Tier.FOUR_OF_A_KIND: message("Four of a kind"),
    Tier.FULL_HOUSE: message("Full house"),
    Tier.FLUSH: message("Flush"),
    Tier.STRAIGHT: message("Straight"),
    Tier.THREE_OF_A_KIND: message("Three of a kind"),
}

EVIDENCE_NAMES: Final = {
    Evidence.SURVEILLANCE: message("the recording of the surveillance"),
    Evidence.CARDS_CHECKED: message("a check of the cards"),
    Evidence.TABLE_CHECKED: message("a check of the table"),
    Evidence.WITNESS: message("a witness"),
}

_POLICIES: Final = {
    Policy.SHARED_BY_STAKE: (
        message(
            "A royal flush is shared by every bettor on a dealt hand of the round, in proportion to the stakes' value "
            "in the base currency."
        ),
        message("A bettor whose own hand wins a lower prize keeps that prize too."),
        message("Two royal flushes in one round pay the jackpot once."),
    ),
    Policy.AGGREGATE_PRO_RATA: (
        message("Several winners are each entitled on the same meter; together beyond it, all are scaled alike."),
    ),
    Policy.MINOR_FIRST: (
        message(
            "With several winners, the lower tiers are paid first, and the royal flushes share equally what is left, "
            "perhaps nothing."
        ),
        message("If the lower tiers alone come to more than the meter, all of them are scaled alike."),
    ),
    Policy.EQUAL_SHARE: (
        message("Several winners of a tier split its prize equally; together beyond the meter, all are scaled alike."),
    ),
}


@dataclass(frozen=True, slots=True)
class Section:
    """The sentences on one subject, under its title."""

    title: str
    sentences: tuple[str, ...]


def sections(
    rules: JackpotRules, words: Words, conversion: Conversion | None = None, *, periods: ClaimPeriods
) -> tuple[Section, ...]:
    """
    Print the rules of a jackpot, with the claim periods of casinos.

    With a conversion, also how amounts are shown in another currency.
    """
    say = words.say
    own = (
        (say("The bet"), _bet(rules, words)),
        (say("Split, start and limit"), [_split(rules, words), *_start(rules, words), _limit(rules, words)]),
        (say("Prizes"), _prizes(rules, words)),
        (say("Odds and return"), [*_odds(rules, words), *_returns(rules, words)]),
        (say("Several winners"), [*map(say, _POLICIES[rules.policy]), *printed_procedures.winners(words)]),
        (say("Two rounds at nearly the same time"), printed_procedures.two_rounds(words)),
        (
            say("Currencies and rates"),
            [*printed_procedures.rates(rules, words), *conversion_sentences(conversion, words)],
        ),
        (say("Rounding"), printed_procedures.rounding(words)),
        (say("Payment and claims"), [*_payout_tiers(rules, words), *printed_procedures.claims(periods, words)]),
        (say("Refunds"), printed_procedures.refunds(words)),
        (say("Dead and forfeited hands"), printed_procedures.dead_hands(rules, words)),
        (say("Cancelled rounds"), printed_procedures.cancellation(words)),
        (say("Malfunction"), printed_procedures.malfunction(words)),
        (say("Changes of the rules"), printed_procedures.changes(words)),
    )
    return tuple(Section(title, tuple(sentences)) for title, sentences in own)


def in_sentences(
    rules: JackpotRules, words: Words, conversion: Conversion | None = None, *, periods: ClaimPeriods
) -> tuple[str, ...]:
    """Print the same without titles."""
    printed = sections(rules, words, conversion, periods=periods)
    return tuple(sentence for section in printed for sentence in section.sentences)


def tier_name(tier: Tier, words: Words) -> str:
    """Name a tier in a language."""
    return words.say(TIER_NAMES[tier])


def odds_text(tier: Tier, words: Words) -> str:
    """Print the odds of a tier for one hand: 1 in 649,740."""
    hands = hands_per_win(tier)
    hundredths = round(hands * 10**PRINTED_DECIMALS)
    is_whole = hands.denominator == 1
    return words.say(
        "1 in {hands}", hands=words.number(int(hands)) if is_whole else words.scaled(hundredths, PRINTED_DECIMALS)
    )


def return_text(rules: JackpotRules, words: Words) -> str:
    """Print what a bet returns in theory: 81.84 % of the Live rulebook."""
    whole = meter_return(rules) + prize_fund_return(rules)
    return f"{words.number(rounded_down(100 * whole, PRINTED_DECIMALS))} %"


def prize_text(rules: JackpotRules, tier: Tier, words: Words) -> str:
    """Print what a tier is worth, and which pool pays it."""
    match rules.prizes[tier]:
        case MeterPart(fraction):
            return words.say("{part} of the jackpot", part=words.per_cent(fraction))
        case StakeMultiple(times) if rules.fixed_prizes_from is FundedBy.PRIZE_FUND:
            return words.say("{times} times the stake, from the prize fund", times=words.number(times))
        case StakeMultiple(times):
            return words.say("{times} times the stake, from the jackpot", times=words.number(times))
        case FixedAmount(amount):
            return words.say("{amount} {base}, from the jackpot", amount=words.number(amount), base=rules.base)


def _bet(rules: JackpotRules, words: Words) -> Iterator[str]:
    say = words.say
    if rules.token is not None:
        yield say("A bet is one token of {token} {base}.", token=words.number(rules.token), base=rules.base)
        yield say("No other stake and no other currency is accepted.")
    else:
        largest = words.number(rules.largest_stake or Decimal(0))
        yield say("A bet may be worth up to {largest} {base}.", largest=largest, base=rules.base)
    if rules.least_stake is not None:
        least = words.number(rules.least_stake)
        yield say("A bet must be worth at least {least} {base}.", least=least, base=rules.base)
    for currency, most in rules.largest_stakes.items():
        yield say(
            "A bet in {currency} may be at most {most}, whatever that is worth.",
            currency=currency,
            most=words.number(most),
        )
    if rules.hands_per_player == 1:
        yield say("A player may bet on one hand of a round.")
    else:
        yield say("A player may bet on {hands} hands of a round.", hands=words.number(rules.hands_per_player))
    yield say("A bet that arrives after betting was closed, or after the result, is refused.")
    if rules.close_required:
        yield say("A round is settled only after its betting was closed.")


def _split(rules: JackpotRules, words: Words) -> str:
    split = rules.split
    return words.say(
        "Of every bet, {meter} goes to the current prize, {reserve} to the start of the next, {prize_fund} to the "
        "fixed prizes and {house} to the house.",
        meter=words.per_cent(split.meter),
        reserve=words.per_cent(split.reserve),
        prize_fund=words.per_cent(split.prize_fund),
        house=words.per_cent(split.house),
    )


def _start(rules: JackpotRules, words: Words) -> Iterator[str]:
    say = words.say
    if not rules.reset_amount:
        yield say("Once won, the jackpot starts again with its reserve.")
        return
    yield say(
        "Once won, the jackpot starts again with its reserve, at least {amount} {base}.",
        amount=words.number(rules.reset_amount),
        base=rules.base,
    )
    if rules.fixed_prizes_from is FundedBy.METER:
        yield say("The house pays in what is missing to that amount, also after any other prize from the jackpot.")
    else:
        yield say("The house pays in what is missing to that amount.")


def _limit(rules: JackpotRules, words: Words) -> str:
    if rules.limit is None:
        return words.say("The jackpot has no limit.")
    return words.say(
        "At most {limit} {base} is on offer; what comes beyond starts the next jackpot.",
        limit=words.number(rules.limit),
        base=rules.base,
    )


def _prizes(rules: JackpotRules, words: Words) -> Iterator[str]:
    for tier in _tiers(rules):
        yield words.say("{hand}: {prize}.", hand=tier_name(tier, words), prize=prize_text(rules, tier, words))
    if rules.fixed_prizes_from is FundedBy.PRIZE_FUND:
        yield words.say("The fixed prizes are due in full, whatever the prize fund holds.")
    yield words.say("Only a dealt hand of five cards with a jackpot bet on it wins.")
    yield words.say("Folding a hand and the dealer's hand do not matter.")


def _odds(rules: JackpotRules, words: Words) -> Iterator[str]:
    for tier in _tiers(rules):
        yield words.say(
            "{hand}: {odds} for one hand of five cards.", hand=tier_name(tier, words), odds=odds_text(tier, words)
        )


def _returns(rules: JackpotRules, words: Words) -> Iterator[str]:
    yield words.say(
        "In theory a bet returns {whole}; what the house pays into the jackpot comes on top.",
        whole=return_text(rules, words),
    )


def _payout_tiers(rules: JackpotRules, words: Words) -> Iterator[str]:
    for tier in rules.payout_tiers:
        yield from _payout_tier(tier, rules, words)
    if rules.payout_tiers:
        yield words.say("All awards that the same pool pays for that round wait with them.")


def _payout_tier(tier: PayoutTier, rules: JackpotRules, words: Words) -> Iterator[str]:
    hands = [tier_name(prize, words) for prize in tier.prizes]
    named = _listed(hands, otherwise=words.say("all prizes"))
    checks = [words.say(EVIDENCE_NAMES[kind]) for kind in tier.evidence]
    evidence = _listed(checks, otherwise=words.say("none"))
    if tier.from_amount:
        yield words.say(
            "An award of {amount} {base} or more waits for approval. This holds for: {hands}.",
            amount=words.number(tier.from_amount),
            base=rules.base,
            hands=named,
        )
    else:
        yield words.say("An award of any amount waits for approval. This holds for: {hands}.", hands=named)
    yield words.say(
        "One person requests it. So many others approve it: {approvals}. Evidence recorded before that: {evidence}.",
        approvals=words.number(tier.approvals),
        evidence=evidence,
    )


def _listed(names: Sequence[str], *, otherwise: str) -> str:
    return ", ".join(names) or otherwise


def _tiers(rules: JackpotRules) -> Iterator[Tier]:
    """The tiers that have a prize, best first."""
    return (tier for tier in Tier if tier in rules.prizes)
