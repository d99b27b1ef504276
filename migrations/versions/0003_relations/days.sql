-- Recent bets as rows like those of `daily_bets`.
-- Each row, its entry and its cycle are looked up by their keys (OFFSET 0), whatever the planner thinks of tables that
-- are small at times. Rows up to `rolled_up_to` were removed, and may be in the way of those who look for others. An
-- entry is of the last cycle whose cut it stands after: mostly of the newest, which is found without reading others.
CREATE VIEW recent_bets_by_day AS
SELECT stripe.jackpot_id, stripe.stripe_no, entry.day, coalesce(running.cycle, 1) AS cycle,
       coalesce((entry.booked_at AT TIME ZONE casino.zone) - casino.day_starts, entry.day)::date AS gaming_day,
       one.casino_id, one.table_id, one.currency, one.rules_version, one.bets, one.stakes_minor, one.value
FROM stripes AS stripe
CROSS JOIN LATERAL (
    SELECT jackpot_id, stripe_no, seq, sums
    FROM recent_bets
    WHERE jackpot_id = stripe.jackpot_id AND stripe_no = stripe.stripe_no AND seq > stripe.rolled_up_to
    OFFSET 0
) AS recent
CROSS JOIN LATERAL (
    SELECT booked_at, (booked_at AT TIME ZONE 'UTC')::date AS day
    FROM entries
    WHERE jackpot_id = recent.jackpot_id AND stripe_no = recent.stripe_no AND seq = recent.seq AND kind = 'bets'
    OFFSET 0
) AS entry
LEFT JOIN LATERAL (
    SELECT CASE WHEN coalesce(newest.cut[recent.stripe_no + 1], 0) < recent.seq THEN newest.cycle
                ELSE (SELECT max(cycle)
                      FROM cycles
                      WHERE jackpot_id = recent.jackpot_id AND coalesce(cut[recent.stripe_no + 1], 0) < recent.seq)
           END AS cycle
    FROM (SELECT cycle, cut FROM cycles WHERE jackpot_id = recent.jackpot_id ORDER BY cycle DESC LIMIT 1) AS newest
    OFFSET 0
) AS running ON true
CROSS JOIN LATERAL unnest(recent.sums) AS one
LEFT JOIN casinos AS casino ON casino.casino_id = one.casino_id;

-- What bets came to, by day: all of them.
CREATE VIEW bets_by_day AS
SELECT jackpot_id, stripe_no, day, cycle, gaming_day, casino_id, table_id, currency, rules_version, bets, stakes_minor,
       value
FROM daily_bets
UNION ALL
SELECT jackpot_id, stripe_no, day, cycle, gaming_day, casino_id, table_id, currency, rules_version, bets, stakes_minor,
       value
FROM recent_bets_by_day;
