"""The events of one round, drawn beforehand from the table's chances; nothing here talks to the service."""

import random
from dataclasses import dataclass, field
from typing import Final

from jackpot_client import Bet, Hand, HandStatus, new_round_id
from jackpot_demo import betting, dealer
from jackpot_demo.scene import Table

SCRIPTED_PREFIX: Final = "scripted-"
_FEWEST_BETTORS_SCRIPTED: Final = 12
_LARGEST_BATCH: Final = 12
_REASONS: Final = ("misdeal", "card exposed", "shoe jammed", "video lost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """How likely each of a table's mishaps is in a round; `rebet` that a player whose bet is voided bets again."""

    void: float = 0.08
    rebet: float = 0.5
    void_before_bet: float = 0.03
    cancellation: float = 0.03
    dead_hand: float = 0.02
    forfeited_hand: float = 0.02
    repeated_batch: float = 0.06
    repeated_end: float = 0.05
    late_bet: float = 0.02
    misstated_count: float = 0.02
    closing: float = 0.3


USUAL: Final = Chances()
NO_MISHAP: Final = Chances(
    void=0,
    rebet=0,
    void_before_bet=0,
    cancellation=0,
    dead_hand=0,
    forfeited_hand=0,
    repeated_batch=0,
    repeated_end=0,
    late_bet=0,
    misstated_count=0,
    closing=0,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """
    One round from its first bet to its end; before it the table shows the meter in `meter_currency`.

    `voided_before` are bets voided before they are placed, `voided` after; `rebets` then take freed places. A
    `late_bet` and a `misstated_count` are provoked refusals. `is_closed`: betting is closed before the cards are dealt.
    """

    round_id: str
    is_scripted: bool
    meter_currency: str
    batches: tuple[tuple[Bet, ...], ...]
    voided_before: tuple[str, ...]
    voided: tuple[str, ...]
    rebets: tuple[Bet, ...]
    repeated_batches: frozenset[int]
    cancellation: str | None
    hands: tuple[Hand, ...]
    dealer: tuple[str, ...]
    is_end_repeated: bool
    late_bet: Bet | None
    misstated_count: int | None
    is_closed: bool = False

    live_bets: tuple[Bet, ...] = field(init=False)
    """The bets that count at the end: placed and not void."""

    def __post_init__(self) -> None:
        """Work out what must be left, from nothing but what will be sent."""
        void = {*self.voided_before, *self.voided}
        sent = [bet for batch in (*self.batches, self.rebets) for bet in batch]
        object.__setattr__(self, "live_bets", tuple(bet for bet in sent if bet.bet_id not in void))

    def bets_on(self, status: HandStatus) -> tuple[Bet, ...]:
        """Return the live bets on the hands that ended so."""
        hands = {hand.hand for hand in self.hands if hand.status is status}
        return tuple(bet for bet in self.live_bets if bet.hand in hands)


def draw(rng: random.Random, table: Table, *, chances: Chances = USUAL) -> Plan:
    """Draw an ordinary round."""
    count = rng.randint(1, table.most_hands)
    bets = betting.draw_bets(rng, table, hands=count)
    return _plan(rng, table, bets, dealer.deal(rng, hands=count), chances, is_scripted=False)


def script_royal_flush(rng: random.Random, table: Table) -> Plan:
    """Script a round whose hand `1` is a royal flush, bet on in every currency of the table, without mishap."""
    count = rng.randint(1, table.most_hands)
    chance = betting.draw_bets(rng, table, hands=count, fewest_bettors=_FEWEST_BETTORS_SCRIPTED)
    bets = betting.one_of_each_currency(rng, table) + chance
    bets = bets[: betting.MOST_BETTORS]
    return _plan(rng, table, bets, dealer.deal_royal_flush(rng, hands=count), NO_MISHAP, is_scripted=True)


def _plan(
    rng: random.Random, table: Table, bets: tuple[Bet, ...], deal: dealer.Deal, chances: Chances, *, is_scripted: bool
) -> Plan:
    batches = _batches(rng, bets)
    voided_before = (rng.choice(bets).bet_id,) if rng.random() < chances.void_before_bet else ()
    may_be_voided = [bet for bet in bets if bet.bet_id not in voided_before]
    voided = (
        tuple(rng.sample(may_be_voided, rng.randint(1, min(3, len(may_be_voided)))))
        if may_be_voided and rng.random() < chances.void
        else ()
    )
    late = rng.choice(bets)
    return Plan(
        round_id=(SCRIPTED_PREFIX if is_scripted else "") + new_round_id(),
        is_scripted=is_scripted,
        meter_currency=rng.choice(table.currencies),
        batches=batches,
        voided_before=voided_before,
        voided=tuple(bet.bet_id for bet in voided),
        rebets=tuple(_anew(rng, table, bet) for bet in voided if rng.random() < chances.rebet),
        repeated_batches=frozenset(at for at in range(len(batches)) if rng.random() < chances.repeated_batch),
        cancellation=rng.choice(_REASONS) if rng.random() < chances.cancellation else None,
        hands=tuple(_hand(rng, at, cards, chances) for at, cards in enumerate(deal.hands, start=1)),
        dealer=deal.dealer,
        is_end_repeated=rng.random() < chances.repeated_end,
        late_bet=_anew(rng, table, late) if rng.random() < chances.late_bet else None,
        misstated_count=rng.choice((1, 2, 5)) if rng.random() < chances.misstated_count else None,
        is_closed=rng.random() < chances.closing,
    )


def _batches(rng: random.Random, bets: tuple[Bet, ...]) -> tuple[tuple[Bet, ...], ...]:
    batches = []
    start = 0
    while start < len(bets):
        end = start + rng.randint(1, _LARGEST_BATCH)
        batches.append(bets[start:end])
        start = end
    return tuple(batches)


def _anew(rng: random.Random, table: Table, bet: Bet) -> Bet:
    """Return the same player's next bet on the same hand: another bet, with an id of its own."""
    stake_minor = betting.draw_stake_minor(rng, table, bet.currency)
    return Bet(player_id=bet.player_id, currency=bet.currency, stake_minor=stake_minor, hand=bet.hand)


def _hand(rng: random.Random, number: int, cards: tuple[str, ...], chances: Chances) -> Hand:
    if rng.random() < chances.dead_hand:
        return Hand(hand=str(number), status=HandStatus.DEAD)
    if rng.random() < chances.forfeited_hand:
        return Hand(hand=str(number), cards=cards, status=HandStatus.FORFEITED)
    return Hand(hand=str(number), cards=cards)
