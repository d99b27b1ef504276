"""Correcting a round: players end with what is due, the pools with what they would hold, whoever erred how often."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from jackpot_service.domain.accounts import AWARDS_HELD, METER_HOUSE, METER_PLAYERS, PRIZE_FUND, Pools, casino
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.cards import parse_cards
from jackpot_service.domain.corrections import Correction, PastAward, VerdictInForce, charged_to_pools, correct
from jackpot_service.domain.journal import Postings
from jackpot_service.domain.money import ZERO, Rate, RateSheet
from jackpot_service.domain.outcomes import Hand, HandStatus, Result, judge, refunded_hands
from jackpot_service.domain.rulebooks import published_rules
from jackpot_service.domain.settlement import Award, Settlement, Terms, due_at, settle
from jackpot_service.ledger import replay
from tests.properties import values
from tests.properties.profile import repeatable
from tests.properties.settling import Round, rounds
from tests.support.hands import FLUSH, NOTHING, STRAIGHT_FLUSH
from tests.support.payouts import held_from


@dataclass
class Table:
    """A round that was settled, and is corrected again and again while its jackpot goes on."""

    round_: Round
    pools: Pools
    in_force: VerdictInForce
    postings: Postings
    won_since: frozenset[str]

    @classmethod
    def settled(cls, round_: Round, *, its_meter_runs: bool) -> tuple["Table", Settlement]:
        settlement = round_.settled()
        in_force = VerdictInForce(
            number=0,
            result=Result(len(round_.bets), round_.hands),
            meter=settlement.meter_before,
            awards=tuple(PastAward(award, 0) for award in settlement.awards),
            charged_to=charged_to_pools(replay.lines_of(settlement.postings)),
            its_meter_runs=its_meter_runs,
        )
        is_over = settlement.carried is not None or not its_meter_runs
        won_since = frozenset(bet.bet_id for bet in round_.bets) if is_over else round_.won_since
        pools = round_.pools + settlement.postings.pools()
        return cls(round_, pools, in_force, settlement.postings, won_since), settlement

    def pay(self, bet_ids: set[str]) -> None:
        """Let casinos pay out what these bets may have by now."""
        self.in_force = replace(
            self.in_force,
            awards=tuple(
                replace(past, award=replace(past.award, state=AwardState.PAID))
                if past.award.bet.bet_id in bet_ids and past.award.state is AwardState.PAYABLE
                else past
                for past in self.in_force.awards
            ),
        )

    def correct(self, hands: tuple[Hand, ...]) -> Correction:
        result = Result(len(self.round_.bets), hands)
        done = correct(
            self.round_.bets,
            result,
            self.in_force,
            terms=self.round_.terms,
            pools=self.pools,
            won_since=self.won_since,
        )
        self.pools += done.postings.pools()
        self.postings += done.postings
        reversed_ = {(past.award.bet.bet_id, past.award.tier, past.correction) for past in done.reversed_awards}
        past = tuple(
            replace(booked_award, award=replace(booked_award.award, state=AwardState.REVERSED))
            if (booked_award.award.bet.bet_id, booked_award.award.tier, booked_award.correction) in reversed_
            else booked_award
            for booked_award in self.in_force.awards
        )
        self.in_force = replace(
            self.in_force,
            number=done.number,
            result=result,
            charged_to=done.charged_to,
            awards=(*past, *(PastAward(award, done.number) for award in done.awards)),
        )
        return done

    def due(self) -> Counter[str]:
        """What each bet is due under the result in force, at the meter of the settlement."""
        terms = self.round_.terms
        verdict = judge(self.round_.bets, self.in_force.result.hands, terms.rules)
        expected = due_at(verdict, meter=self.in_force.meter, terms=terms)
        return _by_bet((*expected.from_prize_fund, *expected.from_meter))

    def in_state(self, *states: AwardState) -> Counter[str]:
        """What awards in some states come to, by bet."""
        return _by_bet([past.award for past in self.in_force.awards if past.award.state in states])


def _by_bet(awards: list[Award] | tuple[Award, ...]) -> Counter[str]:
    sums = Counter[str]()
    for award in awards:
        sums[award.bet.bet_id] += award.amount_minor
    return sums


RESULTS = st.lists(values.hands(), min_size=1, max_size=3)


def _different(round_: Round, results: list[tuple[Hand, ...]]) -> None:
    """Each result differs from the one before it, or there would be nothing to correct."""
    content = [Result(0, hands).content for hands in (round_.hands, *results)]
    assume(all(hand_ != following for hand_, following in pairwise(content)))


@repeatable
@given(round_=rounds(), results=RESULTS, its_meter_runs=st.booleans(), data=st.data())
def test_every_bet_ends_with_what_it_is_due_or_with_what_it_was_paid(
    *, round_: Round, results: list[tuple[Hand, ...]], its_meter_runs: bool, data: st.DataObject
) -> None:
    _different(round_, results)
    table, _ = Table.settled(round_, its_meter_runs=its_meter_runs)
    ids = [bet.bet_id for bet in round_.bets]
    for hands in results:
        table.pay(set(data.draw(st.lists(st.sampled_from(ids)))) if ids else set())
        paid = table.in_state(AwardState.PAID)
        table.correct(hands)
        expected = table.due()
        has = table.in_state(AwardState.PAID, AwardState.PAYABLE)
        assert has == Counter({bet_id: max(expected[bet_id], paid[bet_id]) for bet_id in expected.keys() | paid.keys()})
        assert not table.in_state(AwardState.HELD)
    held = sum((line.amount for line in table.postings.lines if line.account == AWARDS_HELD), ZERO)
    assert held == 0


@repeatable
@given(round_=rounds(), results=RESULTS, its_meter_runs=st.booleans())
def test_the_casino_owes_and_is_owed_what_the_result_in_force_makes(
    *, round_: Round, results: list[tuple[Hand, ...]], its_meter_runs: bool
) -> None:
    _different(round_, results)
    table, _ = Table.settled(round_, its_meter_runs=its_meter_runs)
    for hands in results:
        table.correct(hands)
        refunds = [
            bet for bet in round_.bets if bet.hand in refunded_hands(table.in_force.result.hands, round_.terms.rules)
        ]
        has = table.in_state(AwardState.PAYABLE)
        for currency, rate in round_.terms.sheet.rates.items():
            minor = sum(bet.stake_minor for bet in refunds if bet.currency == currency)
            minor += sum(has[bet.bet_id] for bet in round_.bets if bet.currency == currency)
            booked = sum(
                (
                    line.amount
                    for line in table.postings.lines
                    if (line.account, line.currency) == (casino("c1"), currency)
                ),
                ZERO,
            )
            assert booked == Decimal(minor).scaleb(-rate.exponent)


@repeatable
@given(round_=rounds(), results=RESULTS, its_meter_runs=st.booleans())
def test_no_correction_brings_the_meter_or_the_reserve_below_zero(
    *, round_: Round, results: list[tuple[Hand, ...]], its_meter_runs: bool
) -> None:
    _different(round_, results)
    table, _ = Table.settled(round_, its_meter_runs=its_meter_runs)
    for hands in results:
        before = table.pools
        table.correct(hands)
        assert table.pools.meter >= min(before.meter, ZERO)
        assert table.pools.reserve >= min(before.reserve, ZERO)
        assert all(amount >= 0 for amount in table.in_force.charged_to.values())


@repeatable
@given(round_=rounds(), results=RESULTS)
def test_a_meter_that_was_begun_since_is_left_alone(round_: Round, results: list[tuple[Hand, ...]]) -> None:
    _different(round_, results)
    table, _ = Table.settled(round_, its_meter_runs=False)
    before = table.pools
    for hands in results:
        table.correct(hands)
        assert (table.pools.meter, table.pools.reserve) == (before.meter, before.reserve)


@repeatable
@given(round_=rounds(), hands=values.hands())
def test_a_meter_that_still_runs_ends_as_if_the_right_result_had_come_first(
    round_: Round, hands: tuple[Hand, ...]
) -> None:
    """Where neither verdict is a hit, none finds a hand dead, and the house puts in no seed."""
    _different(round_, [hands])
    rules = [replace(rules_, reset_amount=ZERO) for rules_ in (round_.terms.running, round_.terms.following)]
    round_ = replace(round_, terms=replace(round_.terms, running=rules[0], following=rules[1]))
    table, first = Table.settled(round_, its_meter_runs=True)
    verdict = judge(round_.bets, hands, round_.terms.rules)
    assume(not (first.refunds or verdict.refunded or verdict.is_hit or first.carried is not None))
    right = settle(verdict, terms=round_.terms, pools=round_.pools, won_since=round_.won_since)

    table.correct(hands)

    expected = round_.pools + right.postings.pools()
    assert (table.pools.meter, table.pools.reserve, table.pools.prize_fund) == (
        expected.meter,
        expected.reserve,
        expected.prize_fund,
    )


@repeatable
@given(round_=rounds(), hands=values.hands(), its_meter_runs=st.booleans())
def test_a_correction_taken_back_leaves_no_trace_in_the_pools(
    *, round_: Round, hands: tuple[Hand, ...], its_meter_runs: bool
) -> None:
    """Where the house puts in no seed, and is not asked for what the meter does not hold."""
    _different(round_, [hands])
    rules = [replace(rules_, reset_amount=ZERO) for rules_ in (round_.terms.running, round_.terms.following)]
    round_ = replace(round_, terms=replace(round_.terms, running=rules[0], following=rules[1]))
    table, _ = Table.settled(round_, its_meter_runs=its_meter_runs)
    before = table.pools
    assume(before.meter >= 0)

    there = table.correct(hands)
    back = table.correct(round_.hands)

    assume(not any(line.account == "house:adjustments" for line in (*there.postings.lines, *back.postings.lines)))
    for name in ("meter", "reserve", "prize_fund"):
        assert getattr(table.pools, name) == getattr(before, name)


def test_what_was_rejected_has_come_back_already_to_whom_it_was_taken_from() -> None:
    """Of a meter of 10,000.00, players' 10.00: 1,000.00 for a straight flush, 50.00 for a flush; both are held."""
    rules = published_rules(
        "cyber-caribbean-stud", base="EUR", settings={"payout_tiers": held_from("1"), "reset_amount": "0"}
    )
    sheet = RateSheet("EUR", 1, {"EUR": Rate("EUR", Decimal(1), 2)})
    bets = [Bet("a", "ann", "1", "EUR", 100), Bet("b", "ann", "2", "EUR", 100)]
    dealt = (_hand("1", STRAIGHT_FLUSH), _hand("2", FLUSH))
    terms = Terms(rules, sheet, casino_id="c1", cycle=1, running=rules, following=rules)
    round_ = Round(bets, dealt, terms, Pools(Decimal(10), Decimal(9990)), frozenset())
    table, settlement = Table.settled(round_, its_meter_runs=True)
    assert [award.cost for award in settlement.awards] == [1000, 50]

    table.in_force = replace(
        table.in_force,
        awards=tuple(
            replace(past, award=replace(past.award, state=AwardState.REJECTED))
            if past.award.bet.bet_id == "a"
            else past
            for past in table.in_force.awards
        ),
    )
    table.pools += Pools(Decimal(10), Decimal(990))
    done = table.correct((_hand("1", NOTHING), _hand("2", FLUSH)))

    assert done.charged_to == {PRIZE_FUND: 0, METER_PLAYERS: 10, METER_HOUSE: 40}
    assert table.pools == Pools(Decimal(0), Decimal(9950))


def _hand(name: str, cards: Sequence[str]) -> Hand:
    return Hand(name, HandStatus.DEALT, parse_cards(cards))
