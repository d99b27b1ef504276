"""
Sums of what was refunded, as the documents say: voids, cancellations, dead hands, and corrections of any of them.

Postings tell what a refund took from which pool, but not how many bets it was, nor for which of its currencies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import text

from jackpot_service.db import Session
from jackpot_service.reports.finance import parts
from jackpot_service.reports.finance.effects import EFFECTS
from jackpot_service.reports.finance.figures import Key, Of
from jackpot_service.reports.finance.frame import Stand


@dataclass(frozen=True, slots=True)
class RefundSums:
    """
    Bets refunded, less those booked again: how many, their stakes in units of their currency, their base value.

    Then where that was charged: `adjustments` bears the parts of meter and reserve of bets whose cycle had been won.
    """

    key: Mapping[Key, Any]
    bets: int
    stakes: Decimal
    value: Decimal
    meter: Decimal
    reserve: Decimal
    prize_fund: Decimal
    house: Decimal
    adjustments: Decimal


@dataclass(frozen=True, slots=True)
class RefundOf:
    """
    Stakes of one rules version, casino and currency that went back, or (`is_again`) were booked again by a correction.

    `is_over` tells whether the cycle of the bets had been won when that was.
    """

    version: int
    casino_id: str
    currency: str
    is_again: bool
    is_over: bool
    stakes: Decimal
    value: Decimal


_DAY = "(e.booked_at AT TIME ZONE 'UTC')::date"

_GAMING_DAY = "((e.booked_at AT TIME ZONE c.zone) - c.day_starts)::date"

_LIVE = """NOT EXISTS (
        SELECT FROM voids w
        WHERE w.jackpot_id = b.jackpot_id AND w.round_key = b.round_key AND w.bet_id = b.bet_id
    )"""

# A bet's cycle had been won when it was refunded if it stands at or before the cut of the cycle that then ran: the last
# one that the refund stands after.
_REFUNDED = f"""
    SELECT {_DAY} AS day, {_GAMING_DAY} AS gaming_day,
           r.casino_id, r.table_id, b.currency, r.rules_version, told.times,
           o.seq <= coalesce(running.cut[o.stripe_no + 1], 0) AS is_over,
           told.times * b.stake_minor * CAST('1e-' || s.exponent AS numeric) AS stakes,
           s.base_per_unit AS rate,
           CAST(v.document -> 'split' ->> 'meter' AS numeric) AS of_meter,
           CAST(v.document -> 'split' ->> 'reserve' AS numeric) AS of_reserve,
           CAST(v.document -> 'split' ->> 'prize_fund' AS numeric) AS of_prize_fund
    FROM (
        SELECT e.stripe_no, e.seq, v.round_key, v.bet_id, 1 AS times
        FROM {parts.ENTRIES}
        JOIN voids v ON v.jackpot_id = e.jackpot_id AND v.round_key = e.round_key AND v.step = e.step
        WHERE e.kind = 'voids' AND NOT v.is_tombstone AND {{chosen}}
        UNION ALL
        SELECT e.stripe_no, e.seq, b.round_key, b.bet_id, 1
        FROM {parts.ENTRIES}
        JOIN bets b ON b.jackpot_id = e.jackpot_id AND b.round_key = e.round_key
        WHERE e.kind = 'cancellation' AND {_LIVE} AND {{chosen}}
        UNION ALL
        SELECT e.stripe_no, e.seq, b.round_key, b.bet_id, 1
        FROM {parts.ENTRIES}
        JOIN hands h ON h.jackpot_id = e.jackpot_id AND h.round_key = e.round_key AND h.status = 'dead'
        JOIN bets b ON b.jackpot_id = h.jackpot_id AND b.round_key = h.round_key AND b.hand = h.hand
        WHERE e.kind = 'result' AND {_LIVE} AND {{chosen}}
        UNION ALL
        SELECT 0, f.seq, b.round_key, b.bet_id, CASE WHEN dead.now THEN 1 ELSE -1 END
        FROM effects f
        JOIN bets b ON b.jackpot_id = :jackpot_id AND b.round_key = f.round_key
        CROSS JOIN LATERAL (
            SELECT f.after -> 'refunds' ? b.bet_id,
                   EXISTS (
                       SELECT FROM jsonb_array_elements(f.before -> 'result' -> 'hands') AS told (hand)
                       WHERE told.hand ->> 0 = b.hand AND told.hand ->> 1 = 'dead'
                   )
        ) AS dead (now, before)
        WHERE f.kind = 'round_corrected' AND dead.now <> dead.before AND {_LIVE}
    ) AS told
    JOIN entries e ON e.jackpot_id = :jackpot_id AND e.stripe_no = told.stripe_no AND e.seq = told.seq
    JOIN bets b ON b.jackpot_id = :jackpot_id AND b.round_key = told.round_key AND b.bet_id = told.bet_id
    JOIN entries o ON o.jackpot_id = :jackpot_id AND o.round_key = b.round_key AND o.step = b.step
    JOIN rounds r ON r.jackpot_id = :jackpot_id AND r.round_key = b.round_key
    JOIN casinos c ON c.casino_id = r.casino_id
    JOIN rules_versions v ON v.jackpot_id = :jackpot_id AND v.version = r.rules_version
    JOIN rates s ON s.base = :base AND s.number = r.rate_sheet AND s.currency = b.currency
    LEFT JOIN LATERAL (
        SELECT y.cut
        FROM cycles y
        WHERE y.jackpot_id = :jackpot_id AND coalesce(y.cut[told.stripe_no + 1], 0) < told.seq
        ORDER BY y.cycle DESC
        LIMIT 1
    ) AS running ON true
