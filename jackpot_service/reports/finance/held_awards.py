"""
Awards that are held at the end of a report: by the steps taken by then, whatever came later.

The first step of an award was taken by its settlement, and counts from that entry on. Later steps were taken by acts
that booked something in the jackpot's book, and count from those entries on.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import ARRAY, BigInteger, any_, cast, text

from jackpot_service.database.transactions import Session
from jackpot_service.domain import held_awards
from jackpot_service.domain.accounts import Account
from jackpot_service.domain.held_awards import AwardKey, MadeAward
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import ZERO
from jackpot_service.ledger import replay
from jackpot_service.reports.finance.period import BookPeriod

# An index holds the few steps out of the ordinary: the question starts there (MATERIALIZED).
_HELD = text(
    """
    WITH held AS MATERIALIZED (
        SELECT * FROM award_steps WHERE step = 'held' AND jackpot_id = :jackpot_id
    )
    SELECT h.round_key, h.bet_id, h.tier, h.correction, r.casino_id, a.currency,
           a.amount_minor * CAST('1e-' || s.exponent AS numeric) AS amount, a.cost
    FROM held h
    CROSS JOIN LATERAL (
        SELECT *
        FROM awards o
        WHERE o.jackpot_id = :jackpot_id AND o.round_key = h.round_key AND o.bet_id = h.bet_id
          AND o.tier = h.tier AND o.correction = h.correction
        LIMIT 1
    ) AS a
    JOIN entries e ON e.jackpot_id = :jackpot_id AND e.round_key = a.round_key AND e.kind = 'result'
    JOIN rounds r ON r.jackpot_id = :jackpot_id AND r.round_key = a.round_key
    JOIN rates s ON s.base = :base AND s.number = r.rate_sheet AND s.currency = a.currency
    WHERE e.seq <= coalesce((CAST(:ends AS bigint[]))[e.stripe_no + 1], 0)
      AND NOT EXISTS (
          SELECT
          FROM award_steps t
          JOIN acts x ON x.seq = t.act_seq
          CROSS JOIN LATERAL jsonb_to_recordset(x.effects) AS f (book text, seq bigint)
          WHERE t.jackpot_id = :jackpot_id AND t.round_key = h.round_key AND t.bet_id = h.bet_id
            AND t.tier = h.tier AND t.correction = h.correction
            AND t.step IN ('approved', 'rejected', 'reversed')
            AND f.book = :jackpot_id AND f.seq <= (CAST(:ends AS bigint[]))[1]
      )
    ORDER BY h.round_key, h.bet_id, h.tier, h.correction
    """
)

_MADE = text(
    """
    SELECT round_key, bet_id, tier, amount_minor, currency, cost, funded_by
    FROM awards
    WHERE jackpot_id = :jackpot_id AND round_key = ANY(CAST(:round_keys AS bigint[])) AND correction = 0
    """
)


@dataclass(frozen=True, slots=True)
class HeldAward:
    """An award that is held: its casino, its amount in units of its currency, and its cost."""

    round_key: int
    bet_id: str
    tier: str
    correction: int
    casino_id: str
    currency: str
    amount: Decimal
    cost: Decimal

    @property
    def key(self) -> AwardKey:
        """The award's key among those of its round."""
        return self.bet_id, self.tier, self.correction


def at_end(session: Session, book: BookPeriod) -> Sequence[HeldAward]:
    """List the awards about which nobody had decided where a period ends, round by round."""
    return [HeldAward(*row) for row in session.execute(_HELD, book.bounds)]


def costs_by_origin(session: Session, book: BookPeriod) -> dict[Account, Decimal]:
    """Sum the cost of the awards held at the end, by the account that it was taken from."""
    held = at_end(session, book)
    origins = _origins(session, book.jackpot_id, sorted({award.round_key for award in held}))
    costs: dict[Account, Decimal] = {}
    for award in held:
        for account, amount in origins[award.round_key][award.key].items():
            costs[account] = costs.get(account, ZERO) + amount
    return costs


def _origins(
    session: Session, jackpot_id: str, round_keys: Sequence[int]
) -> dict[int, dict[AwardKey, held_awards.Origin]]:
    """Return what each settlement of some rounds took for each of its awards, by the round."""
    made = defaultdict[int, list[MadeAward]](list)
    for round_key, *award in session.execute(_MADE, {"jackpot_id": jackpot_id, "round_keys": round_keys}):
        made[round_key].append(MadeAward(*award))
    entries = replay.entries_within(session, jackpot_id, lambda key: key == any_(cast(round_keys, ARRAY(BigInteger))))
    settled = {entry.round_key: entry for entry in entries if entry.kind == EntryKind.RESULT}
    return {key: held_awards.origins(made[key], settled[key].postings()) for key in round_keys}
