"""What was played for a jackpot, by rules version: the base value of bets less what was refunded of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import text

from jackpot_service.db import Session
from jackpot_service.domain import accounts
from jackpot_service.domain.money import ZERO
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.records import pinned
from jackpot_service.reports.finance import parts
from jackpot_service.reports.finance.frame import Stand

# Whatever belongs to the rounds of a part lies between the first and the last of their keys: so much is read, and not
# all that the jackpot ever had.
_KEYS = text(
    f"SELECT min(e.round_key) AS first_key, max(e.round_key) AS last_key FROM {parts.ENTRIES} WHERE e.kind = 'bets'"  # noqa: S608
)

# A hand counts with the square of all that is staked on it, since its bettors win together. What was refunded by the
# end has no part in it: voided bets, cancelled rounds, dead hands.
_ACCEPTED = f"""
    WITH voided AS (
        SELECT o.round_key, o.bet_id
        FROM voids o
        JOIN entries x ON x.jackpot_id = o.jackpot_id AND x.round_key = o.round_key AND x.step = o.step
        WHERE o.jackpot_id = :jackpot_id AND o.round_key BETWEEN :first_key AND :last_key
          AND x.seq <= coalesce((CAST(:ends AS bigint[]))[x.stripe_no + 1], 0)
    ), cancelled AS (
        SELECT o.round_key
        FROM cancellations o
        JOIN entries x ON x.jackpot_id = o.jackpot_id AND x.round_key = o.round_key AND x.step = o.step
        WHERE o.jackpot_id = :jackpot_id AND o.round_key BETWEEN :first_key AND :last_key
          AND x.seq <= coalesce((CAST(:ends AS bigint[]))[x.stripe_no + 1], 0)
    ), dead AS (
        SELECT h.round_key, h.hand
        FROM hands h
        JOIN results o ON o.jackpot_id = h.jackpot_id AND o.round_key = h.round_key
        JOIN entries x ON x.jackpot_id = o.jackpot_id AND x.round_key = o.round_key AND x.step = o.step
        WHERE h.jackpot_id = :jackpot_id AND h.round_key BETWEEN :first_key AND :last_key AND h.status = 'dead'
          AND x.seq <= coalesce((CAST(:ends AS bigint[]))[x.stripe_no + 1], 0)
    )
    SELECT rules_version, sum(accepted) AS value, coalesce(sum(at_stake * at_stake), 0) AS squares
    FROM (
        SELECT r.rules_version, sum(one.value) AS accepted,
               sum(one.value) FILTER (WHERE voided.bet_id IS NULL AND cancelled.round_key IS NULL
                                        AND dead.hand IS NULL) AS at_stake
        FROM {parts.ENTRIES}
        JOIN bets b ON b.jackpot_id = e.jackpot_id AND b.round_key = e.round_key AND b.step = e.step
                   AND b.round_key BETWEEN :first_key AND :last_key
        JOIN rounds r ON r.jackpot_id = b.jackpot_id AND r.round_key = b.round_key
        JOIN rates s ON s.base = :base AND s.number = r.rate_sheet AND s.currency = b.currency
        CROSS JOIN LATERAL (
            SELECT b.stake_minor * CAST('1e-' || s.exponent AS numeric) * s.base_per_unit AS value
        ) AS one
        LEFT JOIN voided ON voided.round_key = b.round_key AND voided.bet_id = b.bet_id
        LEFT JOIN cancelled ON cancelled.round_key = b.round_key
        LEFT JOIN dead ON dead.round_key = b.round_key AND dead.hand = b.hand
        WHERE e.kind = 'bets'
        GROUP BY r.rules_version, b.round_key, b.hand
    ) AS by_hand
    GROUP BY rules_version
"""  # noqa: S608  a constant

# Refunds, and stakes that a correction booked again; the round of a correction is told by its act.
_TAKEN_BACK = f"""
    SELECT r.rules_version, sum(p.amount) AS value, 0 AS squares
    FROM {parts.ENTRIES}
    LEFT JOIN acts t ON e.round_key IS NULL AND t.jackpot_id = e.jackpot_id
                    AND t.effects @> jsonb_build_array(jsonb_build_object('book', e.jackpot_id, 'seq', e.seq))
    JOIN rounds r ON r.jackpot_id = e.jackpot_id
                 AND r.round_key = coalesce(e.round_key, CAST(t.after ->> 'round_key' AS bigint))
    CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
        AS p (account, currency, amount, movement)
    WHERE e.kind <> 'bets' AND e.movements && ARRAY['contribution', 'reversal']
      AND p.movement IN ('contribution', 'reversal') AND p.currency = :base AND p.account = ANY(:credited)
    GROUP BY r.rules_version
"""  # noqa: S608  a constant

_TURNOVER = text(
    f"""
    SELECT rules_version, sum(value), sum(squares)
    FROM ({_ACCEPTED} UNION ALL {_TAKEN_BACK}) AS one
    GROUP BY rules_version
    ORDER BY rules_version
    """  # noqa: S608  a constant
)

_CREDITED = (
    accounts.METER_PLAYERS,
    accounts.RESERVE,
    accounts.PRIZE_FUND,
    accounts.HOUSE_MARGIN,
    accounts.HOUSE_ADJUSTMENTS,
)
"""Where the whole value of a stake goes, and where a refund takes it from."""


@dataclass(frozen=True, slots=True)
class Turnover:
    """
    What was played under a rules version, in the base currency.

    `squares` is the sum, over the hands that were bet on, of the square of all that stood on the hand at the end.
    """

    rules: JackpotRules
    value: Decimal
    squares: Decimal


def by_rules(session: Session, stand: Stand) -> Sequence[Turnover]:
    """Sum what was played in a part, by the rules version of the rounds. It reads every bet of the part."""
    part = parts.bounds(stand)
    first_key, last_key = session.execute(_KEYS, part).one()
    asked = {**part, "credited": list(_CREDITED), "first_key": first_key, "last_key": last_key}
    return [
        Turnover(pinned.rules(session, stand.jackpot_id, version), value or ZERO, squares or ZERO)
        for version, value, squares in session.execute(_TURNOVER, asked)
    ]
