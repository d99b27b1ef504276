"""A page of events looks up each row by its key, also while the tables are new and empty, or hold little."""

import re
from collections.abc import Iterator
from typing import Any, Final

import psycopg
import pytest
import sqlalchemy
from sqlalchemy import Engine, TextClause

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.events import acts, awards, entries, rounds
from tests.records import kept_plans
from tests.support.logins import owner_url

ROUNDS: Final = {"book": "live", "round_keys": [2**60]}
SIGHT: Final = {"casino_id": "c1", "tables": ["T1"]}

STATEMENTS: Final[dict[str, tuple[TextClause | str, dict[str, Any]]]] = {
    "heads": (entries._HEADS, {}),
    "entries of rounds": (
        entries._OF_ROUNDS,
        {
            "book": "live",
            "stripe_nos": [0],
            "afters": [0],
            "uptos": [9],
            "kinds": ["result"],
            "sees_all": False,
            "most": 5000,
            **SIGHT,
        },
    ),
    "acts": (entries._ACTS, {"book": "-", "after": 0, "upto": 9, "kinds": ["award_paid"], **SIGHT}),
    "recorded acts": (acts._ACTS, {"book": "-", "seqs": [1, 2]}),
    "facts": (rounds._RECORDED, {"book": "live", "stripe_nos": [0], "seqs": [1]}),
    "awards of settlements": (awards._OF_SETTLEMENTS, ROUNDS),
    "awards by name": (
        awards._NAMED,
        {**ROUNDS, "bet_ids": ["b"], "tiers": ["flush"], "corrections": [0]},
    ),
}

KEYS: Final = {
    "pk_entries": "seq",
    "pk_acts": "seq",
    "pk_cycles": "cycle",
    "pk_tables": "table_id",
}
"""By which column an index is searched, besides the jackpot's; those of rounds by the round's key."""

A_PAGE: Final = {"round_keys": [*range(100)]}

FILL: Final = (
    """
    INSERT INTO rounds (jackpot_id, round_key, table_id, round_id, casino_id, state, rules_version, rate_sheet, steps,
                        bet_count, weight, replays, opened_at)
    SELECT 'live', number, 'T1', number::text, 'c1', 'open', 1, 1, 1, 0, 0, 0, now()
    FROM generate_series(1, :rounds) AS number
    """,
    """
    INSERT INTO entries (jackpot_id, stripe_no, seq, kind, principal, round_key, step, received_at, booked_at, digest,
                         head, accounts, currencies, amounts, movements, casino_id, table_id, rules_version, figures)
    SELECT 'live', 0, number, 'result', 'p', number, 1, now(), now(), sha256(''), sha256(''), '{}', '{}', '{}', '{}',
           'c1', 'T1', 1, '{}'
    FROM generate_series(1, :rounds) AS number
    """,
    """
    INSERT INTO bets (jackpot_id, round_key, bet_id, step, player_id, hand, currency, stake_minor)
    SELECT 'live', number, 'b', 1, 'p', '1', 'EUR', 100 FROM generate_series(1, :rounds) AS number
    """,
    """
    INSERT INTO voids (jackpot_id, round_key, bet_id, step, is_tombstone)
    SELECT 'live', number, 'b', 1, false FROM generate_series(1, :rounds) AS number
    """,
    """
    INSERT INTO awards (jackpot_id, round_key, bet_id, tier, award_id, amount_minor, currency, cost, funded_by)
    SELECT 'live', number, 'b', 'flush', number::text, 100, 'EUR', 1, 'meter' FROM generate_series(1, :rounds) AS number
    """,
)
"""One row a round in the tables that grow with rounds."""

OF_MANY_ROUNDS: Final[dict[str, dict[str, Any]]] = {
    "entries of rounds": {"uptos": [100]},
    "facts": {"stripe_nos": [0] * 100, "seqs": [*range(100)]},
    "awards of settlements": A_PAGE,
}


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = create_engine(Config(), database_url)
    yield engine
    engine.dispose()


def test_every_row_is_looked_up_by_its_key(engine: Engine, subtests: pytest.Subtests) -> None:
    for name, (statement, parameters) in STATEMENTS.items():
        with subtests.test(name):
            require_keys(explained(engine, statement, parameters))


@pytest.mark.parametrize("is_analysed", [False, True])
@pytest.mark.parametrize("rounds", [300, 3000])
def test_the_rows_of_a_page_are_not_looked_for_among_those_of_all_rounds(
    engine: Engine, database_url: str, subtests: pytest.Subtests, *, rounds: int, is_analysed: bool
) -> None:
    with engine.begin() as session:
        for filling in FILL:
            session.execute(sqlalchemy.text(filling), {"rounds": rounds})
    if is_analysed:
        with psycopg.connect(owner_url(database_url).replace("+psycopg", ""), autocommit=True) as owner:
            owner.execute("ANALYZE")
    for name, more in OF_MANY_ROUNDS.items():
        statement, parameters = STATEMENTS[name]
        with subtests.test(name):
            plan = "\n".join(explained(engine, statement, parameters | more))

            assert "Seq Scan" not in plan, plan
            assert "Join Filter" not in plan, plan  # What is looked up has its keys in an index condition.


def explained(engine: Engine, statement: TextClause | str, parameters: dict[str, Any]) -> list[str]:
    """Explain a statement as it is planned: for its values, or, where a connection keeps the plan, for any."""
    if isinstance(statement, str):
        return kept_plans.plan(engine, statement, parameters).splitlines()
    with engine.begin() as session:
        return [*session.execute(sqlalchemy.text(f"EXPLAIN {statement.text}"), parameters).scalars()]


def require_keys(plan: list[str]) -> None:
    """Raises: AssertionError if a plan looks for anything by something else."""
    assert not [line for line in plan if "Seq Scan" in line or "Bitmap" in line], "\n".join(plan)
    scans = [(place, match[1]) for place, line in enumerate(plan) if (match := re.search(r"Scan using (\w+) on", line))]
    assert scans
    for place, index in scans:
        if index != "pk_stripes":
            assert "Index Cond" in plan[place + 1], "\n".join(plan)
            assert f"({KEYS.get(index, 'round_key')} " in plan[place + 1], "\n".join(plan)
