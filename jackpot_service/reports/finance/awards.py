"""
Awards: every one that was made in a period, its later steps up to the end, and their sums.

Those of whole days are sums of figures: as they were made, then moved by the steps that they took. Those of partial
days are looked at one by one.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.reports.documents import Row, Section
from jackpot_service.reports.finance import award_figures
from jackpot_service.reports.finance.award_figures import STATES, Amounts
from jackpot_service.reports.finance.columns import amounts, base_amounts, columns, counts, instants, texts
from jackpot_service.reports.finance.frame import LongList, Report, Scope, list_parameters
from jackpot_service.reports.finance.period import BookPeriod
from jackpot_service.reports.questions import Parameter

# An award took the steps of which the entry in the jackpot's book stands before the end. A payment has none: there the
# act counts, and a reversed one no more. Acts that decide about awards hold all of them in their effects: they are read
# once, not for each award. When an act was booked is known in another book, which is asked by itself (`acted`).
# One hit may have thousands of awards, and no statistics say so: the list needs `joining_by_hash`. Rows of large tables
# are looked up by their keys (ARRAY, LATERAL), table by table, and joined afterwards.
LIST: Final = """
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
won AS MATERIALIZED (
    SELECT made.booked_at, made.stripe_no, made.seq, a.*, r.casino_id, r.table_id, r.round_id, r.opened_at,
           r.rate_sheet, b.hand, b.player_id, b.stake_minor
    FROM awards a
    JOIN made ON made.round_key = a.round_key AND made.correction = a.correction
    CROSS JOIN LATERAL round_of_key(:jackpot_id, a.round_key) AS r
    CROSS JOIN LATERAL (
        SELECT o.hand, o.player_id, o.stake_minor
        FROM bets o
        WHERE o.jackpot_id = :jackpot_id AND o.round_key = a.round_key AND o.bet_id = a.bet_id
        LIMIT 1
    ) AS b
    WHERE a.jackpot_id = :jackpot_id AND a.round_key = ANY (ARRAY(SELECT round_key FROM made))
),
steps AS MATERIALIZED (
    SELECT s.round_key, s.bet_id, s.tier, s.correction, s.step, s.act_seq, of.state, of.place
    FROM award_steps s
    JOIN made ON made.round_key = s.round_key AND made.correction = s.correction
    JOIN award_step_states AS of ON of.step = s.step
    LEFT JOIN decided ON decided.act_seq = s.act_seq
    WHERE s.jackpot_id = :jackpot_id AND s.round_key = ANY (ARRAY(SELECT round_key FROM made))
      AND (s.act_seq IS NULL OR CASE WHEN decided.effect_seq IS NULL THEN s.act_seq <= :acts_end
                                     ELSE decided.effect_seq <= :upto END)
),
booked AS MATERIALIZED (
    SELECT p.round_key, p.bet_id, p.tier, p.correction, p.amount_minor, p.cost, p.withheld_minor, p.reference,
           p.act_seq, p.reverses IS NULL AND r.act_seq IS NULL AS stands
    FROM payments p
    JOIN made ON made.round_key = p.round_key AND made.correction = p.correction
    LEFT JOIN LATERAL (
        SELECT o.act_seq
        FROM payments o
        WHERE o.jackpot_id = :jackpot_id AND o.round_key = p.round_key AND o.reverses = p.act_seq
          AND o.act_seq <= :acts_end
        LIMIT 1
    ) AS r ON true
    WHERE p.jackpot_id = :jackpot_id AND p.round_key = ANY (ARRAY(SELECT round_key FROM made))
      AND p.act_seq <= :acts_end
),
acted AS MATERIALIZED (
    SELECT seq, booked_at
    FROM entries
    WHERE jackpot_id = '-' AND stripe_no = 0
      AND seq = ANY (ARRAY(SELECT act_seq FROM steps UNION ALL SELECT act_seq FROM booked))
),
taken AS MATERIALIZED (
    SELECT s.round_key, s.bet_id, s.tier, s.correction,
           (array_agg(s.state ORDER BY s.place DESC))[1] AS state,
           max(act.booked_at) FILTER (WHERE s.step = 'approved') AS approved_at,
           max(act.booked_at) FILTER (WHERE s.step = 'rejected') AS rejected_at,
           max(act.booked_at) FILTER (WHERE s.step = 'reinstated') AS reinstated_at,
           max(act.booked_at) FILTER (WHERE s.step = 'stopped') AS stopped_at,
           max(act.booked_at) FILTER (WHERE s.step = 'released') AS released_at,
           max(act.booked_at) FILTER (WHERE s.step = 'forfeited') AS forfeited_at,
           max(act.booked_at) FILTER (WHERE s.step = 'reversed') AS reversed_at
    FROM steps s
    LEFT JOIN acted act ON act.seq = s.act_seq
    GROUP BY s.round_key, s.bet_id, s.tier, s.correction
),
paid AS MATERIALIZED (
    SELECT p.round_key, p.bet_id, p.tier, p.correction, sum(p.amount_minor) AS minor, sum(p.cost) AS cost,
           sum(p.withheld_minor) AS withheld_minor,
           max(act.booked_at) FILTER (WHERE p.stands) AS paid_at,
           string_agg(p.reference, ', ' ORDER BY p.act_seq) FILTER (WHERE p.stands) AS payment_reference
    FROM booked p
    JOIN acted act ON act.seq = p.act_seq
    GROUP BY p.round_key, p.bet_id, p.tier, p.correction
),
listed AS (
SELECT a.award_id, a.casino_id, a.table_id, a.round_id, a.bet_id, a.hand, a.player_id, a.tier,
       a.amount_minor * CAST('1e-' || rate.exponent AS numeric) AS amount, a.currency, a.cost AS cost_base,
       a.funded_by, a.correction,
       CASE WHEN taken.state = 'payable' AND paid.minor = a.amount_minor THEN 'paid'
            WHEN taken.state = 'payable' AND paid.minor > 0 THEN 'part-paid'
            ELSE taken.state END AS state,
       coalesce(paid.minor, 0) * CAST('1e-' || rate.exponent AS numeric) AS paid_amount,
       (a.amount_minor - coalesce(paid.minor, 0)) * CAST('1e-' || rate.exponent AS numeric) AS unpaid_amount,
       a.cost - coalesce(paid.cost, 0) AS unpaid_cost_base,
       a.booked_at AS made_at, coalesce(taken.reinstated_at, taken.approved_at, a.booked_at) AS payable_at,
       a.stripe_no, a.seq, taken.approved_at, taken.rejected_at,
       taken.reinstated_at, taken.stopped_at, taken.released_at, paid.paid_at,
       paid.payment_reference, taken.forfeited_at, taken.reversed_at,
       CASE WHEN a.amount_minor >= rule.report_at_minor
                 AND a.amount_minor >= coalesce(rule.least_multiple, 0) * a.stake_minor THEN 'yes'
            WHEN rule.version IS NOT NULL THEN 'no' END AS reportable,
       withholding_due(rule, a.amount_minor, a.stake_minor) * CAST('1e-' || rate.exponent AS numeric)
           AS withholding_due,
       coalesce(paid.withheld_minor, 0) * CAST('1e-' || rate.exponent AS numeric) AS withheld_amount
FROM won a
JOIN taken ON taken.round_key = a.round_key AND taken.bet_id = a.bet_id AND taken.tier = a.tier
          AND taken.correction = a.correction
LEFT JOIN paid ON paid.round_key = a.round_key AND paid.bet_id = a.bet_id AND paid.tier = a.tier
              AND paid.correction = a.correction
JOIN rates rate ON rate.base = :base AND rate.number = a.rate_sheet AND rate.currency = a.currency
LEFT JOIN LATERAL withholding_rule_of(a.casino_id, a.currency, a.opened_at) AS rule ON true
),
aged AS (
    SELECT *, floor(extract(epoch FROM CAST(:as_of AS timestamptz) - payable_at) / 86400)::int AS age_days
    FROM listed
)
SELECT *, CASE WHEN age_days <= 30 THEN '0-30' WHEN age_days <= 60 THEN '31-60'
               WHEN age_days <= 90 THEN '61-90' ELSE 'over 90' END AS age
