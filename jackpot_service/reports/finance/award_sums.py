"""What awards come to in a part of a jackpot's book, by the steps that they took, as the figures of entries tell."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.awards import AwardState, AwardStep
from jackpot_service.domain.figures import REVERSED_WHILE_HELD, FigureKind
from jackpot_service.domain.money import product
from jackpot_service.domain.rules import FundedBy, Tier
from jackpot_service.reports.finance import frame, parts, relations, whose
from jackpot_service.reports.finance.frame import Scope, Stand
from jackpot_service.reports.finance.whose import of_those_asked

_TAKEN = """
    SELECT tier, account AS funded_by, taken.currency, detail AS step, number AS awards, minor * unit.one AS amount,
           value AS cost
    FROM ({figures}) AS taken
    JOIN currency_units(:base) AS unit ON unit.currency = taken.currency
    ORDER BY 1, 2, 3, 4
"""

MADE_WITHIN: Final = f"""made_on >= :made_from AND made_on < :made_before AND {of_those_asked("")}"""
"""WHERE this: figures of awards that were made on the whole days of what a report covers, of those asked about."""

STATES: Final[Mapping[str, tuple[AwardState | None, AwardState]]] = {
    AwardStep.PAYABLE: (None, AwardState.PAYABLE),
    AwardStep.HELD: (None, AwardState.HELD),
    AwardStep.APPROVED: (AwardState.HELD, AwardState.PAYABLE),
    AwardStep.REJECTED: (AwardState.HELD, AwardState.REJECTED),
    AwardStep.REINSTATED: (AwardState.REJECTED, AwardState.PAYABLE),
    AwardStep.REVERSED: (AwardState.PAYABLE, AwardState.REVERSED),
    REVERSED_WHILE_HELD: (AwardState.HELD, AwardState.REVERSED),
}
"""Where an award stood before each step, if it was there, and where it stands then."""

_COSTING: Final = frozenset({AwardState.PAYABLE, AwardState.HELD})


@dataclass(frozen=True, slots=True)
class Taken:
    """
    The awards of a tier, pool and currency that took a step: how many, how much in units of it, and what that cost.

    `step` is one of an award's, or "reversed_while_held".
    """

    tier: Tier
    funded_by: FundedBy
    currency: str
    step: str
    awards: int
    amount: Decimal
    cost: Decimal

    def times(self, factor: int) -> "Taken":
        """So many times as much."""
        amount, cost = (product(one, Decimal(factor)) for one in (self.amount, self.cost))
        return replace(self, awards=self.awards * factor, amount=amount, cost=cost)


def steps(session: Session, stand: Stand) -> Sequence[Taken]:
    """Sum what settlements and acts made of awards in a part; payments are not in a jackpot's book, and not here."""
    return list(_taken(session, stand, [FigureKind.AWARDS, FigureKind.AWARD_STEPS], {}, condition="true"))


def of_whole_days(session: Session, scope: Scope, stand: Stand) -> Iterator[Taken]:
    """Sum the steps that awards took by the end, if they were made on whole days of a part by those asked about."""
    asked, whole = made_within(scope, stand), frame.whole_days(stand)
    yield from _taken(session, whole, [FigureKind.AWARDS], asked, condition=MADE_WITHIN)
    until_end = frame.until_end(session, stand)
    yield from _taken(session, until_end, [FigureKind.AWARD_STEPS], asked, condition=MADE_WITHIN)


def made_within(scope: Scope, stand: Stand) -> Mapping[str, Any]:
    """The parameters of `MADE_WITHIN`."""
    span = stand.span
    return {
        "made_from": span.first_day,
        "made_before": span.end_day or date.max,
        **whose.parameters(scope.asked),
    }


def _taken(
    session: Session, stand: Stand, kinds: Sequence[FigureKind], asked: Mapping[str, Any], *, condition: str
) -> Iterator[Taken]:
    keys = ("tier", "account", "currency", "detail")
    figures = relations.figures(keys, kinds, has_beside=bool(stand.span.beside), condition=condition)
    question = text(_TAKEN.format(figures=figures))
    for tier, funded_by, currency, step, awards, *sums in session.execute(question, {**parts.divided(stand), **asked}):
        yield Taken(Tier(tier), FundedBy(funded_by), currency, step, int(awards), *sums)


def made(taken: Iterable[Taken]) -> list[Taken]:
    """What steps make of what awards cost the pools: those made, and, negative, those taken back."""
    return _entering(_COSTING, taken)


def credited(taken: Iterable[Taken]) -> list[Taken]:
    """What steps make of what casinos are credited with: what became theirs, and, negative, what was taken back."""
    return _entering(frozenset({AwardState.PAYABLE}), taken)


def _entering(states: frozenset[AwardState], taken: Iterable[Taken]) -> list[Taken]:
    """What entered these states, and, negative, what left them."""
    found = []
    for one in taken:
        before, after = STATES[one.step]
        times = (after in states) - (before in states)
        if times:
            found.append(one.times(times))
    return found
