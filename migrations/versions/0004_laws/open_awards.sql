-- `open_awards` follows awards, their steps and their payments. Its functions write by the rights of the owner: the service
-- reads the table, and has no right to write it.

-- The awards that a verdict makes come by the thousand, so their rows are written together. They are written by jackpot:
-- the machine that has its rows answers. There a table of new rows cannot be joined with others.
CREATE FUNCTION open_new_awards() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    made record;
BEGIN
    FOR made IN
        SELECT jackpot_id, array_agg(round_key) AS round_keys, array_agg(bet_id) AS bet_ids, array_agg(tier) AS tiers,
               array_agg(correction) AS corrections, array_agg(step) AS steps, array_agg(taken_at) AS times
        FROM taken
        WHERE step IN ('payable', 'held')
        GROUP BY jackpot_id
    LOOP
        INSERT INTO open_awards (jackpot_id, round_key, bet_id, tier, correction, award_id, casino_id, currency, state,
                                 since, amount_minor, paid_minor)
        SELECT made.jackpot_id, s.round_key, s.bet_id, s.tier, s.correction, a.award_id, r.casino_id, a.currency,
               s.step, s.taken_at, a.amount_minor, 0
        FROM unnest(made.round_keys, made.bet_ids, made.tiers, made.corrections, made.steps, made.times)
             AS s (round_key, bet_id, tier, correction, step, taken_at)
        CROSS JOIN LATERAL (
            SELECT o.award_id, o.currency, o.amount_minor
            FROM awards AS o
            WHERE o.jackpot_id = made.jackpot_id AND o.round_key = s.round_key AND o.bet_id = s.bet_id
              AND o.tier = s.tier AND o.correction = s.correction
            LIMIT 1
        ) AS a
        CROSS JOIN LATERAL (
            SELECT o.casino_id
            FROM rounds AS o
            WHERE o.jackpot_id = made.jackpot_id AND o.round_key = s.round_key
            LIMIT 1
        ) AS r;
    END LOOP;
    RETURN NULL;
END
$$;

-- A further step, or a payment: the award's row is made again.
CREATE FUNCTION keep_open_award() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    DELETE FROM open_awards AS o
    WHERE o.jackpot_id = NEW.jackpot_id AND o.round_key = NEW.round_key AND o.bet_id = NEW.bet_id
      AND o.tier = NEW.tier AND o.correction = NEW.correction;
    INSERT INTO open_awards (jackpot_id, round_key, bet_id, tier, correction, award_id, casino_id, currency, state, since,
                             amount_minor, paid_minor)
    SELECT a.jackpot_id, a.round_key, a.bet_id, a.tier, a.correction, a.award_id, r.casino_id, a.currency, last.state,
           last.since, a.amount_minor, paid.minor
    FROM awards AS a
    CROSS JOIN LATERAL (
        SELECT o.casino_id
        FROM rounds AS o
        WHERE o.jackpot_id = NEW.jackpot_id AND o.round_key = NEW.round_key
        LIMIT 1
    ) AS r
    CROSS JOIN LATERAL (
        SELECT k.state, max(s.taken_at) OVER () AS since
        FROM award_steps AS s
        JOIN award_step_states AS k ON k.step = s.step
        WHERE s.jackpot_id = NEW.jackpot_id AND s.round_key = NEW.round_key AND s.bet_id = NEW.bet_id
          AND s.tier = NEW.tier AND s.correction = NEW.correction
        ORDER BY k.place DESC
        LIMIT 1
    ) AS last
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(p.amount_minor), 0)::bigint AS minor
        FROM payments AS p
        WHERE p.jackpot_id = NEW.jackpot_id AND p.round_key = NEW.round_key AND p.bet_id = NEW.bet_id
          AND p.tier = NEW.tier AND p.correction = NEW.correction
    ) AS paid
    WHERE a.jackpot_id = NEW.jackpot_id AND a.round_key = NEW.round_key AND a.bet_id = NEW.bet_id
      AND a.tier = NEW.tier AND a.correction = NEW.correction
      AND last.state IN ('held', 'payable', 'stopped') AND paid.minor < a.amount_minor;
    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION open_new_awards() FROM PUBLIC;
REVOKE ALL ON FUNCTION keep_open_award() FROM PUBLIC;

CREATE TRIGGER open_new_awards AFTER INSERT ON award_steps
    REFERENCING NEW TABLE AS taken FOR EACH STATEMENT EXECUTE FUNCTION open_new_awards();
CREATE TRIGGER keep_open_award AFTER INSERT ON award_steps
    FOR EACH ROW WHEN (NEW.step NOT IN ('payable', 'held')) EXECUTE FUNCTION keep_open_award();
CREATE TRIGGER keep_open_award AFTER INSERT ON payments FOR EACH ROW EXECUTE FUNCTION keep_open_award();
