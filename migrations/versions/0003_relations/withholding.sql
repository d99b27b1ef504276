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

-- How much of an award such a rule makes due, in minor units, rounded down; NULL without a rule. As the service says.
CREATE FUNCTION withholding_due(rule withholding_rules, of_amount bigint, of_stake bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN rule.version IS NULL THEN NULL
                WHEN of_amount >= rule.withhold_at_minor AND of_amount >= coalesce(rule.least_multiple, 0) * of_stake
                THEN trunc(of_amount * rule.percent * 0.01)
                ELSE 0 END::bigint;
