"""Sums of awards in a period of a jackpot's book, by the steps that they took, from the figures of entries."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any, Final, TypeVar

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.awards import CREDITED, UNPAID, AwardState, AwardStep
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.figures import FORFEITED_TO_METER, REVERSED_WHILE_HELD, REVERSED_WHILE_STOPPED, FigureKind
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rules import FundedBy
from jackpot_service.reports.finance import period, relations
from jackpot_service.reports.finance.frame import Scope
from jackpot_service.reports.finance.period import BookPeriod
from jackpot_service.reports.finance.relations import EVERYWHERE
from jackpot_service.reports.questions import Filters

K = TypeVar("K", bound=tuple[str, ...])

_STEPS = """
    SELECT {day} AS day, tier, account AS funded_by, taken.currency, detail AS step, number AS awards,
           minor * unit.one AS amount, value AS cost
    FROM ({figures}) AS taken
    JOIN currency_units(:base) AS unit ON unit.currency = taken.currency
    ORDER BY 1, 2, 3, 4, 5
"""

_MADE_WITHIN: Final = "made_on >= :made_from AND made_on < :made_before"

PAYMENT: Final = "payment"
"""The name of payments among the steps: they move amounts from payable to paid, in one part or in several."""

STATES: Final[Mapping[str, tuple[AwardState | None, AwardState]]] = {
    AwardStep.PAYABLE: (None, AwardState.PAYABLE),
    AwardStep.HELD: (None, AwardState.HELD),
    AwardStep.APPROVED: (AwardState.HELD, AwardState.PAYABLE),
    AwardStep.REJECTED: (AwardState.HELD, AwardState.REJECTED),
    AwardStep.REINSTATED: (AwardState.REJECTED, AwardState.PAYABLE),
    AwardStep.STOPPED: (AwardState.PAYABLE, AwardState.STOPPED),
    AwardStep.RELEASED: (AwardState.STOPPED, AwardState.PAYABLE),
    AwardStep.FORFEITED: (AwardState.PAYABLE, AwardState.FORFEITED),
    FORFEITED_TO_METER: (AwardState.PAYABLE, AwardState.FORFEITED),
    PAYMENT: (AwardState.PAYABLE, AwardState.PAID),
    AwardStep.REVERSED: (AwardState.PAYABLE, AwardState.REVERSED),
    REVERSED_WHILE_HELD: (AwardState.HELD, AwardState.REVERSED),
    REVERSED_WHILE_STOPPED: (AwardState.STOPPED, AwardState.REVERSED),
}
"""The state of an award before each step or payment, if it was there, and after it."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """
    The number of awards, their sum in units of their currency, and their cost in the base.

    An award that is paid in part is payable; what was paid of it is among the sum of those that are paid.
    """

    awards: int
    amount: Decimal
    cost: Decimal

    def plus(self, other: "Amounts") -> "Amounts":
        """Return both together."""
        return Amounts(self.awards + other.awards, self.amount + other.amount, self.cost + other.cost)

    def times(self, factor: int) -> "Amounts":
        """Return so many times as much."""
        amount, cost = (part * Decimal(factor) for part in (self.amount, self.cost))
        return Amounts(self.awards * factor, amount, cost)


@dataclass(frozen=True, slots=True)
class StepSum:
    """The awards of a tier, pool and currency that took a step: one of an award's, or why it was reversed."""

    tier: Tier
    funded_by: FundedBy
    currency: str
    step: str
    amounts: Amounts


def added_up(parts: Iterable[tuple[K, Amounts]]) -> list[tuple[K, Amounts]]:
    """Add up the amounts of each key, in the order of the keys, without those of which nothing is left."""
    sums: dict[K, Amounts] = {}
    for key, amounts in parts:
        sums[key] = sums[key].plus(amounts) if key in sums else amounts
    return [(key, sums[key]) for key in sorted(sums) if sums[key].awards or sums[key].amount]


def steps(session: Session, book: BookPeriod) -> Sequence[StepSum]:
    """Sum the steps of awards in a period; payments are not in a jackpot's book, and not here."""
    return list(_steps(session, book, [FigureKind.AWARDS, FigureKind.AWARD_STEPS], _Condition()))


def steps_by_day(session: Session, book: BookPeriod) -> Mapping[date, Sequence[StepSum]]:
    """Sum the steps of awards on each UTC day of a period, as `steps` does, in the order of the days."""
    by_day = defaultdict[date, list[StepSum]](list)
    for day, step_sum in _dated(session, book, [FigureKind.AWARDS, FigureKind.AWARD_STEPS], _Condition(), ("day",)):
        by_day[day].append(step_sum)
    return by_day


