"""The floor with more open rounds than anybody lists: they are all counted, and the oldest is the oldest."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.reports.floor import OpenRounds, casinos_on_floor, tables_on_floor
from tests.support.bets import bet
from tests.support.world import World

pytestmark = pytest.mark.slow

WATCHER = Principal("somebody", Role.OPERATOR)

LATER = timedelta(minutes=20)

# Such rounds have no entries, so the laws of the books would find them: the transaction is rolled back.
_OPEN_MANY = text(
    """
    INSERT INTO rounds (jackpot_id, round_key, table_id, round_id, casino_id, state, rules_version, rate_sheet,
                        steps, bet_count, weight, replays, opened_at)
    SELECT jackpot_id, round_key + n, table_id, 'r' || n, casino_id, state, rules_version, rate_sheet,
           steps, bet_count, weight, 0, opened_at + :later
    FROM rounds, generate_series(1, 600) AS n
    """
)


class RolledBack(Exception):
    """The test has seen what it wanted to see."""


def test_the_oldest_of_very_many_open_rounds_is_the_oldest(world: World) -> None:
    world.open(tables=("T1", "T2"))
    world.bet(bet("a"), round_id="first")
    opened_at = world.clock()

    def look(session: Session) -> None:
        session.execute(_OPEN_MANY, {"later": LATER})
        (casino,) = casinos_on_floor(session, WATCHER, limit=10)
        assert (casino.table_count, casino.open_count) == (2, 601)
        first, second = tables_on_floor(session, WATCHER, "c1", limit=10)
        at_first, at_second = first.open_rounds, second.open_rounds
        assert casino.waits_since is not None
        assert timedelta() <= opened_at - casino.waits_since < timedelta(minutes=1)
        assert (at_first.count, at_first.waits_since) == (601, casino.waits_since)
        assert [round_.round_id for round_ in at_first.latest] == ["r600", "r599", "r598"]
        assert at_second == OpenRounds(0, None, ())
        raise RolledBack

    with pytest.raises(RolledBack):
        world.transact(look)
