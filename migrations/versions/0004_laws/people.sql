-- Every act has an actor, another person decides what one requests, and nobody releases what an own key won. The keys
-- are looked up for the time that a row states and for now: a row may state any time.

CREATE FUNCTION require_actor() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM entries JOIN principals ON principals.name = entries.principal
        WHERE entries.jackpot_id = '-' AND entries.stripe_no = 0 AND entries.seq = NEW.seq
    ) THEN
        RAISE foreign_key_violation
            USING MESSAGE = format('act %s is no principal''s', NEW.seq), CONSTRAINT = 'require_actor';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER require_actor BEFORE INSERT ON acts FOR EACH ROW EXECUTE FUNCTION require_actor();

-- A maker is of the house, and of a role that the policy in force lets request.
CREATE FUNCTION require_asker() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    policy change_policies;
    asker principals;
BEGIN
    SELECT * INTO asker FROM principals WHERE name = NEW.maker;
    IF asker.name IS NULL THEN
        RETURN NEW;  -- The foreign key refuses it.
    END IF;
    SELECT * INTO policy FROM change_policies WHERE kind = NEW.kind ORDER BY version DESC LIMIT 1;
    IF policy.kind IS NULL OR asker.casino_id IS NOT NULL OR asker.role <> ALL (policy.requested_by) THEN
        RAISE insufficient_privilege
            USING MESSAGE = format('the role %s asks for no change of kind %s', asker.role, NEW.kind);
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER require_asker BEFORE INSERT ON change_requests FOR EACH ROW EXECUTE FUNCTION require_asker();

-- Whether somebody has a passkey that was not revoked: then it signs their approvals.
CREATE FUNCTION has_passkey(person text) RETURNS boolean LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM passkeys AS p
        WHERE p.principal = person
          AND NOT EXISTS (SELECT FROM passkey_revocations AS r WHERE r.passkey_id = p.passkey_id)
    )
$$;

CREATE FUNCTION base64url(content bytea) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = public, pg_temp AS $$
    SELECT translate(encode(content, 'base64'), E'+/=\n', '-_')
$$;

-- A passkey is registered by the person whom it shows, who is no service account, as it is in the act.
CREATE FUNCTION require_own_passkey() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM entries JOIN principals ON principals.name = entries.principal JOIN acts ON acts.seq = entries.seq
        WHERE entries.jackpot_id = '-' AND entries.stripe_no = 0 AND entries.seq = NEW.entry_seq
          AND entries.kind = 'passkey_registered' AND principals.name = NEW.principal
          AND NOT principals.is_automaton AND principals.role NOT IN ('table', 'display')
          AND acts.after = jsonb_build_object(
              'passkey_id', NEW.passkey_id, 'principal', NEW.principal, 'name', NEW.name,
              'credential_id', base64url(NEW.credential_id), 'public_key', base64url(NEW.public_key),
              'sign_count', NEW.sign_count, 'rp_id', NEW.rp_id)
    ) THEN
        RAISE insufficient_privilege USING MESSAGE = 'a person registers a passkey of their own';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER require_own_passkey BEFORE INSERT ON passkeys FOR EACH ROW EXECUTE FUNCTION require_own_passkey();

-- A passkey is revoked by an operator who is another person, or by its person, who has another one in force. So nobody
-- makes their approvals unsigned.
CREATE FUNCTION require_revoker() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM entries JOIN principals ON principals.name = entries.principal JOIN acts ON acts.seq = entries.seq
        JOIN passkeys AS p ON p.passkey_id = NEW.passkey_id
        WHERE entries.jackpot_id = '-' AND entries.stripe_no = 0 AND entries.seq = NEW.entry_seq
          AND entries.kind = 'passkey_revoked' AND acts.after ->> 'passkey_id' = NEW.passkey_id
          AND CASE
              WHEN principals.name <> p.principal THEN principals.role = 'operator'
              ELSE EXISTS (
                  SELECT FROM passkeys AS another
                  WHERE another.principal = p.principal AND another.passkey_id <> p.passkey_id
                    AND NOT EXISTS (SELECT FROM passkey_revocations AS r WHERE r.passkey_id = another.passkey_id)
              )
          END
    ) THEN
        RAISE insufficient_privilege USING MESSAGE = 'another person, an operator, revokes the last passkey of somebody';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER require_revoker BEFORE INSERT ON passkey_revocations FOR EACH ROW EXECUTE FUNCTION require_revoker();

