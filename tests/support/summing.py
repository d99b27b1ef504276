"""
The days' sums, made anew from the documents and the entries: one statement a table.

The service adds to the sums with every booking. These statements know nothing of that, and come to the same.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

# Every cut where it crosses a stripe. They never fall, so an entry's cycle is found by halves; the opening stands after
# none, and is of the first. Stakes are summed before they are valued; a rate's power of ten is a text first, because ^
# would round.
_BETS: Final = """
WITH cuts AS (
    SELECT s.jackpot_id, s.stripe_no, array_agg(y.cycle ORDER BY y.cycle) AS cycles,
           array_agg(coalesce(y.cut[s.stripe_no + 1], 0) ORDER BY y.cycle) AS cuts
    FROM stripes s
    JOIN cycles y ON y.jackpot_id = s.jackpot_id
    GROUP BY s.jackpot_id, s.stripe_no
),
staked AS (
    SELECT e.jackpot_id, e.stripe_no, (e.booked_at AT TIME ZONE 'UTC')::date AS day,
           coalesce(p.cycles[width_bucket(e.seq - 1, p.cuts)], 1) AS cycle,
           ((e.booked_at AT TIME ZONE c.zone) - c.day_starts)::date AS gaming_day,
           r.casino_id, r.table_id, b.currency, r.rules_version, r.rate_sheet,
           count(*) AS bets, sum(b.stake_minor) AS stakes_minor
    FROM entries e
    JOIN cuts p ON p.jackpot_id = e.jackpot_id AND p.stripe_no = e.stripe_no
    JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
    JOIN casinos c ON c.casino_id = r.casino_id
    JOIN bets b ON b.jackpot_id = e.jackpot_id AND b.round_key = e.round_key AND b.step = e.step
    WHERE e.kind = 'bets'
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
)
INSERT INTO daily_bets (jackpot_id, stripe_no, day, cycle, gaming_day, casino_id, table_id, currency, rules_version,
                        bets, stakes_minor, value)
SELECT s.jackpot_id, s.stripe_no, s.day, s.cycle, s.gaming_day, s.casino_id, s.table_id, s.currency, s.rules_version,
       sum(s.bets), sum(s.stakes_minor),
       trim_scale(sum(s.stakes_minor * ('1e-' || x.exponent)::numeric * x.base_per_unit))
FROM staked s
JOIN jackpots j ON j.jackpot_id = s.jackpot_id
JOIN rates x ON x.base = j.base AND x.number = s.rate_sheet AND x.currency = s.currency
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
ORDER BY 1, 3, 2, 4, 5, 6, 7, 8, 9
"""

# What an entry of no round does for a casino moves its account, and there is never more than one.
_POSTINGS: Final = """
WITH cuts AS (
    SELECT s.jackpot_id, s.stripe_no, array_agg(y.cycle ORDER BY y.cycle) AS cycles,
           array_agg(coalesce(y.cut[s.stripe_no + 1], 0) ORDER BY y.cycle) AS cuts
    FROM stripes s
    JOIN cycles y ON y.jackpot_id = s.jackpot_id
    GROUP BY s.jackpot_id, s.stripe_no
)
INSERT INTO daily_postings (jackpot_id, stripe_no, day, cycle, gaming_day, casino_id, table_id, account, currency,
                            movement, lines, amount)
SELECT e.jackpot_id, e.stripe_no, (e.booked_at AT TIME ZONE 'UTC')::date AS day,
       coalesce(p.cycles[width_bucket(e.seq - 1, p.cuts)], 1) AS cycle,
       coalesce((e.booked_at AT TIME ZONE c.zone) - c.day_starts, e.booked_at AT TIME ZONE 'UTC')::date AS gaming_day,
       coalesce(its.casino_id, ''), coalesce(r.table_id, ''), l.account, l.currency, l.movement,
       count(*), trim_scale(sum(l.amount))
FROM entries e
JOIN cuts p ON p.jackpot_id = e.jackpot_id AND p.stripe_no = e.stripe_no
LEFT JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
CROSS JOIN LATERAL (
    SELECT coalesce(r.casino_id, (SELECT min(substr(a.account, 8)) FROM unnest(e.accounts) AS a (account)
                                  WHERE starts_with(a.account, 'casino:'))) AS casino_id
) AS its
LEFT JOIN casinos c ON c.casino_id = its.casino_id
CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
    AS l (account, currency, amount, movement)
