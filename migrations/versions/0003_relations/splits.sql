-- The parts of a value, by a version of the rules. A split is linear: that of a sum is the sum of the splits, exactly.
-- Always one row: a part is NaN where the document is missing or cannot be read. With it no sum is right, and none is
-- an error: reports show that something is wrong, and the proof can name it.
CREATE FUNCTION rules_split(of_jackpot text, of_version integer)
RETURNS TABLE (to_meter numeric, to_reserve numeric, to_prize_fund numeric, to_house numeric)
LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT split.meter, split.reserve, split.prize_fund, 1 - split.meter - split.reserve - split.prize_fund
    FROM (
        SELECT coalesce(max(CASE WHEN v.document #>> '{split,meter}' ~ '^[01]([.][0-9]{1,4})?$'
                                 THEN (v.document #>> '{split,meter}')::numeric ELSE 'NaN' END), 'NaN') AS meter,
               coalesce(max(CASE WHEN v.document #>> '{split,reserve}' ~ '^[01]([.][0-9]{1,4})?$'
                                 THEN (v.document #>> '{split,reserve}')::numeric ELSE 'NaN' END), 'NaN') AS reserve,
               coalesce(max(CASE WHEN v.document #>> '{split,prize_fund}' ~ '^[01]([.][0-9]{1,4})?$'
                                 THEN (v.document #>> '{split,prize_fund}')::numeric ELSE 'NaN' END), 'NaN') AS prize_fund
        FROM rules_versions v
        WHERE v.jackpot_id = of_jackpot AND v.version = of_version
    ) AS split
$$;

-- Whether a version of the rules refunds the bets on dead hands: all do that do not have them play on.
CREATE FUNCTION refunds_dead_hands(of_jackpot text, of_version integer) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (SELECT v.document ->> 'dead_hand' FROM rules_versions v
            WHERE v.jackpot_id = of_jackpot AND v.version = of_version) IS DISTINCT FROM 'play-on'
$$;