CREATE FUNCTION require_checker() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    request change_requests;
    policy change_policies;
    asker principals;
    decider principals;
BEGIN
    SELECT * INTO request FROM change_requests WHERE request_id = NEW.request_id;
    SELECT * INTO policy FROM change_policies WHERE kind = request.kind ORDER BY version DESC LIMIT 1;
    SELECT * INTO asker FROM principals WHERE name = request.maker;
    SELECT * INTO decider FROM principals WHERE name = NEW.checker;
    IF request IS NULL OR decider IS NULL THEN
        RETURN NEW;  -- The foreign keys refuse it.
    END IF;
    IF decider.is_automaton OR decider.role IN ('table', 'display') THEN
        RAISE insufficient_privilege USING MESSAGE = 'a service account decides no change';
    END IF;
    -- An emergency is the maker's own: it is enough that the role may ask.
    IF policy.kind IS NULL OR decider.casino_id IS NOT NULL
       OR decider.role <> ALL (CASE WHEN NEW.is_emergency THEN policy.requested_by ELSE policy.decided_by END) THEN
        RAISE insufficient_privilege
            USING MESSAGE = format('the role %s decides no change of kind %s', decider.role, request.kind);
    END IF;
    IF NEW.checker <> NEW.maker AND (name_by_look(NEW.checker) = name_by_look(NEW.maker)
                                     OR name_in_one_case(NEW.checker) = name_in_one_case(NEW.maker)) THEN
        RAISE insufficient_privilege USING MESSAGE = 'the maker decides no change, also in other letters';
    END IF;
    IF policy.needs_other_department AND NOT NEW.is_emergency AND decider.department = asker.department THEN
        RAISE insufficient_privilege
            USING MESSAGE = format('another department than %s decides it', asker.department);
    END IF;
    IF policy.needs_other_role AND NOT NEW.is_emergency AND decider.role = asker.role THEN
        RAISE insufficient_privilege USING MESSAGE = format('another role than %s decides it', asker.role);
    END IF;
    IF NEW.is_emergency AND NOT (SELECT is_on FROM emergency_switches ORDER BY entry_seq DESC LIMIT 1) THEN
        RAISE insufficient_privilege USING MESSAGE = 'emergency approvals are switched off';
    END IF;
    IF NEW.outcome = 'approved' AND NEW.passkey_id IS NULL
       AND (policy.needs_passkey OR has_passkey(NEW.checker)) THEN
        RAISE insufficient_privilege USING MESSAGE = 'a passkey signs the approval';
    END IF;
    IF EXISTS (SELECT FROM passkey_revocations WHERE passkey_id = NEW.passkey_id) THEN
        RAISE insufficient_privilege USING MESSAGE = 'the passkey was revoked';
    END IF;
    IF EXISTS (SELECT FROM change_decisions WHERE request_id = NEW.request_id AND is_final) THEN
        RAISE insufficient_privilege USING MESSAGE = 'the change was decided before';
    END IF;
    IF NEW.is_final <> (NEW.outcome = 'rejected' OR NEW.is_emergency OR request.approvals_due <= 1 + (
        SELECT count(*) FROM change_decisions WHERE request_id = NEW.request_id
    )) THEN
        RAISE insufficient_privilege
            USING MESSAGE = format('the change is approved by %s people', request.approvals_due);
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER require_checker BEFORE INSERT ON change_decisions FOR EACH ROW EXECUTE FUNCTION require_checker();

CREATE FUNCTION require_no_key_maker() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM change_requests AS request
        JOIN rounds ON rounds.jackpot_id = request.payload ->> 'jackpot_id'
         AND by_index(table_id || ' ' || round_id) = concat_ws(
             ' ', request.payload ->> 'table_id', request.payload ->> 'round_id')
        WHERE request.request_id = NEW.request_id
          AND request.kind IN ('held-awards', 'compensation', 'round-correction')
          AND request.payload ->> 'decision' IS DISTINCT FROM 'reject'
          AND (is_key_maker_on_both_sides(rounds.jackpot_id, round_key, NEW.checker, NEW.decided_at)
               OR is_key_maker_on_both_sides(rounds.jackpot_id, round_key, NEW.checker, clock_timestamp()))
    ) THEN
        RAISE insufficient_privilege USING MESSAGE = 'who made a key of a round approves nothing of its awards';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER require_no_key_maker BEFORE INSERT ON change_decisions
    FOR EACH ROW WHEN (NEW.outcome = 'approved') EXECUTE FUNCTION require_no_key_maker();

