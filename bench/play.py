"""
Rounds of a house's tables, booked by the service's own use cases at whatever time they are told that it is.

Seven bets a round, on six hands that are dealt from a real deck, so that fixed prizes are as frequent as in life. One
round of a hundred is cancelled, one has a void bet, one of two hundred a dead hand; nine awards of ten are paid.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto
from functools import partial

import sqlalchemy

from bench import batches, results
from bench.house import CASINO_OF
from bench.results import Ended
from jackpot_demo.dealer import deal, deal_royal_flush
from jackpot_service.database.transactions import Session, transact
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.cards import Category, category_of, parse_cards
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.outcomes import Cancellation, Hand, HandStatus, Result
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.usecases.accept_bets import AcceptBets, accept_group
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.cancel_round import CancelRound, cancel_round
from jackpot_service.usecases.record_payment import RecordPayment, record_payment
from jackpot_service.usecases.settle_round import SettleRound, settle_round
from jackpot_service.usecases.void_bets import VoidBets, void_bets

BETS_A_ROUND = 7

_HANDS = 6
"""The first has two bettors."""

_ROUND_LASTS = timedelta(seconds=40)
_PAID_AFTER = timedelta(minutes=5)
_PLACES = {table_id: place for place, table_id in enumerate(CASINO_OF)}

_PAID = 0.9


class _Fate(Enum):
    """How a round ends."""

    USUAL = auto()
    CANCELLED = auto()
    WITH_VOID = auto()
    WITH_DEAD_HAND = auto()
    HIT = auto()


_IN_A_THOUSAND = {_Fate.USUAL: 975, _Fate.CANCELLED: 10, _Fate.WITH_VOID: 10, _Fate.WITH_DEAD_HAND: 5}


@dataclass(frozen=True, slots=True)
class Turn:
    """A round that is to be played: where, when its bets come in, and whether it is dealt a royal flush."""

    table_id: str
    at: datetime
    is_hit: bool = False


class Tables:
    """The tables' servers and cages; what chance decides is seeded, so it can be repeated."""

    def __init__(self, engine: sqlalchemy.Engine, *, seed: int) -> None:
        self._engine = engine
        self._rng = random.Random(seed)

    def play(self, turns: Sequence[Turn]) -> None:
        """Play rounds, each of another table or millisecond. All bets are booked together, and most of the results."""
        accepted = [self._bets(turn) for turn in turns]
        outcomes = transact(self._engine, partial(accept_group, commands=accepted))
        usual, payable = list[Ended](), list[str]()
        for turn, bets, outcome in zip(turns, accepted, outcomes, strict=True):
            if isinstance(outcome, LedgerError):
                raise outcome
            result = self._result(turn, bets)
            fate = self._fate(result)
            if fate is _Fate.USUAL:
                usual.append(Ended(outcome.round.round, bets, result))
            else:
                payable += self._end(result, fate)
        if usual:
            payable += transact(self._engine, partial(results.settle_together, ended=usual))
        paid = [award_id for award_id in payable if self._rng.random() < _PAID]
        transact(self._engine, partial(_pay, award_ids=paid, now=turns[-1].at + _PAID_AFTER))

    def _bets(self, turn: Turn) -> AcceptBets:
        prefix = batches.prefix(round(turn.at.timestamp() * 1000) * 4096 + _PLACES[turn.table_id])
        stakes = batches.stakes(BETS_A_ROUND, shift=self._rng.randrange(BETS_A_ROUND))
        bets = Bets.of(
            Bet(batches.bet_id(prefix, number), batches.player_id(number), str(max(1, number)), *stake)
            for number, stake in enumerate(stakes)
        )
        casino_id = CASINO_OF[turn.table_id]
        server = Principal(f"tables of {casino_id}", Role.TABLE, casino_id)
        return AcceptBets(server, turn.table_id, batches.bet_id(prefix, 0), bets, turn.at)

    def _result(self, turn: Turn, bets: AcceptBets) -> SettleRound:
        dealt = (deal_royal_flush if turn.is_hit else deal)(self._rng, hands=_HANDS)
        piles = map(parse_cards, dealt.hands)
        hands = (Hand(str(number), HandStatus.DEALT, cards) for number, cards in enumerate(piles, start=1))
        stated = Result(BETS_A_ROUND, tuple(hands), parse_cards(dealt.dealer))
        return SettleRound(bets.principal, bets.table_id, bets.round_id, stated, turn.at + _ROUND_LASTS)

    def _fate(self, result: SettleRound) -> _Fate:
        if any(category_of(hand.cards) is Category.ROYAL_FLUSH for hand in result.result.hands):
            return _Fate.HIT
        [fate] = self._rng.choices(list(_IN_A_THOUSAND), list(_IN_A_THOUSAND.values()))
        return fate

    def _end(self, result: SettleRound, fate: _Fate) -> list[str]:
        """End a round by itself; returns the ids of the awards that are payable."""
        stated = result.result
        if fate is _Fate.CANCELLED:
            cancelled = CancelRound(
                result.principal, result.table_id, result.round_id, Cancellation("misdeal"), result.now
            )
            transact(self._engine, partial(cancel_round, command=cancelled))
            return []
        if fate is _Fate.WITH_VOID:
            bet_ids = (result.round_id,)
            voided = VoidBets(result.principal, result.table_id, result.round_id, bet_ids, result.now)
            transact(self._engine, partial(void_bets, command=voided))
            stated = replace(stated, bet_count=stated.bet_count - 1)
        if fate is _Fate.WITH_DEAD_HAND:
            first, *rest = stated.hands
            dead = Hand(first.hand, HandStatus.DEAD, first.cards[1:])
            stated = replace(stated, hands=(dead, *rest))
        settled = transact(self._engine, partial(settle_round, command=replace(result, result=stated)))
        return [award.award_id for award in settled.awards if award.state is AwardState.PAYABLE]


def _pay(session: Session, award_ids: Sequence[str], now: datetime) -> None:
    for award_id in award_ids:
        record_payment(session, RecordPayment(Act(SYSTEM_OPERATOR, now), award_id, "slip"))
