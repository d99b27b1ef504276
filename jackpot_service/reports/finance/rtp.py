"""Return to players: the awards as a part of the turnover, and whether its variance from the rules means anything."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.figures import FigureKind
from jackpot_service.domain.money import ZERO
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rules import FundedBy, JackpotRules
from jackpot_service.domain.statistics import (
    deviations,
    fixed_prize_variance,
    fixed_prizes,
    meter_return,
    percent,
    prize_fund_return,
    root,
    rounded,
    tier_cost,
)
from jackpot_service.records import immutable
from jackpot_service.reports.documents import Row, Section, Value
from jackpot_service.reports.finance import award_figures, relations
from jackpot_service.reports.finance.award_figures import StepSum
from jackpot_service.reports.finance.columns import amounts, columns, numbers, percents
from jackpot_service.reports.finance.frame import Report, Scope
from jackpot_service.reports.finance.period import BookPeriod

_JUDGED = """
    SELECT {keys}, sum(number) FILTER (WHERE kind = 'hands') AS hands,
           sum(value) FILTER (WHERE kind = 'hands') AS value, sum(value) FILTER (WHERE kind = 'squares') AS squares
    FROM ({figures}) AS judged
    GROUP BY {keys}
    ORDER BY {keys}
"""


@dataclass(frozen=True, slots=True)
class Turnover:
    """
    The turnover under a rules version: the number of judged hands, and the stakes on them in the base currency.

    `squares` is the sum, over these hands, of the square of all stakes on the hand. All three are negative where
    corrections found more hands dead than were judged.
    """

    rules_version: int
    rules: JackpotRules
    hands: int
    value: Decimal
    squares: Decimal

    def plus(self, other: "Turnover") -> "Turnover":
        """Return both together, of the same rules version."""
        return replace(
            self,
            hands=self.hands + other.hands,
            value=self.value + other.value,
            squares=self.squares + other.squares,
        )


def turnovers(session: Session, book: BookPeriod) -> Sequence[Turnover]:
    """Sum the hands judged in a period, as corrected by the period's corrections, by the rounds' rules version."""
    return [turnover for _, turnover in _judged(session, book)]


def turnovers_by_day(session: Session, book: BookPeriod) -> Mapping[date, Sequence[Turnover]]:
    """Sum the hands judged on each UTC day of a period, as `turnovers` does, in the order of the days."""
    by_day = defaultdict[date, list[Turnover]](list)
    for (day,), turnover in _judged(session, book, "day"):
        by_day[day].append(turnover)
    return by_day


def _judged(session: Session, book: BookPeriod, *by: str) -> Iterator[tuple[Sequence[date], Turnover]]:
    keys = (*by, "rules_version")
    judged = relations.figures((*keys, "kind"), [FigureKind.HANDS, FigureKind.SQUARES], book)
    statement = text(_JUDGED.format(keys=", ".join(keys), figures=judged))
    for *key, version, hands, value, squares in session.execute(statement, book.divided):
        rules = immutable.rules(session, book.jackpot_id, version)
        yield key, Turnover(version, rules, int(hands), value, squares)


COMPARED = columns(
    "currency",
    amounts(turnover="Turnover of judged hands"),
    "awards",
    amounts(actual="Awarded"),
    percents(actual_percent="Awarded, % of turnover"),
    amounts(theoretical="By the rules"),
    percents(theoretical_percent="By the rules, % of turnover"),
    "variance variance_percent",
)

STRAYED = (*amounts(deviation="Standard deviation"), *numbers(deviations="Variance in deviations"))

FUNDS = columns("jackpot_id paid_from", COMPARED, STRAYED)

TIERS = columns("jackpot_id tier paid_from", COMPARED)


@dataclass(frozen=True, slots=True)
class Played:
    """The turnover and the awards of a jackpot in the period, or on a day of it."""

    book: BookPeriod
    turnovers: Sequence[Turnover]
    awards: Sequence[StepSum]

    @property
    def turnover(self) -> Decimal:
        """All stakes on the judged hands, in the base currency."""
        return sum((turnover.value for turnover in self.turnovers), ZERO)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Compare, by the pool that pays and by tier, what was awarded with what the rules give."""
    played = [
        Played(book, turnovers(session, book), award_figures.made(award_figures.steps(session, book)))
        for book in scope.books
    ]
    return (
        Section("funds", "Return by the pool that pays", FUNDS, [row for jackpot in played for row in funds(jackpot)]),
        Section("tiers", "Return by tier", TIERS, [row for jackpot in played for row in _tiers(jackpot)]),
    )


