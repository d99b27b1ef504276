"""
What awards come to in a part of a jackpot's book, by the steps that they took.

Settlements make most of them, and their figures tell; acts, which decide about awards or correct
rounds, are few, and are read one by one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.figures import FigureKind
from jackpot_service.domain.money import product
from jackpot_service.domain.rules import FundedBy, Tier
from jackpot_service.reports.finance import parts, relations
from jackpot_service.reports.finance.award_questions import IN_UNITS, OF_ROUND, SAME_AWARD, STEP_TAKEN
from jackpot_service.reports.finance.effects import EFFECTS
from jackpot_service.reports.finance.frame import Stand

_OF = ("tier", "funded_by", "currency", "step")

_SUMS = ("awards", "amount", "cost")

_OF_SETTLEMENTS = f"""
    SELECT tier, account AS funded_by, made.currency, detail AS step, number AS awards, minor * unit.one AS amount,
           value AS cost
    FROM ({{figures}}) AS made
    JOIN {relations.UNITS} ON unit.currency = made.currency
"""  # noqa: S608  the parts are ours

# OFFSET 0 has the awards of each act looked up: that acts are few, no statistics tell.
_BY_ACTS = f"""
    SELECT tier, funded_by, currency, one.step, count(*) AS awards, sum(amount) AS amount, sum(cost) AS cost
    FROM effects f
    CROSS JOIN LATERAL (
        SELECT a.tier, a.funded_by, a.currency, {STEP_TAKEN} AS step,
               {IN_UNITS} AS amount, a.cost
        FROM award_steps t
        JOIN awards a ON {SAME_AWARD}
        {OF_ROUND}
        WHERE t.jackpot_id = :jackpot_id AND t.round_key = f.round_key AND t.act_seq = f.act_seq
        OFFSET 0
    ) AS one
    GROUP BY 1, 2, 3, 4
"""  # noqa: S608  as above


@dataclass(frozen=True, slots=True)
class Taken:
    """
    The awards of a tier, pool and currency that took a step: how many, how much in units of it, and what that cost.

    `step` is one of an award's, or "reversed while held".
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
    keys = ("tier", "account", "currency", "detail")
    figures = relations.figures(keys, [FigureKind.AWARDS], has_beside=bool(stand.span.beside))
    summed = _OF_SETTLEMENTS.format(figures=figures)
    return [
        *_taken(session, relations.united(_OF, _SUMS, [summed]), parts.divided(stand)),
        *_taken(session, f"WITH {EFFECTS} {relations.united(_OF, _SUMS, [_BY_ACTS])}", parts.bounds(stand)),
    ]


def _taken(session: Session, question: str, asked: dict[str, object]) -> Iterator[Taken]:
    for tier, funded_by, currency, step, *sums in session.execute(text(question), asked):
        awards, amount, cost = sums
        yield Taken(Tier(tier), FundedBy(funded_by), currency, step, int(awards), amount, cost)


_MADE = {
    "payable": 1,
    "held": 1,
    "reinstated": 1,
    "rejected": -1,
    "reversed": -1,
    "reversed while held": -1,
    "approved": 0,
}

_CREDITED = {
    "payable": 1,
    "approved": 1,
    "reinstated": 1,
    "reversed": -1,
    "held": 0,
    "rejected": 0,
    "reversed while held": 0,
}


def made(taken: Iterable[Taken]) -> list[Taken]:
    """What steps make of what awards cost the pools: those made, and, negative, those taken back."""
    return [one.times(_MADE[one.step]) for one in taken if _MADE[one.step]]


def credited(taken: Iterable[Taken]) -> list[Taken]:
    """What steps make of what casinos are credited with: what became theirs, and, negative, what was taken back."""
    return [one.times(_CREDITED[one.step]) for one in taken if _CREDITED[one.step]]
