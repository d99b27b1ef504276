"""
What an entry of a round adds to the sums of its day that its postings do not tell: its tally.

Postings are sums of a batch by account: how many bets they are of, in which of its currencies a value was staked, which
tiers were won and what stood on each hand, they do not tell.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.contribution import Turnover, contribute, stakes_by_currency
from jackpot_service.domain.money import EXACT, ZERO, RateSheet, product, total
from jackpot_service.domain.rules import FundedBy, Tier
from jackpot_service.domain.settlement import Award, Settlement, Terms


class Refund(NamedTuple):
    """
    What the refunded bets of one currency come to: how many, their stakes, and what gave their value back.

    `adjustments` bears the parts of meter and reserve of bets whose cycle had been won.
    """

    currency: str
    bets: int
    stakes_minor: int
    value: Decimal
    meter: Decimal
    reserve: Decimal
    prize_fund: Decimal
    house: Decimal
    adjustments: Decimal


class AwardsMade(NamedTuple):
    """The awards of a tier, pool, currency and first state: how many, in minor units, and what they cost the pool."""

    tier: Tier
    funded_by: FundedBy
    currency: str
    state: AwardState
    awards: int
    amount_minor: int
    cost: Decimal


class JudgedHands(NamedTuple):
    """
    The hands with bets that were judged, dealt or forfeited: how many, what stood on them, the sum of its squares.

    In base units and their squares, exact. Bettors of one hand win together, so chance goes by hands.
    """

    hands: int
    value: Decimal
    squares: Decimal


@dataclass(frozen=True, slots=True)
class Tally:
    """What one entry adds."""

    bets: tuple[Turnover, ...] = ()
    refunds: tuple[Refund, ...] = ()
    awards: tuple[AwardsMade, ...] = ()
    hands: tuple[JudgedHands, ...] = ()


NOTHING = Tally()


def of_settlement(settlement: Settlement, bets: Iterable[Bet], *, terms: Terms, won_since: Collection[str]) -> Tally:
    """Sum what a settlement refunded, awarded and judged, given all bets that were live."""
    refunded = {bet.bet_id for bet in settlement.refunds}
    judged = (bet for bet in bets if bet.bet_id not in refunded)
    return Tally(
        refunds=of_refunds(settlement.refunds, terms=terms, won_since=won_since),
        awards=of_awards(settlement.awards),
        hands=of_hands(judged, terms.sheet),
    )


def of_refunds(bets: Collection[Bet], *, terms: Terms, won_since: Collection[str]) -> tuple[Refund, ...]:
    """Tell refunded bets apart by currency, and by whether their cycle, as `won_since` names them, has been won."""
    refunds = []
    for cycle_is_over in (False, True):
        chosen = [bet for bet in bets if (bet.bet_id in won_since) is cycle_is_over]
        counts = Counter(bet.currency for bet in chosen)
        for currency, stakes_minor in stakes_by_currency(chosen).items():
            back = contribute({currency: stakes_minor}, split=terms.rules.split, sheet=terms.sheet)
            of = currency, counts[currency], stakes_minor, back.value
            if cycle_is_over:
                borne = EXACT.add(back.meter, back.reserve)
                refunds.append(Refund(*of, ZERO, ZERO, back.prize_fund, back.house, adjustments=borne))
            else:
                parts = back.meter, back.reserve, back.prize_fund, back.house
                refunds.append(Refund(*of, *parts, adjustments=ZERO))
    return tuple(refunds)


def of_awards(awards: Iterable[Award]) -> tuple[AwardsMade, ...]:
    """Sum awards as a settlement made them."""

    def key(award: Award) -> tuple[Tier, FundedBy, str, AwardState]:
        return award.tier, award.funded_by, award.bet.currency, award.state

    sums = []
    for of, found in groupby(sorted(awards, key=key), key):
        group = list(found)
        amounts = sum(award.amount_minor for award in group), total(award.cost for award in group)
        sums.append(AwardsMade(*of, len(group), *amounts))
    return tuple(sums)


def of_hands(bets: Iterable[Bet], sheet: RateSheet) -> tuple[JudgedHands, ...]:
    """Sum what stood on each hand of a round that was judged, given the bets on them; nothing if there is none."""
    stakes = Counter[tuple[str, str]]()
    for bet in bets:
        stakes[bet.hand, bet.currency] += bet.stake_minor
    on_hand: dict[str, Decimal] = {}
    for (hand, currency), stake_minor in stakes.items():
        on_hand[hand] = EXACT.add(on_hand.get(hand, ZERO), sheet.base_value(stake_minor, currency))
    values = on_hand.values()
    if not values:
        return ()
    return (JudgedHands(len(values), total(values), total(product(value, value) for value in values)),)
