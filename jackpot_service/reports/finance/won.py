"""The hits of a part of a jackpot's book: the cycles that were won, with the rounds and settlements that won them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.ledger.instants import Positions
from jackpot_service.reports.finance import cycles
from jackpot_service.reports.finance.frame import Stand

# A hit is the entry that opened a cycle after the first. What its settlement says never changes.
_HITS = text(
    """
    SELECT s.cycle, e.stripe_no, e.seq, c.cut, e.received_at, e.booked_at, r.round_key, r.table_id, r.round_id,
           r.casino_id, r.rules_version, r.rate_sheet, s.policy, s.meter_before, s.weight, s.overflow, s.carried,
           s.house_seed, s.meter_after, s.reserve_after, s.entitlements, paid.awards, paid.cost,
           CAST((SELECT sum(position) FROM unnest(c.cut) AS position) - before.positions AS bigint) AS entries
    FROM cycles c
    JOIN entries e ON e.jackpot_id = c.jackpot_id AND e.stripe_no = c.stripe_no AND e.seq = c.seq
    JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
    JOIN settlements s ON s.jackpot_id = e.jackpot_id AND s.round_key = e.round_key
    CROSS JOIN LATERAL (
        SELECT count(*) AS awards, coalesce(sum(a.cost), 0) AS cost
        FROM awards a
        WHERE a.jackpot_id = s.jackpot_id AND a.round_key = s.round_key AND a.correction = 0 AND a.funded_by = 'meter'
    ) AS paid
    CROSS JOIN LATERAL (
        SELECT sum(position) AS positions
        FROM cycles o CROSS JOIN LATERAL unnest(o.cut) AS position
        WHERE o.jackpot_id = c.jackpot_id AND o.cycle = c.cycle - 1
    ) AS before
    WHERE c.jackpot_id = :jackpot_id AND c.cycle = ANY(:cycles)
    ORDER BY c.cycle
    """
)


@dataclass(frozen=True, slots=True)
class Won:
    """
    A hit: the cycle that it ended, where its entry stands, its round, and what its settlement figured.

    `cut` is the position of every stripe, the hit included. `entitlements` is empty where the round shares. `awards`
    counts those that the meter paid, `paid` is what they cost it. `entries` counts all of the cycle, with the hit.
    """

    cycle: int
    stripe_no: int
    seq: int
    cut: Positions
    received_at: datetime
    booked_at: datetime
    round_key: int
    table_id: str
    round_id: str
    casino_id: str
    rules_version: int
    rate_sheet: int
    policy: str
    meter: Decimal
    weight: Decimal
    overflow: Decimal
    carried: Decimal
    house_seed: Decimal
    meter_after: Decimal
    reserve_after: Decimal
    entitlements: Sequence[dict[str, str]]
    awards: int
    paid: Decimal
    entries: int


def hits(session: Session, stand: Stand) -> tuple[Won, ...]:
    """The hits of a part, in the order of the ledger."""
    opened = [cycle.cycle for cycle in cycles.opened_by_hits(session, stand)]
    return tuple(Won(*row) for row in session.execute(_HITS, {"jackpot_id": stand.jackpot_id, "cycles": opened}))
