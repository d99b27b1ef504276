-- The makers of keys. An entry does not record the key that posted it, only the key's principal: so every key counts
-- that the principal could have used then. A process believes in a revoked key for 15 seconds, and clocks may differ by
-- two.
CREATE VIEW key_makers AS
SELECT key.principal, made.principal AS maker,
       made.received_at - interval '1 minute' AS usable_from,
       coalesce(key.revoked_at + interval '1 minute', 'infinity') AS usable_until
FROM keys AS key
JOIN entries AS made ON made.jackpot_id = '-' AND made.stripe_no = 0 AND made.seq = key.entry_seq
WHERE made.principal <> 'cli';

-- Whether an actor made a key of a round's table server, or has a key from the same maker. Such an actor could have
-- made a round, and then release what it won.
CREATE FUNCTION is_key_maker_on_both_sides(of_jackpot text, of_round bigint, actor text, acted_at timestamptz)
RETURNS boolean LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    WITH played AS MATERIALIZED (
        SELECT principal, received_at FROM entries WHERE jackpot_id = of_jackpot AND round_key = of_round
    ),
    makers AS MATERIALIZED (
        SELECT principal, maker, usable_from, usable_until
        FROM key_makers
        WHERE principal IN (SELECT principal FROM played UNION ALL SELECT actor)
    )
    SELECT EXISTS (
        SELECT 1 FROM played
        JOIN makers AS theirs ON theirs.principal = played.principal
         AND played.received_at BETWEEN theirs.usable_from AND theirs.usable_until
        WHERE theirs.maker = actor OR EXISTS (
            SELECT 1 FROM makers AS own
            WHERE own.principal = actor AND own.maker = theirs.maker
              AND acted_at BETWEEN own.usable_from AND own.usable_until
        )
    )
$$;
