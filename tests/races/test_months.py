"""Months are attached while bets, voids and results of several processes go on, in one of those months too."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest
import sqlalchemy

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import transact
from jackpot_service.domain.rounds import Month
from jackpot_service.schema import months
from tests.races import books, scene
from tests.races.processes import CONFIG, Racer, in_threads, race
from tests.support.accepting import accept_bets
from tests.support.logins import owner_url

pytestmark = pytest.mark.long

BETTORS = 2
PARTS = 5
ROUNDS = 36
AHEAD = 2
FAR_AWAY = datetime(2099, 1, 1, tzinfo=UTC)

AS_PATIENT_AS_THE_SERVICE = replace(CONFIG, lock_timeout_ms=Config().lock_timeout_ms)


def first_month(part: int, start: Month) -> Month:
    """The current month of a part of the race: one that has no partition when the part begins, nor have the next."""
    return start.later(12 + part * (AHEAD + 1))


def make_months(racer: Racer, *, start: Month) -> list[months.Made]:
    made = []
    for part in range(PARTS):
        racer.meet()
        url = racer.engine.url.render_as_string(hide_password=False)
        made.append(months.make(owner_url(url), now=first_month(part, start).begins_at, ahead=AHEAD))
    return made


def bet_on(racer: Racer, *, name: str, start: Month) -> int:
    engine = create_engine(AS_PATIENT_AS_THE_SERVICE, racer.engine.url.render_as_string(hide_password=False))
    accepted = 0
    for part in range(PARTS):
        racer.meet()
        # Now, in the very month that is being attached, and in one that only the default partition takes.
        times = (scene.now(), first_month(part, start).begins_at, FAR_AWAY)
        calls = [
            partial(play, engine, f"{name}-{part}-{number}", times[number % len(times)]) for number in range(ROUNDS)
        ]
        accepted += sum(in_threads(calls, threads=4))
    engine.dispose()
    return accepted


def play(engine: sqlalchemy.Engine, round_id: str, at: datetime) -> int:
    """Open a round at an instant, bet once more, void a bet and settle."""
    accepted = 0
    for bet_id in ("b1", "b2"):
        command = scene.batch("T1", round_id, scene.euro(bet_id, hand=bet_id))._replace(now=at)
        accepted += transact(engine, partial(accept_bets, command=command)).accepted
    scene.void(engine, "T1", round_id, "b1")
    scene.settle(engine, "T1", round_id, 1, {"b2": scene.NOTHING})
    return accepted


def test_months_attached_under_load_lose_no_bet_and_refuse_none(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=["T1"])

    start = Month.of(scene.now())

    making = partial(make_months, start=start)
    first, other, *accepted = race(
        database_url, making, making, *(partial(bet_on, name=f"p{number}", start=start) for number in range(BETTORS))
    )

    bets = BETTORS * PARTS * ROUNDS * 2
    assert sum(accepted) == bets
    assert books.ask(engine, "SELECT count(*) FROM bets") == [(bets,)]
    made = Counter(month for some in (*first, *other) for month in some.months)
    late = {month for some in (*first, *other) for month in some.late}
    # Each month got its partition once; but one in which bets came first keeps them where they are.
    assert set(made.values()) == {1}
    assert made.keys() & late == set()
    assert made.keys() | late == {
        first_month(part, start).later(number) for part in range(PARTS) for number in range(AHEAD + 1)
    }
    assert late <= {first_month(part, start) for part in range(PARTS)}
    places = {place for (place,) in books.ask(engine, "SELECT DISTINCT tableoid::regclass::text FROM bets")}
    assert places <= {"bets_before", "bets_default"} | {f"bets_{month.year}_{month.number:02}" for month in made}
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0
