"""Return to players: what was awarded of what was played, and whether its variance from the rules means anything."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from jackpot_service.database.transactions import Session
from jackpot_service.domain.money import EXACT, total
from jackpot_service.domain.rules import FundedBy, Tier
from jackpot_service.domain.statistics import (
    deviations,
    fixed_prize_cost,
    fixed_prize_variance,
    fixed_prizes,
    percent,
    root,
    rounded,
    tier_cost,
)
from jackpot_service.reports.documents import Column, Row, Section, Sort, Value
from jackpot_service.reports.finance import award_sums, turnover
from jackpot_service.reports.finance.award_sums import Taken
from jackpot_service.reports.finance.frame import Report, Scope, Stand
from jackpot_service.reports.finance.turnover import Turnover

_COMPARED = (
    Column("currency", "Currency"),
    Column("turnover", "Turnover of judged hands", Sort.AMOUNT, currency_in="currency"),
    Column("awards", "Awards", Sort.COUNT),
    Column("actual", "Awarded", Sort.AMOUNT, currency_in="currency"),
    Column("actual_percent", "Awarded, % of turnover", Sort.PERCENT),
    Column("theoretical", "By the rules", Sort.AMOUNT, currency_in="currency"),
    Column("theoretical_percent", "By the rules, % of turnover", Sort.PERCENT),
    Column("variance", "Variance", Sort.AMOUNT, currency_in="currency"),
    Column("variance_percent", "Variance, %", Sort.PERCENT),
)

FUNDS = (
    Column("jackpot_id", "Jackpot"),
    Column("paid_from", "Paid from"),
    *_COMPARED,
    Column("deviation", "Standard deviation", Sort.AMOUNT, currency_in="currency"),
    Column("deviations", "Variance in deviations", Sort.NUMBER),
)

TIERS = (Column("jackpot_id", "Jackpot"), Column("tier", "Tier"), Column("paid_from", "Paid from"), *_COMPARED)


@dataclass(frozen=True, slots=True)
class _Played:
    """What was played and awarded for a jackpot in the period."""

    stand: Stand
    turnovers: Sequence[Turnover]
    awards: Sequence[Taken]

    @property
    def turnover(self) -> Decimal:
        return total(one.value for one in self.turnovers)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Compare, by the pool that pays and by tier, what was awarded with what the rules give."""
    played = [
        _Played(stand, turnover.by_rules(session, stand), award_sums.made(award_sums.steps(session, stand)))
        for stand in scope.stands
    ]
    return (
        Section("funds", "Return by the pool that pays", FUNDS, [row for one in played for row in _funds(one)]),
        Section("tiers", "Return by tier", TIERS, [row for one in played for row in _tiers(one)]),
    )


def _funds(played: _Played) -> Iterator[Row]:
    meter, prize_fund = _from_meter(played), _from_prize_fund(played)
    of_meter = [one for one in played.awards if one.funded_by is FundedBy.METER]
    of_prize_fund = [one for one in played.awards if one.funded_by is FundedBy.PRIZE_FUND]
    jackpot_id = played.stand.jackpot_id
    yield (jackpot_id, "meter", *_compared(played, of_meter, meter), None, None)
    variance = EXACT.subtract(_cost(of_prize_fund), rounded(prize_fund))
    deviation = _deviation(played, variance)
    yield (jackpot_id, "prize fund", *_compared(played, of_prize_fund, prize_fund), *deviation)
    yield (jackpot_id, "both", *_compared(played, played.awards, meter + prize_fund), None, None)


def _from_meter(played: _Played) -> Fraction:
    """In time the meter returns whatever is put into it and into the reserve; what the house seeds is beside that."""
    return sum(
        (
            Fraction(one.value) * Fraction(EXACT.add(one.rules.split.meter, one.rules.split.reserve))
            for one in played.turnovers
        ),
        Fraction(0),
    )


def _from_prize_fund(played: _Played) -> Fraction:
    return sum((Fraction(one.value) * fixed_prize_cost(one.rules) for one in _with_prize_fund(played)), Fraction(0))


def _with_prize_fund(played: _Played) -> list[Turnover]:
    return [one for one in played.turnovers if one.rules.fixed_prizes_from is FundedBy.PRIZE_FUND]


def _deviation(played: _Played, difference: Decimal) -> tuple[Value, Value]:
    """
    How far fixed prizes stray by chance, and how many times as far they did.

    Neither is told of a part in which corrections took more hands away than were judged.
    """
    variance = sum(
        (Fraction(one.squares) * fixed_prize_variance(one.rules) for one in _with_prize_fund(played)), Fraction(0)
    )
    hands = sum(one.hands for one in played.turnovers)
    return (root(variance), deviations(difference, variance)) if hands >= 0 <= variance else (None, None)


def _tiers(played: _Played) -> Iterator[Row]:
    """A part of the meter has no theoretical cost of its own: it is what the meter holds."""
    awarded = defaultdict[tuple[Tier, FundedBy], list[Taken]](list)
    for one in played.awards:
        awarded[one.tier, one.funded_by].append(one)
    fixed = {(tier, one.rules.fixed_prizes_from) for one in played.turnovers for tier in fixed_prizes(one.rules)}
    order = list(Tier)
    for tier, fund in sorted({*awarded, *fixed}, key=lambda key: (order.index(key[0]), key[1])):
        theoretical = _of_tier(played, tier, fund) if (tier, fund) in fixed else None
        name = fund.value.replace("_", " ")
        yield (played.stand.jackpot_id, tier.value, name, *_compared(played, awarded[tier, fund], theoretical))


def _of_tier(played: _Played, tier: Tier, fund: FundedBy) -> Fraction:
    return sum(
        (
            Fraction(one.value) * tier_cost(one.rules, tier)
            for one in played.turnovers
            if one.rules.fixed_prizes_from is fund
        ),
        Fraction(0),
    )


def _compared(played: _Played, awards: Sequence[Taken], theoretical: Fraction | None) -> Row:
    """What `_COMPARED` shows; the variance is positive where players got more than the rules give."""
    actual, turnover_ = _cost(awards), played.turnover
    common = (played.stand.base, turnover_, sum(one.awards for one in awards), actual, percent(actual, turnover_))
    if theoretical is None:
        return (*common, None, None, None, None)
    due = rounded(theoretical)
    variance = EXACT.subtract(actual, due)
    return (*common, due, percent(theoretical, turnover_), variance, percent(variance, due))


def _cost(awards: Sequence[Taken]) -> Decimal:
    return total(one.cost for one in awards)


REPORT = Report("rtp", "Return to players", make, sections=("funds", "tiers"), report_version=2)