def together(parts: Iterable[StepSum]) -> list[StepSum]:
    """Add up the sums of each tier, pool, currency and step."""
    sums: dict[tuple[str, ...], StepSum] = {}
    for part in parts:
        key = (part.tier, part.funded_by, part.currency, part.step)
        sums[key] = replace(part, amounts=sums[key].amounts.plus(part.amounts)) if key in sums else part
    return list(sums.values())


def payments(session: Session, book: BookPeriod, *, acts_end: int) -> Iterator[StepSum]:
    """Sum the payments of a jackpot's awards, by acts up to one."""
    return _payments(session, book, _Condition(), acts_end=acts_end)


def steps_of_whole_days(session: Session, scope: Scope, book: BookPeriod) -> Iterator[StepSum]:
    """Sum the steps by the end, payments too, of awards that were made on whole days of a period."""
    days = {"made_from": book.first_day, "made_before": book.end_day or date.max}
    made_then = _Condition(_MADE_WITHIN, days, scope.parameters)
    yield from _steps(session, book.whole_days, [FigureKind.AWARDS], made_then)
    yield from _steps(session, book.until_end(session), [FigureKind.AWARD_STEPS], made_then)
    yield from _payments(session, book, made_then, acts_end=scope.acts_end)


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition on figures in SQL, its parameters, and filters."""

    statement: str = "true"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    filters: Filters = EVERYWHERE


def _payments(session: Session, book: BookPeriod, condition: _Condition, *, acts_end: int) -> Iterator[StepSum]:
    acts = period.between(session, REFERENCE_BOOK, book.base, (0,), (acts_end,))
    of_jackpot = replace(
        condition,
        statement=f"detail = :paid_jackpot AND {condition.statement}",
        parameters={**condition.parameters, "paid_jackpot": book.jackpot_id},
    )
    for step_sum in _steps(session, acts, [FigureKind.PAYMENTS], of_jackpot):
        yield replace(step_sum, step=PAYMENT)


def _steps(session: Session, book: BookPeriod, kinds: Sequence[FigureKind], condition: _Condition) -> Iterator[StepSum]:
    return (step_sum for _, step_sum in _dated(session, book, kinds, condition))


def _dated(
    session: Session,
    book: BookPeriod,
    kinds: Sequence[FigureKind],
    condition: _Condition,
    by: tuple[str, ...] = (),
) -> Iterator[tuple[date, StepSum]]:
    """Sum steps, by the day too where `by` names it; otherwise no day is of interest."""
    keys, filters = ("tier", "account", "currency", "detail", *by), condition.filters
    figures = relations.figures(keys, kinds, book, filters=filters, condition=condition.statement)
    query = {**book.divided, **filters.in_sql, **condition.parameters}
    statement = text(_STEPS.format(day=by[0] if by else "NULL", figures=figures))
    for day, tier, funded_by, currency, step, awards, amount, cost in session.execute(statement, query):
        yield day, StepSum(Tier(tier), FundedBy(funded_by), currency, step, Amounts(int(awards), amount, cost))


def made(taken: Iterable[StepSum]) -> list[StepSum]:
    """
    Return the awards that cost the pools something: those made, and, negative, those taken back.

    A forfeited award was won all the same: what goes back to the jackpot is a movement of its own.
    """
    return _entering(UNPAID | {AwardState.FORFEITED}, taken)


def credited(taken: Iterable[StepSum]) -> list[StepSum]:
    """Return the awards that casinos are credited with: those that became theirs, and, negative, those taken back."""
    return _entering(CREDITED, taken)


def exchanged(taken: Iterable[StepSum]) -> list[StepSum]:
    """Return the awards whose cost was exchanged into their currency: one that went to the state was not taken back."""
    return _entering(CREDITED, (step_sum for step_sum in taken if step_sum.step != AwardStep.FORFEITED))


def _entering(states: frozenset[AwardState], taken: Iterable[StepSum]) -> list[StepSum]:
    """Return the awards that entered these states, and, negative, those that left them."""
    entering = []
    for step_sum in taken:
        before, after = STATES[step_sum.step]
        times = (after in states) - (before in states)
        if times:
            entering.append(replace(step_sum, amounts=step_sum.amounts.times(times)))
    return entering
