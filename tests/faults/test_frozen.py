"""A database that hangs instead of ending: every call is answered, and bets flow as soon as there is another leader."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import httpx
import psycopg
import pytest

from jackpot_service.api.contract import examples
from jackpot_service.database import embedded
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import create_key
from tests.faults.betting import LONGEST_WAIT_S, Answered, betting
from tests.faults.freezing import frozen, frozen_server
from tests.faults.in_time import SLACK_S, once_in_time
from tests.faults.processes import wait_until
from tests.faults.service import Service, served
from tests.races import books, scene
from tests.races.processes import CONFIG
from tests.support.replaying import Replay

pytestmark = pytest.mark.long

TABLES = [f"T{number}" for number in range(16)]

REQUEST_TIMEOUT_S = 2.0
SETTINGS = {"JACKPOT_REQUEST_TIMEOUT_S": str(REQUEST_TIMEOUT_S), "JACKPOT_STATEMENT_TIMEOUT_MS": "1000"}


@dataclass
class Played:
    """A service on a database, with the keys of who asks it."""

    service: Service
    table: str
    finance: str

    def job_is_done(self) -> bool:
        """Have the runner that stands beside the workers do a job."""
        parameters = {"jackpot_id": "live", "format": "hledger"}
        job = {"request_id": "q1", "kind": "journal", "parameters": parameters}
        headers = {"Authorization": f"Bearer {self.finance}"}
        with httpx.Client(base_url=self.service.base_url, headers=headers, trust_env=False, timeout=60) as client:
            path = f"/v1/jobs/{client.post('/v1/jobs', json=job).raise_for_status().json()['job_id']}"
            until = time.monotonic() + LONGEST_WAIT_S
            while client.get(path).raise_for_status().json()["state"] != "done":
                assert time.monotonic() < until
                time.sleep(0.05)
        return True

    def get(self, path: str) -> tuple[int, float]:
        began = time.monotonic()
        headers = {"Authorization": f"Bearer {self.finance}"}
        answer = httpx.get(f"{self.service.base_url}{path}", headers=headers, timeout=LONGEST_WAIT_S, trust_env=False)
        return answer.status_code, time.monotonic() - began


def keys_of(url: str) -> tuple[str, str]:
    """Set up tables; returns a table server's key and one of finance."""
    engine = create_engine(CONFIG, url)
    scene.open_house(engine)
    scene.open_live(engine, "live", tables=TABLES)
    act = Act(SYSTEM_OPERATOR, scene.now())
    principals = (Principal("server", Role.TABLE, scene.CASINO), Principal("Fay", Role.FINANCE))
    keys = [
        transact(engine, lambda session, principal=principal: create_key(session, act, principal)).whole  # type: ignore[misc]
        for principal in principals
    ]
    engine.dispose()
    return keys[0], keys[1]


@pytest.fixture
def played(durable: embedded.Cluster, tmp_path: Path) -> Iterator[Played]:
    keys = keys_of(durable.service_url())
    with served(durable.service_url(), tmp_path / "service.log", settings=SETTINGS) as service:
        yield Played(service, *keys)


def require_booked(url: str, answered: Answered) -> None:
    """Nothing that was acknowledged is missing, and the books are right."""
    engine = create_engine(CONFIG, url)
    booked = set(books.ask(engine, "SELECT table_id, round_id FROM bets JOIN rounds USING (jackpot_id, round_key)"))
    assert answered.acknowledged <= booked
    books.require_clean(engine)
    engine.dispose()


@pytest.mark.long
def test_every_call_is_answered_while_the_whole_database_hangs_and_bets_flow_when_it_goes_on(
    played: Played, durable: embedded.Cluster
) -> None:
    def longest_answer_s() -> float:
        answered.wait_for_acknowledgements(100)
        answered.forget_longest()
        took = []
        with frozen_server(durable):
            answered.wait_for_answers(TABLES, each=2)
            for path in ("/healthz", "/v1/reports/trial-balance", "/v1/jackpots/live/meter", "/v1/audit", "/metrics"):
                status, took_s = played.get(path)
                assert status == (200 if path == "/healthz" else 503), path
                took.append(took_s)
            status, took_s = played.get("/readyz")
            assert status == 503
            assert took_s < 2 + SLACK_S
        answered.wait_for_acknowledgements(100)
        wait_until_ready(played)
        return max(*took, answered.longest_s)

    with betting(played.service.base_url, played.table, TABLES) as answered:
        once_in_time(longest_answer_s, bound_s=REQUEST_TIMEOUT_S + 1)
        assert played.job_is_done()
    assert answered.statuses.keys() <= {200, 201, 503}
    assert '"event": "deadline-passed"' in played.service.log.read_text()
    require_booked(durable.service_url(), answered)


