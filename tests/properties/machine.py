"""The use cases driven step by step beside the model; after each step the ledger must hold what the model holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import time
from decimal import Decimal
from fractions import Fraction
from functools import partial

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from jackpot_service.domain.rounds import RoundView
from jackpot_service.domain.rulebooks import published_rules
from jackpot_service.domain.settings import Setting
from jackpot_service.records.immutable import Table
from jackpot_service.usecases.casinos import add_casino, add_table
from jackpot_service.usecases.jackpots import OpenJackpot, open_jackpot
from jackpot_service.usecases.void_bets import VoidBets, void_bets
from tests.properties import dealing
from tests.properties.both_sides import CASINO_OF, JACKPOT, SERVER, BothSides, Key
from tests.properties.model import Jackpot, Stake
from tests.support import rolling
from tests.support.payouts import held_from

HANDS = ("1", "2", "3", "4")
PLAYERS = ("p1", "p2", "p3", "p4")
CURRENCIES = ("EUR", "GBP", "SEK", "JPY")
ZONE, DAY_STARTS = "Asia/Kathmandu", time(17, 46)
"""A gaming day that ends a minute after the start, which is some sixty acts."""


@dataclass(frozen=True)
class Opening:
    """What a run's jackpot is opened with."""

    rulebook: str
    base_amount: str
    settings: Mapping[str, Setting]


@st.composite
def openings(draw: st.DrawFn, rulebooks: Sequence[str], policies: Sequence[str]) -> Opening:
    """Draw a rulebook and its parameters; a limit, where there is one, lies so low that bets reach it."""
    base_amount = draw(st.sampled_from(["10000", "1234.567890123456789012", "400", "0"]))
    reset_amount = draw(st.sampled_from(["10000", "2000.000000000000000001", "500", "0"]))
    settings: dict[str, Setting] = {"reset_amount": reset_amount}
    if draw(st.booleans()):
        margin = Decimal(draw(st.sampled_from(["0.05", "3", "100"])))
        settings["limit"] = str(max(Decimal(base_amount), Decimal(reset_amount)) + margin)
    tiers = draw(st.sampled_from([None, "0.5", "250", "5000"]))
    settings["payout_tiers"] = () if tiers is None else held_from(tiers)
    if draw(st.booleans()):
        settings["split.reserve"] = draw(st.sampled_from(["0", "0.05", "0.1"]))
    settings["dead_hand"] = draw(st.sampled_from(["refund", "play-on"]))
    if policies:
        settings["policy"] = draw(st.sampled_from(policies))
    elif draw(st.booleans()):
        settings |= {"largest_stake.GBP": draw(st.sampled_from(["50", "95.50"])), "largest_stake.JPY": "9999"}
    return Opening(draw(st.sampled_from(rulebooks)), base_amount, settings)


