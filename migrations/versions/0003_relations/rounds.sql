-- The rows of a round, looked up by its key, whatever statistics say (LIMIT, a fence). Of a new jackpot they know
-- nothing for a while, and all of its rounds might be read for each.
CREATE FUNCTION round_of_key(of_jackpot text, of_round bigint) RETURNS SETOF rounds LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT * FROM rounds WHERE jackpot_id = of_jackpot AND round_key = of_round LIMIT 1
$$;

CREATE FUNCTION entry_of_step(of_jackpot text, of_round bigint, of_step integer) RETURNS SETOF entries
    LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT * FROM entries WHERE jackpot_id = of_jackpot AND round_key = of_round AND step = of_step LIMIT 1
$$;

-- The records of results and cancellations: the facts of entries as columns. A round has one of them at most.
CREATE VIEW results AS
SELECT e.jackpot_id, e.round_key, e.step, (e.facts #>> '{result,bet_count}')::int AS bet_count,
       ARRAY(SELECT jsonb_array_elements_text(e.facts #> '{result,dealer}')) AS dealer,
       (e.facts #>> '{result,occurred_at}')::timestamptz AS occurred_at
FROM entries e
WHERE e.kind = 'result';

CREATE VIEW cancellations AS
SELECT e.jackpot_id, e.round_key, e.step, (e.facts ->> 'reason') COLLATE "C" AS reason,
       (e.facts ->> 'cycle')::int AS cycle, (e.facts ->> 'occurred_at')::timestamptz AS occurred_at
FROM entries e
WHERE e.kind = 'cancellation';

CREATE VIEW hands AS
SELECT e.jackpot_id, e.round_key, e.step, (h.fact ->> 0) COLLATE "C" AS hand, (h.fact ->> 1) COLLATE "C" AS status,
       ARRAY(SELECT jsonb_array_elements_text(h.fact -> 2)) AS cards
FROM entries e
CROSS JOIN LATERAL jsonb_array_elements(coalesce(e.facts #> '{result,hands}', e.facts -> 'hands')) AS h (fact)
WHERE e.kind IN ('result', 'cancellation');

CREATE VIEW settlements AS
SELECT e.jackpot_id, e.round_key, e.step, (s.fact ->> 'cycle')::int AS cycle, (s.fact ->> 'policy') COLLATE "C" AS policy,
       ARRAY(SELECT jsonb_array_elements_text(s.fact -> 'positions')::bigint) AS positions,
       (s.fact ->> 'meter_before')::numeric AS meter_before, (s.fact ->> 'weight')::numeric AS weight,
       s.fact -> 'entitlements' AS entitlements, (s.fact ->> 'meter_after')::numeric AS meter_after,
       (s.fact ->> 'reserve_after')::numeric AS reserve_after,
       (s.fact ->> 'prize_fund_after')::numeric AS prize_fund_after, (s.fact ->> 'overflow')::numeric AS overflow,
       (s.fact ->> 'carried')::numeric AS carried, (s.fact ->> 'house_seed')::numeric AS house_seed,
       (s.fact ->> 'cycle_after')::int AS cycle_after
FROM entries e
CROSS JOIN LATERAL (SELECT e.facts -> 'settlement') AS s (fact)
WHERE e.kind = 'result';

-- The bets of a round that were not voided. None is once its round has ended. Here and below a fence has one round's bets
-- looked up by their key: joined into a caller's statement, those of all rounds might be read.
CREATE FUNCTION live_bets(of_jackpot text, of_round bigint) RETURNS SETOF bets LANGUAGE sql STABLE AS $$
    SELECT b.*
    FROM bets b
    WHERE b.jackpot_id = of_jackpot AND b.round_key = of_round
      AND NOT EXISTS (
          SELECT
          FROM voids v
          WHERE v.jackpot_id = of_jackpot AND v.round_key = of_round AND v.bet_id = b.bet_id
      )
    OFFSET 0  -- One round by its key: joined, the bets of all rounds might be read.
$$;

-- A round's bets, what they are worth by a sheet of rates, and by which steps of the round they were accepted and
-- refunded. A bet is refunded when it is voided, its round is cancelled, or its hand is dead and the rules
-- do not have it play on; and only once.
CREATE FUNCTION bets_with_refunds(of_jackpot text, of_round bigint, of_base text, of_sheet integer)
RETURNS TABLE (bet_id text, player_id text, hand text, currency text, step integer, refund_step integer,
               stake numeric, value numeric) LANGUAGE sql STABLE AS $$
    SELECT b.bet_id, b.player_id, b.hand, b.currency, b.step, coalesce(v.step, c.step, h.step),
           b.stake_minor * ('1e-' || r.exponent)::numeric, b.stake_minor * ('1e-' || r.exponent)::numeric * r.base_per_unit
    FROM bets b
    JOIN rates r ON r.base = of_base AND r.number = of_sheet AND r.currency = b.currency
    LEFT JOIN voids v ON v.jackpot_id = of_jackpot AND v.round_key = of_round AND v.bet_id = b.bet_id
                     AND NOT v.is_tombstone
    LEFT JOIN cancellations c ON c.jackpot_id = of_jackpot AND c.round_key = of_round
    LEFT JOIN hands h ON h.jackpot_id = of_jackpot AND h.round_key = of_round AND h.hand = b.hand AND h.status = 'dead'
                     AND refunds_dead_hands(of_jackpot, (SELECT o.rules_version FROM round_of_key(of_jackpot, of_round) AS o))
    WHERE b.jackpot_id = of_jackpot AND b.round_key = of_round
    OFFSET 0  -- One round by its key: the caller has a list of rounds.
$$;
