"""What asks for bets of a round reads the partition of its month and no other, by plans that are kept."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

import pytest
from sqlalchemy import select, text

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.models import BetRow
from jackpot_service.database.snapshots import snapshot
from jackpot_service.database.transactions import Session
from jackpot_service.domain.rounds import Month, keys_of
from jackpot_service.proof import documents
from jackpot_service.records import bets, verdicts
from jackpot_service.schema import months
from tests.races import books, scene
from tests.records.kept_plans import executed
from tests.support.logins import owner_url

pytestmark = pytest.mark.slow

ASKED: Final = {"jackpot_id": "live", "table_ids": "T1", "round_ids": "r1"}
AHEAD: Final = 24
"""So many partitions that it shows if one would be read in vain."""


@pytest.fixture
def played(database_url: str) -> Iterator[Session]:
    """A round that is settled with an award, in a database with the partitions of two years."""
    months.make(owner_url(database_url), now=datetime.now(UTC), ahead=AHEAD)
    engine = create_engine(Config(), database_url)
    scene.open_house(engine)
    scene.open_live(engine, "live", tables=["T1"])
    scene.bet(engine, "T1", "r1", scene.euro("b1"), scene.euro("b2", hand="2"))
    scene.settle(engine, "T1", "r1", 2, {"1": scene.ROYAL, "2": scene.FLUSH})
    with engine.connect() as session:
        session.begin()
        yield session
    books.require_clean(engine)
    engine.dispose()


def partitions_read(lines: list[str]) -> set[str]:
    """The partitions of bets that were read, each of which must have been read by its index."""
    scans = [line for line in lines if re.search(r"\bbets_\w+_pkey\b", line)]
    assert not [line for line in lines if "Seq Scan on bets" in line], lines
    return {
        relation for line in scans if "never executed" not in line for relation in re.findall(r"on (bets_\w+) ", line)
    }


def key_of_the_round(session: Session) -> int:
    (key,) = session.scalars(select(BetRow.round_key).distinct())
    return key


@pytest.mark.parametrize(
    ("statement", "more"), [(bets._OF_ROUND, {}), (bets._OF_BATCHES, {"bet_ids": "b1", "player_ids": "p"})]
)
def test_the_bets_of_a_round_are_read_in_one_partition(
    played: Session, statement: str, more: Mapping[str, str]
) -> None:
    lines = executed(played, statement, {**ASKED, **more})

    assert partitions_read(lines) == {"bets_before"}
    assert [line for line in lines if "Index Cond" in line and "jackpot_id" in line and "round_key" in line]


def test_the_bets_of_awards_are_looked_up_in_one_partition_and_the_others_are_not_even_opened(played: Session) -> None:
    parameters = {"jackpot_id": "live", "round_key": key_of_the_round(played), "correction": 0}
    lines = executed(played, verdicts._AWARDS, parameters)

    assert partitions_read(lines) == {"bets_before"}
    assert not [line for line in lines if "never executed" in line and "bets_" in line]
    assert [line for line in lines if re.search(r"Index Cond: .*jackpot_id.*round_key.*bet_id = a\.bet_id", line)], (
        lines
    )


def test_a_list_of_awards_looks_up_each_bet_in_one_partition(played: Session) -> None:
    question = "SELECT * FROM award_records WHERE jackpot_id = 'live' ORDER BY round_key DESC, award_id DESC LIMIT 5"
    lines = list(played.scalars(text(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {question}")))

    assert partitions_read(lines) == {"bets_before"}


def test_the_proof_reads_a_page_of_rounds_in_the_partitions_of_its_months(played: Session) -> None:
    now = Month.of(datetime.now(UTC))
    after, upto = keys_of(now.later(2)).first, keys_of(now.later(3)).end - 1
    with snapshot(played.engine) as session:
        within = documents._between(after, upto)
        question = documents._select(BetRow, "live", within).compile(session.engine)
        plan = [row[0] for row in session.exec_driver_sql(f"EXPLAIN {question}", question.params)]

    named = {relation for line in plan for relation in re.findall(r"on (bets_\w+) ", line)}
    assert named == {f"bets_{month.year}_{month.number:02}" for month in (now.later(2), now.later(3))}
