-- History is not rewritten. The service's rights are the first wall; these triggers are the second: they stop the owner
-- too. An owner can disable them, so `jackpot verify` does not rely on them: it derives the chain again.

CREATE FUNCTION refuse_rewrite() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% of % is refused: the books are append-only', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege', HINT = 'Corrections are further entries.';
END
$$;

DO $$
DECLARE
    written_once text[] := ARRAY[
        'acts', 'award_steps', 'bets', 'casino_claims', 'casinos', 'change_decisions', 'change_policies',
        'change_requests', 'closed_periods', 'compensations', 'corrections', 'cycles', 'emergency_switches', 'entries',
        'exception_acknowledgements', 'exceptions', 'jackpots', 'principals', 'rate_sheets', 'rates',
        'past_days', 'payments', 'reconciled_days', 'rules_versions', 'seals', 'slip_prints', 'statement_settlements',
        'table_limits', 'tables', 'verifications', 'voids', 'withholding_rules'
    ];
    -- The service's rights say which columns change.
    updated text[] := ARRAY[
        'awards', 'days', 'exception_chain', 'exception_counts', 'keys', 'rounds', 'stripes'
    ];
    -- Row triggers go to every partition; one on TRUNCATE each partition needs for itself.
    partitions text[] := ARRAY['bets_before', 'bets_default'];
    name text;
BEGIN
    FOREACH name IN ARRAY written_once LOOP
        EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON %I '
                       'FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()', name);
    END LOOP;
    FOREACH name IN ARRAY updated LOOP
        EXECUTE format('CREATE TRIGGER no_delete BEFORE DELETE ON %I '
                       'FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()', name);
    END LOOP;
    FOREACH name IN ARRAY written_once || updated || partitions LOOP
        EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON %I '
                       'FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()', name);
    END LOOP;
END
$$;

-- A key that was revoked stays revoked.
CREATE TRIGGER revoked_for_good BEFORE UPDATE ON keys
    FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL) EXECUTE FUNCTION refuse_rewrite();

-- Of an award only `is_open` changes, and nobody states it: payments and steps do, by `keep_open`.
CREATE TRIGGER append_only BEFORE UPDATE ON awards
    FOR EACH ROW WHEN (pg_trigger_depth() = 0 OR to_jsonb(OLD) - 'is_open' <> to_jsonb(NEW) - 'is_open')
    EXECUTE FUNCTION refuse_rewrite();

-- By the rights of the owner, since the service has none to change an award.
CREATE FUNCTION keep_open() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE awards AS a
    SET is_open = a.amount_minor > (
        SELECT coalesce(sum(p.amount_minor), 0) FROM payments AS p
        WHERE p.jackpot_id = NEW.jackpot_id AND p.round_key = NEW.round_key AND p.bet_id = NEW.bet_id
          AND p.tier = NEW.tier AND p.correction = NEW.correction
    ) AND NOT EXISTS (
        SELECT FROM award_steps AS s
        WHERE s.jackpot_id = NEW.jackpot_id AND s.round_key = NEW.round_key AND s.bet_id = NEW.bet_id
          AND s.tier = NEW.tier AND s.correction = NEW.correction AND s.step IN ('forfeited', 'reversed')
    )
    WHERE a.jackpot_id = NEW.jackpot_id AND a.round_key = NEW.round_key AND a.bet_id = NEW.bet_id
      AND a.tier = NEW.tier AND a.correction = NEW.correction;
    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION keep_open() FROM PUBLIC;

CREATE TRIGGER keep_open AFTER INSERT ON payments FOR EACH ROW EXECUTE FUNCTION keep_open();
CREATE TRIGGER keep_open AFTER INSERT ON award_steps
    FOR EACH ROW WHEN (NEW.step IN ('forfeited', 'reversed')) EXECUTE FUNCTION keep_open();
