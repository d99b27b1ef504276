-- The heads after each of some entries that are booked together: sha256(head before || digest || microseconds).
CREATE FUNCTION chained_heads(head bytea, digests bytea[], booked_at timestamptz) RETURNS bytea[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    moment bytea := int8send((extract(epoch FROM booked_at) * 1000000)::bigint);
    digest bytea;
    heads bytea[] := '{}';
BEGIN
    FOREACH digest IN ARRAY digests LOOP
        head := sha256(head || digest || moment);
        heads := heads || head;
    END LOOP;
    RETURN heads;
END
$$;

-- One row a posting.
CREATE VIEW postings AS
SELECT e.jackpot_id, e.stripe_no, e.seq, p.line, p.account, p.currency, p.amount, p.movement, e.kind, e.booked_at
FROM entries e
CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
    WITH ORDINALITY AS p (account, currency, amount, movement, line);
