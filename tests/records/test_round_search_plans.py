"""Rounds are searched for by the index that knows what is asked about, also on tables that are new and empty."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import psycopg
import pytest
from sqlalchemy import Engine

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.domain.rounds import LAST_KEY, KeyRange, Month, RoundState, keys_of
from jackpot_service.records import round_search
from jackpot_service.records.round_search import RoundFilters
from jackpot_service.schema import months
from tests.records.kept_plans import KNOWN, add_rounds, executed, plan
from tests.support.logins import owner_conninfo, owner_url

AUDITOR: Final = Principal("Zoe", Role.AUDITOR)
NOW: Final = datetime.now(UTC)
LATER: Final = Month.of(NOW).later(2)

# So many that their own key, which knows ids within rounds, is not as good. Each player has twenty.
ADD_BETS: Final = """
INSERT INTO bets (jackpot_id, round_key, bet_id, step, player_id, hand, currency, stake_minor)
SELECT 'j' || mod(number, 3), %(first)s + number * ((%(end)s - %(first)s) / 200000), 'b' || number, 1,
       'p' || mod(number, 10000), '1', 'EUR', 100
FROM generate_series(0, 199999) AS number
"""
MOST_PAGES: Final = 40 * 16
"""Of some 2,200 that there are: a player's twenty bets stand in as many parts of the index, and chance adds some."""


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = create_engine(Config(), database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def known(request: pytest.FixtureRequest, engine: Engine) -> None:
    """Have so many rounds known."""
    add_rounds(engine, request.param)


def searched(engine: Engine, **stated: Any) -> list[str]:
    """How the rounds of a jackpot are searched for, line by line."""
    filters = RoundFilters(**stated)
    parameters = {
        **round_search._parameters(filters, AUDITOR),
        "jackpot_id": "live",
        "first": 0,
        "end": LAST_KEY,
        "limit": 51,
    }
    return plan(engine, round_search.question_of_rounds(filters), parameters).splitlines()


WAYS: Final[tuple[tuple[dict[str, Any], str, str], ...]] = (
    ({"game_number": "21:10:10"}, "ix_rounds_game_number", "by_index(game_number)"),
    ({"has_ended": False}, "ix_rounds_open", "round_key"),
    ({"state": RoundState.OPEN}, "ix_rounds_open", "round_key"),
    ({"has_ended": False, "table_id": "T1"}, "ix_rounds_open", "table_id ="),
    ({"has_ended": False, "casino_id": "c1"}, "ix_rounds_open", "casino_id ="),
    ({"has_ended": False, "player_id": "p1"}, "ix_rounds_open", "round_key"),
    ({"table_id": "T1"}, "ix_rounds_latest", "by_index(table_id)"),
    ({"table_id": "T1", "has_ended": True}, "ix_rounds_latest", "by_index(table_id)"),
    ({}, "pk_rounds", "round_key"),
    ({"state": RoundState.CANCELLED, "casino_id": "c1"}, "pk_rounds", "round_key"),
)
"""For what is asked about: the index, and a condition that it looks at itself."""


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("known", KNOWN, indirect=True)
def test_rounds_are_found_in_their_order_by_the_index_that_knows_them(
    engine: Engine, subtests: pytest.Subtests
) -> None:
    for stated, index, condition in WAYS:
        with subtests.test(str(stated)):
            lines = searched(engine, **stated)
            plan_ = "\n".join(lines)

            (scan,) = (place for place, line in enumerate(lines) if "on rounds" in line)
            assert f"Index Scan Backward using {index}" in lines[scan], plan_
            assert "Index Cond" in lines[scan + 1], plan_
            assert condition in lines[scan + 1], plan_
            assert "Sort" not in plan_


def test_whether_a_round_that_waits_has_such_a_bet_is_looked_up_in_its_own_bets(engine: Engine) -> None:
    plan_ = searched(engine, has_ended=False, bet_id="b1")

    scans = [place for place, line in enumerate(plan_) if " on bets_" in line]
    assert scans
    for scan in scans:
        assert "using bets_" in plan_[scan], plan_
        assert "_pkey on " in plan_[scan], plan_
        assert "round_key = rounds.round_key" in plan_[scan + 1], plan_


@pytest.mark.slow
@pytest.mark.parametrize(
    "searched_for", [{"bet_id": "b7007"}, {"player_id": "p7007"}, {"bet_id": "b7007", "player_id": "p7007"}]
)
def test_rounds_of_a_bet_or_of_a_player_are_found_by_the_index_of_bets(
    engine: Engine, database_url: str, searched_for: dict[str, str], subtests: pytest.Subtests
) -> None:
    months.make(owner_url(database_url), now=NOW, ahead=3)
    with psycopg.connect(owner_conninfo(database_url), autocommit=True) as owner:
        owner.execute(ADD_BETS, keys_of(LATER)._asdict())
        owner.execute("VACUUM ANALYZE bets")
    filters = RoundFilters(**searched_for)  # type: ignore[arg-type]
    values = {
        **round_search._parameters(filters, AUDITOR),
        "jackpot_id": None,
        "before_key": LAST_KEY,
        "before_jackpot": "",
        "most": 51,
    }
    for span in (keys_of(LATER), KeyRange(0, LAST_KEY)):
        with subtests.test(str(span)):
            question = round_search.question_of_bets(filters)
            stated = {**values, **span._asdict()}
            question = question.bindparams(**{name: stated[name] for name in question._bindparams})
            written = question.compile(engine, compile_kwargs={"render_postcompile": True})
            with engine.connect() as session:
                session.begin()
                plan_ = "\n".join(executed(session, str(written), written.params))

            assert re.findall(r"Bitmap Index Scan on (bets_\w+)_player_id_bet_id_round_key_idx", plan_), plan_
            pages = sum(map(int, re.findall(r"Heap Blocks: lossy=(\d+)", plan_)))
            assert 0 < pages <= MOST_PAGES, plan_
