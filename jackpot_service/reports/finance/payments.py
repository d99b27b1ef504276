"""Awards that casinos said they had paid out, up to an act, as the figures of these acts tell."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.figures import FigureKind
from jackpot_service.reports.finance import award_sums, parts, relations, spans, whose
from jackpot_service.reports.finance.award_amounts import Amounts
from jackpot_service.reports.finance.frame import Scope, Stand

_PAID = """
    SELECT paid.tier, paid.account AS funded_by, paid.currency, paid.number AS awards,
           paid.minor * unit.one AS amount, paid.value AS cost
    FROM ({figures}) AS paid
    JOIN currency_units(:base) AS unit ON unit.currency = paid.currency
    ORDER BY 1, 2, 3
"""

_WANTED = f"detail = :of_jackpot AND {award_sums.MADE_WITHIN}"


@dataclass(frozen=True, slots=True)
class Paid:
    """Awards of a tier, pool and currency that were paid, and what they come to."""

    tier: str
    funded_by: str
    currency: str
    amounts: Amounts


def until(session: Session, stand: Stand, *, acts_end: int) -> Iterator[Paid]:
    """Sum all payments of a jackpot's awards that the acts up to one tell of."""
    asked = {"made_from": date.min, "made_before": date.max, **whose.EVERYBODY}
    return _sums(session, stand, asked, acts_end=acts_end)


def of_whole_days(session: Session, scope: Scope, stand: Stand) -> Iterator[Paid]:
    """Sum those payments of awards that were made on the whole days of what a report covers, by those asked about."""
    return _sums(session, stand, award_sums.made_within(scope, stand), acts_end=scope.acts_end)


def _sums(session: Session, stand: Stand, asked: Mapping[str, object], *, acts_end: int) -> Iterator[Paid]:
    start, end = (0,), (acts_end,)
    acts = Stand(REFERENCE_BOOK, stand.base, start, end, spans.between(session, REFERENCE_BOOK, start, end))
    keys, kinds = ("tier", "account", "currency"), [FigureKind.PAYMENTS]
    figures = relations.figures(keys, kinds, has_beside=bool(acts.span.beside), condition=_WANTED)
    asked = {**parts.divided(acts), **asked, "of_jackpot": stand.jackpot_id}
    for row in session.execute(text(_PAID.format(figures=figures)), asked):
        yield Paid(row.tier, row.funded_by, row.currency, Amounts(int(row.awards), row.amount, row.cost))
