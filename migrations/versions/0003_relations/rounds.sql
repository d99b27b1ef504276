-- What belongs to a round, looked up by its key, whatever statistics say (LIMIT, a fence): of a new jackpot they know
-- nothing for a while, and all of its rounds might be read for each.
CREATE FUNCTION round_of_key(of_jackpot text, of_round bigint) RETURNS SETOF rounds LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT * FROM rounds WHERE jackpot_id = of_jackpot AND round_key = of_round LIMIT 1
$$;

CREATE FUNCTION entry_of_step(of_jackpot text, of_round bigint, of_step integer) RETURNS SETOF entries
    LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT * FROM entries WHERE jackpot_id = of_jackpot AND round_key = of_round AND step = of_step LIMIT 1
$$;

-- The bets of a round that were not voided. None is once its round has ended.
CREATE FUNCTION live_bets(of_jackpot text, of_round bigint) RETURNS SETOF bets LANGUAGE sql STABLE AS $$
    SELECT b.*
    FROM bets b
    WHERE b.jackpot_id = of_jackpot AND b.round_key = of_round
      AND NOT EXISTS (
          SELECT
          FROM voids v
          WHERE v.jackpot_id = of_jackpot AND v.round_key = of_round AND v.bet_id = b.bet_id
      )
    OFFSET 0
$$;

-- A round's bets, what they are worth by a sheet of rates, and by which steps of the round they were accepted and
-- refunded. A bet is refunded when it is voided, its round is cancelled, or its hand is dead; and only once.
CREATE FUNCTION bets_with_refunds(of_jackpot text, of_round bigint, of_base text, of_sheet integer)
RETURNS TABLE (bet_id text, player_id text, hand text, currency text, step integer, refund_step integer,
               stake numeric, value numeric) LANGUAGE sql STABLE AS $$
    SELECT b.bet_id, b.player_id, b.hand, b.currency, b.step, coalesce(v.step, c.step, d.step),
           b.stake_minor * ('1e-' || r.exponent)::numeric, b.stake_minor * ('1e-' || r.exponent)::numeric * r.base_per_unit
    FROM bets b
    JOIN rates r ON r.base = of_base AND r.number = of_sheet AND r.currency = b.currency
    LEFT JOIN voids v ON v.jackpot_id = of_jackpot AND v.round_key = of_round AND v.bet_id = b.bet_id
                     AND NOT v.is_tombstone
    LEFT JOIN cancellations c ON c.jackpot_id = of_jackpot AND c.round_key = of_round
    LEFT JOIN hands h ON h.jackpot_id = of_jackpot AND h.round_key = of_round AND h.hand = b.hand AND h.status = 'dead'
    LEFT JOIN results d ON d.jackpot_id = of_jackpot AND d.round_key = h.round_key
    WHERE b.jackpot_id = of_jackpot AND b.round_key = of_round
    OFFSET 0
$$;
