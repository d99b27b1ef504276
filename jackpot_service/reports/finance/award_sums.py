"""What awards cost in a part of a jackpot's book, by tier and pool: those made, less those taken back."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import text

from jackpot_service.db import Session
from jackpot_service.domain.rules import FundedBy, Tier
from jackpot_service.reports.finance import parts
from jackpot_service.reports.finance.frame import Stand

# A round has one result, and a step by an act counts from the entry that the act booked, on stripe 0. Of a correction's
# own awards the first step is the correction's act; a reinstatement takes a rejection back.
_SUMS = text(
    f"""
    SELECT tier, funded_by, sum(sign), sum(sign * cost)
    FROM (
        SELECT a.tier, a.funded_by, 1 AS sign, a.cost
        FROM {parts.ENTRIES}
        JOIN awards a ON a.jackpot_id = e.jackpot_id AND a.round_key = e.round_key AND a.correction = 0
        WHERE e.kind = 'result'
        UNION ALL
        SELECT a.tier, a.funded_by, CASE WHEN s.step IN ('rejected', 'reversed') THEN -1 ELSE 1 END, a.cost
        FROM acts t
        CROSS JOIN LATERAL jsonb_array_elements(t.effects) AS one
        JOIN award_steps s
          ON s.jackpot_id = t.jackpot_id AND s.act_seq = t.seq
         AND s.round_key = CAST(coalesce(t.after #>> '{{round,round_key}}', t.after ->> 'round_key') AS bigint)
        JOIN awards a ON a.jackpot_id = s.jackpot_id AND a.round_key = s.round_key AND a.bet_id = s.bet_id
                     AND a.tier = s.tier AND a.correction = s.correction
        WHERE t.jackpot_id = :jackpot_id AND one ->> 'book' = :jackpot_id
          AND CAST(one ->> 'seq' AS bigint) > (CAST(:starts AS bigint[]))[1]
          AND CAST(one ->> 'seq' AS bigint) <= (CAST(:ends AS bigint[]))[1]
          AND s.step IN ('rejected', 'reversed', 'reinstated', 'payable')
    ) AS made
    GROUP BY tier, funded_by
    """  # noqa: S608  a constant
)


@dataclass(frozen=True, slots=True)
class AwardSum:
    """The awards of a tier that a pool paid: how many, and what they cost it in the base currency."""

    tier: Tier
    funded_by: FundedBy
    awards: int
    cost: Decimal


def by_tier(session: Session, stand: Stand) -> Sequence[AwardSum]:
    """Sum the awards of a part, best tier first, the meter's before the prize fund's."""
    found = session.execute(_SUMS, parts.bounds(stand))
    sums = [AwardSum(Tier(tier), FundedBy(funded_by), awards, cost) for tier, funded_by, awards, cost in found]
    order = list(Tier)
    return sorted(sums, key=lambda one: (order.index(one.tier), one.funded_by))