CREATE FUNCTION require_payer() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM entries AS act
        WHERE act.jackpot_id = '-' AND act.stripe_no = 0 AND act.seq = NEW.act_seq
          AND (is_key_maker_on_both_sides(NEW.jackpot_id, NEW.round_key, act.principal, act.received_at)
               OR is_key_maker_on_both_sides(NEW.jackpot_id, NEW.round_key, act.principal, clock_timestamp()))
    ) THEN
        RAISE insufficient_privilege
            USING MESSAGE = 'who made a key of a round records no payment of its awards, and reverses none';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER require_payer BEFORE INSERT ON payments FOR EACH ROW EXECUTE FUNCTION require_payer();

-- A stopped award is not paid until two people released it, nor a held one until they made it payable. The payments of
-- an award lie between nothing and all of it, and they withhold the due amount at most.
CREATE FUNCTION require_unpaid() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    taken text[] := ARRAY(
        SELECT s.step FROM award_steps AS s
        WHERE s.jackpot_id = NEW.jackpot_id AND s.round_key = NEW.round_key AND s.bet_id = NEW.bet_id
          AND s.tier = NEW.tier AND s.correction = NEW.correction
    );
    paid bigint := NEW.amount_minor + coalesce((
        SELECT sum(p.amount_minor) FROM payments AS p
        WHERE p.jackpot_id = NEW.jackpot_id AND p.round_key = NEW.round_key AND p.bet_id = NEW.bet_id
          AND p.tier = NEW.tier AND p.correction = NEW.correction
    ), 0);
    withheld bigint := NEW.withheld_minor + coalesce((
        SELECT sum(p.withheld_minor) FROM payments AS p
        WHERE p.jackpot_id = NEW.jackpot_id AND p.round_key = NEW.round_key AND p.bet_id = NEW.bet_id
          AND p.tier = NEW.tier AND p.correction = NEW.correction
    ), 0);
BEGIN
    IF NOT EXISTS (
        SELECT FROM awards AS a
        WHERE a.jackpot_id = NEW.jackpot_id AND a.round_key = NEW.round_key AND a.bet_id = NEW.bet_id
          AND a.tier = NEW.tier AND a.correction = NEW.correction AND paid BETWEEN 0 AND a.amount_minor
    ) THEN
        RAISE check_violation USING MESSAGE = 'the payments exceed their award', CONSTRAINT = 'require_unpaid';
    END IF;
    IF NEW.withheld_minor > 0 AND NOT EXISTS (
        SELECT FROM awards AS a
        JOIN rounds AS r ON r.jackpot_id = a.jackpot_id AND r.round_key = a.round_key
        JOIN bets AS b ON b.jackpot_id = a.jackpot_id AND b.round_key = a.round_key AND b.bet_id = a.bet_id
        -- As in withholding_rule_of: on several machines a call within a function is not replaced by its body.
        JOIN LATERAL (
            SELECT known.*
            FROM withholding_rules AS known
            WHERE known.casino_id = r.casino_id AND known.currency = a.currency AND known.in_force_from <= r.opened_at
            ORDER BY known.version DESC
            LIMIT 1
        ) AS rule ON true
        WHERE a.jackpot_id = NEW.jackpot_id AND a.round_key = NEW.round_key AND a.bet_id = NEW.bet_id
          AND a.tier = NEW.tier AND a.correction = NEW.correction
          AND withheld <= withholding_due(rule, a.amount_minor, b.stake_minor)
    ) THEN
        RAISE check_violation USING MESSAGE = 'more is withheld than is due', CONSTRAINT = 'require_due';
    END IF;
    IF 'forfeited' = ANY (taken) THEN
        RAISE insufficient_privilege USING MESSAGE = 'a forfeited award is not paid';
    END IF;
    IF 'reversed' = ANY (taken) THEN
        RAISE insufficient_privilege USING MESSAGE = 'an award that a correction took back is not paid';
    END IF;
    IF 'stopped' = ANY (taken) AND 'released' <> ALL (taken) THEN
        RAISE insufficient_privilege USING MESSAGE = 'a stopped award is not paid';
    END IF;
    IF 'held' = ANY (taken) AND NOT taken && ARRAY['approved', 'reinstated'] THEN
        RAISE insufficient_privilege USING MESSAGE = 'a held award is not paid';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER require_unpaid BEFORE INSERT ON payments FOR EACH ROW EXECUTE FUNCTION require_unpaid();

