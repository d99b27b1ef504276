"""The ledger and its model: what is done to one is done to the other, and their answers and states are compared."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

import sqlalchemy
from hypothesis.stateful import RuleBasedStateMachine, invariant

from jackpot_service.database import snapshots, transactions
from jackpot_service.database.transactions import Session
from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.cards import parse_cards
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.outcomes import Cancellation, Hand, HandStatus, Result
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.domain.rounds import RoundView
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.ledger import laws
from jackpot_service.proof.proof import verify
from jackpot_service.reports.jackpots import jackpot_state
from jackpot_service.usecases.accept_bets import AcceptBets, BetsAccepted
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.cancel_round import CancelRound, cancel_round
from jackpot_service.usecases.settle_round import RoundSettledNow, SettleRound, settle_round
from jackpot_service.usecases.void_bets import BetsVoided, VoidBets, void_bets
from tests.properties.model import Deal, Jackpot, Refusal, Round, Stake, Verdict
from tests.support import rolling
from tests.support.accepting import accept_bets
from tests.support.publishing import publish

CASINO_OF = {"T1": "c1", "T2": "c2"}
SERVER = Principal("server", Role.TABLE)
JACKPOT = "jackpot"
START = datetime(2026, 1, 5, 12, 0, 0, 123456, tzinfo=UTC)

Key = tuple[str, str]
T = TypeVar("T")


class BothSides(RuleBasedStateMachine):
    """A jackpot in a database of its own, and its model: each act is done to both."""

    model: Jackpot
    terms: JackpotRules

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
                with snapshots.snapshot(self.engine) as session:
                    assert verify(session).mismatches == ()
        finally:
            self._database.__exit__(None, None, None)

    # Acts, on both sides.

    def _operate(self) -> Act:
        return Act(SYSTEM_OPERATOR, self.now)

    def _publish(self, rates: Mapping[str, Decimal]) -> None:
        self._act(lambda session: publish(session, "EUR", rates, now=self.now))

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

    # What must be equal after each step.

    @invariant()
    def pools_and_accounts_are_the_models(self) -> None:
        expected = {place: amount for place, amount in self.model.accounts.items() if amount}
        assert self._accounts() == expected
        with snapshots.snapshot(self.engine) as session:
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
