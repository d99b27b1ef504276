"""A page of events looks up each row by its key, also while the tables are new and empty."""

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
import sqlalchemy
from sqlalchemy import Engine, TextClause

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.events import award_documents, documents, entries, round_documents, windows

ROUNDS: Final = {"books": ["live"], "round_keys": [2**60]}
SIGHT: Final = {"casino_id": "c1", "tables": ["T1"]}

STATEMENTS: Final[dict[str, tuple[TextClause, dict[str, Any]]]] = {
    "heads": (windows._HEADS, {}),
    "entries of rounds": (
        entries._OF_ROUNDS,
        {
            "books": ["live"],
            "stripe_nos": [0],
            "afters": [0],
            "uptos": [9],
            "kinds": ["result"],
            "sees_all": False,
            **SIGHT,
        },
    ),
    "acts": (entries._ACTS, {"book": "-", "after": 0, "upto": 9, "kinds": ["award_paid"], **SIGHT}),
    "recorded acts": (documents._ACTS, {"book": "-", "seqs": [1, 2]}),
    "settlements": (round_documents._SETTLEMENTS, ROUNDS),
    "cancellations": (round_documents._CANCELLATIONS, ROUNDS),
    "stakes": (round_documents._STAKES, ROUNDS),
    "voids": (round_documents._VOIDS, {**ROUNDS, "steps": [1]}),
    "awards of settlements": (award_documents._OF_SETTLEMENTS, ROUNDS),
    "awards by name": (
        award_documents._NAMED,
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


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = create_engine(Config(), database_url)
    yield engine
    engine.dispose()


def test_every_row_is_looked_up_by_its_key(engine: Engine, subtests: pytest.Subtests) -> None:
    for name, (statement, parameters) in STATEMENTS.items():
        with subtests.test(name), engine.begin() as session:
            plan = [line for (line,) in session.execute(sqlalchemy.text(f"EXPLAIN {statement.text}"), parameters)]

            require_keys(plan)


def require_keys(plan: list[str]) -> None:
    """Raises: AssertionError if a plan looks for anything by something else."""
    assert not [line for line in plan if "Seq Scan" in line or "Bitmap" in line], "\n".join(plan)
    scans = [(place, found[1]) for place, line in enumerate(plan) if (found := re.search(r"Scan using (\w+) on", line))]
    assert scans
    for place, index in scans:
        if index != "pk_stripes":
            assert "Index Cond" in plan[place + 1], "\n".join(plan)
            assert f"({KEYS.get(index, 'round_key')} " in plan[place + 1], "\n".join(plan)
