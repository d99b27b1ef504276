"""Rounds that were open at the end of what a report covers, whatever became of them since."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.exceptions import ROUND_OPEN
from jackpot_service.domain.rounds import first_key_at
from jackpot_service.ledger.long_rounds import ENDED, LIFE, LONG, LONG_LIVED
from jackpot_service.reports.finance import parts
from jackpot_service.reports.finance.figures import Of
from jackpot_service.reports.finance.frame import Stand

_UP_TO_THE_END = "coalesce((CAST(:ends AS bigint[]))[{stripe_no} + 1], 0)"

# Open at the end are those that are open still, and those whose ending stands after it. Of the latter an index holds
# those that lived long; rounds of the last minutes before the end are looked at one by one: see `ledger/long_rounds`.
# MATERIALIZED leaves no other way to the long ones: by their keys, all rounds that there were before might be read.
_OPEN = text(
    f"""
    WITH long_lived AS MATERIALIZED (
        SELECT jackpot_id, round_key, stripe_no, seq
        FROM entries
        WHERE {LONG_LIVED} AND {LIFE} @> CAST(:end AS timestamptz)
    ),
    ended_since AS (
        SELECT round_key
        FROM long_lived
        WHERE jackpot_id = :jackpot_id AND round_key < :long_before
          AND seq > {_UP_TO_THE_END.format(stripe_no="stripe_no")}
        UNION ALL
        SELECT round_key
        FROM entries
        WHERE jackpot_id = :jackpot_id AND round_key >= :long_before AND round_key < :opened_before AND {ENDED}
          AND seq > {_UP_TO_THE_END.format(stripe_no="stripe_no")}
    ),
    open_since AS (
        SELECT r.*
        FROM rounds r
        WHERE r.state = 'open' AND r.jackpot_id = :jackpot_id AND r.round_key < :opened_before
        UNION ALL
        SELECT r.*
        FROM ended_since e
        JOIN rounds r ON r.jackpot_id = :jackpot_id AND r.round_key = e.round_key
    )
    SELECT r.table_id, r.round_id, r.casino_id, r.opened_at, known.bets, act.booked_at, act.principal, a.reason
    FROM open_since r
    JOIN entries o ON o.jackpot_id = r.jackpot_id AND o.round_key = r.round_key AND o.step = 1
                  AND o.seq <= {_UP_TO_THE_END.format(stripe_no="o.stripe_no")}
    CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE w.bet_id IS NULL OR v.seq IS NULL) AS bets
        FROM bets b
        JOIN entries e ON e.jackpot_id = b.jackpot_id AND e.round_key = b.round_key AND e.step = b.step
                      AND e.seq <= {_UP_TO_THE_END.format(stripe_no="e.stripe_no")}
        LEFT JOIN voids w ON w.jackpot_id = b.jackpot_id AND w.round_key = b.round_key AND w.bet_id = b.bet_id
        LEFT JOIN entries v ON v.jackpot_id = w.jackpot_id AND v.round_key = w.round_key AND v.step = w.step
                           AND v.seq <= {_UP_TO_THE_END.format(stripe_no="v.stripe_no")}
        WHERE b.jackpot_id = r.jackpot_id AND b.round_key = r.round_key
    ) AS known
    LEFT JOIN exception_acknowledgements k
           ON k.exception_id = exception_id(r.opened_at, concat_ws(' ', '{ROUND_OPEN}', r.table_id, r.round_id))
          AND k.entry_seq <= :acts_end
    LEFT JOIN acts a ON a.seq = k.entry_seq
    LEFT JOIN entries act ON act.jackpot_id = '-' AND act.stripe_no = 0 AND act.seq = k.entry_seq
    WHERE (CAST(:casino_id AS text) IS NULL OR r.casino_id = :casino_id)
      AND (CAST(:table_id AS text) IS NULL OR r.table_id = :table_id)
    ORDER BY r.round_key
    """  # noqa: S608  the parts are ours
)


@dataclass(frozen=True, slots=True)
class OpenRound:
    """A round that was open: since when, how many bets it held, and who looked into that, when and with what result."""

    table_id: str
    round_id: str
    casino_id: str
    opened_at: datetime
    bets: int
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    reason: str | None


def at_end(
    session: Session, stand: Stand, *, end: datetime, longest_open: timedelta, acts_end: int, of: Of
) -> Iterator[OpenRound]:
    """
    List those that had been open for longer than `longest_open`, the longest open first; acts up to `acts_end` count.

    `end` is the instant at whose positions the book's part ends; where it ends with all that is booked, any will do.
    """
    opened_before = end - longest_open
    asked = {
        **parts.bounds(stand),
        "end": end,
        "opened_before": first_key_at(opened_before),
        "long_before": first_key_at(min(opened_before, end - LONG)),
        "acts_end": acts_end,
        "casino_id": of.casino_id,
        "table_id": of.table_id,
    }
    return (OpenRound(*row) for row in session.execute(_OPEN, asked))
