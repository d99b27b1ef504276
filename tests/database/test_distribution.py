"""On Citus the bodies of functions in SQL are put in place of their calls; each means the same as the call."""

from collections.abc import Iterator
from typing import Any, Final

import psycopg
import pytest

from jackpot_service.database import distribution
from jackpot_service.database.distribution import Function, Inliner
from tests.support import history
from tests.support.histories import url
from tests.support.logins import owner_conninfo

__all__ = ["url"]

Connection = psycopg.Connection[Any]

CALLS: Final = {
    "acts_with_effects": "SELECT * FROM acts_with_effects('live') ORDER BY 1",
    "award_entries_between": "SELECT seq FROM award_entries_between('live', '{0,1,2}', '{0,0,0}', '{99,99,99}') AS e",
    "bets_with_refunds": "SELECT of.* FROM rounds AS one CROSS JOIN LATERAL "
    "bets_with_refunds('live', one.round_key, 'EUR', one.rate_sheet) AS of "
    "WHERE one.jackpot_id = 'live' ORDER BY 1, 2, 3",
    "currency_units": "SELECT unit.one FROM currency_units('EUR') AS unit WHERE unit.currency = 'JPY'",
    "cuts_of_stripes": "SELECT passed.* FROM cuts_of_stripes('live', 3) AS passed ORDER BY stripe_no",
    "days_with_recent": "SELECT kind, sum(value) FROM days_with_recent('live', ARRAY['bets', 'postings']) "
    "GROUP BY 1 ORDER BY 1",
    "effects_of_acts": "SELECT * FROM effects_of_acts('live', 0, 99) AS f ORDER BY f.seq",
    "entries_between": "SELECT e.stripe_no, e.seq, e.facts "
    "FROM entries_between('live', '{0,1}', '{1,0}', '{9,9}') AS e ORDER BY 1, 2",
    "entry_of_step": "SELECT r.round_key, e.seq FROM rounds AS r LEFT JOIN LATERAL "
    "entry_of_step('live', r.round_key, 2) AS e ON true WHERE r.jackpot_id = 'live' ORDER BY 1",
    "has_passkey": "SELECT has_passkey('olga'), NOT has_passkey('srv'), 'has_passkey(''no call'')'",
    "is_key_maker_on_both_sides": "SELECT is_key_maker_on_both_sides('live', one.round_key, 'olga', now()) "
    "FROM rounds AS one WHERE one.jackpot_id = 'live' ORDER BY one.round_key",
    "live_bets": "SELECT b.bet_id FROM rounds AS r JOIN live_bets('live', r.round_key) AS b ON b.hand <> '' "
    "WHERE r.jackpot_id = 'live' ORDER BY 1",
    "refunds_dead_hands": "SELECT refunds_dead_hands('live', (SELECT max(known.version) FROM rules_versions AS known))",
    "round_of_key": "SELECT r.round_id FROM entries AS e "
    "LEFT JOIN LATERAL round_of_key('live', e.round_key) AS r ON true "
    "WHERE e.jackpot_id = 'live' ORDER BY e.stripe_no, e.seq",
    "rules_split": "SELECT split.* FROM rules_versions AS known "
    "CROSS JOIN LATERAL rules_split('live', known.version) AS split",
    "verdicts_between": "SELECT * FROM verdicts_between('live', NULL, 'T1', ARRAY[0, 1, 2], '{0,0,0}', '{99,99,99}') "
    "ORDER BY 1, 2",
    "withholding_rule_of": "SELECT rule.percent FROM withholding_rule_of('c1', 'EUR', now()) AS rule",
}
"""A statement for each function that reads tables, with more than one way to write and to place a call."""


def write(url: str) -> None:
    with history.engine_of(url) as engine:
        history.write(engine)


MORE: Final = """
SET LOCAL session_replication_role = replica;
INSERT INTO withholding_rules VALUES ('c1', 'EUR', 1, '2026-01-01', NULL, 100, 200, 24, 1);
INSERT INTO passkeys VALUES ('p', 'olga', 'blue', 'c', 'k', 0, 'localhost', 1);
UPDATE entries SET principal = 'olga'
WHERE jackpot_id = '-' AND seq = (SELECT entry_seq FROM keys WHERE principal = 'srv');
UPDATE keys SET principal = 'server of T1' WHERE principal = 'srv';
"""
"""Rows for functions that would find none."""


@pytest.fixture
def owner(url: str) -> Iterator[Connection]:
    """Connect to the history, where also a rule is in force, Olga has a passkey, and made the table server's key."""
    with (
        psycopg.connect(owner_conninfo(url), autocommit=True) as connection,
        connection.transaction(force_rollback=True),
    ):
        connection.execute(MORE)
        yield connection


@pytest.fixture
def inliner(owner: Connection) -> Inliner:
    return Inliner(distribution._functions(owner))


def test_each_function_that_reads_tables_is_called_here(owner: Connection) -> None:
    assert distribution._functions(owner).keys() == CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
def test_a_body_in_place_of_its_call_returns_the_same(owner: Connection, inliner: Inliner, name: str) -> None:
    written = inliner.written(CALLS[name])
    called = owner.execute(CALLS[name]).fetchall()

    assert f" {name}(" not in written.replace("'has_passkey(", "")
    assert owner.execute(written).fetchall() == called
    assert called
    assert any(map(any, called))


def test_names_that_are_no_calls_stay() -> None:
    functions = {"of_round": Function({"wanted": "text"}, ("a",), "SELECT a FROM t WHERE t.wanted = wanted -- why")}
    inliner = Inliner(functions)

    assert inliner.written("SELECT of_round FROM x.of_round(1), 'of_round(2)', \"of_round\"") == (
        "SELECT of_round FROM x.of_round(1), 'of_round(2)', \"of_round\""
    )
    assert inliner.written("SELECT * FROM of_round(coalesce($1, ARRAY[1, 2]::text)) WHERE true") == (
        "SELECT * FROM LATERAL (SELECT * FROM (SELECT a FROM t WHERE t.wanted = "
        "CAST(coalesce($1, ARRAY[1, 2]::text) AS text)) AS body (a)) AS of_round WHERE true"
    )
    with pytest.raises(ValueError, match="is not closed"):
        inliner.written("SELECT * FROM of_round(1")


def test_a_name_that_means_something_else_in_the_body_is_refused(inliner: Inliner) -> None:
    """There `r` is the rates: the round of the caller would be taken for them."""
    call = "SELECT * FROM rounds AS r JOIN bets_with_refunds('live', r.round_key, 'EUR', r.rate_sheet) AS of ON true"
    with pytest.raises(ValueError, match="bets_with_refunds has a meaning of its own for r"):
        inliner.written(call)
    with pytest.raises(ValueError, match="live_bets has a meaning of its own for round_key:"):
        inliner.written("SELECT * FROM rounds JOIN live_bets('live', round_key) AS b ON true")


def test_one_machine_is_asked_as_it_is_written(owner: Connection) -> None:
    of_one = distribution.Distribution()
    of_one.recognise(owner)

    assert not of_one.is_distributed
    assert of_one.written(CALLS["live_bets"]) == CALLS["live_bets"]
