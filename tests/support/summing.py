"""
Days, made anew from the documents and the postings, by one statement that knows nothing of entries' figures.

The service adds to days what entries' figures tell. This comes to the same.
"""

from typing import Final

# Every cut where it crosses a stripe. They never fall, so an entry's cycle is found by halves; the opening stands after
# none, and is of the first. What an entry of no round does for a casino moves its account, and there is never more than
# one. A rate's power of ten is a text first, because ^ would round. A bet's cycle had been won when it was refunded if
# it stands at or before the cut of the cycle that then ran. The first step of an award is that which no act took. What
# a correction made has its day from the act, which is booked when its entry in the jackpot's book is. What acts
# book about a round is of the round's casino, table and rules; its postings are at no table.
STATEMENT: Final = """
WITH cuts AS (
    SELECT s.jackpot_id, s.stripe_no, array_agg(y.cycle ORDER BY y.cycle) AS cycles,
           array_agg(coalesce(y.cut[s.stripe_no + 1], 0) ORDER BY y.cycle) AS cuts
    FROM stripes s
    JOIN cycles y ON y.jackpot_id = s.jackpot_id
    GROUP BY s.jackpot_id, s.stripe_no
),
acted AS (
    SELECT a.seq AS act_seq, f.book, f.seq, a.before, a.after,
           coalesce(f.recorded -> 'round' ->> 'round_key', f.recorded ->> 'round_key')::bigint AS round_key
    FROM acts a
    CROSS JOIN LATERAL jsonb_to_recordset(a.effects) AS f (book text, seq bigint, kind text, recorded jsonb)
    WHERE f.kind IN ('round_corrected', 'awards_approved', 'awards_rejected', 'awards_reinstated',
                     'award_stopped', 'awards_released', 'award_forfeited')
),
made AS (
    SELECT d.jackpot_id, d.round_key, 0 AS correction, (e.booked_at AT TIME ZONE 'UTC')::date AS day
    FROM results d
    JOIN entries e ON e.jackpot_id = d.jackpot_id AND e.round_key = d.round_key AND e.step = d.step
    UNION ALL
    SELECT k.jackpot_id, k.round_key, k.number, (e.booked_at AT TIME ZONE 'UTC')::date
    FROM corrections k
    JOIN entries e ON e.jackpot_id = '-' AND e.stripe_no = 0 AND e.seq = k.act_seq
),
booked AS (
    SELECT e.*, acted.act_seq, acted.before, acted.after, r.round_key AS of_round,
           (e.booked_at AT TIME ZONE 'UTC')::date AS day,
           coalesce(p.cycles[width_bucket(e.seq - 1, p.cuts)], 1) AS of_cycle,
           coalesce((e.booked_at AT TIME ZONE c.zone) - c.day_starts,
                    e.booked_at AT TIME ZONE 'UTC')::date AS gaming_day,
           coalesce(its.casino_id, '') AS casino, coalesce(r.table_id, '') AS gaming_table,
           CASE WHEN e.round_key IS NULL THEN '' ELSE r.table_id END AS table_of_postings,
           coalesce(r.rules_version, 0) AS version, r.rate_sheet, j.base
    FROM entries e
    JOIN jackpots j ON j.jackpot_id = e.jackpot_id
    JOIN cuts p ON p.jackpot_id = e.jackpot_id AND p.stripe_no = e.stripe_no
    LEFT JOIN acted ON acted.book = e.jackpot_id AND acted.seq = e.seq AND e.stripe_no = 0
    LEFT JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = coalesce(e.round_key, acted.round_key)
    CROSS JOIN LATERAL (
        SELECT coalesce(r.casino_id, (SELECT min(substr(a.account, 8)) FROM unnest(e.accounts) AS a (account)
                                      WHERE starts_with(a.account, 'casino:'))) AS casino_id
    ) AS its
    LEFT JOIN casinos c ON c.casino_id = its.casino_id
),
live AS (
    SELECT b.*
    FROM bets b
    LEFT JOIN voids v ON v.jackpot_id = b.jackpot_id AND v.round_key = b.round_key AND v.bet_id = b.bet_id
    WHERE v.bet_id IS NULL
),
verdicts AS (
    SELECT e.jackpot_id, e.seq, b.round_key, b.bet_id, b.hand, e.after -> 'refunds' ? b.bet_id AS is_dead,
           EXISTS (SELECT FROM jsonb_array_elements(e.before -> 'result' -> 'hands') AS one (hand)
                   WHERE one.hand ->> 0 = b.hand AND one.hand ->> 1 = 'dead') AS was_dead
    FROM booked e
    JOIN live b ON b.jackpot_id = e.jackpot_id AND b.round_key = e.of_round
    WHERE e.kind = 'round_corrected'
),
refunded AS (
    SELECT e.*, v.bet_id, 1 AS times
    FROM booked e
    JOIN voids v ON v.jackpot_id = e.jackpot_id AND v.round_key = e.round_key AND v.step = e.step
    WHERE e.kind = 'voids' AND NOT v.is_tombstone
    UNION ALL
    SELECT e.*, b.bet_id, 1
    FROM booked e
    JOIN live b ON b.jackpot_id = e.jackpot_id AND b.round_key = e.round_key
    WHERE e.kind = 'cancellation'
    UNION ALL
    SELECT e.*, b.bet_id, 1
    FROM booked e
    JOIN hands h ON h.jackpot_id = e.jackpot_id AND h.round_key = e.round_key AND h.status = 'dead'
    JOIN live b ON b.jackpot_id = h.jackpot_id AND b.round_key = h.round_key AND b.hand = h.hand
    WHERE e.kind = 'result'
    UNION ALL
    SELECT e.*, v.bet_id, CASE WHEN v.is_dead THEN 1 ELSE -1 END
    FROM booked e
    JOIN verdicts v ON v.jackpot_id = e.jackpot_id AND v.seq = e.seq
    WHERE e.kind = 'round_corrected' AND v.is_dead <> v.was_dead
),
on_hands AS (
    SELECT e.jackpot_id, e.stripe_no, e.day, e.of_cycle, e.gaming_day, e.casino, e.gaming_table, e.version, e.of_round,
           e.seq, b.hand, CASE WHEN v.is_dead THEN -1 ELSE 1 END AS times,
           sum(b.stake_minor * ('1e-' || x.exponent)::numeric * x.base_per_unit) AS value
    FROM booked e
    JOIN live b ON b.jackpot_id = e.jackpot_id AND b.round_key = e.of_round
    JOIN hands h ON h.jackpot_id = b.jackpot_id AND h.round_key = b.round_key AND h.hand = b.hand
    JOIN rates x ON x.base = e.base AND x.number = e.rate_sheet AND x.currency = b.currency
    LEFT JOIN verdicts v ON v.jackpot_id = e.jackpot_id AND v.seq = e.seq AND v.bet_id = b.bet_id
    WHERE e.kind = 'result' AND h.status <> 'dead' OR e.kind = 'round_corrected' AND v.is_dead <> v.was_dead
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
),
figured AS (
    SELECT e.jackpot_id, e.stripe_no, e.day, e.of_cycle, e.gaming_day, 'bets' AS kind, e.casino, e.gaming_table,
           e.version, b.currency, '' AS account, '' AS tier, '' AS detail, e.day AS made_on, 1 AS number,
           b.stake_minor AS minor, b.stake_minor * ('1e-' || x.exponent)::numeric * x.base_per_unit AS value
    FROM booked e
    JOIN bets b ON b.jackpot_id = e.jackpot_id AND b.round_key = e.round_key AND b.step = e.step
    JOIN rates x ON x.base = e.base AND x.number = e.rate_sheet AND x.currency = b.currency
    WHERE e.kind = 'bets'
    UNION ALL
    SELECT e.jackpot_id, e.stripe_no, e.day, e.of_cycle, e.gaming_day, 'postings', e.casino, e.table_of_postings,
           e.version, l.currency, l.account, '', l.movement, e.day, 1, 0, l.amount
    FROM booked e
    CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
        AS l (account, currency, amount, movement)
    WHERE e.kind <> 'bets'
    UNION ALL
    SELECT e.jackpot_id, e.stripe_no, e.day, e.of_cycle, e.gaming_day,
           CASE WHEN o.seq <= coalesce(y.cut[o.stripe_no + 1], 0) THEN 'late_refunds' ELSE 'refunds' END,
           e.casino, e.gaming_table, e.version, b.currency, '', '', '', e.day, e.times, e.times * b.stake_minor,
           e.times * b.stake_minor * ('1e-' || x.exponent)::numeric * x.base_per_unit
    FROM refunded e
    JOIN bets b ON b.jackpot_id = e.jackpot_id AND b.round_key = e.of_round AND b.bet_id = e.bet_id
    JOIN entries o ON o.jackpot_id = b.jackpot_id AND o.round_key = b.round_key AND o.step = b.step
    JOIN cycles y ON y.jackpot_id = e.jackpot_id AND y.cycle = e.of_cycle
    JOIN rates x ON x.base = e.base AND x.number = e.rate_sheet AND x.currency = b.currency
    UNION ALL
    SELECT e.jackpot_id, e.stripe_no, e.day, e.of_cycle, e.gaming_day,
           CASE WHEN s.step IN ('payable', 'held') THEN 'awards' ELSE 'award_steps' END, e.casino, e.gaming_table,
           e.version, a.currency, a.funded_by, a.tier,
           CASE WHEN s.step = 'reversed' AND held.only THEN 'reversed_while_held'
                WHEN s.step = 'reversed' AND held.is_stopped THEN 'reversed_while_stopped'
                WHEN s.step = 'forfeited' AND e.after #>> '{forfeiture,to}' = 'meter' THEN 'forfeited_to_meter'
                ELSE s.step END, made.day,
           1, a.amount_minor - rest.paid, a.cost - rest.cost
    FROM booked e
    JOIN award_steps s ON s.jackpot_id = e.jackpot_id AND s.round_key = e.of_round
                      AND (s.act_seq = e.act_seq OR s.act_seq IS NULL AND e.act_seq IS NULL)
    JOIN awards a ON a.jackpot_id = s.jackpot_id AND a.round_key = s.round_key AND a.bet_id = s.bet_id
                 AND a.tier = s.tier AND a.correction = s.correction
    JOIN made ON made.jackpot_id = a.jackpot_id AND made.round_key = a.round_key AND made.correction = a.correction
    LEFT JOIN LATERAL (
        SELECT bool_and(z.step = 'held') FILTER (WHERE z.step IN ('held', 'approved', 'reinstated')) AS only,
               bool_and(z.step = 'stopped') FILTER (WHERE z.step IN ('stopped', 'released')) AS is_stopped
        FROM award_steps z
        WHERE z.jackpot_id = s.jackpot_id AND z.round_key = s.round_key AND z.bet_id = s.bet_id AND z.tier = s.tier
          AND z.correction = s.correction
    ) AS held ON true
    -- A stop, a release and a forfeiture are of what was not paid then.
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(p.amount_minor), 0) AS paid, coalesce(sum(p.cost), 0) AS cost
        FROM payments p
        WHERE p.jackpot_id = s.jackpot_id AND p.round_key = s.round_key AND p.bet_id = s.bet_id AND p.tier = s.tier
          AND p.correction = s.correction AND s.step IN ('stopped', 'released', 'forfeited') AND p.act_seq < s.act_seq
    ) AS rest
    WHERE e.kind IN ('result', 'round_corrected', 'awards_approved', 'awards_rejected', 'awards_reinstated',
                     'award_stopped', 'awards_released', 'award_forfeited')
    UNION ALL
    SELECT jackpot_id, stripe_no, day, of_cycle, gaming_day, of.kind, casino, gaming_table, version, '', '', '', '',
           day, times, 0, times * of.value
    FROM on_hands
    CROSS JOIN LATERAL (VALUES ('hands', value), ('squares', value * value)) AS of (kind, value)
    UNION ALL
    SELECT '-', 0, (e.booked_at AT TIME ZONE 'UTC')::date, 1,
           ((e.booked_at AT TIME ZONE c.zone) - c.day_starts)::date, 'payments', r.casino_id, r.table_id, 0,
           a.currency, a.funded_by, a.tier, a.jackpot_id,
           made.day, (paid.minor = a.amount_minor)::int - (paid.minor - s.amount_minor = a.amount_minor)::int,
           s.amount_minor, s.cost
    FROM payments s
    JOIN rounds r ON r.jackpot_id = s.jackpot_id AND r.round_key = s.round_key
    JOIN casinos c ON c.casino_id = r.casino_id
    JOIN awards a ON a.jackpot_id = s.jackpot_id AND a.round_key = s.round_key AND a.bet_id = s.bet_id
                 AND a.tier = s.tier AND a.correction = s.correction
    JOIN entries e ON e.jackpot_id = '-' AND e.stripe_no = 0 AND e.seq = s.act_seq
    JOIN made ON made.jackpot_id = a.jackpot_id AND made.round_key = a.round_key AND made.correction = a.correction
    CROSS JOIN LATERAL (
        SELECT sum(p.amount_minor) AS minor
        FROM payments p
        WHERE p.jackpot_id = s.jackpot_id AND p.round_key = s.round_key AND p.bet_id = s.bet_id AND p.tier = s.tier
          AND p.correction = s.correction AND p.act_seq <= s.act_seq
    ) AS paid
)
INSERT INTO days (jackpot_id, stripe_no, day, cycle, gaming_day, kind, casino_id, table_id, rules_version, currency,
                  account, tier, detail, made_on, number, minor, value)
SELECT jackpot_id, stripe_no, day, of_cycle, gaming_day, kind, casino, gaming_table, version, currency, account, tier,
       detail, made_on, sum(number), sum(minor), trim_scale(sum(value))
FROM figured
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
ORDER BY 1, 3, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
"""
