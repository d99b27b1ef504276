"""The checker of statements finds what breaks each rule, and passes over what breaks none."""

from collections.abc import Mapping
from typing import Final

import pytest

from tests.support.distributable import Breach, Catalogue, Rule, breaches

VALUES: Final = {"$1": "j1", "$2": "2", "$3": "j2", "$4": "j1"}

GOOD: Final = (
    "SELECT * FROM rounds WHERE jackpot_id = $1",
    "SELECT * FROM rounds WHERE $1 = jackpot_id AND round_key > $2",
    "SELECT * FROM rounds r WHERE r.jackpot_id = $1::text COLLATE \"C\" AND (r.round_key = $2 OR r.state = 'open')",
    "SELECT * FROM rounds WHERE jackpot_id = '-'",
    "SELECT * FROM rounds r JOIN bets b ON b.jackpot_id = $1 AND b.round_key = r.round_key WHERE r.jackpot_id = $1",
    "SELECT * FROM rounds r JOIN bets b USING (round_key) WHERE r.jackpot_id = $1 AND b.jackpot_id = $4",
    "SELECT * FROM rounds r LEFT JOIN bets b ON b.jackpot_id = $1 WHERE r.jackpot_id = $1",
    "SELECT * FROM rounds r RIGHT JOIN bets b ON r.jackpot_id = $1 WHERE b.jackpot_id = $1",
    (
        "SELECT * FROM rounds r, LATERAL (SELECT 1 FROM bets WHERE jackpot_id = $1 AND round_key = r.round_key) AS b "
        "WHERE r.jackpot_id = $1"
    ),
    "SELECT * FROM rounds r JOIN tables t ON t.table_id = r.table_id WHERE r.jackpot_id = $1",
    "SELECT (SELECT max(cycle) FROM cycles WHERE jackpot_id = $1)",
    "WITH r AS (SELECT * FROM rounds WHERE jackpot_id = $1) SELECT * FROM r",
    "WITH rounds AS (SELECT 1) SELECT * FROM rounds",
    "SELECT * FROM rounds WHERE jackpot_id = $1 UNION ALL SELECT * FROM rounds WHERE jackpot_id = $4",
    "SELECT * FROM tables",
    "SELECT * FROM jobs FOR UPDATE SKIP LOCKED",
    "SELECT * FROM stripes WHERE jackpot_id = $1 FOR NO KEY UPDATE",
    "SELECT * FROM stripes s JOIN jackpots j USING (jackpot_id) WHERE s.jackpot_id = $1 FOR UPDATE OF s",
    "SELECT * FROM figures WHERE jackpot_id = $1",
    "SELECT relname FROM pg_class",
    "INSERT INTO rounds (round_key, jackpot_id) VALUES ($2, $1), ($2, $1)",
    "INSERT INTO rounds (jackpot_id, round_key) SELECT $1, key FROM unnest($2) AS key",
    "INSERT INTO days (jackpot_id, number) SELECT $1, 1 ON CONFLICT (jackpot_id) DO UPDATE SET number = 1",
    "INSERT INTO jobs (job_id) VALUES ($2) ON CONFLICT DO NOTHING",
    (
        "UPDATE stripes SET seq = stripes.seq + 1 FROM (SELECT cut[1] AS cut FROM cycles WHERE jackpot_id = $1) AS c "
        "WHERE stripes.jackpot_id = $1"
    ),
    "UPDATE stripes SET head = sha256(head) WHERE jackpot_id = $1",
    "DELETE FROM bets WHERE jackpot_id = $1",
    'DECLARE "c" CURSOR FOR SELECT * FROM bets WHERE jackpot_id = $1',
    "SELECT * FROM rounds r, live_bets($1, r.round_key) WHERE r.jackpot_id = $4",
    "BEGIN ISOLATION LEVEL REPEATABLE READ",
    "SET LOCAL statement_timeout = 0",
    "COMMIT",
)


@pytest.mark.parametrize("statement", GOOD)
def test_a_statement_that_keeps_the_rules(catalogue: Catalogue, statement: str) -> None:
    assert breaches(statement, VALUES, catalogue) == frozenset()


