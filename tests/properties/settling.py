"""Rounds about to be settled, under any rules, at any point of a jackpot's life."""

from dataclasses import dataclass

from hypothesis import strategies as st

from jackpot_service.domain import posting_rules
from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.allocation import contribute, stakes_by_currency
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.outcomes import Hand, Verdict, judge
from jackpot_service.domain.settlement import Settlement, Terms, settle
from tests.properties import values

RULEBOOKS = ["live-caribbean-stud", "cyber-caribbean-stud", "seneca-caribbean-stud"]


@dataclass(frozen=True)
class Round:
    """A round about to be settled: its bets, its hands, and the jackpot as it stands with the bets booked."""

    bets: list[Bet]
    hands: tuple[Hand, ...]
    terms: Terms
    pools: Pools
    won_since: frozenset[str]

    @property
    def verdict(self) -> Verdict:
        return judge(self.bets, self.hands, self.terms.rules)

    def settled(self) -> Settlement:
        return settle(self.verdict, terms=self.terms, pools=self.pools, won_since=self.won_since)


@st.composite
def rounds(draw: st.DrawFn) -> Round:
    """Rounds under any rules; the jackpot may have changed its terms since, and been won since some bets."""
    rules = draw(values.rules(RULEBOOKS))
    bets = draw(values.bets(token_minor=None if rules.token is None else 100))
    running = draw(values.rules([rules.rulebook], [rules.policy]))
    following = draw(values.rules([rules.rulebook], [rules.policy]))
    sheet = draw(values.sheets())
    terms = Terms(rules=rules, sheet=sheet, casino_id="c1", cycle=3, running=running, following=following)
    won_since = frozenset(bet.bet_id for bet in bets if draw(st.integers(0, 4)) == 0)
    counted = [bet for bet in bets if bet.bet_id not in won_since]
    contribution = contribute(stakes_by_currency(counted), split=rules.split, sheet=sheet)
    before = Pools(
        draw(values.amounts(-50, 20_000)),
        draw(values.amounts(0, 20_000)),
        draw(values.amounts(0, 2_000)),
        draw(values.amounts(-5_000, 5_000)),
    )
    booked = posting_rules.for_contribution(contribution, casino_id="c1", sheet=sheet)
    return Round(bets, draw(values.hands()), terms, before + booked.pools(), won_since)
