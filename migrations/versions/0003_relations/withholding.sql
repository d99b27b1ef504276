-- The withholding rule for awards in a currency of a round that a casino opened at an instant: of the versions that had
-- come into force the latest. None, if none had.
CREATE FUNCTION withholding_rule_of(of_casino text, of_currency text, opened timestamptz) RETURNS SETOF withholding_rules
    LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT *
    FROM withholding_rules
    WHERE casino_id = of_casino AND currency = of_currency AND in_force_from <= opened
    ORDER BY version DESC
    LIMIT 1
$$;
