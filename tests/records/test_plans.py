"""The hot statements find their rows by the right index, also on tables that are new and empty."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from sqlalchemy import Engine

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.ledger import books, days
from jackpot_service.records import awards, bets, rounds, settings_in_force, verdicts
from jackpot_service.records.award_filters import AwardFilters
from tests.records.kept_plans import KNOWN, add_rounds, plan

BY_IDS: Final = "uq_rounds_ids"
KEY: Final = 2**60
NOW: Final = datetime(2026, 11, 20, tzinfo=UTC)
AUDITOR: Final = Principal("Zoe", Role.AUDITOR)
ASKED: Final = {"jackpot_id": "live", "table_ids": "T1 T2", "round_ids": "r1 r2"}


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = create_engine(Config(), database_url)
    yield engine
    engine.dispose()


OF_ROUNDS: Final[tuple[tuple[str, Mapping[str, Any]], ...]] = (
    (rounds._NAMED, ASKED),
    (rounds._LOCK, ASKED),
    (bets._OF_ROUND, ASKED),
    (bets._OF_BATCHES, {**ASKED, "bet_ids": "b1", "player_ids": "p1"}),
    (bets._TOMBSTONES, ASKED),
    (settings_in_force._READ, {**ASKED, "came": "2026-01-01"}),
)


@pytest.fixture
def known(request: pytest.FixtureRequest, engine: Engine) -> None:
    """Have so many rounds known."""
    add_rounds(engine, request.param)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("known", KNOWN, indirect=True)
def test_a_round_is_looked_up_by_all_its_ids(engine: Engine, subtests: pytest.Subtests) -> None:
    for statement, parameters in OF_ROUNDS:
        with subtests.test(statement=statement):
            plan_ = plan(engine, statement, parameters)
            assert f"using {BY_IDS}" in plan_
            assert "pk_rounds" not in plan_
            assert "Seq Scan" not in plan_


@pytest.mark.parametrize(
    ("statement", "parameters", "index"),
    [
        (bets._OF_ROUND, ASKED, "pk_voids"),
        (bets._OF_BATCHES, {**ASKED, "bet_ids": "b1", "player_ids": "p1"}, "pk_voids"),
    ],
)
def test_what_belongs_to_a_bet_is_looked_up_by_its_id(
    engine: Engine, statement: str, parameters: Mapping[str, Any], index: str
) -> None:
    """A large round would otherwise cost its bets times its voids; for bets see `test_partition_plans`."""
    lines = plan(engine, statement, parameters).splitlines()
    (scan,) = (number for number, line in enumerate(lines) if f"using {index}" in line)
    assert "Index Cond" in lines[scan + 1]
    assert "bet_id = " in lines[scan + 1]


ROUND: Final = {"jackpot_id": "live", "round_key": KEY}
ONE: Final = {"jackpot_id": "live", "table_id": "T1", "round_id": "r1"}


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("known", KNOWN, indirect=True)
@pytest.mark.parametrize(
    ("statement", "parameters"),
    [
        (rounds._CHANGE, {**ONE, "state": "open", "steps": 2, "bet_count": 1, "weight": 1, "game_number": None}),
        (rounds._COUNT_REPLAY, ONE),
    ],
)
def test_a_round_is_changed_by_all_its_ids(engine: Engine, statement: str, parameters: Mapping[str, Any]) -> None:
    plan_ = plan(engine, statement, parameters)
    assert f"using {BY_IDS}" in plan_


BY_KEY: Final[tuple[tuple[str, Mapping[str, Any], tuple[str, ...]], ...]] = (
    (bets._PLACES, ROUND, ("uq_entries_jackpot_id_round_key_step",)),
    (verdicts._ENDING, ROUND, ("uq_entries_jackpot_id_round_key_step",)),
    (verdicts._AWARDS, {**ROUND, "correction": 0}, ("pk_awards", "pk_award_steps")),
    (
        verdicts._ENDING_CYCLES,
        {"jackpot_id": "live", "round_keys": [KEY, KEY + 1]},
        ("uq_entries_jackpot_id_round_key_step",),
    ),
)


def test_what_belongs_to_a_round_is_found_by_its_key(engine: Engine, subtests: pytest.Subtests) -> None:
    for statement, parameters, indexes in BY_KEY:
        with subtests.test(statement=statement):
            plan_ = plan(engine, statement, parameters)
            lines = plan_.splitlines()
            for index in indexes:
                (scan,) = (number for number, line in enumerate(lines) if f"{index} " in line)
                assert "Index Cond" in lines[scan + 1], plan_
                assert "round_key" in lines[scan + 1], plan_
            assert "Seq Scan" not in plan_


def test_the_books_are_read_by_their_jackpot(engine: Engine) -> None:
    plan_ = plan(engine, books._READ, {"jackpot_id": "live"})
    for index in ("pk_stripes", "pk_cycles", "pk_rules_versions"):
        assert f"{index} on" in plan_
    assert plan_.count("Index Cond: (jackpot_id = $1)") == 3, plan_
    assert "Seq Scan" not in plan_


def test_figures_are_found_by_their_stripe_and_the_days_that_they_are_added_to_by_their_key(engine: Engine) -> None:
    plan_ = plan(engine, days._ADD, {"book": "live", "stripe_no": 0})
    assert "Conflict Arbiter Indexes: pk_days" in plan_
    for index in ("pk_stripes", "pk_entries", "pk_casinos"):
        assert f"using {index}" in plan_, plan_
    assert "Index Scan Backward using pk_cycles" in plan_
    assert "Seq Scan" not in plan_
    lines = plan_.splitlines()
    scans = [number for number, line in enumerate(lines) if "using pk_entries" in line]
    assert len(scans) == 2
    for scan in scans:
        assert re.search(r"Index Cond: .*\(seq > .*\)", lines[scan + 1]), lines


def test_a_batch_is_held_against_its_round_by_hash(engine: Engine) -> None:
    plan_ = plan(engine, bets._OF_BATCHES, {**ASKED, "bet_ids": "b1", "player_ids": "p1"})
    assert plan_.count("hashed SubPlan") == 2


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("known", KNOWN, indirect=True)
def test_a_tables_latest_rounds_are_read_in_their_order(engine: Engine) -> None:
    parameters = {"jackpot_id": "live", "table_id": "T1", "before": KEY, "from_key": KEY, "to_key": KEY, "limit": 5}
    plan_ = plan(engine, rounds._LATEST, parameters)
    assert "Index Scan Backward using ix_rounds_latest" in plan_
    assert "Sort" not in plan_


def explained(engine: Engine, filters: AwardFilters) -> str:
    question = awards._listed(AUDITOR, filters, now=NOW).limit(5)
    written = question.compile(engine, compile_kwargs={"literal_binds": True})
    with engine.begin() as session:
        return "\n".join(session.exec_driver_sql(f"EXPLAIN {written}".replace("%", "%%")).scalars())


@pytest.mark.parametrize("jackpot_id", [None, "live"])
@pytest.mark.parametrize("state", [AwardState.REJECTED, AwardState.FORFEITED, AwardState.REVERSED])
def test_awards_that_left_the_usual_way_are_listed_from_the_index_of_them(
    engine: Engine, state: AwardState, jackpot_id: str | None
) -> None:
    plan_ = explained(engine, AwardFilters(state=state, jackpot_id=jackpot_id))

    assert "ix_award_steps_out_of_the_ordinary" in plan_, plan_
    assert "pk_awards" in plan_, plan_
    assert "Seq Scan" not in plan_
