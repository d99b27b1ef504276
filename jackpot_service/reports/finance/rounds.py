"""
Rounds and bets: the detail behind any figure of a period.

A round is listed if an entry of it was booked in the period. Its figures are those of these entries, so they sum up to
the figures of other reports. Its state is that at the end. A bet belongs to the period in which it was accepted, and,
if it was refunded, to the one in which that was booked. Postings by acts are a list of their own, with the round that
an act is about, if there is one. There are the refunds, new bookings, reversals and awards of corrections.
"""

from collections.abc import Sequence

from jackpot_service.database.transactions import Session
from jackpot_service.reports.documents import Section
from jackpot_service.reports.finance.columns import amounts, base_amounts, columns, instants, texts
from jackpot_service.reports.finance.frame import LongList, Report, Scope
from jackpot_service.reports.finance.period import BETWEEN
from jackpot_service.reports.questions import Parameter

# An entry of a round names the round's casino and table, so that no round is looked up to know whose it is. The primary
# key's index has all that is read here, unless a `condition`, which is filled in for each list, asks for more.
_OF_PERIOD = BETWEEN.format(
    columns="round_key, step, stripe_no, seq",
    relation="entries",
    condition="""e.round_key IS NOT NULL AND {condition}
          AND (CAST(:casino_id AS text) IS NULL OR e.casino_id = :casino_id)
          AND (CAST(:table_id AS text) IS NULL OR e.table_id = :table_id)""",
)

# The round is found by its ids: there are few tables.
_OF_ONE_ROUND = """
    (SELECT round_of_table.round_key
     FROM tables t
     CROSS JOIN LATERAL (
         SELECT round_key
         FROM rounds
         WHERE jackpot_id = :jackpot_id
           AND by_index(table_id || ' ' || round_id) = t.table_id || ' ' || CAST(:round_id AS text)
           AND (CAST(:casino_id AS text) IS NULL OR rounds.casino_id = :casino_id)
           AND (CAST(:table_id AS text) IS NULL OR rounds.table_id = :table_id)
         LIMIT 1
     ) AS round_of_table
     WHERE t.jackpot_id = :jackpot_id) AS named
    JOIN entries e ON e.jackpot_id = :jackpot_id AND e.round_key = named.round_key AND {condition}
                  AND e.seq > coalesce((CAST(:starts AS bigint[]))[e.stripe_no + 1], 0)
                  AND e.seq <= coalesce((CAST(:ends AS bigint[]))[e.stripe_no + 1], 0)
"""

_HAS_REFUNDS = "e.movements @> ARRAY['reversal']"

_TOUCHED = """
WITH touched_rounds AS (
    SELECT r.casino_id, r.table_id, r.round_id, touched.round_key, r.opened_at, r.rules_version, r.rate_sheet,
           r.game_number, touched.steps, touched.entries
    FROM (
        SELECT round_key, array_agg(step ORDER BY step) AS steps,
               string_agg(stripe_no || '.' || seq, ' ' ORDER BY step) AS entries
        FROM (SELECT e.round_key, e.step, e.stripe_no, e.seq FROM {booked}) AS booked
        GROUP BY round_key
    ) AS touched
    CROSS JOIN LATERAL round_of_key(:jackpot_id, touched.round_key) AS r
)
"""

