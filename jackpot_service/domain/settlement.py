"""Costs and payments of a verdict: refunds, fixed prizes, awards from the meter, overflow and refill, in that order."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from jackpot_service.domain import posting_rules
from jackpot_service.domain.accounts import METER_HOUSE, METER_PLAYERS, PRIZE_FUND, Account, Pools
from jackpot_service.domain.allocation import (
    contribute,
    entitlements,
    payable_minor,
    shares_minor,
    stakes_by_currency,
    weight,
)
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.journal import Postings
from jackpot_service.domain.money import ZERO, RateSheet
from jackpot_service.domain.outcomes import Verdict, Win
from jackpot_service.domain.payout_tiers import is_any_reached
from jackpot_service.domain.prizes import StakeMultiple, Tier
from jackpot_service.domain.rules import FundedBy, JackpotRules


@dataclass(frozen=True, slots=True)
class Award:
    """
    One bet's prize: whole minor units in the player's currency, and their exact cost in the base currency.

    The exact figure before rounding down is the settlement's: an `Entitlement` where a hand owns its prize, meter,
    weight and the bet's stake where the round shares.
    """

    bet: Bet
    tier: Tier
    amount_minor: int
    cost: Decimal
    funded_by: FundedBy
    state: AwardState = AwardState.PAYABLE


@dataclass(frozen=True, slots=True)
class Entitlement:
    """The exact part of the meter that a winning bet was entitled to, whether or not a payable amount came of it."""

    bet_id: str
    tier: Tier
    amount: Fraction


@dataclass(frozen=True, slots=True)
class Due:
    """The amounts due at a meter: the winners' entitlements to it, and the awards, by the pool that pays them."""

    claims: tuple[Entitlement, ...]
    from_prize_fund: tuple[Award, ...]
    from_meter: tuple[Award, ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """
    The terms that a round is settled under.

    `rules` and `sheet` are those fixed at the round's opening; `running` are the rules of the running cycle,
    `following` those that a next cycle would open under.
    """

    rules: JackpotRules
    sheet: RateSheet
    casino_id: str
    cycle: int
    running: JackpotRules
    following: JackpotRules


@dataclass(frozen=True, slots=True)
class Settlement:
    """
    The whole outcome of a round. `meter_before` is M: on offer after refunds, the round's own contributions included.

    `carried` is, on a hit, what is left of M; otherwise None. `awards` are in the order of bet id and tier.
    """

    policy: str
    meter_before: Decimal
    weight: Decimal
    awards: tuple[Award, ...]
    entitlements: tuple[Entitlement, ...]
    refunds: tuple[Bet, ...]
    meter_after: Decimal
    reserve_after: Decimal
    prize_fund_after: Decimal
    overflow: Decimal
    carried: Decimal | None
    house_seed: Decimal
    cycle_after: int
    postings: Postings


def settle(verdict: Verdict, *, terms: Terms, pools: Pools, won_since: frozenset[str]) -> Settlement:
    """
    Figure a round's settlement from its verdict and the jackpot's pools.

    `pools` must be read under the lock of all stripes if the verdict pays from the meter. `won_since` names the
    refunded bets whose cycle has been won since they were booked.

    The only rounding is an award's, down to a payable minor unit; an award of 0 is not made. The rest stays in the
    meter, or is carried into the next cycle.
    """
    is_hit = verdict.is_hit
    refunds = reverse(verdict.refunded, terms=terms, won_since=won_since)
    after_refunds = pools + refunds.pools()
    meter = after_refunds.on_offer(terms.running.limit)
    due = due_at(verdict, meter=meter, terms=terms)
    prizes, awards = _held(due.from_prize_fund, terms), _held(due.from_meter, terms)
    postings = refunds + _award_postings(prizes, {PRIZE_FUND: cost_of(prizes)}, terms)
    seed = overflow = ZERO
    if verdict.pays_from_meter:
        postings += _paid_from_meter(awards, after_refunds, terms)
    if is_hit:
        overflow = after_refunds.overflow(terms.running.limit)
        postings += _started_again(pools + postings.pools(), overflow, terms)
    following = terms.following if is_hit else terms.running
    if is_hit or awards:
        seed = missing_to_reset(pools + postings.pools(), following)
        postings += posting_rules.for_seed(seed, base=terms.sheet.base)
        postings += fill(pools + postings.pools(), base=terms.sheet.base)
    after = pools + postings.pools()
    return Settlement(
        policy=terms.rules.policy,
        meter_before=meter,
        weight=weight(verdict.in_play, terms.sheet),
        awards=tuple(sorted((*prizes, *awards), key=lambda award: (award.bet.bet_id, award.tier))),
        entitlements=due.claims,
        refunds=verdict.refunded,
        meter_after=after.on_offer(following.limit),
        reserve_after=after.reserve,
        prize_fund_after=after.prize_fund,
        overflow=overflow,
        carried=meter - cost_of(awards) if is_hit else None,
        house_seed=seed,
        cycle_after=terms.cycle + is_hit,
        postings=postings,
    )


def reverse(bets: Sequence[Bet], *, terms: Terms, won_since: frozenset[str]) -> Postings:
    """
    Book the refund of bets at their original figures.

    `won_since` names those whose cycle has been won since; what the running pools may not give is the house's.
    """
    return _by_cycle(bets, posting_rules.for_reversal, terms=terms, won_since=won_since)


def rebook(bets: Sequence[Bet], *, terms: Terms, won_since: frozenset[str]) -> Postings:
    """Book bets again whose refund was wrong: what `reverse` would take back."""
    return _by_cycle(bets, posting_rules.for_rebooking, terms=terms, won_since=won_since)


def _by_cycle(
    bets: Sequence[Bet], rule: Callable[..., Postings], *, terms: Terms, won_since: frozenset[str]
) -> Postings:
    parts = []
    for cycle_is_over in (False, True):
        chosen = [bet for bet in bets if (bet.bet_id in won_since) is cycle_is_over]
        if not chosen:
            continue
        contribution = contribute(stakes_by_currency(chosen), split=terms.rules.split, sheet=terms.sheet)
        parts.append(rule(contribution, casino_id=terms.casino_id, sheet=terms.sheet, cycle_is_over=cycle_is_over))
    return posting_rules.joined(parts)


def due_at(verdict: Verdict, *, meter: Decimal, terms: Terms) -> Due:
    """Figure what a verdict makes due at a meter on offer, before any of it is held."""
    claims = _claims(verdict.wins, meter, terms)
    return Due(
        claims=claims,
        from_prize_fund=tuple(_fixed_prizes(verdict.wins, terms)),
        from_meter=tuple(_meter_awards(verdict, claims, meter, terms)),
    )


def _fixed_prizes(wins: Sequence[Win], terms: Terms) -> list[Award]:
    """The prizes that the prize fund pays: multiples of the stake, whole minor units without any rounding."""
    awards = []
    for win in wins:
        prize = terms.rules.prizes[win.tier]
        if isinstance(prize, StakeMultiple) and terms.rules.fixed_prizes_from is FundedBy.PRIZE_FUND:
            awards.append(_award(win, win.bet.stake_minor * prize.times, FundedBy.PRIZE_FUND, terms.sheet))
    return awards


def _claims(wins: Sequence[Win], meter: Decimal, terms: Terms) -> tuple[Entitlement, ...]:
    if terms.rules.is_shared:
        return ()
    amounts = entitlements(wins, meter=meter, prizes=terms.rules.prizes, policy=terms.rules.policy, sheet=terms.sheet)
    return tuple(Entitlement(win.bet.bet_id, win.tier, amount) for win, amount in zip(wins, amounts, strict=True))


def _meter_awards(verdict: Verdict, claims: Sequence[Entitlement], meter: Decimal, terms: Terms) -> list[Award]:
    if terms.rules.is_shared:
        return _shared_awards(verdict, meter, terms) if verdict.is_hit else []
    awards = []
    for win, claim in zip(verdict.wins, claims, strict=True):
        amount_minor = payable_minor(claim.amount, currency=win.bet.currency, sheet=terms.sheet)
        if amount_minor:
            awards.append(_award(win, amount_minor, FundedBy.METER, terms.sheet))
    return awards


def _shared_awards(verdict: Verdict, meter: Decimal, terms: Terms) -> list[Award]:
    amounts = shares_minor(verdict.in_play, meter=meter, weight=weight(verdict.in_play, terms.sheet))
    return [
        _award(Win(bet, Tier.ROYAL_FLUSH), amount_minor, FundedBy.METER, terms.sheet)
        for bet, amount_minor in zip(verdict.in_play, amounts, strict=True)
        if amount_minor
    ]


def _award(win: Win, amount_minor: int, funded_by: FundedBy, sheet: RateSheet) -> Award:
    return Award(win.bet, win.tier, amount_minor, sheet.base_value(amount_minor, win.bet.currency), funded_by)


def _held(awards: Sequence[Award], terms: Terms) -> Sequence[Award]:
    """Hold all awards that one pool pays in this settlement, if one of them reaches a payout tier."""
    if not is_any_reached(terms.running.payout_tiers, awards):
        return awards
    return [replace(award, state=AwardState.HELD) for award in awards]


def cost_of(awards: Iterable[Award]) -> Decimal:
    """Sum what awards cost, in base units."""
    return sum((award.cost for award in awards), ZERO)


def _award_postings(awards: Sequence[Award], taken: Mapping[Account, Decimal], terms: Terms) -> Postings:
    if not awards:
        return Postings()
    paid_minor: Counter[str] = Counter()
    for award in awards:
        if award.state is AwardState.PAYABLE:
            paid_minor[award.bet.currency] += award.amount_minor
    return posting_rules.for_awards(
        dict(sorted(paid_minor.items())),
        taken=taken,
        held=cost_of([award for award in awards if award.state is AwardState.HELD]),
        casino_id=terms.casino_id,
        sheet=terms.sheet,
    )


def fill(pools: Pools, *, base: str) -> Postings:
    """Lift the players' part of the meter to zero, as far as the house's part reaches."""
    return posting_rules.for_fill(pools.fill, base=base)


def _paid_from_meter(awards: Sequence[Award], pools: Pools, terms: Terms) -> Postings:
    """Pay awards from the meter: first fill the players' part if it is below zero, then take it before the house's."""
    filled = fill(pools, base=terms.sheet.base)
    cost = cost_of(awards)
    from_players = min(cost, max((pools + filled.pools()).meter_players, ZERO))
    taken = {METER_PLAYERS: from_players, METER_HOUSE: cost - from_players}
    return filled + _award_postings(awards, taken, terms)


def _started_again(pools: Pools, overflow: Decimal, terms: Terms) -> Postings:
    """Start the next cycle: what a limit kept off the offer goes to the reserve, and the whole reserve to the meter."""
    base = terms.sheet.base
    players_overflow = min(overflow, max(pools.meter_players, ZERO))
    whole_reserve = pools.reserve + players_overflow
    return posting_rules.for_overflow(players_overflow, base=base) + posting_rules.for_refill(whole_reserve, base=base)


def missing_to_reset(pools: Pools, rules: JackpotRules) -> Decimal:
    """The amount that is missing to the reset amount: the house pays it in."""
    return max(ZERO, rules.reset_amount - pools.meter)
