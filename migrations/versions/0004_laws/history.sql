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
        'acts', 'award_steps', 'awards', 'bets', 'casino_claims', 'casinos', 'change_decisions', 'change_policies',
        'change_requests', 'closed_periods', 'compensations', 'corrections', 'cycles', 'emergency_switches', 'entries',
        'exception_acknowledgements', 'exceptions', 'jackpots', 'principals', 'rate_sheets', 'rates',
        'passkey_revocations', 'passkeys', 'past_days', 'payments', 'reconciled_days', 'rules_versions', 'seals', 'slip_prints', 'statement_settlements',
        'table_limits', 'tables', 'verifications', 'voids', 'withholding_rules'
    ];
    -- The service's rights say which columns change.
    updated text[] := ARRAY[
        'days', 'exception_chain', 'exception_counts', 'keys', 'passkey_uses', 'rounds', 'stripes'
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

-- Exceptions only become more.
CREATE TRIGGER number_never_falls BEFORE UPDATE ON exception_chain
    FOR EACH ROW WHEN (NEW.number < OLD.number) EXECUTE FUNCTION refuse_rewrite();

-- A key that was revoked stays revoked.
CREATE TRIGGER revoked_for_good BEFORE UPDATE ON keys
    FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL) EXECUTE FUNCTION refuse_rewrite();

-- A challenge is removed when it was answered. Until then nobody makes another question of it.
CREATE TRIGGER written_once BEFORE UPDATE ON passkey_challenges
    FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