class LedgerMachine(BothSides):
    """One run: a jackpot with two tables of two casinos."""

    opening: st.SearchStrategy[Opening]

    # Opening.

    @initialize(data=st.data(), stripes=st.integers(1, 4), rates=dealing.rates())
    def open(self, data: st.DataObject, stripes: int, rates: dict[str, Decimal]) -> None:
        opening = data.draw(self.opening)
        self.terms = published_rules(opening.rulebook, base="EUR", settings=opening.settings)
        for casino_id in sorted(set(CASINO_OF.values())):
            add = partial(add_casino, act=self._operate(), casino_id=casino_id, name=casino_id)
            self._act(partial(add, zone=ZONE, day_starts=DAY_STARTS))
        self._publish(rates)
        base_amount = Decimal(opening.base_amount)
        command = OpenJackpot(self._operate(), JACKPOT, opening.rulebook, "EUR", base_amount, opening.settings, stripes)
        self._act(lambda session: open_jackpot(session, command))
        for table_id, casino_id in CASINO_OF.items():
            table = Table(table_id, casino_id, "caribbean-stud", JACKPOT)
            self._act(partial(add_table, act=self._operate(), new=table))
        self.model = Jackpot(self.terms, base_amount=Fraction(base_amount), rates=_fractions(rates))

    # What is drawn.

    def _new_id(self) -> str:
        self.ids += 1
        return f"id{self.ids:04}"

    def _keys(self, state: str) -> list[Key]:
        if not hasattr(self, "model"):
            return []
        return [key for key, round_ in self.model.rounds.items() if round_.state == state]

    def _draw_key(self, data: st.DataObject, *states: str) -> Key:
        """A round of these states, or one that was never seen."""
        known = [key for state in states for key in self._keys(state)]
        if known and data.draw(st.sampled_from([True, True, True, False])):
            return data.draw(st.sampled_from(known))
        return data.draw(st.sampled_from(sorted(CASINO_OF))), self._new_id()

    def _draw_stake(self, data: st.DataObject) -> Stake:
        """A bet that the rules take, as far as it goes without the others of its round."""
        player, hand = data.draw(st.sampled_from(PLAYERS)), data.draw(st.sampled_from(HANDS[:3]))
        if self.terms.token is not None:
            return Stake(self._new_id(), player, hand, "EUR", int(self.terms.token * 100))
        currency = data.draw(st.sampled_from(CURRENCIES))
        return Stake(self._new_id(), player, hand, currency, data.draw(dealing.stakes_minor()))

    def _draw_odd_stake(self, data: st.DataObject, known: Sequence[Stake], unseen: Sequence[str]) -> Stake:
        """A replay, another bet under a known id, one that was voided before it came, one too large, or a usual one."""
        stake = self._draw_stake(data)
        kind = data.draw(st.sampled_from(["usual", "replay", "replay", "tombstone", "changed", "large", "foreign"]))
        if kind == "replay" and known:
            return data.draw(st.sampled_from(known))
        if kind == "tombstone" and unseen:
            return Stake(data.draw(st.sampled_from(unseen)), *_content(stake))
        if kind == "changed" and known:
            return Stake(data.draw(st.sampled_from(known)).bet_id, *_content(stake))
        if kind == "large":
            return Stake(stake.bet_id, stake.player, stake.hand, stake.currency, 10_001)
        if kind == "foreign":
            return Stake(stake.bet_id, stake.player, stake.hand, "USD", stake.stake_minor)
        return stake

    # The rules of the machine.

    @rule(data=st.data(), count=st.integers(1, 4))
    def bet(self, data: st.DataObject, count: int) -> None:
        """A batch as it usually comes."""
        self._bet_usually(data, self._draw_key(data, "open"), count)

    @rule(data=st.data(), count=st.integers(1, 4))
    def play(self, data: st.DataObject, count: int) -> None:
        """A whole round without any trouble; what others are open it leaves open."""
        key = self._draw_key(data)
        self._bet_usually(data, key, count)
        self._settle_rightly(data, key)

    @rule(data=st.data(), count=st.integers(1, 3), kind=st.sampled_from(["royal", "straight_flush"]))
    def win_and_undo(self, data: st.DataObject, count: int, kind: str) -> None:
        """
        Undo a bet that was booked before another round won: after a hit the house bears it, after a partial award it
        may leave the players' money below zero, which the next award from the meter fills.
        """
        undone = self._draw_key(data, "open")
        self._bet_usually(data, undone, count)
        self._win(data, kind)
        match data.draw(st.sampled_from(["void", "cancel", "settle"])):
            case "void" if self._live(undone):
                self._void(undone, (data.draw(st.sampled_from(self._live(undone))).stake.bet_id,))
            case "settle":
                self._settle_rightly(data, undone)
            case _:
                self._cancel(undone, "misdeal")
        if data.draw(st.booleans()):
            self._win(data, kind)

    def _win(self, data: st.DataObject, kind: str) -> None:
        """Play a round with one bet on one hand, which is of the kind."""
        key = self._draw_key(data)
        self._bet_usually(data, key, 1)
        names = [bet.stake.hand for bet in self._live(key)]
        self._settle(key, len(names), data.draw(dealing.shuffled(data.draw(dealing.deals(names, kinds=[kind])))))

    def _bet_usually(self, data: st.DataObject, key: Key, count: int) -> None:
        """Each player once, or, where several hands are allowed, once on each of several."""
        is_one_hand = self.terms.hands_per_player == 1
        taken = {bet.stake.player if is_one_hand else (bet.stake.player, bet.stake.hand) for bet in self._live(key)}
        batch = []
        for _ in range(count):
            stake = self._draw_stake(data)
            place = stake.player if is_one_hand else (stake.player, stake.hand)
            if place not in taken:
                taken.add(place)
                batch.append(stake)
        if batch:
            self._bet(key, batch)

    def _settle_rightly(self, data: st.DataObject, key: Key) -> None:
        names = sorted({bet.stake.hand for bet in self._live(key)} | set(data.draw(st.sets(st.sampled_from(HANDS)))))
        hands = data.draw(dealing.deals(names))
        self._settle(key, len(self._live(key)), data.draw(dealing.shuffled(hands)))

    @rule(data=st.data(), count=st.integers(1, 4))
    def bet_oddly(self, data: st.DataObject, count: int) -> None:
        """A batch with anything in it, for any round: late bets, replays, conflicts, bets that are void."""
        key = self._draw_key(data, "open", "open", "settled", "cancelled")
        round_ = self.model.rounds.get(key)
        known = [value.stake for value in round_.booked.values()] if round_ else []
        unseen = sorted(round_.tombstones) if round_ else []
        self._bet(key, [self._draw_odd_stake(data, known, unseen) for _ in range(count)])

    @rule(data=st.data())
    def void(self, data: st.DataObject) -> None:
        """Void some booked bets of a round and some that never came."""
        key = self._draw_key(data, "open", "open", "settled", "cancelled")
        round_ = self.model.rounds.get(key)
        known = sorted([*round_.booked, *round_.tombstones]) if round_ else []
        unseen = [self._new_id() for _ in range(data.draw(st.integers(0, 1)))]
        chosen = data.draw(st.lists(st.sampled_from(known), unique=True, max_size=3)) if known else []
        if chosen or unseen:
            self._void(key, (*chosen, *unseen))

    @precondition(lambda self: self.voids)
    @rule(data=st.data())
    def void_again(self, data: st.DataObject) -> None:
        """The same voids again are answered as they were, whatever has happened to the round since."""
        key, bet_ids, model_void = data.draw(st.sampled_from(self.voids))
        before = self._accounts()
        again = self._act(lambda session: void_bets(session, VoidBets(SERVER, *key, bet_ids, self.now)))
        assert (again.voided, again.unknown) == (model_void.voided, model_void.unknown)
        assert _view(again.round) == _view(model_void.round)
        assert self._accounts() == before

    @precondition(lambda self: self._keys("open"))
    @rule(data=st.data())
    def settle(self, data: st.DataObject) -> None:
        """Settle an open round as it should be."""
        self._settle_rightly(data, data.draw(st.sampled_from(self._keys("open"))))

    @precondition(lambda self: self._keys("open"))
    @rule(data=st.data())
    def hit(self, data: st.DataObject) -> None:
        """Settle an open round, with more of its hands if it has few bets, by dealing the best there are."""
        key = data.draw(st.sampled_from(self._keys("open")))
        self._bet_usually(data, key, 3)
        names = sorted({bet.stake.hand for bet in self._live(key)})
        hands = data.draw(dealing.deals(names, kinds=["royal", "straight_flush", "four"]))
        self._settle(key, len(self._live(key)), data.draw(dealing.shuffled(hands)))

    @rule(data=st.data(), off_by=st.sampled_from([-1, 0, 0, 1]))
    def settle_wrongly(self, data: st.DataObject, off_by: int) -> None:
        """A result for any round, perhaps with a wrong count of bets, perhaps without one of its hands."""
        key = self._draw_key(data, "open", "cancelled")
        names = sorted(data.draw(st.sets(st.sampled_from(HANDS))))
        hands = data.draw(dealing.deals(names))
        self._settle(key, max(0, len(self._live(key)) + off_by), data.draw(dealing.shuffled(hands)))

    @precondition(lambda self: self._keys("settled"))
    @rule(data=st.data(), is_same=st.booleans())
    def settle_again(self, data: st.DataObject, *, is_same: bool) -> None:
        """A result for a settled round: the same in another order, or another."""
        key = data.draw(st.sampled_from(self._keys("settled")))
        stated = self.model.rounds[key].result
        assert stated is not None
        bet_count, deals = stated
        hands = sorted(deals, key=lambda deal: deal.hand) if is_same else data.draw(dealing.deals(HANDS[:2]))
        self._settle(key, bet_count, data.draw(dealing.shuffled(hands)))

    @rule(data=st.data(), reason=st.sampled_from(["misdeal", "power cut"]))
    def cancel(self, data: st.DataObject, reason: str) -> None:
        """Cancel any round, perhaps for the second time."""
        self._cancel(self._draw_key(data, "open", "cancelled", "settled"), reason)

    @precondition(lambda self: self.sheets_since_bets < 2)
    @rule(rates=dealing.rates())
    def publish(self, rates: dict[str, Decimal]) -> None:
        """Put another rate sheet in force; two without a bet between are as many as matter, and take long."""
        self._publish(rates)
        self.sheets_since_bets += 1
        self.model.publish(_fractions(rates))

    @rule()
    def roll_up(self) -> None:
        """Roll recent bets up: nobody sees a difference."""
        rolling.roll_up(self.engine)


def _fractions(rates: Mapping[str, Decimal]) -> dict[str, Fraction]:
    return {currency: Fraction(rate) for currency, rate in rates.items()}


def _content(stake: Stake) -> tuple[str, str, str, int]:
    return stake.player, stake.hand, stake.currency, stake.stake_minor


def _view(view: RoundView) -> tuple[object, ...]:
    return view.cycle, view.round.state, view.round.bet_count, view.round.weight, view.round.round_key
