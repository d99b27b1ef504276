"""
Awards of a period in sums, by tier, currency and the state in which they were at the end.

Those of whole days are sums of figures: as they were made, then moved by the steps that they took, and by payments.
What was made beside the whole days is looked at one by one.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.awards import AwardState
from jackpot_service.reports.documents import Row
from jackpot_service.reports.finance import award_sums, long_lists, parts, payments
from jackpot_service.reports.finance.award_amounts import Amounts, added_up
from jackpot_service.reports.finance.award_sums import STATES, Taken
from jackpot_service.reports.finance.frame import Scope, Stand
from jackpot_service.reports.finance.payments import Paid

# Which steps were taken by the end, the list of awards tells in the same words.
_ONE_BY_ONE = text(
    """
    WITH made AS MATERIALIZED (
        SELECT *
        FROM verdicts_between(
            :jackpot_id, CAST(:casino_id AS text), CAST(:table_id AS text),
            CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[])
        )
    ),
    decided AS MATERIALIZED (
        SELECT * FROM acts_with_effects(:jackpot_id)
    )
    SELECT one.tier, one.currency, one.state, count(*), sum(one.amount_minor) * unit.one, sum(one.cost)
    FROM made
    CROSS JOIN LATERAL (
        SELECT a.tier, a.currency, a.amount_minor, a.cost,
               (SELECT of.state
                FROM award_steps s
                JOIN award_step_states AS of ON of.step = s.step
                LEFT JOIN decided ON decided.act_seq = s.act_seq
                WHERE s.jackpot_id = a.jackpot_id AND s.round_key = a.round_key AND s.bet_id = a.bet_id
                  AND s.tier = a.tier AND s.correction = a.correction AND (
                      s.act_seq IS NULL OR CASE WHEN decided.effect_seq IS NULL THEN s.act_seq <= :acts_end
                                                ELSE decided.effect_seq <= :upto END
                  )
                ORDER BY of.place DESC
                LIMIT 1) AS state
        FROM awards a
        WHERE a.jackpot_id = :jackpot_id AND a.round_key = made.round_key AND a.correction = made.correction
        OFFSET 0  -- They are looked up round by round: how many are beside whole days, no statistics tell.
    ) AS one
    JOIN currency_units(:base) AS unit ON unit.currency = one.currency
    WHERE one.state IS NOT NULL
    GROUP BY one.tier, one.currency, one.state, unit.one
    """
)


Key = tuple[str, str, str]
"""The tier, currency and state of awards."""

Standing = tuple[Key, Amounts]


def rows(session: Session, scope: Scope) -> Iterator[Row]:
    """Sum up the awards that were made in each jackpot, in the order of tier, currency and state."""
    for stand in scope.stands:
        for key, of in added_up(_standing(session, scope, stand)):
            yield (stand.jackpot_id, stand.base, *key, of.awards, of.amount, of.cost)


def _standing(session: Session, scope: Scope, stand: Stand) -> Iterator[Standing]:
    if stand.span.beside:
        yield from _one_by_one(session, {**long_lists.parameters(scope, stand), **parts.divided(stand)})
    if stand.span.has_whole_days:
        yield from _moved(award_sums.of_whole_days(session, scope, stand))
        yield from _paid(payments.of_whole_days(session, scope, stand))


def _one_by_one(session: Session, asked: Mapping[str, Any]) -> Iterator[Standing]:
    for tier, currency, state, awards, amount, cost in session.execute(_ONE_BY_ONE, asked):
        yield (tier, currency, state), Amounts(int(awards), amount, cost)


def _moved(taken: Iterable[Taken]) -> Iterator[Standing]:
    """Each step moves awards from a state, if they were there before, to another."""
    for one in taken:
        before, after = STATES[one.step]
        amounts = Amounts(one.awards, one.amount, one.cost)
        yield (one.tier, one.currency, after), amounts
        if before is not None:
            yield (one.tier, one.currency, before), amounts.negated()


def _paid(paid: Iterable[Paid]) -> Iterator[Standing]:
    """A payment makes an award that was payable one that is paid."""
    for one in paid:
        yield (one.tier, one.currency, AwardState.PAID), one.amounts
        yield (one.tier, one.currency, AwardState.PAYABLE), one.amounts.negated()