"""  # noqa: S608  the parts are ours

_SPLIT = f"""
    SELECT one.*, stakes * rate AS value,
           CASE WHEN is_over THEN 0 ELSE stakes * rate * of_meter END AS meter,
           CASE WHEN is_over THEN 0 ELSE stakes * rate * of_reserve END AS reserve,
           stakes * rate * of_prize_fund AS prize_fund,
           stakes * rate * (1 - of_meter - of_reserve - of_prize_fund) AS house,
           CASE WHEN is_over THEN stakes * rate * (of_meter + of_reserve) ELSE 0 END AS adjustments
    FROM ({_REFUNDED}) AS one
"""  # noqa: S608  the parts are ours

# Few entries take stakes back, and each says so: nobody has to look at the hands of all the others.
_THAT_SAY_SO = "e.movements @> ARRAY['reversal']"

EVERYWHERE = Of()

_SUMMED = ("times", "stakes", "value", "meter", "reserve", "prize_fund", "house", "adjustments")

_BY_VERSION = text(
    f"""
    WITH {EFFECTS}
    SELECT rules_version, casino_id, currency, times < 0, is_over, abs(sum(stakes)), abs(sum(stakes * rate))
    FROM ({_REFUNDED.format(chosen="true")}) AS one
    GROUP BY 1, 2, 3, 4, 5
    ORDER BY 1, 2, 3, 4, 5
    """  # noqa: S608  the parts are ours
)


def sums(session: Session, stand: Stand, *, by: Sequence[Key] = (), of: Of = EVERYWHERE) -> list[RefundSums]:
    """Sum what was refunded in a part, in the order of the key; found by the entries that booked it."""
    summed = ", ".join(f"sum({name})" for name in _SUMMED)
    keys = "".join(f"{key.value}, " for key in by)
    places_of_keys = ", ".join(str(place) for place in range(1, len(by) + 1))
    grouped = f"GROUP BY {places_of_keys} ORDER BY {places_of_keys}" if by else ""
    question = f"""
        WITH {EFFECTS}
        SELECT {keys}{summed}
        FROM ({_SPLIT.format(chosen=_THAT_SAY_SO)}) AS refunded
        WHERE (CAST(:casino_id AS text) IS NULL OR casino_id = :casino_id)
          AND (CAST(:table_id AS text) IS NULL OR table_id = :table_id)
        {grouped}
    """  # noqa: S608  the parts are ours
    found = session.execute(text(question), parts.bounds(stand) | {"casino_id": of.casino_id, "table_id": of.table_id})
    return [RefundSums(dict(zip(by, row, strict=False)), *row[len(by) :]) for row in found if row[len(by)] is not None]


def by_version(session: Session, stand: Stand) -> list[RefundOf]:
    """List what was refunded in a part, and what was booked again, whatever its entries booked for it."""
    return [RefundOf(*row) for row in session.execute(_BY_VERSION, parts.bounds(stand))]
