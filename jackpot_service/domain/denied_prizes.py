"""
Prizes that bets would have won, had they counted: a winner whom a table server denies leaves a trace.

A bet is denied if the five stated cards of its hand win a tier of the round's rules, and the bet does not count. That
is so if the hand is dead or forfeited, the bet was made void since betting closed, or the round was cancelled. A hand
with fewer or more than five stated cards wins nothing, as in the rulebooks.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.bets import Bet, BookedBet
from jackpot_service.domain.outcomes import Hand, HandStatus, judge, tier_of
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rules import DeadHand, JackpotRules
from jackpot_service.domain.settlement import Settlement, Terms, rebook, settle


class Denial(StrEnum):
    """Why a bet does not count though its hand would have won."""

    DEAD = "dead"
    FORFEITED = "forfeited"
    VOID = "void"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Denied:
    """A bet that does not count, though its hand would have won a tier."""

    bet: Bet
    hand: Hand
    tier: Tier
    denial: Denial

    @property
    def facts(self) -> Mapping[str, Any]:
        """The facts that its exception states, besides the amount; `verify` derives them again."""
        return {
            "bet_id": self.bet.bet_id,
            "player_id": self.bet.player_id,
            "hand": self.bet.hand,
            "cards": sorted(self.hand.cards),
            "denial": str(self.denial),
            "tier": str(self.tier),
            "currency": self.bet.currency,
        }


@dataclass(frozen=True, slots=True)
class DeniedPrize:
    """A denied bet with all that it would have been awarded, in whole minor units of the bet's currency."""

    denied: Denied
    amount_minor: int


@dataclass(frozen=True, slots=True)
class EndedRound:
    """A round as its end found it: the stated hands, the live bets, and those that were made void after the closing."""

    hands: Sequence[Hand]
    live: Sequence[Bet]
    late_voids: Sequence[Bet]
    is_cancelled: bool

    @classmethod
    def of(
        cls, booked: Iterable[BookedBet], hands: Sequence[Hand], *, closed_by: int | None, is_cancelled: bool
    ) -> "EndedRound":
        """Separate its live bets from those made void after the step that closed its betting, if one did."""
        live, late = [], []
        for booked_bet in booked:
            if booked_bet.void_step is None:
                live.append(booked_bet.bet)
            elif closed_by is not None and booked_bet.void_step > closed_by:
                late.append(booked_bet.bet)
        return cls(hands, live, late, is_cancelled)

    def denied(self, rules: JackpotRules) -> tuple[Denied, ...]:
        """Find the denied bets, in the order of their ids."""
        winning = {hand.hand: (hand, tier) for hand in self.hands if (tier := tier_of(hand.cards, rules)) is not None}
        if not winning:
            return ()
        late = {bet.bet_id for bet in self.late_voids}
        denied_bets = []
        for bet in sorted((*self.live, *self.late_voids), key=lambda bet: bet.bet_id):
            hand, tier = winning.get(bet.hand, (None, None))
            if hand is None or tier is None:
                continue
            denial = Denial.VOID if bet.bet_id in late else self._denial(hand)
            if denial is not None:
                denied_bets.append(Denied(bet, hand, tier, denial))
        return tuple(denied_bets)

    def prizes(
        self, denied: Collection[Denied], *, terms: Terms, pools: Pools, won_since: frozenset[str]
    ) -> tuple[DeniedPrize, ...]:
        """
        Figure what denied bets would have been awarded, had all of them counted and nothing else been otherwise.

        In a cancelled round the bets on hands that were not stated count, and win nothing.

        `pools` are the jackpot's before the round ended, with its live bets. Rounded down as an award is; an award that
        would have come to less than a minor unit is 0. Where bets on dead hands play on, their part in a share is none
        of what they were denied.
        """
        counted = {denied_bet.hand.hand for denied_bet in denied}
        hands = [replace(hand, status=HandStatus.DEALT) if hand.hand in counted else hand for hand in self.hands]
        void = [denied_bet.bet for denied_bet in denied if denied_bet.denial is Denial.VOID]
        bets = [*self.live, *void]
        stated = {hand.hand for hand in hands}
        unstated = sorted({bet.hand for bet in bets} - stated)
        verdict = judge(bets, [*hands, *(Hand(name, HandStatus.DEALT, ()) for name in unstated)], terms.rules)
        booked_again = rebook(void, terms=terms, won_since=won_since)
        settlement = settle(verdict, terms=terms, pools=pools + booked_again.pools(), won_since=won_since)
        due, made = _amounts(settlement), self._made(terms, pools, won_since)
        return tuple(
            DeniedPrize(denied_bet, max(0, due[denied_bet.bet.bet_id] - made[denied_bet.bet.bet_id]))
            for denied_bet in denied
        )

    def _made(self, terms: Terms, pools: Pools, won_since: frozenset[str]) -> Mapping[str, int]:
        """Figure what the round awarded to bets that do not count: those on dead hands that play on may have shared."""
        if self.is_cancelled or terms.rules.dead_hand is DeadHand.REFUND:
            return Counter()
        return _amounts(
            settle(judge(self.live, self.hands, terms.rules), terms=terms, pools=pools, won_since=won_since)
        )

    def _denial(self, hand: Hand) -> Denial | None:
        if self.is_cancelled:
            return Denial.CANCELLED
        return None if hand.status is HandStatus.DEALT else Denial(hand.status.value)


def _amounts(settlement: Settlement) -> Counter[str]:
    """Sum a settlement's awards by bet, in minor units."""
    amounts: Counter[str] = Counter()
    for award in settlement.awards:
        amounts[award.bet.bet_id] += award.amount_minor
    return amounts
