"""
Keeping what was paid by day: awards that casinos said they had paid, added in the transaction that records the act.

Their rows are the reference book's, so whoever recorded the act, and holds its lock to the commit, is alone with them.
"""

from typing import Final

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.held_awards import MadeAward

# A correction and its entry in the jackpot's book are booked at the same time.
MADE_AT: Final = f"""
    coalesce((SELECT e.booked_at
              FROM results d
              JOIN entries e ON e.jackpot_id = d.jackpot_id AND e.round_key = d.round_key AND e.step = d.step
              WHERE d.jackpot_id = a.jackpot_id AND d.round_key = a.round_key AND a.correction = 0),
             (SELECT e.booked_at
              FROM corrections d
              JOIN entries e ON e.jackpot_id = '{REFERENCE_BOOK}' AND e.stripe_no = 0 AND e.seq = d.act_seq
              WHERE d.jackpot_id = a.jackpot_id AND d.round_key = a.round_key AND d.number = a.correction))
"""  # noqa: S608  a constant
"""SQL for when an award `a` was made, looked up by its keys: its round's result was booked then, or its correction."""

_ADD = text(
    f"""
    INSERT INTO daily_payments AS kept (jackpot_id, day, made_on, casino_id, table_id, tier, funded_by, currency,
                                        awards, amount_minor, cost)
    SELECT a.jackpot_id, (acts.booked_at AT TIME ZONE 'UTC')::date, ({MADE_AT} AT TIME ZONE 'UTC')::date,
           :casino_id, :table_id, :tier, :funded_by, :currency, 1, :amount_minor, :cost
    FROM (SELECT CAST(:jackpot_id AS text), CAST(:round_key AS bigint), CAST(:correction AS int))
         AS a (jackpot_id, round_key, correction)
    CROSS JOIN stripes AS acts
    WHERE acts.jackpot_id = :reference_book AND acts.stripe_no = 0
    ON CONFLICT (jackpot_id, day, made_on, casino_id, table_id, tier, funded_by, currency) DO UPDATE
    SET awards = kept.awards + EXCLUDED.awards, amount_minor = kept.amount_minor + EXCLUDED.amount_minor,
        cost = kept.cost + EXCLUDED.cost
    """  # noqa: S608  as above
)


def add(session: Session, award: MadeAward, *, jackpot_id: str, round_key: int, casino_id: str, table_id: str) -> None:
    """Add an award of a casino's round to what was paid on the day of the act that was just recorded, and says so."""
    session.execute(
        _ADD,
        {
            "reference_book": REFERENCE_BOOK,
            "jackpot_id": jackpot_id,
            "round_key": round_key,
            "casino_id": casino_id,
            "table_id": table_id,
            "correction": award.correction,
            "tier": award.tier,
            "funded_by": award.funded_by,
            "currency": award.currency,
            "amount_minor": award.amount_minor,
            "cost": award.cost,
        },
    )
