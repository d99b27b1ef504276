"""
Awards of a period in sums, by tier, currency and the state in which they were at the end.

Those of whole days are summed: as settlements made them, then moved by what acts made of them. Acts are few, and are
read one by one, but for payments, which are as many as awards and have sums of their own. What was made beside the
whole days is looked at one by one. Days and rounds tell whose awards they are, if a casino or a table is asked about.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.figures import FigureKind
from jackpot_service.records.awards import MADE_ON
from jackpot_service.reports.documents import Row
from jackpot_service.reports.finance import long_lists, parts, payments, relations
from jackpot_service.reports.finance.award_amounts import Amounts, added_up
from jackpot_service.reports.finance.award_questions import IN_UNITS, OF_ROUND, SAME_AWARD
from jackpot_service.reports.finance.effects import EFFECTS
from jackpot_service.reports.finance.frame import Scope, Stand
from jackpot_service.reports.finance.made_awards import BY_THE_END, MADE, STATE, states
from jackpot_service.reports.finance.payments import Paid
from jackpot_service.reports.finance.relations import UNITS
from jackpot_service.reports.finance.whose import of_those_asked

_OF_WHOLE_DAYS = relations.figures(
    ("tier", "currency", "detail"), [FigureKind.AWARDS], has_beside=False, condition=of_those_asked("")
)

_FIRST_STATES = f"""
    SELECT made.tier, made.currency, of.state, sum(made.number), sum(made.minor) * unit.one, sum(made.value)
    FROM ({_OF_WHOLE_DAYS}) AS made
    JOIN {STATE} ON of.step = made.detail
    JOIN {UNITS} ON unit.currency = made.currency
    GROUP BY made.tier, made.currency, of.state, unit.one
"""  # noqa: S608  the parts are ours

# What a correction makes comes from no state. OFFSET 0 has the awards of each act looked up: that acts are few, no
# statistics tell.
_MOVED_BY_ACTS = f"""
    WITH {EFFECTS}
    SELECT one.tier, one.currency, moved.state, sum(moved.awards), sum(moved.awards * one.amount),
           sum(moved.awards * one.cost)
    FROM effects f
    CROSS JOIN LATERAL (
        SELECT a.tier, a.currency, {IN_UNITS} AS amount, a.cost, of.state AS after,
               (SELECT earlier.state
                FROM award_steps t
                JOIN {states("earlier")} ON earlier.step = t.step
                WHERE {SAME_AWARD} AND earlier.place < of.place
                ORDER BY earlier.place DESC
                LIMIT 1) AS before
        FROM award_steps t
        JOIN {STATE} ON of.step = t.step
        JOIN awards a ON {SAME_AWARD}
        {OF_ROUND}
        WHERE t.jackpot_id = :jackpot_id AND t.round_key = f.round_key AND t.act_seq = f.act_seq
          AND {of_those_asked("r.")} AND {MADE_ON} <@ daterange(:first_day, :end_day)
        OFFSET 0
    ) AS one
    CROSS JOIN LATERAL (VALUES (one.after, 1), (one.before, -1)) AS moved (state, awards)
    WHERE moved.state IS NOT NULL
    GROUP BY one.tier, one.currency, moved.state
"""  # noqa: S608  as above

# OFFSET 0 has awards and their steps looked up round by round: how many are beside whole days, no statistics tell.
_ONE_BY_ONE = f"""
    WITH {MADE}
    SELECT one.tier, one.currency, one.state, count(*), sum(one.amount_minor) * unit.one, sum(one.cost)
    FROM made
    CROSS JOIN LATERAL (
        SELECT a.tier, a.currency, a.amount_minor, a.cost,
               (SELECT of.state
                FROM award_steps s
                JOIN {STATE} ON of.step = s.step
                LEFT JOIN decided ON decided.act_seq = s.act_seq
                WHERE s.jackpot_id = a.jackpot_id AND s.round_key = a.round_key AND s.bet_id = a.bet_id
                  AND s.tier = a.tier AND s.correction = a.correction AND {BY_THE_END}
                ORDER BY of.place DESC
                LIMIT 1) AS state
        FROM awards a
        WHERE a.jackpot_id = :jackpot_id AND a.round_key = made.round_key AND a.correction = made.correction
        OFFSET 0
    ) AS one
    JOIN {UNITS} ON unit.currency = one.currency
    WHERE one.state IS NOT NULL
    GROUP BY one.tier, one.currency, one.state, unit.one
"""  # noqa: S608  as above


Key = tuple[str, str, str]
"""The tier, currency and state of awards."""

Standing = tuple[Key, Amounts]


def rows(session: Session, scope: Scope) -> Iterator[Row]:
    """Sum up the awards that were made in each jackpot, in the order of tier, currency and state."""
    for stand in scope.stands:
        for key, of in added_up(_standing(session, scope, stand)):
            yield (stand.jackpot_id, stand.base, *key, of.awards, of.amount, of.cost)


def _standing(session: Session, scope: Scope, stand: Stand) -> Iterator[Standing]:
    divided = {**long_lists.parameters(scope, stand), **parts.divided(stand)}
    if stand.span.beside:
        yield from _asked(session, _ONE_BY_ONE, divided)
    if stand.span.has_whole_days:
        yield from _asked(session, _FIRST_STATES, divided)
        yield from _asked(session, _MOVED_BY_ACTS, {**divided, "starts": [0], "ends": [stand.end[0]]})
        yield from _paid(payments.of_whole_days(session, scope, stand))


def _asked(session: Session, question: str, asked: Mapping[str, Any]) -> Iterator[Standing]:
    for tier, currency, state, awards, amount, cost in session.execute(text(question), asked):
        yield (tier, currency, state), Amounts(int(awards), amount, cost)


def _paid(paid: Iterable[Paid]) -> Iterator[Standing]:
    """A payment makes an award that was payable one that is paid."""
    for one in paid:
        yield (one.tier, one.currency, AwardState.PAID), one.amounts
        yield (one.tier, one.currency, AwardState.PAYABLE), one.amounts.negated()
