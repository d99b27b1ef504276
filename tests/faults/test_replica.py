"""Reports on a streaming replica: it tells what was resolved on the primary, and nothing that may yet change."""

import time
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy

from jackpot_service.app import create_app
from jackpot_service.cli import opening
from jackpot_service.config.settings import Config
from jackpot_service.database import embedded
from jackpot_service.database.connections import create_engine
from jackpot_service.database.login import LoginTooStrong
from jackpot_service.database.snapshots import snapshot
from jackpot_service.database.transactions import transact
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.proof.proof import verify
from jackpot_service.reports.finance.registry import REPORTS
from jackpot_service.reports.making import InstantNotResolved
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import create_key
from tests.races import scene
from tests.races.processes import CONFIG, in_threads
from tests.support import equations
from tests.support.answers import Answer
from tests.support.shown_reports import ShownReports, by_books
from tests.support.standby import Standby, following

pytestmark = pytest.mark.long

LONGEST_WAIT_S = 30

WRITERS = 8
ROUNDS_OF_A_WRITER = 8


@pytest.fixture
def replica(durable: embedded.Cluster, tmp_path: Path) -> Iterator[Standby]:
    """Give the test a PostgreSQL that follows the other, and takes no writes."""
    with following(durable, tmp_path / "replica") as standby:
        yield standby


@pytest.fixture
def follower(replica: Standby) -> Iterator[sqlalchemy.Engine]:
    """Give the test an engine on the replica."""
    engine = create_engine(CONFIG, replica.service_url())
    yield engine
    engine.dispose()


@pytest.fixture(autouse=True)
def played(engine: sqlalchemy.Engine) -> None:
    """Have rounds on the primary before it is copied."""
    scene.open_house(engine)
    scene.open_live(engine, "live", tables=["T1"], base_amount="100", stripes=3)
    play(engine, "before", 10)


def play(engine: sqlalchemy.Engine, name: str, rounds: int) -> None:
    for number in range(rounds):
        scene.bet(engine, "T1", f"{name}-{number}", scene.euro("a"), Bet("b", "p", "2", "GBP", 250))
        cards = scene.ROYAL if number % 4 == 3 else scene.FLUSH
        scene.settle(engine, "T1", f"{name}-{number}", 2, {"1": cards, "2": "dead"})


def figures(engine: sqlalchemy.Engine, name: str, end: datetime | None) -> ShownReports:
    return by_books(engine, name, end=end, now=scene.now())


def test_a_replica_tells_what_was_resolved_on_the_primary_and_nothing_that_may_change(
    engine: sqlalchemy.Engine, follower: sqlalchemy.Engine, replica: Standby
) -> None:
    resolved = scene.now()
    reports = {name: figures(engine, name, resolved) for name in REPORTS}
    play(engine, "after", 3)
    end = scene.now()
    replica.catch_up()

    assert {name: figures(follower, name, resolved) for name in REPORTS} == reports
    for name in REPORTS:
        with pytest.raises(InstantNotResolved):
            figures(follower, name, end)

    reports = {name: figures(engine, name, end) for name in REPORTS}
    replica.catch_up()
    assert {name: figures(follower, name, end) for name in REPORTS} == reports


def test_a_replica_tells_what_is_over_on_every_stripe_as_the_primary_does(
    engine: sqlalchemy.Engine, follower: sqlalchemy.Engine, replica: Standby
) -> None:
    middle = scene.now()
    play(engine, "after", 5)
    figures(engine, "trial-balance", scene.now())
    replica.catch_up()

    unasked = figures(follower, "trial-balance", middle)

    assert figures(engine, "trial-balance", middle) == unasked


def test_every_report_on_a_replica_that_follows_writers_adds_up(
    engine: sqlalchemy.Engine, follower: sqlalchemy.Engine, replica: Standby
) -> None:
    def read() -> list[ShownReports]:
        return [figures(follower, name, None) for name in (*REPORTS, *REPORTS)]

    def write(name: str) -> list[ShownReports]:
        play(engine, name, ROUNDS_OF_A_WRITER)
        return []

    acts: list[Callable[[], list[ShownReports]]] = [*(partial(write, f"w{number}") for number in range(WRITERS)), read]
    *_, seen = in_threads(acts, threads=len(acts))

    for shown in seen:
        shown.require_equations()
    replica.catch_up()
    reports = {name: figures(follower, name, None) for name in REPORTS}
    assert reports == {name: figures(engine, name, None) for name in REPORTS}
    assert seen[0].positions != reports[seen[0].name].positions
    equations.require_one_balance({name: shown.rows for name, shown in reports.items()})
    with snapshot(follower) as session:
        assert verify(session).mismatches == ()


def test_the_services_login_is_checked_on_a_replica_too(replica: Standby) -> None:
    opening.require_ready(replica.service_url())

    with pytest.raises(LoginTooStrong, match="logs in as postgres"):
        opening.require_ready(replica.url())


def test_over_http_a_replica_says_whom_to_ask(engine: sqlalchemy.Engine, follower: sqlalchemy.Engine) -> None:
    act = Act(SYSTEM_OPERATOR, scene.now())
    key = transact(engine, lambda session: create_key(session, act, Principal("Fay", Role.FINANCE))).whole
    client = create_app(Config(), follower).test_client()
    end = f"{scene.now():%Y-%m-%dT%H:%M:%S.%fZ}"
    until = time.monotonic() + LONGEST_WAIT_S

    def ask(query: str) -> Answer:
        return Answer.of(client.get(f"/v1/reports/trial-balance{query}", headers={"Authorization": f"Bearer {key}"}))

    while ask("").status == 401:
        assert time.monotonic() < until, "the key does not come"
        time.sleep(0.01)

    assert ask(f"?as_of={end}").problem(409, "instant-not-resolved")["retryable"] is False
    figures(engine, "trial-balance", datetime.fromisoformat(end))
    while ask(f"?as_of={end}").status == 409:
        assert time.monotonic() < until, "the instant does not come"
        time.sleep(0.01)
    assert ask(f"?as_of={end}").ok()["sections"][1]["rows"][0]["closing"] == "0"
