"""Awards that casinos said they had paid out, up to an act: whole days from their sums, the rest act by act."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.reports.finance import parts, relations, spans, whose
from jackpot_service.reports.finance.award_amounts import Amounts
from jackpot_service.reports.finance.award_questions import MADE_ON
from jackpot_service.reports.finance.frame import Scope, Stand
from jackpot_service.reports.finance.whose import in_round_of_those_asked, of_those_asked

_OF = ("tier", "funded_by", "currency")

_SUMS = ("awards", "amount", "cost")

_KEPT = f"""
    SELECT kept.tier, kept.funded_by, kept.currency, sum(kept.awards) AS awards,
           sum(kept.amount_minor) * unit.one AS amount, sum(kept.cost) AS cost
    FROM daily_payments kept
    JOIN {relations.UNITS} ON unit.currency = kept.currency
    WHERE kept.jackpot_id = :of_jackpot AND kept.day < :end_day
      AND kept.made_on >= :made_from AND kept.made_on < :made_before AND {of_those_asked("kept")}
    GROUP BY kept.tier, kept.funded_by, kept.currency, unit.one
"""  # noqa: S608  the parts are ours

# A payment has no entry in the jackpot's book, only its act, which names the award. When that was made is looked up
# only where it matters.
_BESIDE = f"""
    SELECT one.tier, one.funded_by, one.currency, count(*) AS awards, sum(one.amount_minor) * unit.one AS amount,
           sum(one.cost) AS cost
    FROM {parts.ENTRIES}
    CROSS JOIN LATERAL (
        SELECT a.tier, a.funded_by, a.currency, a.amount_minor, a.cost
        FROM acts t
        CROSS JOIN LATERAL jsonb_to_recordset(t.after -> 'awards') AS paid (bet_id text, tier text, correction int)
        JOIN awards a ON a.jackpot_id = t.after #>> '{{round,jackpot_id}}'
                     AND a.round_key = CAST(t.after #>> '{{round,round_key}}' AS bigint)
                     AND a.bet_id = paid.bet_id AND a.tier = paid.tier AND a.correction = paid.correction
        WHERE t.seq = e.seq AND a.jackpot_id = :of_jackpot AND {in_round_of_those_asked("a")}
          AND (:whenever_made OR {MADE_ON} <@ daterange(:made_from, :made_before))
        OFFSET 0
    ) AS one
    JOIN {relations.UNITS} ON unit.currency = one.currency
    WHERE e.kind = 'award_paid'
    GROUP BY one.tier, one.funded_by, one.currency, unit.one
"""  # noqa: S608  as above


@dataclass(frozen=True, slots=True)
class Paid:
    """Awards of a tier, pool and currency that were paid, and what they come to."""

    tier: str
    funded_by: str
    currency: str
    amounts: Amounts


def until(session: Session, stand: Stand, *, acts_end: int) -> Iterator[Paid]:
    """Sum all payments of a jackpot's awards that the acts up to one tell of."""
    asked = {"whenever_made": True, "made_from": date.min, "made_before": date.max, **whose.EVERYBODY}
    return _sums(session, stand, asked, acts_end=acts_end)


def of_whole_days(session: Session, scope: Scope, stand: Stand) -> Iterator[Paid]:
    """Sum those payments of awards that were made on the whole days of what a report covers, by those asked about."""
    days = {"made_from": stand.span.first_day, "made_before": stand.span.end_day or date.max}
    asked = {"whenever_made": False, **days, **whose.parameters(scope.asked)}
    return _sums(session, stand, asked, acts_end=scope.acts_end)


def _sums(session: Session, stand: Stand, asked: Mapping[str, object], *, acts_end: int) -> Iterator[Paid]:
    start, end = (0,), (acts_end,)
    acts = Stand(REFERENCE_BOOK, stand.base, start, end, spans.between(session, REFERENCE_BOOK, start, end))
    question = relations.united(_OF, _SUMS, [_KEPT, *([_BESIDE] if acts.span.beside else [])])
    for row in session.execute(text(question), {**parts.divided(acts), **asked, "of_jackpot": stand.jackpot_id}):
        yield Paid(row.tier, row.funded_by, row.currency, Amounts(int(row.awards), row.amount, row.cost))
