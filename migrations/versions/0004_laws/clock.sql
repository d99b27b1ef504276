-- No stripe's time falls, and none moves more than two seconds ahead of the database's own clock. A service that booked
-- once by a clock that is days ahead would otherwise move it there for good. A stripe that is ahead already, because the
-- database's clock was set back, goes on from where it stands.

-- Where the condition of a trigger does not hold, which is always, no function is called.
CREATE TRIGGER booked_at_never_falls AFTER UPDATE OF booked_at ON stripes
    FOR EACH ROW WHEN (NEW.booked_at < OLD.booked_at) EXECUTE FUNCTION refuse_rewrite();

CREATE FUNCTION refuse_ahead() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'stripe % of % is not moved to %: that lies ahead', NEW.stripe_no, NEW.jackpot_id, NEW.booked_at
        USING ERRCODE = 'check_violation', TABLE = 'stripes', CONSTRAINT = 'booked_at_not_ahead',
              HINT = 'Compare the clocks of the service and of the database.';
END
$$;

CREATE TRIGGER not_ahead BEFORE UPDATE OF booked_at ON stripes
    FOR EACH ROW WHEN (NEW.booked_at > OLD.booked_at AND NEW.booked_at > clock_timestamp() + interval '2 seconds')
    EXECUTE FUNCTION refuse_ahead();

-- A key that is revoked in the past would hide by whose key a round was played: see `key_makers`.
CREATE FUNCTION refuse_past() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'key % is not revoked as of %: that has passed', NEW.key_id, NEW.revoked_at
        USING ERRCODE = 'check_violation', TABLE = 'keys', CONSTRAINT = 'revoked_at_not_past',
              HINT = 'Compare the clocks of the service and of the database.';
END
$$;

CREATE TRIGGER not_revoked_in_the_past BEFORE UPDATE OF revoked_at ON keys
    FOR EACH ROW WHEN (NEW.revoked_at < clock_timestamp() - interval '1 minute')
    EXECUTE FUNCTION refuse_past();

CREATE TRIGGER not_added_ahead BEFORE INSERT ON stripes
    FOR EACH ROW WHEN (NEW.booked_at > clock_timestamp() + interval '2 seconds')
    EXECUTE FUNCTION refuse_ahead();
