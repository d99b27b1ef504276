"""A service whose clock is not the database's books nothing and says so; no stripe's time is moved far ahead."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
import sqlalchemy
from structlog.testing import capture_logs

from jackpot_service.app import Application, create_app
from jackpot_service.database import embedded
from jackpot_service.database.clocks import ClockSkew, DatabaseClock
from jackpot_service.database.transactions import guarded, transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.ledger import instants
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import create_key
from tests.races import books, scene
from tests.races.processes import CONFIG, Racer, race
from tests.support.accepting import accept_bets
from tests.support.answers import Answer
from tests.support.asgi import answer_to

pytestmark = pytest.mark.long

OFF = [timedelta(days=40), timedelta(seconds=4), timedelta(seconds=-4), timedelta(hours=-2)]


@dataclass
class Shifted:
    """A clock that is right, or off by as much as a test says."""

    by: timedelta = timedelta(0)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.by


@dataclass
class Ledger:
    """An application with a clock of its own, and a key of each of those who ask it."""

    engine: sqlalchemy.Engine
    keys: dict[Role, str]
    clock: Shifted = field(default_factory=Shifted)

    def __post_init__(self) -> None:
        self.app: Application = create_app(CONFIG, self.engine, clock=self.clock)

    def post_bets(self, round_id: str) -> Answer:
        return self.call("POST", f"/v1/tables/T1/rounds/{round_id}/bets", Role.TABLE, b'{"bets":[%s]}' % BET)

    def call(self, method: str, path: str, role: Role, data: bytes | None = None) -> Answer:
        headers = {"Authorization": f"Bearer {self.keys[role]}", "Content-Type": "application/json"}
        return answer_to(self.app.asgi, method, path, data=data, headers=headers)


BET = b'{"bet_id":"b","player_id":"p","hand":"1","currency":"EUR","stake_minor":100}'


@pytest.fixture
def ledger(engine: sqlalchemy.Engine) -> Ledger:
    scene.open_house(engine)
    scene.open_live(engine, "live", tables=["T1"], stripes=2)
    act = Act(SYSTEM_OPERATOR, scene.now())
    principals = [Principal("server", Role.TABLE, scene.CASINO), Principal("Fay", Role.FINANCE)]
    keys = {
        principal.role: transact(engine, lambda session, principal=principal: create_key(session, act, principal)).whole  # type: ignore[misc]
        for principal in principals
    }
    return Ledger(engine, keys)


def times(engine: sqlalchemy.Engine) -> list[tuple[datetime]]:
    return books.ask(engine, "SELECT booked_at FROM stripes ORDER BY jackpot_id, stripe_no")


@pytest.mark.parametrize("off", OFF)
def test_a_clock_that_is_off_from_the_start_books_nothing(ledger: Ledger, off: timedelta) -> None:
    ledger.clock.by = off
    before = times(ledger.engine)
    problem = ledger.post_bets("r1").problem(503, "clock-skew")
    assert problem["retryable"] is True
    assert times(ledger.engine) == before


@pytest.mark.parametrize("off", OFF)
def test_a_clock_that_is_off_for_a_while_is_seen_at_once_and_bets_flow_afterwards(
    ledger: Ledger, off: timedelta
) -> None:
    for number in range(3):
        ledger.post_bets(f"r{number}").ok(201)
    assert ledger.call("GET", "/readyz", Role.TABLE).ok()["clock_right"] is True
    with capture_logs() as logged:
        ledger.clock.by = off
        for _ in range(3):
            ledger.post_bets("late").problem(503, "clock-skew")
        ledger.app.extensions["jackpot"].readiness._last = None  # As if a second had passed.
        unready = ledger.call("GET", "/readyz", Role.TABLE)
        ledger.clock.by = timedelta(0)
        ledger.post_bets("late").ok(201)
    assert (unready.status, unready.body["clock_right"]) == (503, False)
    assert [line["event"] for line in logged] == ["clock-skew-began", "clock-skew-ended"]
    for (booked_at,) in times(ledger.engine):
        assert booked_at < datetime.now(UTC) + timedelta(seconds=2)
    books.require_clean(ledger.engine)


def test_a_clock_that_is_off_by_a_second_books(ledger: Ledger) -> None:
    for number, by in enumerate((timedelta(seconds=1), timedelta(seconds=-1))):
        ledger.clock.by = by
        ledger.post_bets(f"r{number}").ok(201)


def test_a_report_as_of_an_instant_that_only_a_wrong_clock_has_reached_moves_no_stripe(ledger: Ledger) -> None:
    ledger.clock.by = timedelta(days=40)
    before = times(ledger.engine)
    as_of = f"{datetime.now(UTC) + timedelta(days=39):%Y-%m-%dT%H:%M:%SZ}"
    ledger.call("GET", f"/v1/reports/trial-balance?as_of={as_of}", Role.FINANCE).problem(503, "clock-skew")
    assert times(ledger.engine) == before


def test_another_process_whose_clock_is_off_books_nothing(ledger: Ledger, durable: embedded.Cluster) -> None:
    assert race(durable.service_url(), bet_by_a_clock_ahead) == ["clock-skew"]
    assert books.ask(ledger.engine, "SELECT count(*) FROM bets") == [(0,)]


def bet_by_a_clock_ahead(racer: Racer) -> str:
    engine = guarded(racer.engine, Shifted(timedelta(minutes=5)))
    with pytest.raises(ClockSkew) as refused:
        transact(engine, lambda session: accept_bets(session, scene.batch("T1", "r1", scene.euro("a"))))
    return refused.value.code


# --- The database's own wall ----------------------------------------------------------------------------------------


def move(cluster: embedded.Cluster, seconds: float, condition: str = "true") -> int:
    with psycopg.connect(cluster.conninfo("jackpot"), autocommit=True) as owner:
        moving = f"""
        UPDATE stripes SET booked_at = clock_timestamp() + make_interval(secs => {seconds})
        WHERE jackpot_id = 'live' AND {condition}
        """  # noqa: S608  a test's own
        return owner.execute(moving).rowcount


@pytest.mark.usefixtures("ledger")
def test_the_database_moves_no_stripe_more_than_two_seconds_ahead_of_its_clock(durable: embedded.Cluster) -> None:
    assert move(durable, 1) == 2
    with pytest.raises(psycopg.errors.CheckViolation, match="lies ahead"):
        move(durable, 3)
    with psycopg.connect(durable.conninfo("jackpot"), autocommit=True) as owner:
        adding = "INSERT INTO stripes SELECT (jsonb_populate_record(s, %s)).* FROM stripes s WHERE jackpot_id = 'live'"
        with pytest.raises(psycopg.errors.CheckViolation, match="lies ahead"):
            owner.execute(f"{adding} AND stripe_no = 1", ['{"stripe_no": 2, "booked_at": "2999-01-01T00:00:00Z"}'])


def test_a_stripe_that_is_ahead_already_takes_bets(ledger: Ledger, durable: embedded.Cluster) -> None:
    """As after a failover to a database whose clock is a minute behind."""
    with psycopg.connect(durable.conninfo("jackpot"), autocommit=True) as owner:
        owner.execute("ALTER TABLE stripes DISABLE TRIGGER not_ahead")
        move(durable, 60)
        owner.execute("ALTER TABLE stripes ENABLE TRIGGER not_ahead")
    before = times(ledger.engine)
    for number in range(4):
        ledger.post_bets(f"r{number}").ok(201)
    assert times(ledger.engine) == before


def unguarded(act: Callable[[sqlalchemy.Engine], object], engine: sqlalchemy.Engine) -> object:
    """What an act comes to of somebody who compares no clocks."""
    return scene.attempted(lambda: act(engine))


def test_what_the_database_refuses_because_it_lies_ahead_is_told_as_such(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scene, "now", Shifted(timedelta(minutes=1)))
    refused = unguarded(lambda engine: scene.bet(engine, "T1", "r1", scene.euro("a")), ledger.engine)
    assert isinstance(refused, ClockSkew)
    ahead = datetime.now(UTC) + timedelta(minutes=1)
    closed = unguarded(
        lambda engine: transact(engine, lambda session: instants.raise_stripes(session, "live", [0], ahead)),
        ledger.engine,
    )
    assert isinstance(closed, ClockSkew)
    books.require_clean(ledger.engine)


# --- Reading the clock ----------------------------------------------------------------------------------------------


def test_a_reading_is_carried_on_by_the_steady_clock_and_gives_what_it_took_to_the_doubt() -> None:
    at, steady = datetime(2026, 11, 20, tzinfo=UTC), [0.0]
    clock = DatabaseClock(monotonic=lambda: steady[0])

    def ask() -> datetime:
        steady[0] += 2
        return at

    assert clock.ahead_s(lambda: at) == 0
    assert not clock.is_fresh
    clock.read(ask)
    assert clock.is_fresh
    assert clock.ahead_s(lambda: at + timedelta(seconds=1)) == 0
    assert clock.ahead_s(lambda: at + timedelta(seconds=5)) == 3
    assert clock.ahead_s(lambda: at - timedelta(seconds=5)) == -5
    steady[0] += 10
    assert not clock.is_fresh
    assert clock.ahead_s(lambda: at + timedelta(seconds=11)) == 0


def test_many_threads_see_one_beginning_and_one_end(ledger: Ledger) -> None:
    engine = guarded(ledger.engine, ledger.clock)

    def attempt(number: int) -> object:
        return scene.attempted(lambda: scene.bet(engine, "T1", f"r{number}", scene.euro("a")))

    with ThreadPoolExecutor(4) as threads, capture_logs() as logged:
        for by in (timedelta(0), timedelta(minutes=1), timedelta(0)):
            ledger.clock.by = by
            outcomes = list(threads.map(attempt, range(8)))
            assert all(isinstance(outcome, ClockSkew) is bool(by) for outcome in outcomes)
    assert [line["event"] for line in logged] == ["clock-skew-began", "clock-skew-ended"]
