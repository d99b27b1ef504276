"""The use cases driven step by step beside the model; after each step the ledger must hold what the model holds."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

import sqlalchemy
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from jackpot_service.database import transactions
from jackpot_service.database.transactions import Session
from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.cards import parse_cards
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.outcomes import Cancellation, Hand, HandStatus, Result
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.domain.rounds import RoundView
from jackpot_service.domain.rulebooks import published_rules
from jackpot_service.domain.settings import Setting
from jackpot_service.ledger import laws
from jackpot_service.proof.proof import verify
from jackpot_service.records.immutable import Table
from jackpot_service.reports.jackpots import jackpot_state
from jackpot_service.usecases.accept_bets import AcceptBets, BetsAccepted
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.cancel_round import CancelRound, cancel_round
from jackpot_service.usecases.casinos import add_casino, add_table
from jackpot_service.usecases.jackpots import OpenJackpot, open_jackpot
from jackpot_service.usecases.settle_round import RoundSettledNow, SettleRound, settle_round
from jackpot_service.usecases.void_bets import BetsVoided, VoidBets, void_bets
from tests.properties import dealing
from tests.properties.model import Deal, Jackpot, Refusal, Round, Stake, Verdict
from tests.support import rolling
from tests.support.accepting import accept_bets
from tests.support.payouts import held_from
from tests.support.publishing import publish

CASINO_OF = {"T1": "c1", "T2": "c2"}
HANDS = ("1", "2", "3", "4")
PLAYERS = ("p1", "p2", "p3", "p4")
CURRENCIES = ("EUR", "GBP", "SEK", "JPY")
SERVER = Principal("server", Role.TABLE)
JACKPOT = "jackpot"
START = datetime(2026, 1, 5, 12, 0, 0, 123456, tzinfo=UTC)
ZONE, DAY_STARTS = "Asia/Kathmandu", time(17, 46)
"""A gaming day that ends a minute after the start, which is some sixty acts."""

Key = tuple[str, str]
T = TypeVar("T")


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


class LedgerMachine(RuleBasedStateMachine):
    """One run: a jackpot in a database of its own, two tables of two casinos."""

    opening: st.SearchStrategy[Opening]

    def __init__(self, database: AbstractContextManager[sqlalchemy.Engine]) -> None:
        super().__init__()
        self._database = database
        self.engine = database.__enter__()
        self.now = START
        self.ids = 0
        self.voids: list[tuple[Key, tuple[str, ...], BetsVoided]] = []
        self.touched: set[Key] = set()
        self.sheets_since_bets = 0

    def teardown(self) -> None:
        try:
            if hasattr(self, "model"):
                self._compare_awards()
                with transactions.snapshot(self.engine) as session:
                    assert verify(session).mismatches == ()
        finally:
            self._database.__exit__(None, None, None)

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

    def _operate(self) -> Act:
        return Act(SYSTEM_OPERATOR, self.now)

    def _publish(self, rates: Mapping[str, Decimal]) -> None:
        self._act(lambda session: publish(session, "EUR", rates, now=self.now))

    # Acts, on both sides.

    def _act(self, use_case: Callable[[Session], T]) -> T:
        self.now += timedelta(seconds=1)
        return transactions.transact(self.engine, use_case)

    def _both(self, expected: Callable[[], T], use_case: Callable[[Session], Any]) -> tuple[T, Any] | None:
        """Do the same on both sides; both must refuse it alike, or neither. Returns both answers, or None."""
        try:
            from_model = expected()
        except Refusal as refusal:
            try:
                answer = self._act(use_case)
            except LedgerError as error:
                assert error.code == refusal.code  # noqa: PT017  both kinds of answer are compared
                return None
            raise AssertionError(f"the model says {refusal.code}, the ledger answered {answer}") from None
        return from_model, self._act(use_case)

    def _bet(self, key: Key, stakes: Sequence[Stake]) -> None:
        bets = Bets.of(
            Bet(stake.bet_id, stake.player, stake.hand, stake.currency, stake.stake_minor, self.now) for stake in stakes
        )
        self.touched.add(key)
        both = self._both(
            lambda: self.model.bet(key, CASINO_OF[key[0]], stakes),
            lambda session: accept_bets(session, AcceptBets(SERVER, *key, bets, self.now)),
        )
        if both is not None:
            self.sheets_since_bets = 0
            (accepted, replayed, void), answer = both
            assert (answer.accepted, answer.replayed, frozenset(answer.void)) == (accepted, replayed, void)
            self._compare_view(answer.round, self.model.rounds[key])
            self._compare_meter(answer, self.model.rounds[key])

    def _void(self, key: Key, bet_ids: tuple[str, ...]) -> None:
        self.touched.add(key)
        both = self._both(
            lambda: self.model.void(key, CASINO_OF[key[0]], bet_ids),
            lambda session: void_bets(session, VoidBets(SERVER, *key, bet_ids, self.now)),
        )
        if both is not None:
            (voided, unknown), answer = both
            assert (frozenset(answer.voided), frozenset(answer.unknown)) == (voided, unknown)
            self.voids.append((key, bet_ids, answer))

    def _settle(self, key: Key, bet_count: int, hands: Sequence[tuple[Deal, tuple[str, ...]]]) -> None:
        self.touched.add(key)
        result = Result(
            bet_count, tuple(Hand(deal.hand, HandStatus(deal.status), parse_cards(cards)) for deal, cards in hands)
        )
        was_settled = key in self.model.rounds and self.model.rounds[key].state == "settled"
        both = self._both(
            lambda: self.model.settle(key, CASINO_OF[key[0]], bet_count, [deal for deal, _ in hands]),
            lambda session: settle_round(session, SettleRound(SERVER, *key, result, self.now)),
        )
        if both is not None:
            verdict, answer = both
            assert answer.is_replay is was_settled
            self._compare_view(answer.round, self.model.rounds[key])
            _compare_verdict(answer, verdict)

    def _cancel(self, key: Key, reason: str) -> None:
        self.touched.add(key)
        was_cancelled = key in self.model.rounds and self.model.rounds[key].state == "cancelled"
        both = self._both(
            lambda: self.model.cancel(key, CASINO_OF[key[0]], reason),
            lambda session: cancel_round(session, CancelRound(SERVER, *key, Cancellation(reason), self.now)),
        )
        if both is not None:
            refunds, answer = both
            assert answer.is_replay is was_cancelled
            assert tuple(bet.bet_id for bet in answer.refunds) == refunds
            self._compare_view(answer.round, self.model.rounds[key])

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

    # What must be equal after each step.

    @invariant()
    def pools_and_accounts_are_the_models(self) -> None:
        expected = {place: amount for place, amount in self.model.accounts.items() if amount}
        assert self._accounts() == expected
        with transactions.snapshot(self.engine) as session:
            state = jackpot_state(session, JACKPOT, at=self.now)
            assert list(laws.broken_in(session, JACKPOT)) == []
            assert rolling.rolled_up(session) == rolling.posted(session)
        held = (state.pools.meter_players, state.pools.meter_house, state.pools.reserve, state.pools.prize_fund)
        pools = ("meter:players", "meter:house", "reserve", "prize_fund")
        assert tuple(map(Fraction, held)) == tuple(map(self.model.pool, pools))
        assert (state.meter.cycle, Fraction(state.meter.exact)) == (self.model.cycle, self.model.on_offer)
        limit = self.terms.limit
        beyond = max(Fraction(0), self.model.booked_meter - Fraction(limit)) if limit is not None else Fraction(0)
        assert Fraction(state.meter.overflow) == beyond

    @invariant()
    def touched_rounds_are_the_models(self) -> None:
        for key in sorted(self.touched):
            self._compare_round(key)
        self.touched.clear()

    def _compare_round(self, key: Key) -> None:
        question = """
        SELECT state, bet_count, weight,
               (SELECT array_agg(b.bet_id ORDER BY b.bet_id) FROM bets b WHERE b.round_key = r.round_key),
               (SELECT array_agg(v.bet_id ORDER BY v.bet_id) FROM voids v WHERE v.round_key = r.round_key)
        FROM rounds r WHERE table_id = :table_id AND round_id = :round_id
        """
        differing = self._ask(question, table_id=key[0], round_id=key[1])
        if key not in self.model.rounds:
            assert differing == []
            return
        round_ = self.model.rounds[key]
        voids = sorted(
            {*round_.tombstones, *(bet_id for bet_id, booked_bet in round_.booked.items() if booked_bet.is_void)}
        )
        ((state, bet_count, weight, bets, void),) = differing
        assert (state, bet_count, Fraction(weight)) == (round_.state, len(round_.live()), round_.weight())
        assert (bets or [], void or []) == (sorted(round_.booked), voids)

    def _compare_awards(self) -> None:
        question = """
        SELECT table_id, round_id, bet_id, tier, amount_minor, currency, cost, funded_by,
               (SELECT array_agg(s.step) FROM award_steps s
                WHERE (s.round_key, s.bet_id, s.tier) = (a.round_key, a.bet_id, a.tier))
        FROM awards a JOIN rounds USING (jackpot_id, round_key)
        """
        booked = {
            (table_id, round_id, bet_id, tier): (*figures, Fraction(cost), funded_by, steps)
            for table_id, round_id, bet_id, tier, *figures, cost, funded_by, steps in self._ask(question)
        }
        expected = {
            (*key, *place): (prize.amount_minor, prize.currency, prize.cost, prize.funded_by, [prize.state])
            for key, round_ in self.model.rounds.items()
            if round_.verdict is not None
            for place, prize in round_.verdict.awards.items()
        }
        assert booked == expected

    def _compare_view(self, view: RoundView, expected: Round) -> None:
        shown = (view.round.state.value, view.round.bet_count, Fraction(view.round.weight), view.cycle)
        cycle = self.model.cycle if expected.ended_in is None else expected.ended_in
        assert shown == (expected.state, len(expected.live()), expected.weight(), cycle)

    def _compare_meter(self, answer: BetsAccepted, expected: Round) -> None:
        assert (answer.meter.cycle, Fraction(answer.meter.exact)) == (self.model.cycle, self.model.on_offer)
        if self.terms.token is not None or expected.state != "open" or not expected.weight():
            assert answer.share_per_unit is None
        else:
            share = math.floor(self.model.on_offer / expected.weight() * 10**10)
            assert answer.share_per_unit is not None
            assert Fraction(answer.share_per_unit) == Fraction(share, 10**10)

    def _live(self, key: Key) -> list[Any]:
        return self.model.rounds[key].live() if key in self.model.rounds else []

    def _accounts(self) -> dict[tuple[str, str], Fraction]:
        sums = self._ask("SELECT account, currency, sum(amount) FROM postings GROUP BY account, currency")
        return {(account, currency): Fraction(amount) for account, currency, amount in sums if amount}

    def _ask(self, question: str, **parameters: object) -> list[tuple[Any, ...]]:
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(sqlalchemy.text(question), parameters)]


def _fractions(rates: Mapping[str, Decimal]) -> dict[str, Fraction]:
    return {currency: Fraction(rate) for currency, rate in rates.items()}


def _content(stake: Stake) -> tuple[str, str, str, int]:
    return stake.player, stake.hand, stake.currency, stake.stake_minor


def _view(view: RoundView) -> tuple[object, ...]:
    return view.cycle, view.round.state, view.round.bet_count, view.round.weight, view.round.round_key


def _compare_verdict(answer: RoundSettledNow, expected: Verdict) -> None:
    settlement = answer.settlement
    awards = {
        (award.bet_id, award.tier): (
            award.amount_minor,
            award.currency,
            Fraction(award.cost),
            award.funded_by,
            award.state,
        )
        for award in answer.awards
    }
    assert awards == {
        place: (prize.amount_minor, prize.currency, prize.cost, prize.funded_by, prize.state)
        for place, prize in expected.awards.items()
    }
    assert [(award.bet_id, award.tier) for award in answer.awards] == sorted(awards)
    assert tuple(bet.bet_id for bet in answer.refunds) == expected.refunds
    assert {
        (claim["bet_id"], claim["tier"]): Fraction(claim["amount"]) for claim in settlement["entitlements"]
    } == expected.entitlements
    assert (settlement["cycle"], settlement["cycle_after"]) == (expected.cycle, expected.cycle_after)
    for name in (
        "meter_before",
        "meter_after",
        "reserve_after",
        "prize_fund_after",
        "weight",
        "overflow",
        "house_seed",
    ):
        assert Fraction(settlement[name]) == getattr(expected, name), name
    assert (None if settlement["carried"] is None else Fraction(settlement["carried"])) == expected.carried
