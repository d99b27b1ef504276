"""Awards: every one that was made in a period, what became of it up to the end, and their sums."""

from collections.abc import Sequence

from jackpot_service.database.transactions import Session
from jackpot_service.reports.documents import Column, Section, Sort
from jackpot_service.reports.finance import award_totals
from jackpot_service.reports.finance.frame import Report, Scope, Takes
from jackpot_service.reports.finance.long_lists import LongList

# An award took the steps of which the entry in the jackpot's book stands before the end. A payment has none: there the
# act counts. Acts that decide about awards hold all of them in their effects: they are read once, not for each award.
_LIST = """
WITH made AS MATERIALIZED (
    SELECT *
    FROM verdicts_between(
        :jackpot_id, CAST(:casino_id AS text), CAST(:table_id AS text),
        CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[])
    )
),
decided AS MATERIALIZED (
    SELECT * FROM acts_with_effects(:jackpot_id)
),
taken AS MATERIALIZED (
    SELECT s.round_key, s.bet_id, s.tier, s.correction,
           (array_agg(of.state ORDER BY of.place DESC))[1] AS state,
           max(act.booked_at) FILTER (WHERE s.step = 'approved') AS approved_at,
           max(act.booked_at) FILTER (WHERE s.step = 'rejected') AS rejected_at,
           max(act.booked_at) FILTER (WHERE s.step = 'reinstated') AS reinstated_at,
           max(act.booked_at) FILTER (WHERE s.step = 'paid') AS paid_at,
           max(act.booked_at) FILTER (WHERE s.step = 'reversed') AS reversed_at,
           max(payment.after #>> '{payment,reference}') AS payment_reference
    FROM made
    JOIN award_steps s ON s.jackpot_id = :jackpot_id AND s.round_key = made.round_key
                      AND s.correction = made.correction
    JOIN award_step_states AS of ON of.step = s.step
    LEFT JOIN decided ON decided.act_seq = s.act_seq
    LEFT JOIN entries act ON act.jackpot_id = '-' AND act.stripe_no = 0 AND act.seq = s.act_seq
    LEFT JOIN acts payment ON payment.seq = s.act_seq AND s.step = 'paid'
    WHERE s.act_seq IS NULL OR CASE WHEN decided.effect_seq IS NULL THEN s.act_seq <= :acts_end
                                    ELSE decided.effect_seq <= :upto END
    GROUP BY s.round_key, s.bet_id, s.tier, s.correction
)
SELECT a.award_id, r.casino_id, r.table_id, r.round_id, a.bet_id, b.hand, b.player_id, a.tier,
       a.amount_minor * CAST('1e-' || rate.exponent AS numeric), a.currency, a.cost, a.funded_by, a.correction,
       taken.state, made.booked_at, taken.approved_at, taken.rejected_at, taken.reinstated_at, taken.paid_at,
       taken.payment_reference, taken.reversed_at
FROM made
JOIN awards a ON a.jackpot_id = :jackpot_id AND a.round_key = made.round_key AND a.correction = made.correction
JOIN taken ON taken.round_key = a.round_key AND taken.bet_id = a.bet_id AND taken.tier = a.tier
          AND taken.correction = a.correction
JOIN rounds r ON r.jackpot_id = a.jackpot_id AND r.round_key = a.round_key
JOIN bets b ON b.jackpot_id = a.jackpot_id AND b.round_key = a.round_key AND b.bet_id = a.bet_id
JOIN rates rate ON rate.base = :base AND rate.number = r.rate_sheet AND rate.currency = a.currency
ORDER BY made.booked_at, made.stripe_no, made.seq, a.bet_id, a.tier
"""

JACKPOT = Column("jackpot_id", "Jackpot")
BASE = Column("base", "Base currency")
AMOUNT = Column("amount", "Amount", Sort.AMOUNT, currency_in="currency")
COST = Column("cost", "Cost", Sort.AMOUNT, currency_in="base")

AWARDS = (
    JACKPOT,
    BASE,
    Column("award_id", "Award"),
    Column("casino_id", "Casino"),
    Column("table_id", "Table"),
    Column("round_id", "Round"),
    Column("bet_id", "Bet"),
    Column("hand", "Hand"),
    Column("player_id", "Player"),
    Column("tier", "Tier"),
    AMOUNT,
    Column("currency", "Currency"),
    COST,
    Column("funded_by", "Paid by"),
    Column("correction", "Correction", Sort.COUNT),
    Column("state", "State"),
    Column("made_at", "Made", Sort.INSTANT),
    Column("approved_at", "Approved", Sort.INSTANT),
    Column("rejected_at", "Rejected", Sort.INSTANT),
    Column("reinstated_at", "Reinstated", Sort.INSTANT),
    Column("paid_at", "Paid", Sort.INSTANT),
    Column("payment_reference", "Payment"),
    Column("reversed_at", "Reversed", Sort.INSTANT),
)

TOTALS = (
    JACKPOT,
    BASE,
    Column("tier", "Tier"),
    Column("currency", "Currency"),
    Column("state", "State"),
    Column("awards", "Awards", Sort.COUNT),
    AMOUNT,
    COST,
)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """List awards in the order in which they were made, and sum them up by what became of them."""
    awards = LongList(session, _LIST, scope)
    return (
        Section("awards", "Awards", AWARDS, awards, awards.count),
        Section("totals", "Awards by tier, currency and state", TOTALS, award_totals.rows(session, scope)),
    )


REPORT = Report(
    "awards",
    "Awards",
    make,
    frozenset({Takes.CASINO, Takes.TABLE}),
    sections=("awards", "totals"),
    is_for_casinos=True,
    is_kept=False,
)