def funds(played: Played) -> Iterator[Row]:
    """Return a row of `FUNDS` for each pool that pays, and for both together."""
    meter, prize_fund = _from_meter(played), _from_prize_fund(played)
    of_meter = [step_sum for step_sum in played.awards if step_sum.funded_by is FundedBy.METER]
    of_prize_fund = [step_sum for step_sum in played.awards if step_sum.funded_by is FundedBy.PRIZE_FUND]
    jackpot_id = played.book.jackpot_id
    yield (jackpot_id, "meter", *_compared(played, of_meter, meter), None, None)
    variance = _cost(of_prize_fund) - rounded(prize_fund)
    deviation = _deviation(played, variance)
    yield (jackpot_id, "prize fund", *_compared(played, of_prize_fund, prize_fund), *deviation)
    yield (jackpot_id, "both", *_compared(played, played.awards, meter + prize_fund), None, None)


def _from_meter(played: Played) -> Fraction:
    return sum((Fraction(turnover.value) * meter_return(turnover.rules) for turnover in played.turnovers), Fraction(0))


def _from_prize_fund(played: Played) -> Fraction:
    return sum(
        (Fraction(turnover.value) * prize_fund_return(turnover.rules) for turnover in played.turnovers), Fraction(0)
    )


def _with_prize_fund(played: Played) -> list[Turnover]:
    return [turnover for turnover in played.turnovers if turnover.rules.fixed_prizes_from is FundedBy.PRIZE_FUND]


def _deviation(played: Played, difference: Decimal) -> tuple[Value, Value]:
    """
    How far fixed prizes stray by chance, and how many times as far they did.

    Neither is shown for a period in which corrections took more hands away than were judged.
    """
    variance = sum(
        (Fraction(turnover.squares) * fixed_prize_variance(turnover.rules) for turnover in _with_prize_fund(played)),
        Fraction(0),
    )
    hands = sum(turnover.hands for turnover in played.turnovers)
    return (root(variance), deviations(difference, variance)) if hands >= 0 <= variance else (None, None)


def _tiers(played: Played) -> Iterator[Row]:
    """A part of the meter has no theoretical cost of its own: it is what the meter holds."""
    awarded = defaultdict[tuple[Tier, FundedBy], list[StepSum]](list)
    for step_sum in played.awards:
        awarded[step_sum.tier, step_sum.funded_by].append(step_sum)
    fixed = {
        (tier, turnover.rules.fixed_prizes_from)
        for turnover in played.turnovers
        for tier in fixed_prizes(turnover.rules)
    }
    order = list(Tier)
    for tier, fund in sorted({*awarded, *fixed}, key=lambda key: (order.index(key[0]), key[1])):
        theoretical = _cost_of_tier(played, tier, fund) if (tier, fund) in fixed else None
        name = fund.value.replace("_", " ")
        yield (played.book.jackpot_id, tier.value, name, *_compared(played, awarded[tier, fund], theoretical))


def _cost_of_tier(played: Played, tier: Tier, fund: FundedBy) -> Fraction:
    return sum(
        (
            Fraction(turnover.value) * tier_cost(turnover.rules, tier)
            for turnover in played.turnovers
            if turnover.rules.fixed_prizes_from is fund
        ),
        Fraction(0),
    )


def _compared(played: Played, awards: Sequence[StepSum], theoretical: Fraction | None) -> Row:
    """Return the values of `COMPARED`; the variance is positive where players got more than the rules give."""
    actual, turnover_ = _cost(awards), played.turnover
    common = (
        played.book.base,
        turnover_,
        sum(step_sum.amounts.awards for step_sum in awards),
        actual,
        percent(actual, turnover_),
    )
    if theoretical is None:
        return (*common, None, None, None, None)
    expected = rounded(theoretical)
    variance = actual - expected
    return (*common, expected, percent(theoretical, turnover_), variance, percent(variance, expected))


def _cost(awards: Sequence[StepSum]) -> Decimal:
    return sum((step_sum.amounts.cost for step_sum in awards), ZERO)


REPORT = Report("rtp", "Return to players", make, sections=("funds", "tiers"), report_version=2)
