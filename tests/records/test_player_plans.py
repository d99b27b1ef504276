"""What a player did is searched for by the index that knows players, in the partitions of the time asked about."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import psycopg
import pytest
from sqlalchemy import ClauseElement, Engine

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.domain.rounds import LAST_KEY, KeyRange, Month, first_key_at, keys_of
from jackpot_service.records import awards, players
from jackpot_service.records.award_filters import AwardFilters
from jackpot_service.schema import months
from tests.records.kept_plans import executed
from tests.support.logins import owner_conninfo, owner_url

pytestmark = pytest.mark.slow

NOW: Final = datetime.now(UTC)
LATER: Final = Month.of(NOW).later(2)
OF_LATER: Final = f"bets_{LATER.year}_{LATER.number:02}"
PLAYER: Final = "p7-7"
MOST_PAGES: Final = 3 * 16
"""Of some 250 that a month has, the player's bets stand in a dozen, and those in two or three parts of the index."""

# A span of a few bets may as well be read by the bets' own key.
SPANS: Final[Mapping[str, KeyRange]] = {
    "half a month": KeyRange(first_key_at(LATER.begins_at), first_key_at(LATER.begins_at + timedelta(days=15))),
    "a month": keys_of(LATER),
    "ever": KeyRange(0, LAST_KEY),
}

# Of each twentieth of a month: 1,000 bets of a hundred players who were not there before, each in a round of its own.
ADD_BETS: Final = """
INSERT INTO bets (jackpot_id, round_key, bet_id, step, player_id, hand, currency, stake_minor)
SELECT 'j' || mod(number, 3), %(first)s + number * ((%(end)s - %(first)s) / 20000), 'b' || number, 1,
       'p' || number / 1000 || '-' || mod(number, 100), '1', 'EUR', 100
FROM generate_series(0, 19999) AS number
"""

WITHOUT_INDEX: Final = """
SELECT i.inhrelid::regclass
FROM pg_inherits i
WHERE i.inhparent = 'bets'::regclass AND NOT EXISTS (
    SELECT
    FROM pg_index x
    JOIN pg_class c ON c.oid = x.indexrelid
    WHERE x.indrelid = i.inhrelid AND c.reloptions @> '{pages_per_range=16,autosummarize=on}'
)
"""


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """A database with the partitions of some months, and bets in the current one and a later one."""
    months.make(owner_url(database_url), now=NOW, ahead=3)
    with psycopg.connect(owner_conninfo(database_url), autocommit=True) as owner:
        for month in (Month.of(NOW), LATER):
            owner.execute(ADD_BETS, keys_of(month)._asdict())
        owner.execute("VACUUM ANALYZE bets")
    engine = create_engine(Config(), database_url)
    yield engine
    engine.dispose()


def plan(engine: Engine, question: ClauseElement) -> str:
    """How a question is answered as the service asks it: planned for any values but those that are written."""
    written = question.compile(engine, compile_kwargs={"render_postcompile": True})
    with engine.connect() as session:
        session.begin()
        return "\n".join(executed(session, str(written), written.params))


def query_of_bets(span: KeyRange) -> ClauseElement:
    parameters: dict[str, Any] = {
        "player_id": PLAYER,
        "jackpot_id": None,
        "casino_id": None,
        "callers_casino": None,
        "before_key": LAST_KEY,
        "before_bet": "",
        "most": 51,
    }
    return players._BETS.bindparams(**parameters, **span._asdict())


def query_of_awards(span: KeyRange) -> ClauseElement:
    listed = awards._listed(Principal("Zoe", Role.AUDITOR), AwardFilters(player_id=PLAYER), now=NOW)
    return awards._won_by(listed, PLAYER, span).limit(51)


@pytest.mark.parametrize("question", [query_of_bets, query_of_awards])
def test_what_a_player_did_is_found_by_the_index_of_players(
    engine: Engine, question: Any, subtests: pytest.Subtests
) -> None:
    for name, span in SPANS.items():
        with subtests.test(name):
            plan_ = plan(engine, question(span))

            searched = set(re.findall(r"Bitmap Index Scan on (bets_\w+)_player_id_bet_id_round_key_idx", plan_))
            assert searched == ({"bets_before", OF_LATER} if name == "ever" else {OF_LATER}), plan_
            pages = sum(map(int, re.findall(r"Heap Blocks: lossy=(\d+)", plan_)))
            assert 0 < pages <= len(searched) * MOST_PAGES, plan_


def test_each_partition_has_the_index(engine: Engine) -> None:
    with engine.connect() as session:
        assert session.exec_driver_sql(WITHOUT_INDEX).scalars().all() == []
