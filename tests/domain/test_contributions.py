"""Contributions that are figured once for stakes that sum alike: those of each batch by itself, on its own terms."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackpot_service.domain import figures, posting_rules
from jackpot_service.domain.allocation import contribute, stakes_by_currency
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.contributions import KEPT, Contributed, Contributions, Stakes, sum_stakes
from jackpot_service.domain.money import NoRate, RateSheet
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.domain.rules import JackpotRules
from tests.properties import values
from tests.properties.profile import repeatable
from tests.properties.settling import RULEBOOKS

ROUND = Round(
    jackpot_id="house",
    round_key=1,
    table_id="t1",
    round_id="r1",
    casino_id="c1",
    state=RoundState.OPEN,
    rules_version=1,
    rate_sheet=1,
    steps=1,
    bet_count=0,
    weight=Decimal(0),
    opened_at=datetime(2026, 1, 1, tzinfo=UTC),
)


def stakes_of(bets: Iterable[Bet]) -> Stakes:
    return sum_stakes((bet.currency, bet.stake_minor) for bet in bets)


@repeatable
@given(
    st.lists(values.bets(), min_size=1, max_size=3),
    st.lists(values.rules(RULEBOOKS), min_size=2, max_size=2),
    st.lists(values.sheets(), min_size=2, max_size=2),
)
def test_every_batch_makes_the_entry_that_it_makes_by_itself(
    batches: list[list[Bet]], rules: list[JackpotRules], sheets: list[RateSheet]
) -> None:
    """On whatever terms, and though others whose stakes may sum alike were asked for before."""
    cached = Contributions()
    rounds = [
        ROUND._replace(jackpot_id=jackpot_id, rules_version=version, rate_sheet=number, casino_id=casino_id)
        for jackpot_id in ("house", "other")
        for version in range(2)
        for number in range(2)
        for casino_id in ("c1", "c2")
    ]
    for bets in (*batches, *batches):
        for round_ in rounds:
            its_rules = rules[(round_.rules_version + (round_.jackpot_id == "other")) % 2]
            sheet = sheets[round_.rate_sheet]
            alone = contribute(stakes_by_currency(bets), split=its_rules.split, sheet=sheet)
            contributed = cached.of(stakes_of(bets), round_, rules=its_rules, sheet=sheet)
            assert contributed.contribution == alone
            booked = posting_rules.for_contribution(alone, casino_id=round_.casino_id, sheet=sheet)
            assert contributed.postings == booked
            assert contributed.figures == figures.figures_of_bets(alone, Counter(bet.currency for bet in bets))


@repeatable
@given(values.bets(least=1))
def test_another_stake_or_one_more_bet_sums_to_something_else(bets: list[Bet]) -> None:
    first = bets[0]
    assert stakes_of([first._replace(stake_minor=first.stake_minor + 1), *bets[1:]]) != stakes_of(bets)
    assert stakes_of([*bets, first._replace(bet_id="more", stake_minor=0)]) != stakes_of(bets)
    assert stakes_of(reversed(bets)) == stakes_of(bets)


@repeatable
@given(values.rules(RULEBOOKS), values.sheets())
def test_what_has_no_rate_is_refused_each_time(rules: JackpotRules, sheet: RateSheet) -> None:
    cached = Contributions()
    for _ in range(2):
        with pytest.raises(NoRate):
            cached.of((("EUR", 100, 1),), ROUND, rules=rules, sheet=replace(sheet, rates={}))


@repeatable
@given(values.rules(RULEBOOKS), values.sheets())
def test_only_so_many_are_kept_and_the_oldest_is_made_again(rules: JackpotRules, sheet: RateSheet) -> None:
    cached = Contributions()

    def contributed(stake_minor: int) -> Contributed:
        return cached.of((("EUR", stake_minor, 1),), ROUND, rules=rules, sheet=sheet)

    first = [contributed(stake_minor) for stake_minor in range(1, KEPT + 1)]
    assert [contributed(stake_minor) for stake_minor in (1, KEPT)] == [first[0], first[-1]]
    assert contributed(KEPT) is first[-1]
    contributed(KEPT + 1)
    assert contributed(1) is not first[0]
    assert contributed(1) == first[0]
    assert contributed(KEPT) is first[-1]