-- Of an award that a correction takes back nothing is paid.
CREATE FUNCTION require_no_payment() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF 0 <> (
        SELECT coalesce(sum(p.amount_minor), 0) FROM payments AS p
        WHERE p.jackpot_id = NEW.jackpot_id AND p.round_key = NEW.round_key AND p.bet_id = NEW.bet_id
          AND p.tier = NEW.tier AND p.correction = NEW.correction
    ) THEN
        RAISE check_violation USING MESSAGE = 'a paid award is not taken back', CONSTRAINT = 'require_no_payment';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER require_no_payment BEFORE INSERT ON award_steps
    FOR EACH ROW WHEN (NEW.step = 'reversed') EXECUTE FUNCTION require_no_payment();

-- Some rows are written by acts on which two people decided. The database asks for that at the commit: a request tries
-- its change, and takes it back, before it is written.
CREATE FUNCTION require_approval(act bigint, what text, kinds text[]) RETURNS void LANGUAGE plpgsql STABLE
    SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM acts
        JOIN change_requests ON change_requests.request_id = acts.decides
        JOIN change_decisions ON change_decisions.request_id = acts.decides
        WHERE acts.seq = act AND change_requests.kind = ANY (kinds)
          AND change_decisions.outcome = 'approved' AND change_decisions.is_final
    ) THEN
        RAISE insufficient_privilege USING MESSAGE = format('two people %s', what);
    END IF;
END
$$;

-- Its arguments: the column that names the act, what two people do, and the kinds of change that do it.
CREATE FUNCTION require_two_people() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM require_approval((to_jsonb(NEW) ->> TG_ARGV[0])::bigint, TG_ARGV[1], TG_ARGV[2:]);
    RETURN NULL;
END
$$;

CREATE CONSTRAINT TRIGGER require_releasers AFTER INSERT ON award_steps DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.step IN ('approved', 'reinstated', 'released'))
    EXECUTE FUNCTION require_two_people(
        'act_seq', 'make an award payable that is held, rejected or stopped', 'held-awards'
    );

CREATE CONSTRAINT TRIGGER require_forfeiters AFTER INSERT ON award_steps DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.step = 'forfeited')
    EXECUTE FUNCTION require_two_people('act_seq', 'forfeit an award', 'award-forfeiture');

CREATE CONSTRAINT TRIGGER require_reversers AFTER INSERT ON payments DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.reverses IS NOT NULL)
    EXECUTE FUNCTION require_two_people('act_seq', 'reverse a payment', 'payment-reversal');

CREATE CONSTRAINT TRIGGER require_claim_setters AFTER INSERT ON casino_claims DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION require_two_people('entry_seq', 'set the claim period of a casino', 'casino-claims');

CREATE CONSTRAINT TRIGGER require_rule_setters AFTER INSERT ON withholding_rules DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION require_two_people('entry_seq', 'set a withholding rule', 'casino-withholding');

-- The row names its entry in the jackpot's book. So its act is the one that booked just this there.
CREATE FUNCTION require_limiters() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    recorded jsonb := jsonb_build_object(
        'table_id', NEW.table_id, 'limits', jsonb_build_object('version', NEW.version, 'document', NEW.document)
    );
    booked jsonb := jsonb_build_array(
        jsonb_build_object('book', NEW.jackpot_id, 'seq', NEW.entry_seq, 'recorded', recorded)
    );
BEGIN
    PERFORM require_approval(
        (
            SELECT acts.seq FROM acts WHERE acts.jackpot_id = NEW.jackpot_id AND acts.effects @> booked
            ORDER BY acts.seq DESC LIMIT 1
        ),
        'limit a table', ARRAY['table-limits']
    );
    RETURN NULL;
END
$$;

CREATE CONSTRAINT TRIGGER require_limiters AFTER INSERT ON table_limits DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION require_limiters();

CREATE CONSTRAINT TRIGGER require_policy_makers AFTER INSERT ON change_policies DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.version > 1)
    EXECUTE FUNCTION require_two_people('entry_seq', 'change who decides what', 'change-policy');

CREATE FUNCTION require_deciders() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM exceptions WHERE exception_id = NEW.exception_id AND kind = 'prize-denied') THEN
        PERFORM require_approval(
            NEW.entry_seq, 'decide about a denied prize', ARRAY['compensation', 'declined-compensation']
        );
    END IF;
    RETURN NULL;
END
$$;

CREATE CONSTRAINT TRIGGER require_deciders AFTER INSERT ON exception_acknowledgements DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION require_deciders();