# Its entries up to the end say its state, and whether its game number was said by then.
_LIST_ROUNDS = """
SELECT of.casino_id, of.table_id, of.round_id, CAST(of.round_key AS text) AS round_key,
       CASE WHEN was.named THEN of.game_number END AS game_number,
       CASE WHEN was.settled THEN 'settled' WHEN was.ended_at IS NOT NULL THEN 'cancelled'
            WHEN was.closed THEN 'closed' ELSE 'open' END AS state,
       of.opened_at, was.ended_at, sums.currency, coalesce(sums.bets, 0) AS bets, sums.stakes,
       coalesce(sums.value, 0) AS value, sums.refunds,
       coalesce(sums.refunds_value, 0) AS refunds_value, coalesce(sums.awards, 0) AS awards, sums.awarded,
       coalesce(sums.awards_cost, 0) AS awards_cost, of.rules_version, of.rate_sheet, of.entries
FROM touched_rounds AS of
CROSS JOIN LATERAL (
    SELECT bool_or(e.kind = 'result') AS settled, bool_or(e.kind = 'closing') AS closed,
           max(e.booked_at) FILTER (WHERE e.kind IN ('result', 'cancellation')) AS ended_at,
           bool_or(of.game_number IS NOT NULL AND e.facts ->> 'game_number' IS NOT NULL) AS named
    FROM entries e
    WHERE e.jackpot_id = :jackpot_id AND e.round_key = of.round_key
      AND e.seq <= coalesce((CAST(:ends AS bigint[]))[e.stripe_no + 1], 0)
) AS was
LEFT JOIN LATERAL (
    SELECT done.currency, done.bets, done.stakes * units.one AS stakes, done.stakes * units.one * units.rate AS value,
           done.refunds, done.refunds * units.rate AS refunds_value, done.awards, done.awarded * units.one AS awarded,
           done.cost AS awards_cost
    FROM (
        SELECT currency, sum(bets) AS bets, sum(stakes) AS stakes, sum(refunds) AS refunds, sum(awards) AS awards,
               sum(awarded) AS awarded, sum(cost) AS cost
        FROM (
            SELECT b.currency, 1 AS bets, b.stake_minor AS stakes, 0 AS refunds, 0 AS awards, 0 AS awarded, 0 AS cost
            FROM bets b
            WHERE b.jackpot_id = :jackpot_id AND b.round_key = of.round_key AND b.step = ANY (of.steps)
            UNION ALL
            SELECT p.currency, 0, 0, p.amount, 0, 0, 0
            FROM entries e
            CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
                AS p (account, currency, amount, movement)
            WHERE e.jackpot_id = :jackpot_id AND e.round_key = of.round_key AND e.step = ANY (of.steps)
              AND e.movements @> ARRAY['reversal']
              AND p.movement = 'reversal' AND p.account = 'casino:' || of.casino_id
            UNION ALL
            SELECT a.currency, 0, 0, 0, 1, a.amount_minor, a.cost
            FROM entries s
            JOIN awards a ON a.jackpot_id = :jackpot_id AND a.round_key = s.round_key AND a.correction = 0
            WHERE s.jackpot_id = :jackpot_id AND s.round_key = of.round_key AND s.kind = 'result'
              AND s.step = ANY (of.steps)
        ) AS figures
        GROUP BY currency
    ) AS done
    JOIN LATERAL (
        SELECT CAST('1e-' || rate.exponent AS numeric) AS one, rate.base_per_unit AS rate
        FROM rates rate
        WHERE rate.base = :base AND rate.number = of.rate_sheet AND rate.currency = done.currency
    ) AS units ON true
) AS sums ON true
ORDER BY of.round_key, sums.currency
"""

# Of bets that were accepted in the period, or of those that were refunded in it.
_LIST_BETS = """
SELECT of.casino_id, of.table_id, of.round_id, CAST(of.round_key AS text) AS round_key, bet.bet_id, bet.player_id,
       bet.hand, bet.currency, bet.stake, bet.value, bet.value * to_meter AS meter,
       bet.value * to_reserve AS reserve, bet.value * to_prize_fund AS prize_fund, bet.value * to_house AS house,
       accepted.stripe_no || '.' || accepted.seq AS accepted_by, accepted.booked_at AS accepted_at,
       refunded.stripe_no || '.' || refunded.seq AS refunded_by, refunded.booked_at AS refunded_at
FROM touched_rounds AS of
CROSS JOIN LATERAL rules_split(:jackpot_id, of.rules_version) AS split
CROSS JOIN LATERAL bets_with_refunds(:jackpot_id, of.round_key, :base, of.rate_sheet) AS bet
LEFT JOIN LATERAL entry_of_step(:jackpot_id, of.round_key, bet.step) AS accepted
       ON accepted.seq <= coalesce((CAST(:ends AS bigint[]))[accepted.stripe_no + 1], 0)
LEFT JOIN LATERAL entry_of_step(:jackpot_id, of.round_key, bet.refund_step) AS refunded
       ON refunded.seq <= coalesce((CAST(:ends AS bigint[]))[refunded.stripe_no + 1], 0)
WHERE CASE WHEN :of_refunds THEN bet.refund_step ELSE bet.step END = ANY (of.steps)
ORDER BY of.round_key, bet.bet_id COLLATE "C"
"""