def wait_until_ready(played: Played) -> None:
    wait_until(lambda: played.get("/readyz")[0] == httpx.codes.OK)


@pytest.mark.long
def test_health_is_told_at_once_and_behind_nobody_while_every_thread_waits_for_the_database(
    played: Played, durable: embedded.Cluster
) -> None:
    def ask() -> None:
        statuses.append(played.get("/v1/audit")[0])

    statuses: list[int] = []
    threads = [threading.Thread(target=ask) for _ in range(200)]
    with frozen_server(durable):
        for thread in threads:
            thread.start()
        while played.get("/readyz")[0] != 503:
            time.sleep(0.05)
        assert [played.get(path)[0] for path in ("/healthz", "/readyz")] == [200, 503]
        for thread in threads:
            thread.join(LONGEST_WAIT_S)
    assert statuses == [503] * len(threads)


@pytest.mark.long
def test_the_printed_examples_of_an_outage_are_what_is_answered(played: Played, durable: embedded.Cluster) -> None:
    outages = [exchange for exchange in examples.exchanges() if exchange.outage]
    with (
        frozen_server(durable),
        httpx.Client(base_url=played.service.base_url, trust_env=False, timeout=LONGEST_WAIT_S) as client,
    ):
        while played.get("/readyz")[0] != httpx.codes.SERVICE_UNAVAILABLE:
            time.sleep(0.05)
        replay = Replay(client, lambda name: name)
        for exchange in outages:
            replay.play(exchange)
    assert [exchange.name for exchange in outages] == ["databaseSilent"]
    assert (replay.refused, replay.differences) == ([], [])


def idle_backends(cluster: embedded.Cluster) -> list[int]:
    """The backends of the service that wait to be asked again and hold no lock; the one used last comes first."""
    question = """
    SELECT pid FROM pg_stat_activity
    WHERE datname = 'jackpot' AND state = 'idle' AND wait_event = 'ClientRead' AND application_name = ''
    ORDER BY query_start DESC
    """
    with psycopg.connect(cluster.conninfo("jackpot"), application_name="owner", autocommit=True) as owner:
        return [pid for (pid,) in owner.execute(question)]


def used_last(cluster: embedded.Cluster) -> int:
    until = time.monotonic() + LONGEST_WAIT_S
    while not (pids := idle_backends(cluster)):
        assert time.monotonic() < until, "no connection waits to be asked again"
    return pids[0]


def test_one_backend_that_hangs_takes_no_more_than_its_own_calls(played: Played, durable: embedded.Cluster) -> None:
    def longest_answer_s() -> float:
        answered.wait_for_acknowledgements(100)
        answered.forget_longest()
        hung = 0
        while hung < 3:
            pid = used_last(durable)
            with frozen(pid):
                if pid not in idle_backends(durable):
                    continue  # It was stopped at work, with a lock that others wait for: then they hang too.
                hung += 1
                answered.wait_for_answers(TABLES, each=2)
                answered.wait_for_acknowledgements(20)
        return answered.longest_s

    with betting(played.service.base_url, played.table, TABLES) as answered:
        once_in_time(longest_answer_s, bound_s=REQUEST_TIMEOUT_S + 1)
    require_booked(durable.service_url(), answered)


def test_a_service_that_was_suspended_itself_gives_up_no_connection(played: Played, durable: embedded.Cluster) -> None:
    assert played.service.process is not None
    with betting(played.service.base_url, played.table, TABLES) as answered:
        answered.wait_for_acknowledgements(100)
        os.killpg(played.service.process.pid, signal.SIGSTOP)
        time.sleep(2 * REQUEST_TIMEOUT_S)
        os.killpg(played.service.process.pid, signal.SIGCONT)
        answered.wait_for_acknowledgements(100)
    assert "deadline-passed" not in played.service.log.read_text()
    require_booked(durable.service_url(), answered)


# --- A leader that hangs, and the one that takes its place ------------------------------------------------------------


