"""Exceptions that race: denied prizes, late voids and refused calls come into one chain, and none is lost."""

import pytest
import sqlalchemy

from jackpot_service.api import exceptions
from jackpot_service.records.exceptions import ExceptionRecord
from tests.races import books, scene
from tests.races.processes import Racer, race

pytestmark = pytest.mark.long

ROUNDS = tuple(f"r{number}" for number in range(12))
REFUSALS_A_ROUND = 5
REFUSALS = 100
ROYAL_FLUSH = "As Ks Qs Js Ts"


def deny(racer: Racer) -> None:
    """Forfeit a royal flush of two bets in each round."""
    for round_id in ROUNDS:
        racer.meet()
        scene.settle(racer.engine, "T1", round_id, 2, {"1": f"forfeited {ROYAL_FLUSH}"})


def void_late(racer: Racer) -> None:
    """Make one bet void in each round, after its betting closed."""
    for round_id in ROUNDS:
        racer.meet()
        scene.void(racer.engine, "T2", round_id, "b1", reason="dealt to the wrong seat")


def be_refused(racer: Racer) -> None:
    """Keep some refusals for each round, as the service does after its rollback."""
    for round_id in ROUNDS:
        racer.meet()
        for number in range(REFUSALS_A_ROUND):
            record = ExceptionRecord(
                kind="bet-conflict",
                table_id="T3",
                round_id=round_id,
                principal=scene.SERVER.name,
                noticed_at=scene.now(),
                content=["bets", number],
                request={"call": "bets"},
                detail="Another stake.",
            )
            exceptions.keep(racer.engine, record)


def test_exceptions_of_three_kinds_come_into_one_chain(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=["T1", "T2", "T3"], base_amount="1000")
    for table_id in ("T1", "T2"):
        for round_id in ROUNDS:
            scene.bet(engine, table_id, round_id, scene.euro("b1"), scene.euro("b2"))
    for round_id in ROUNDS:
        scene.close(engine, "T2", round_id, 2)

    race(database_url, deny, void_late, be_refused)

    counted = books.ask(engine, "SELECT kind, count(*) FROM exceptions GROUP BY kind ORDER BY kind")
    rounds = len(ROUNDS)
    assert counted == [("bet-conflict", REFUSALS_A_ROUND * rounds), ("late-void", rounds), ("prize-denied", 2 * rounds)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def be_counted(racer: Racer) -> None:
    """Be refused for want of a rate, again and again, in the same hour at the same table."""
    for number in range(REFUSALS):
        if number == 0:
            racer.meet()
        record = ExceptionRecord(
            kind="no-rate",
            table_id="T1",
            round_id="",
            principal=scene.SERVER.name,
            noticed_at=scene.now(),
            content=["2026-11-20T09:00:00+00:00"],
            request={"call": "bets"},
            detail="No rate.",
            is_counted=True,
        )
        exceptions.keep(racer.engine, record)


def test_refusals_that_are_counted_at_once_are_one_line_with_all_of_them(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000")

    race(database_url, be_counted, be_counted, be_counted)

    assert books.ask(engine, "SELECT kind, round_id FROM exceptions") == [("no-rate", "")]
    assert books.ask(engine, "SELECT refusals FROM exception_counts") == [(3 * REFUSALS,)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0