# Acts book on stripe 0; some are about a round.
_LIST_ACTS = """
SELECT r.casino_id, r.table_id, r.round_id, CAST(r.round_key AS text) AS round_key,
       e.stripe_no || '.' || e.seq AS entry, e.booked_at, e.kind, f.act_seq AS act, f.subject,
       p.account, p.currency, p.movement, p.amount
FROM entries e
CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
    WITH ORDINALITY AS p (account, currency, amount, movement, number)
LEFT JOIN effects_of_acts(:jackpot_id, :start, :upto) AS f ON f.seq = e.seq
LEFT JOIN rounds r ON r.jackpot_id = :jackpot_id AND r.round_key = f.round_key
WHERE e.jackpot_id = :jackpot_id AND e.stripe_no = 0 AND e.seq > :start AND e.seq <= :upto AND e.round_key IS NULL
  AND (CAST(:table_id AS text) IS NULL OR r.table_id = :table_id)
  AND (CAST(:round_id AS text) IS NULL OR r.round_id = :round_id)
  AND (CAST(:casino_id AS text) IS NULL OR p.account = 'casino:' || :casino_id)
ORDER BY e.seq, p.number
"""

_OF_ROUND = "jackpot_id base casino_id table_id round_id round_key"

ROUNDS = columns(
    _OF_ROUND,
    texts(game_number="Game number"),
    "state",
    instants(opened_at="Opened", ended_at="Settled or cancelled"),
    "currency bets",
    amounts(stakes="Stakes"),
    base_amounts(value="Value of the stakes"),
    amounts(refunds="Refunds"),
    base_amounts(refunds_value="Value of the refunds"),
    "awards",
    amounts(awarded="Awarded"),
    base_amounts(awards_cost="Cost of the awards"),
    "rules_version rate_sheet",
    texts(entries="Entries"),
)

BETS = columns(
    _OF_ROUND,
    "bet_id player_id hand currency",
    amounts(stake="Stake"),
    base_amounts(value="Value", meter="To the meter", reserve="To the reserve", prize_fund="To the prize fund"),
    base_amounts(house="To the house"),
    texts(accepted_by="Accepted by entry"),
    instants(accepted_at="Accepted"),
    texts(refunded_by="Refunded by entry"),
    instants(refunded_at="Refunded"),
)

ACTS = columns(
    _OF_ROUND,
    texts(entry="Entry"),
    instants(booked_at="Booked"),
    "kind act",
    texts(subject="Subject"),
    "account currency movement",
    amounts(amount="Amount"),
)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """List entries of the period: round by round, in the order of their opening, then bet by bet, then acts."""
    booked = _OF_PERIOD if scope.parameters.round_id is None else _OF_ONE_ROUND
    rounds, accepted, refunded = (
        _TOUCHED.format(booked=booked.format(condition=condition)) + statement
        for condition, statement in (
            ("true", _LIST_ROUNDS),
            ("true", _LIST_BETS),
            (_HAS_REFUNDS, _LIST_BETS),
        )
    )
    bets = LongList(session, accepted, scope, BETS, {"of_refunds": False})
    refunds = LongList(session, refunded, scope, BETS, {"of_refunds": True})
    return (
        LongList(session, rounds, scope, ROUNDS).section("rounds", "Rounds, by currency of their bets"),
        bets.section("bets", "Bets that were accepted"),
        refunds.section("refunds", "Bets that were refunded, as accepted"),
        LongList(session, _LIST_ACTS, scope, ACTS).section("acts", "Booked by acts, some of them about a round"),
    )


REPORT = Report(
    "rounds",
    "Rounds and bets",
    make,
    frozenset({Parameter.CASINO, Parameter.TABLE, Parameter.ROUND}),
    sections=("rounds", "bets", "refunds", "acts"),
    is_for_casinos=True,
    is_kept=False,
)
