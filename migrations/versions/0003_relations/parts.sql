-- Parts of a jackpot's book: on each of some stripes, the entries after one seq, up to another. Each stripe's entries are
-- looked up by their seqs, few or many (OFFSET 0). Joined, all entries that there are might be read for those of a few
-- hours: how many are between two positions, no statistics tell.
CREATE FUNCTION entries_between(of_jackpot text, of_stripes integer[], starts bigint[], ends bigint[])
RETURNS SETOF entries LANGUAGE sql STABLE AS $$
    SELECT e.*
    FROM unnest(of_stripes, starts, ends) AS part (stripe_no, start, upto)
    CROSS JOIN LATERAL (
        SELECT *
        FROM entries
        WHERE jackpot_id = of_jackpot AND stripe_no = part.stripe_no AND seq > part.start AND seq <= part.upto
        OFFSET 0
    ) AS e
$$;

-- Those of them by which settlements made awards; an index holds just these.
CREATE FUNCTION award_entries_between(of_jackpot text, of_stripes integer[], starts bigint[], ends bigint[])
RETURNS SETOF entries LANGUAGE sql STABLE AS $$
    SELECT e.*
    FROM unnest(of_stripes, starts, ends) AS part (stripe_no, start, upto)
    CROSS JOIN LATERAL (
        SELECT *
        FROM entries
        WHERE jackpot_id = of_jackpot AND stripe_no = part.stripe_no AND seq > part.start AND seq <= part.upto
          AND kind = 'result' AND movements @> ARRAY['award']
        OFFSET 0
    ) AS e
$$;

-- What acts booked in a part of a jackpot's book, all on stripe 0, and these acts. They are acts that name a jackpot, and
-- not those of all: payments come by the thousand, and name none. What a jackpot receives is an effect of an act on
-- another.
CREATE FUNCTION effects_of_acts(of_jackpot text, after_seq bigint, upto_seq bigint)
RETURNS TABLE (act_seq bigint, subject text, decides text, before jsonb, after jsonb, seq bigint, kind text,
               recorded jsonb, round_key bigint) LANGUAGE sql STABLE AS $$
    SELECT a.seq, a.subject, a.decides, a.before, a.after, f.seq, f.kind, f.recorded,
           coalesce(f.recorded -> 'round' ->> 'round_key', f.recorded ->> 'round_key')::bigint
    FROM jackpots k
    JOIN acts a ON a.jackpot_id = k.jackpot_id
    CROSS JOIN LATERAL jsonb_to_recordset(a.effects) AS f (book text, seq bigint, kind text, recorded jsonb)
    WHERE f.book = of_jackpot AND f.seq > after_seq AND f.seq <= upto_seq
$$;