WHERE e.kind <> 'bets'
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
ORDER BY 1, 3, 2, 4, 5, 6, 7, 8, 9, 10
"""

# A bet's cycle had been won when it was refunded if it stands at or before the cut of the cycle that then ran.
_REFUNDS: Final = """
WITH refunded AS (
    SELECT e.jackpot_id, e.stripe_no, e.seq, e.booked_at, e.round_key, v.bet_id
    FROM entries e
    JOIN voids v ON v.jackpot_id = e.jackpot_id AND v.round_key = e.round_key AND v.step = e.step
    WHERE e.kind = 'voids' AND NOT v.is_tombstone
    UNION ALL
    SELECT e.jackpot_id, e.stripe_no, e.seq, e.booked_at, e.round_key, b.bet_id
    FROM entries e
    JOIN bets b ON b.jackpot_id = e.jackpot_id AND b.round_key = e.round_key
    LEFT JOIN voids v ON v.jackpot_id = b.jackpot_id AND v.round_key = b.round_key AND v.bet_id = b.bet_id
    WHERE e.kind = 'cancellation' AND v.bet_id IS NULL
    UNION ALL
    SELECT e.jackpot_id, e.stripe_no, e.seq, e.booked_at, e.round_key, b.bet_id
    FROM entries e
    JOIN hands h ON h.jackpot_id = e.jackpot_id AND h.round_key = e.round_key AND h.status = 'dead'
    JOIN bets b ON b.jackpot_id = h.jackpot_id AND b.round_key = h.round_key AND b.hand = h.hand
    LEFT JOIN voids v ON v.jackpot_id = b.jackpot_id AND v.round_key = b.round_key AND v.bet_id = b.bet_id
    WHERE e.kind = 'result' AND v.bet_id IS NULL
),
valued AS (
    SELECT e.jackpot_id, e.stripe_no, (e.booked_at AT TIME ZONE 'UTC')::date AS day,
           ((e.booked_at AT TIME ZONE c.zone) - c.day_starts)::date AS gaming_day,
           r.casino_id, r.table_id, b.currency, b.stake_minor,
           o.seq <= coalesce(running.cut[o.stripe_no + 1], 0) AS is_over,
           b.stake_minor * ('1e-' || x.exponent)::numeric * x.base_per_unit AS value,
           (v.document -> 'split' ->> 'meter')::numeric AS meter,
           (v.document -> 'split' ->> 'reserve')::numeric AS reserve,
           (v.document -> 'split' ->> 'prize_fund')::numeric AS prize_fund
    FROM refunded e
    JOIN bets b ON b.jackpot_id = e.jackpot_id AND b.round_key = e.round_key AND b.bet_id = e.bet_id
    JOIN entries o ON o.jackpot_id = b.jackpot_id AND o.round_key = b.round_key AND o.step = b.step
    JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
    JOIN casinos c ON c.casino_id = r.casino_id
    JOIN jackpots j ON j.jackpot_id = e.jackpot_id
    JOIN rates x ON x.base = j.base AND x.number = r.rate_sheet AND x.currency = b.currency
    JOIN rules_versions v ON v.jackpot_id = r.jackpot_id AND v.version = r.rules_version
    LEFT JOIN LATERAL (
        SELECT y.cut
        FROM cycles y
        WHERE y.jackpot_id = e.jackpot_id AND coalesce(y.cut[e.stripe_no + 1], 0) < e.seq
        ORDER BY y.cycle DESC
        LIMIT 1
    ) AS running ON true
)
INSERT INTO daily_refunds (jackpot_id, stripe_no, day, gaming_day, casino_id, table_id, currency,
                           bets, stakes_minor, value, meter, reserve, prize_fund, house, adjustments)
SELECT jackpot_id, stripe_no, day, gaming_day, casino_id, table_id, currency, count(*), sum(stake_minor),
       trim_scale(sum(value)),
       trim_scale(sum(CASE WHEN is_over THEN 0 ELSE value * meter END)),
       trim_scale(sum(CASE WHEN is_over THEN 0 ELSE value * reserve END)),
       trim_scale(sum(value * prize_fund)),
       trim_scale(sum(value * (1 - meter - reserve - prize_fund))),
       trim_scale(sum(CASE WHEN is_over THEN value * (meter + reserve) ELSE 0 END))
FROM valued
GROUP BY 1, 2, 3, 4, 5, 6, 7
ORDER BY 1, 3, 2, 4, 5, 6, 7
"""

# The first step of an award is the one that no act took.
_AWARDS: Final = """
INSERT INTO daily_awards (jackpot_id, stripe_no, day, casino_id, table_id, tier, funded_by, currency, state,
                          awards, amount_minor, cost)