FROM aged
WHERE state IN ('payable', 'part-paid', 'stopped') OR NOT CAST(:only_unpaid AS boolean)
ORDER BY made_at, stripe_no, seq, bet_id, tier
"""
"""
The awards of a period, or those that are still to be paid: how each stands at the end, and how old it is in days.

`reportable` and `withholding_due` are as `domain.withholding` makes them of the rule for each round.
"""

# The list of awards has the steps that were taken by the end in the same words.
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
    SELECT one.tier, one.currency, part.state, sum(part.number), sum(part.minor) * unit.one, sum(part.cost)
    FROM made
    CROSS JOIN LATERAL (
        SELECT a.tier, a.currency, a.amount_minor, a.cost, paid.minor AS paid_minor, paid.cost AS paid_cost,
               (SELECT of.state
                FROM award_steps s
                JOIN award_step_states AS of ON of.step = s.step
                LEFT JOIN decided ON decided.act_seq = s.act_seq
                WHERE s.jackpot_id = :jackpot_id AND s.round_key = a.round_key AND s.bet_id = a.bet_id
                  AND s.tier = a.tier AND s.correction = a.correction AND (
                      s.act_seq IS NULL OR CASE WHEN decided.effect_seq IS NULL THEN s.act_seq <= :acts_end
                                                ELSE decided.effect_seq <= :upto END
                  )
                ORDER BY of.place DESC
                LIMIT 1) AS state
        FROM awards a
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(p.amount_minor), 0) AS minor, coalesce(sum(p.cost), 0) AS cost
            FROM payments p
            WHERE p.jackpot_id = :jackpot_id AND p.round_key = a.round_key AND p.bet_id = a.bet_id
              AND p.tier = a.tier AND p.correction = a.correction AND p.act_seq <= :acts_end
        ) AS paid
        WHERE a.jackpot_id = :jackpot_id AND a.round_key = made.round_key AND a.correction = made.correction
        OFFSET 0  -- They are looked up round by round: no statistics count them.
    ) AS one
    CROSS JOIN LATERAL (
        VALUES (one.state, (one.paid_minor < one.amount_minor)::int, one.amount_minor - one.paid_minor,
                one.cost - one.paid_cost),
               ('paid', (one.paid_minor = one.amount_minor)::int, one.paid_minor, one.paid_cost)
    ) AS part (state, number, minor, cost)
    JOIN currency_units(:base) AS unit ON unit.currency = one.currency
    WHERE one.state IS NOT NULL
    GROUP BY one.tier, one.currency, part.state, unit.one
    """
)

