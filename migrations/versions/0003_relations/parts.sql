-- Parts of a jackpot's book: on each of some stripes, the entries after one seq, up to another. Each stripe's entries
-- are looked up by their seqs, few or many: a fence keeps it so. Joined, all entries that there are might be read for
-- those of a few hours, since no statistics say how many are between two positions.
CREATE FUNCTION entries_between(of_jackpot text, of_stripes integer[], starts bigint[], ends bigint[])
RETURNS SETOF entries LANGUAGE sql STABLE AS $$
    SELECT e.*
    FROM unnest(of_stripes, starts, ends) AS part (stripe_no, start, upto)
    CROSS JOIN LATERAL (
        SELECT *
        FROM entries
        WHERE jackpot_id = of_jackpot AND stripe_no = part.stripe_no AND seq > part.start AND seq <= part.upto
        OFFSET 0  -- Each stripe by its seqs: joined, all entries might be read.
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
        OFFSET 0  -- As above, by the index of such entries.
    ) AS e
$$;

-- The effects of acts in a part of a jackpot's book, all on stripe 0, and these acts. They are acts that name a
-- jackpot, and not those of all: payments come by the thousand, and name none. The money that a jackpot receives is an
-- effect of an act on another.
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

-- The verdicts of a part that may have made awards, each with its entry: settlements that made some, whose number is 0,
-- and all corrections. They are those of a casino's or a table's rounds if either is named; only then is the round looked
-- up. An act on a round books one entry in its jackpot's book, so that no correction is here twice.
CREATE FUNCTION verdicts_between(
    of_jackpot text, of_casino text, of_table text, of_stripes integer[], starts bigint[], ends bigint[]
) RETURNS TABLE (stripe_no integer, seq bigint, booked_at timestamptz, round_key bigint, correction integer)
LANGUAGE sql STABLE AS $$
    SELECT verdict.*
    FROM (
        SELECT e.stripe_no, e.seq, e.booked_at, e.round_key, 0
        FROM award_entries_between(of_jackpot, of_stripes, starts, ends) AS e
        UNION ALL
        SELECT e.stripe_no, e.seq, e.booked_at, c.round_key, c.number
        FROM corrections c
        JOIN acts a ON a.seq = c.act_seq
        CROSS JOIN LATERAL jsonb_to_recordset(a.effects) AS effect (book text, seq bigint)
        JOIN unnest(of_stripes, starts, ends) AS part (stripe_no, start, upto)
          ON part.stripe_no = 0 AND effect.seq > part.start AND effect.seq <= part.upto
        JOIN entries e ON e.jackpot_id = of_jackpot AND e.stripe_no = 0 AND e.seq = effect.seq
        WHERE c.jackpot_id = of_jackpot AND effect.book = of_jackpot
    ) AS verdict (stripe_no, seq, booked_at, round_key, correction)
    WHERE coalesce(of_casino, of_table) IS NULL OR EXISTS (
        SELECT
        FROM rounds o
        WHERE o.jackpot_id = of_jackpot AND o.round_key = verdict.round_key
          AND (of_casino IS NULL OR o.casino_id = of_casino) AND (of_table IS NULL OR o.table_id = of_table)
    )
$$;

-- The acts on a jackpot that booked something in its book, and the last entry of each there.
CREATE FUNCTION acts_with_effects(of_jackpot text) RETURNS TABLE (act_seq bigint, effect_seq bigint)
    LANGUAGE sql STABLE AS $$
    SELECT a.seq, max(effect.seq)
    FROM acts a
    CROSS JOIN LATERAL jsonb_to_recordset(a.effects) AS effect (book text, seq bigint)
    WHERE a.jackpot_id = of_jackpot AND effect.book = of_jackpot
    GROUP BY a.seq
$$;

-- The worth of one minor unit of a currency in its units, for each that a base currency has had a rate for.
CREATE FUNCTION currency_units(of_base text) RETURNS TABLE (currency text, one numeric) LANGUAGE sql STABLE AS $$
    SELECT DISTINCT r.currency, ('1e-' || r.exponent)::numeric
    FROM rates r
    WHERE r.base = of_base
$$;