BAD: Final[Mapping[str, set[tuple[Rule, str]]]] = {
    # Nothing restricts the table, or not for each row.
    "SELECT * FROM rounds": {(Rule.UNRESTRICTED, "rounds")},
    "SELECT * FROM rounds WHERE jackpot_id > $1": {(Rule.UNRESTRICTED, "rounds")},
    "SELECT * FROM rounds WHERE jackpot_id = ANY ($1)": {(Rule.UNRESTRICTED, "rounds")},
    "SELECT * FROM rounds WHERE jackpot_id IN ($1, $4)": {(Rule.UNRESTRICTED, "rounds")},
    "SELECT * FROM rounds WHERE jackpot_id || table_id = $1": {(Rule.UNRESTRICTED, "rounds")},
    "SELECT * FROM rounds WHERE lower(jackpot_id) = $1": {(Rule.UNRESTRICTED, "rounds")},
    "SELECT * FROM rounds WHERE jackpot_id = $1 OR state = 'open'": {(Rule.UNRESTRICTED, "rounds")},
    "SELECT * FROM rounds WHERE NOT jackpot_id = $1": {(Rule.UNRESTRICTED, "rounds")},
    "SELECT * FROM rounds WHERE jackpot_id = (SELECT $1)": {(Rule.UNRESTRICTED, "rounds")},
    "SELECT * FROM rounds GROUP BY jackpot_id HAVING jackpot_id = $1": {(Rule.UNRESTRICTED, "rounds")},
    "SELECT * FROM rounds r LEFT JOIN bets b ON b.jackpot_id = $1 AND r.jackpot_id = $1": {
        (Rule.UNRESTRICTED, "rounds")
    },
    "SELECT * FROM rounds r FULL JOIN bets b ON b.jackpot_id = $1 AND r.jackpot_id = $1": {
        (Rule.UNRESTRICTED, "rounds"),
        (Rule.UNRESTRICTED, "bets"),
    },
    # Only another table's column does, or an outer one.
    "SELECT * FROM rounds r JOIN bets b ON b.jackpot_id = r.jackpot_id WHERE r.jackpot_id = $1": {
        (Rule.UNRESTRICTED, "bets")
    },
    "SELECT * FROM rounds r JOIN bets b USING (jackpot_id) WHERE r.jackpot_id = $1": {(Rule.UNRESTRICTED, "bets")},
    "SELECT * FROM jackpots j JOIN bets b ON b.jackpot_id = j.jackpot_id WHERE j.jackpot_id = $1": {
        (Rule.UNRESTRICTED, "bets")
    },
    "SELECT * FROM rounds r, LATERAL (SELECT 1 FROM bets b WHERE b.jackpot_id = r.jackpot_id) AS b "
    "WHERE r.jackpot_id = $1": {(Rule.UNRESTRICTED, "bets")},
    "SELECT * FROM (SELECT * FROM rounds) AS r WHERE r.jackpot_id = $1": {(Rule.UNRESTRICTED, "rounds")},
    "WITH r AS (SELECT * FROM rounds) SELECT * FROM r WHERE r.jackpot_id = $1": {(Rule.UNRESTRICTED, "rounds")},
    "WITH r AS (SELECT 1) SELECT * FROM r, public.rounds": {(Rule.UNRESTRICTED, "rounds")},
    "WITH rounds AS (SELECT * FROM rounds) SELECT 1": {(Rule.UNRESTRICTED, "rounds")},
    "SELECT 1 WHERE EXISTS (SELECT FROM bets)": {(Rule.UNRESTRICTED, "bets")},
    "SELECT 1 ORDER BY (SELECT count(*) FROM bets)": {(Rule.UNRESTRICTED, "bets")},
    "SELECT coalesce((SELECT 1 FROM bets), 1) FROM rounds WHERE jackpot_id = $1": {(Rule.UNRESTRICTED, "bets")},
    "SELECT * FROM rounds WHERE jackpot_id = $1 UNION ALL SELECT * FROM rounds": {(Rule.UNRESTRICTED, "rounds")},
    "SELECT * FROM figures": {(Rule.UNRESTRICTED, "figures")},
    "SELECT * FROM rounds WHERE bets.jackpot_id = $1": {(Rule.UNRESTRICTED, "rounds")},
    "UPDATE rounds SET steps = 1 WHERE round_key = $2": {(Rule.UNRESTRICTED, "rounds")},
    "UPDATE rounds SET steps = (SELECT count(*) FROM bets) WHERE jackpot_id = $1": {(Rule.UNRESTRICTED, "bets")},
    "UPDATE rounds SET steps = 1 FROM bets b WHERE rounds.jackpot_id = $1": {(Rule.UNRESTRICTED, "bets")},
    "WITH gone AS (DELETE FROM bets RETURNING 1) SELECT 1": {(Rule.UNRESTRICTED, "bets")},
    "DELETE FROM jobs WHERE EXISTS (SELECT FROM bets)": {(Rule.UNRESTRICTED, "bets")},
    'DECLARE "c" CURSOR FOR SELECT * FROM bets': {(Rule.UNRESTRICTED, "bets")},
    "EXPLAIN SELECT * FROM bets": {(Rule.UNRESTRICTED, "bets")},
    "SELECT * FROM rounds r, live_bets(r.jackpot_id, $2) WHERE r.jackpot_id = $1": {(Rule.UNRESTRICTED, "live_bets")},
    "SELECT (SELECT count(*) FROM live_bets(lower($1), $2))": {(Rule.UNRESTRICTED, "live_bets")},
    # A row goes to a jackpot that no parameter names.
    "INSERT INTO rounds (jackpot_id) SELECT jackpot_id FROM tables": {(Rule.INSERTED, "rounds")},
    "INSERT INTO rounds (jackpot_id) VALUES ($1), (DEFAULT)": {(Rule.INSERTED, "rounds")},
    "INSERT INTO rounds (round_key) VALUES ($2)": {(Rule.INSERTED, "rounds")},
    "INSERT INTO rounds SELECT $1": {(Rule.INSERTED, "rounds")},
    "INSERT INTO rounds DEFAULT VALUES": {(Rule.INSERTED, "rounds")},
    "INSERT INTO rounds (jackpot_id) SELECT $1 UNION ALL SELECT jackpot_id FROM tables": {(Rule.INSERTED, "rounds")},
    "INSERT INTO rounds (round_key, jackpot_id) SELECT f.* FROM tables AS f": {(Rule.INSERTED, "rounds")},
    "INSERT INTO tables (table_id) SELECT casino_id FROM casinos": {(Rule.COPIED, "casinos")},
    "UPDATE tables SET casino_id = (SELECT max(casino_id) FROM casinos)": {(Rule.COPIED, "casinos")},
    "WITH gone AS (DELETE FROM tables USING casinos RETURNING 1) SELECT 1": {
        (Rule.COPIED, "casinos"),
        (Rule.INSIDE, "tables"),
    },
    "WITH new AS (INSERT INTO tables (table_id) VALUES ($2)) SELECT 1": {(Rule.INSIDE, "tables")},
    "INSERT INTO jobs (job_id) SELECT bet_id FROM bets": {(Rule.UNRESTRICTED, "bets")},
    # Two jackpots.
    "SELECT * FROM rounds r, bets b WHERE r.jackpot_id = $1 AND b.jackpot_id = $3": {(Rule.ONE_JACKPOT, "2 jackpots")},
    "SELECT 1 FROM rounds r, entries e WHERE r.jackpot_id = $1 AND e.jackpot_id = '-'": {
        (Rule.ONE_JACKPOT, "2 jackpots")
    },
    "INSERT INTO rounds (jackpot_id) VALUES ($1), ($3)": {(Rule.ONE_JACKPOT, "2 jackpots")},
    "SELECT * FROM rounds r, live_bets($3, 1) WHERE r.jackpot_id = $1": {(Rule.ONE_JACKPOT, "2 jackpots")},
    "SELECT * FROM key_makers, rounds r WHERE r.jackpot_id = $1": {
        (Rule.ONE_JACKPOT, "2 jackpots"),
        (Rule.MIXED, "keys"),
    },
    # What is set.
    "UPDATE stripes SET seq = (ARRAY[1, 2])[1] WHERE jackpot_id = $1": {(Rule.SUBSCRIPT, "seq")},
    "UPDATE hands SET cards[1] = 'As' WHERE jackpot_id = $1": {(Rule.SUBSCRIPT, "cards")},
    "UPDATE keys SET table_ids = table_ids[2:3]": {(Rule.SUBSCRIPT, "table_ids")},
    "UPDATE stripes SET booked_at = clock_timestamp() WHERE jackpot_id = $1": {(Rule.VOLATILE, "clock_timestamp")},
    "UPDATE stripes SET seq = 1 + pg_catalog.floor(random()) WHERE jackpot_id = $1": {(Rule.VOLATILE, "random")},
    "INSERT INTO days (jackpot_id) VALUES ($1) ON CONFLICT (jackpot_id) DO UPDATE SET number = random()": {
        (Rule.VOLATILE, "random")
    },
    # What a statement leaves to the next one, which is run elsewhere.
    "SELECT set_config('jackpot.guess', 'wrong', true) FROM (SELECT FROM stripes WHERE jackpot_id = $1) AS s": {
        (Rule.SETTING, "set_config")
    },
    # Reference tables.
    "INSERT INTO tables (table_id) VALUES ($2) ON CONFLICT DO NOTHING": {(Rule.CONFLICT, "tables")},
    "SELECT * FROM tables FOR UPDATE SKIP LOCKED": {(Rule.LOCKED, "tables")},
    "SELECT * FROM tables t FOR KEY SHARE OF t": {(Rule.LOCKED, "tables")},
    "SELECT * FROM stripes s JOIN jackpots j ON true WHERE s.jackpot_id = $1 FOR SHARE": {(Rule.LOCKED, "jackpots")},
    "UPDATE tables SET game = 'x' WHERE table_id = (SELECT table_id FROM tables FOR UPDATE)": {
        (Rule.LOCKED, "tables"),
        (Rule.COPIED, "tables"),
    },
    # Local tables.
    "SELECT * FROM jobs, stripes s WHERE s.jackpot_id = $1": {(Rule.MIXED, "jobs")},
    "UPDATE rounds SET steps = 1 FROM exceptions WHERE rounds.jackpot_id = $1": {(Rule.MIXED, "exceptions")},
    # What the checker does not know.
    "SELECT * FROM bets_default WHERE jackpot_id = $1": {(Rule.UNKNOWN, "bets_default")},
    "INSERT INTO bets_default (jackpot_id) VALUES ($1)": {(Rule.UNKNOWN, "bets_default")},
    "UPDATE bets_default SET hand = '1' WHERE jackpot_id = $1": {(Rule.UNKNOWN, "bets_default")},
    "LOCK TABLE stripes": {(Rule.UNKNOWN, "LockStmt")},
    "COPY bets TO STDOUT": {(Rule.UNKNOWN, "CopyStmt")},
}
"""Statements, each with what it breaks and nothing else."""


@pytest.mark.parametrize("statement", BAD)
def test_a_statement_that_breaks_a_rule(catalogue: Catalogue, statement: str) -> None:
    assert breaches(statement, VALUES, catalogue) == {Breach(*breach) for breach in BAD[statement]}


def test_each_rule_is_broken_by_an_example() -> None:
    assert {rule for breaches_ in BAD.values() for rule, _ in breaches_} == set(Rule)


def test_two_parameters_of_one_value_are_one_jackpot_and_without_values_they_are_two(catalogue: Catalogue) -> None:
    statement = "SELECT * FROM rounds r, bets b WHERE r.jackpot_id = $1 AND b.jackpot_id = $4"

    assert breaches(statement, VALUES, catalogue) == frozenset()
    assert breaches(statement, {}, catalogue) == {Breach(Rule.ONE_JACKPOT, "2 jackpots")}