_MONEY = (*amounts(amount="Amount"), *base_amounts(cost_base="Cost"))

AWARDS = columns(
    "jackpot_id base",
    texts(award_id="Award"),
    "casino_id table_id round_id bet_id hand player_id tier",
    _MONEY[:1],
    "currency",
    _MONEY[1:],
    texts(funded_by="Paid by"),
    counts(correction="Correction"),
    "state",
    amounts(paid_amount="Paid amount"),
    instants(made_at="Made", approved_at="Approved", rejected_at="Rejected", reinstated_at="Reinstated"),
    instants(stopped_at="Stopped", released_at="Released", paid_at="Paid"),
    texts(payment_reference="Payment"),
    instants(forfeited_at="Forfeited", reversed_at="Reversed"),
    texts(reportable="Reportable"),
    amounts(withholding_due="Withholding due", withheld_amount="Withheld"),
)

TOTALS = columns("jackpot_id base tier currency state awards", _MONEY)

Key = tuple[str, str, str]
"""The tier, currency and state of awards."""


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """
    List awards in the order in which they were made, and sum them up by their state at the end.

    The sums have two parts of an award that is paid in part: the unpaid one is payable, the other one is paid.
    """
    return (
        LongList(session, LIST, scope, AWARDS, {"only_unpaid": False}, joins_by_hash=True).section("awards", "Awards"),
        Section("totals", "Awards by tier, currency and state", TOTALS, _totals(session, scope)),
    )


def _totals(session: Session, scope: Scope) -> Iterator[Row]:
    """Sum the awards of each jackpot, in the order of tier, currency and state."""
    for book in scope.books:
        for key, of in award_figures.added_up(_by_state(session, scope, book)):
            yield (book.jackpot_id, book.base, *key, of.awards, of.amount, of.cost)


def _by_state(session: Session, scope: Scope, book: BookPeriod) -> Iterator[tuple[Key, Amounts]]:
    """Each step moves awards from a state, if they were there before, to another."""
    if book.partial_days:
        query = {**list_parameters(scope, book), **book.divided}
        for *key, awards, amount, cost in session.execute(_ONE_BY_ONE, query):
            tier, currency, state = key
            yield (tier, currency, state), Amounts(int(awards), amount, cost)
    if book.has_whole_days:
        for step_sum in award_figures.steps_of_whole_days(session, scope, book):
            before, after = STATES[step_sum.step]
            yield (step_sum.tier, step_sum.currency, after), step_sum.amounts
            if before is not None:
                yield (step_sum.tier, step_sum.currency, before), step_sum.amounts.times(-1)


REPORT = Report(
    "awards",
    "Awards",
    make,
    frozenset({Parameter.CASINO, Parameter.TABLE}),
    sections=("awards", "totals"),
    is_for_casinos=True,
    is_kept=False,
)
