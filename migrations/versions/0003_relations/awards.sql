-- One row an award, with its round, its bet, its steps in their order, its payments and the withholding rule that it
-- stands under. `claim_days` is for how many days since its last step it can be claimed at its casino now. Rounds,
-- bets, steps and payments are looked up by their keys for each award (LATERAL, LIMIT). A join would read all of a
-- jackpot's while the tables are thought to be small.
-- The rule is written out as in withholding_rule_of: on several machines a call within a view is not replaced by its body.
CREATE VIEW award_records AS
SELECT a.jackpot_id, a.round_key, r.table_id, r.round_id, r.casino_id, a.award_id, a.bet_id, b.player_id, b.hand,
       a.tier, a.amount_minor, a.currency, a.cost, a.funded_by, taken.steps, taken.times, taken.acts,
       a.correction, paid.minor AS paid_minor, paid.payments, b.stake_minor, r.opened_at, rule.in_force_from,
       rule.least_multiple, rule.report_at_minor, rule.withhold_at_minor, rule.percent, claims.claim_days,
       taken.last_step_at
FROM awards a
CROSS JOIN LATERAL (
    SELECT o.table_id, o.round_id, o.casino_id, o.opened_at
    FROM rounds o
    WHERE o.jackpot_id = a.jackpot_id AND o.round_key = a.round_key
    LIMIT 1
) AS r
CROSS JOIN LATERAL (
    SELECT o.player_id, o.hand, o.stake_minor
    FROM bets o
    WHERE o.jackpot_id = a.jackpot_id AND o.round_key = a.round_key AND o.bet_id = a.bet_id
    LIMIT 1
) AS b
CROSS JOIN LATERAL (
    SELECT array_agg(s.step ORDER BY s.taken_at, s.act_seq NULLS FIRST) AS steps,
           array_agg(s.taken_at ORDER BY s.taken_at, s.act_seq NULLS FIRST) AS times,
           array_agg(s.act_seq ORDER BY s.taken_at, s.act_seq NULLS FIRST) AS acts,
           max(s.taken_at) AS last_step_at
    FROM award_steps s
    WHERE s.jackpot_id = a.jackpot_id AND s.round_key = a.round_key AND s.bet_id = a.bet_id AND s.tier = a.tier
      AND s.correction = a.correction
) AS taken
CROSS JOIN LATERAL (
    SELECT coalesce(sum(p.amount_minor), 0)::bigint AS minor,
           jsonb_agg(act.after -> 'payment' || jsonb_build_object('act_seq', p.act_seq, 'reverses', p.reverses)
                     ORDER BY p.act_seq) AS payments
    FROM payments p
    JOIN acts act ON act.seq = p.act_seq
    WHERE p.jackpot_id = a.jackpot_id AND p.round_key = a.round_key AND p.bet_id = a.bet_id AND p.tier = a.tier
      AND p.correction = a.correction
) AS paid
LEFT JOIN LATERAL (
    SELECT o.in_force_from, o.least_multiple, o.report_at_minor, o.withhold_at_minor, o.percent
    FROM withholding_rules o
    WHERE o.casino_id = r.casino_id AND o.currency = a.currency AND o.in_force_from <= r.opened_at
    ORDER BY o.version DESC
    LIMIT 1
) AS rule ON true
LEFT JOIN LATERAL (
    SELECT o.claim_days
    FROM casino_claims o
    WHERE o.casino_id = r.casino_id
    ORDER BY o.version DESC
    LIMIT 1
) AS claims ON true;

-- The UTC day on which each verdict on a round was booked, and its awards made: 0 is the result, then come corrections. A
-- correction is an act, and one effect of it is an entry in its jackpot's book, booked at the same time.
CREATE VIEW verdict_days AS
SELECT e.jackpot_id, e.round_key, 0 AS number, (e.booked_at AT TIME ZONE 'UTC')::date AS made_on
FROM entries e
WHERE e.kind = 'result'
UNION ALL
SELECT d.jackpot_id, d.round_key, d.number, (e.booked_at AT TIME ZONE 'UTC')::date
FROM corrections d
JOIN acts a ON a.seq = d.act_seq
CROSS JOIN LATERAL jsonb_to_recordset(a.effects) AS f (book text, seq bigint)
JOIN entries e ON e.jackpot_id = d.jackpot_id AND e.stripe_no = 0 AND e.seq = f.seq
WHERE f.book = d.jackpot_id;

-- Each step that an award can take, its place in the order of all, and the state that it leads to before payments.
CREATE VIEW award_step_states AS
SELECT *
FROM (VALUES ('payable', 1, 'payable'), ('held', 2, 'held'), ('approved', 3, 'payable'), ('rejected', 4, 'rejected'),
             ('reinstated', 5, 'payable'), ('stopped', 6, 'stopped'), ('released', 7, 'payable'),
             ('forfeited', 8, 'forfeited'), ('reversed', 9, 'reversed')) AS known (step, place, state);
