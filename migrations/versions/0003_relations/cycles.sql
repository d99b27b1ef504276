-- The cycles of a jackpot in their order, on each of its stripes, with the seq at which each began. Stripes count up to
-- the highest that is looked at: books that are being proved may hold any stripe number.
CREATE FUNCTION cuts_of_stripes(of_jackpot text, highest integer)
RETURNS TABLE (stripe_no integer, cycles integer[], cuts bigint[]) LANGUAGE sql STABLE ROWS 16 AS $$
    SELECT stripe.stripe_no, array_agg(passed.cycle ORDER BY passed.cycle),
           array_agg(coalesce(passed.cut[stripe.stripe_no + 1], 0) ORDER BY passed.cycle)
    FROM generate_series(0, (SELECT least(max(last.stripe_no), highest)
                             FROM entries last
                             WHERE last.jackpot_id = of_jackpot)) AS stripe (stripe_no)
    CROSS JOIN cycles passed
    WHERE passed.jackpot_id = of_jackpot
    GROUP BY stripe.stripe_no
$$;