SELECT e.jackpot_id, e.stripe_no, (e.booked_at AT TIME ZONE 'UTC')::date AS day, r.casino_id, r.table_id,
       a.tier, a.funded_by, a.currency, s.step, count(*), sum(a.amount_minor), trim_scale(sum(a.cost))
FROM entries e
JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
JOIN awards a ON a.jackpot_id = e.jackpot_id AND a.round_key = e.round_key AND a.correction = 0
JOIN award_steps s ON s.jackpot_id = a.jackpot_id AND s.round_key = a.round_key AND s.bet_id = a.bet_id
                  AND s.tier = a.tier AND s.correction = 0 AND s.act_seq IS NULL
WHERE e.kind = 'result'
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
ORDER BY 1, 3, 2, 4, 5, 6, 7, 8, 9
"""

_HANDS: Final = """
WITH staked AS (
    SELECT e.jackpot_id, e.stripe_no, (e.booked_at AT TIME ZONE 'UTC')::date AS day, r.rules_version, e.round_key,
           b.hand, sum(b.stake_minor * ('1e-' || x.exponent)::numeric * x.base_per_unit) AS value
    FROM entries e
    JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
    JOIN bets b ON b.jackpot_id = e.jackpot_id AND b.round_key = e.round_key
    JOIN jackpots j ON j.jackpot_id = e.jackpot_id
    JOIN rates x ON x.base = j.base AND x.number = r.rate_sheet AND x.currency = b.currency
    LEFT JOIN voids v ON v.jackpot_id = b.jackpot_id AND v.round_key = b.round_key AND v.bet_id = b.bet_id
    JOIN hands h ON h.jackpot_id = b.jackpot_id AND h.round_key = b.round_key AND h.hand = b.hand
    WHERE e.kind = 'result' AND v.bet_id IS NULL AND h.status <> 'dead'
    GROUP BY 1, 2, 3, 4, 5, 6
)
INSERT INTO daily_hands (jackpot_id, stripe_no, day, rules_version, hands, value, squares)
SELECT jackpot_id, stripe_no, day, rules_version, count(*), trim_scale(sum(value)), trim_scale(sum(value * value))
FROM staked
GROUP BY 1, 2, 3, 4
ORDER BY 1, 3, 2, 4
"""

# What a correction made has its day from the act, which is booked when its entry in the jackpot's book is.
_PAYMENTS: Final = """
INSERT INTO daily_payments (jackpot_id, day, made_on, casino_id, table_id, tier, funded_by, currency,
                            awards, amount_minor, cost)
SELECT a.jackpot_id, (e.booked_at AT TIME ZONE 'UTC')::date AS day,
       (coalesce(made.booked_at, corrected.booked_at) AT TIME ZONE 'UTC')::date AS made_on,
       r.casino_id, r.table_id, a.tier, a.funded_by, a.currency,
       count(*), sum(a.amount_minor), trim_scale(sum(a.cost))
FROM award_steps s
JOIN rounds r ON r.jackpot_id = s.jackpot_id AND r.round_key = s.round_key
JOIN awards a ON a.jackpot_id = s.jackpot_id AND a.round_key = s.round_key AND a.bet_id = s.bet_id
             AND a.tier = s.tier AND a.correction = s.correction
JOIN entries e ON e.jackpot_id = '-' AND e.stripe_no = 0 AND e.seq = s.act_seq
LEFT JOIN results d ON d.jackpot_id = s.jackpot_id AND d.round_key = s.round_key AND s.correction = 0
LEFT JOIN entries made ON made.jackpot_id = d.jackpot_id AND made.round_key = d.round_key AND made.step = d.step
LEFT JOIN corrections c ON c.jackpot_id = s.jackpot_id AND c.round_key = s.round_key AND c.number = s.correction
LEFT JOIN entries corrected ON corrected.jackpot_id = '-' AND corrected.stripe_no = 0 AND corrected.seq = c.act_seq
WHERE s.step = 'paid'
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
ORDER BY 1, 2, 3, 4, 5, 6, 7, 8
"""

STATEMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "daily_bets": _BETS,
        "daily_postings": _POSTINGS,
        "daily_refunds": _REFUNDS,
        "daily_awards": _AWARDS,
        "daily_hands": _HANDS,
        "daily_payments": _PAYMENTS,
    }
)
"""By table, the statement that fills it."""