@dataclass
class Pair:
    """A leader, and a follower that has whatever is acknowledged; both by TCP, on addresses of their own."""

    leader: embedded.Cluster
    follower: embedded.Cluster
    hosts: tuple[str, str]

    @property
    def url(self) -> str:
        hosts = "&".join(f"host={host}:5432" for host in self.hosts)
        return f"postgresql+psycopg://jackpot_app@/jackpot?{hosts}&target_session_attrs=read-write"

    def promote(self) -> None:
        with psycopg.connect(self.follower.conninfo(), autocommit=True) as owner:
            assert owner.execute("SELECT pg_promote()").fetchone() == (True,)


def by_tcp(cluster: embedded.Cluster) -> None:
    """Let a cluster that is stopped be reached on loopback."""
    file = cluster.directory / "pg_hba.conf"
    file.write_text(f"host all all 127.0.0.0/8 trust\n{file.read_text()}")


@contextmanager
def paired(made: Path, directory: Path) -> Iterator[Pair]:
    directory.mkdir()
    chance = random.SystemRandom()
    hosts = [f"127.{chance.randint(1, 254)}.{chance.randint(1, 254)}.{number}" for number in (1, 2)]
    subprocess.run(["cp", "--archive", made, directory / "leader"], check=True)
    settings = [{"listen_addresses": host} for host in hosts]
    leader, follower = (
        embedded.cluster_in(directory / name, settings=own)
        for name, own in zip(("leader", "follower"), settings, strict=True)
    )
    by_tcp(leader)
    with embedded.running(directory / "leader", settings=settings[0]):
        source = ("--dbname", leader.conninfo(), "--write-recovery-conf", "--checkpoint=fast")
        embedded._run(follower, "pg_basebackup", "--pgdata", str(follower.directory), *source)
        with embedded.running(directory / "follower", settings=settings[1]):
            with psycopg.connect(leader.conninfo(), autocommit=True) as owner:
                owner.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
                owner.execute("SELECT pg_reload_conf()")
                until = time.monotonic() + LONGEST_WAIT_S
                while not owner.execute("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'").rowcount:
                    assert time.monotonic() < until
                    time.sleep(0.02)
            yield Pair(leader, follower, (hosts[0], hosts[1]))


def test_bets_flow_soon_after_there_is_a_new_leader_while_the_old_one_hangs(made: Path, tmp_path: Path) -> None:
    number = count()

    def flowing_s() -> float:
        directory = tmp_path / f"pair-{next(number)}"
        with paired(made, directory) as pair:
            return flows_after_promotion_s(pair, directory / "service.log")

    once_in_time(flowing_s, bound_s=5)


def flows_after_promotion_s(pair: Pair, log: Path) -> float:
    table, finance = keys_of(pair.leader.service_url())
    with served(pair.url, log, settings=SETTINGS) as service:
        played = Played(service, table, finance)
        with betting(service.base_url, table, TABLES) as answered, ExitStack() as frozen_until_the_end:
            answered.wait_for_acknowledgements(100)
            frozen_until_the_end.enter_context(frozen_server(pair.leader))
            answered.wait_for_answers(TABLES, each=1)
            # Those answers may be of before, and what it found out a second ago it may say again.
            wait_until(lambda: played.get("/readyz")[0] == httpx.codes.SERVICE_UNAVAILABLE)
            pair.promote()
            flowing_s = answered.wait_for_acknowledgements(len(TABLES))
            wait_until_ready(played)
            assert played.get("/v1/reports/trial-balance")[0] == httpx.codes.OK
            answered.wait_for_acknowledgements(100)
    assert answered.statuses.keys() <= {200, 201, 503}
    assert answered.longest_s < REQUEST_TIMEOUT_S + 1 + SLACK_S
    require_booked(pair.follower.service_url(), answered)
    return flowing_s


# --- The command line -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [("verify",), ("seal", "--show", "1"), ("jobs", "worker"), ("db", "upgrade")])
def test_a_command_ends_by_itself_while_the_database_hangs(
    standing_cluster: embedded.Cluster, command: tuple[str, ...]
) -> None:
    with frozen_server(standing_cluster):
        done = subprocess.run(
            [sys.executable, "-m", "jackpot_service.cli", *command],
            env={"JACKPOT_DATABASE_URL": standing_cluster.service_url(), **SETTINGS},
            timeout=LONGEST_WAIT_S,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr, done.stderr
