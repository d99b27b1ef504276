"""Instants of outages: what one process of a service has met, the others know."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
import structlog

from jackpot_service.config.settings import Config
from jackpot_service.database import deadlines, outages
from jackpot_service.database.connections import Hosts, connect, create_engine
from jackpot_service.database.deadlines import DeadlinePassed, Host
from jackpot_service.database.transactions import LONGEST_LOOK_S, abandon_connections, is_suspect
from jackpot_service.telemetry import counters
from tests.faults.freezing import silent_server

URL = "postgresql://leader,standby"
PARAMETERS = {"host": "leader,standby", "port": "5432"}


def hosts_of_a_process(url: str = URL) -> tuple[Hosts, Host, Host]:
    hosts = Hosts(outages.shared_instants(url, silence_s=10))
    (leader, _), (standby, _) = hosts.in_order(PARAMETERS)
    return hosts, leader, standby


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(counters.DIRECTORY, str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("shared")
def test_a_host_that_fell_silent_for_one_process_is_asked_last_by_the_others_too() -> None:
    _, leader, standby = hosts_of_a_process()
    elsewhere, leader_elsewhere, standby_elsewhere = hosts_of_a_process()
    opened_at = time.monotonic()
    leader.fell_silent()
    assert (leader_elsewhere.may_have_lost(opened_at), standby_elsewhere.may_have_lost(opened_at)) == (True, False)
    assert [host for host, _ in elsewhere.in_order(PARAMETERS)] == [standby_elsewhere, leader_elsewhere]
    assert not leader_elsewhere.may_have_lost(time.monotonic())
    assert not standby.may_have_lost(opened_at)


@pytest.mark.usefixtures("shared")
def test_connections_that_one_process_lost_are_abandoned_by_the_others_and_only_once() -> None:
    hosts, *_ = hosts_of_a_process()
    elsewhere, leader_elsewhere, _ = hosts_of_a_process()
    began = opened_at = time.monotonic()
    hosts.abandon_connections(since=began)
    assert leader_elsewhere.may_have_lost(opened_at)
    opened_anew_at = time.monotonic()
    elsewhere.abandon_connections(since=began)
    assert not leader_elsewhere.may_have_lost(opened_anew_at)


def test_many_who_lose_their_connections_at_once_abandon_none_that_is_new() -> None:
    hosts = Hosts()
    ((host, _),) = hosts.in_order({})
    began = time.monotonic()
    hosts.abandon_connections(since=began)
    opened_at = time.monotonic()
    hosts.abandon_connections(since=began)
    assert not host.may_have_lost(opened_at)
    assert host.may_have_lost(began)
    hosts.abandon_connections(since=time.monotonic())
    assert host.may_have_lost(opened_at)


@pytest.mark.usefixtures("shared")
def test_those_who_come_by_another_url_know_nothing_of_it() -> None:
    """Who reads at standbys gives up connections whenever there is none; bets are booked at the same hosts."""
    reading, *_ = hosts_of_a_process(f"{URL}?target_session_attrs=standby")
    _, leader, standby = hosts_of_a_process()
    reading.abandon_connections(since=time.monotonic())
    assert not any(host.may_have_lost(0.0) for host in (leader, standby))


def test_processes_that_share_nothing_know_nothing_of_each_other() -> None:
    _, leader, _ = hosts_of_a_process()
    _, leader_elsewhere, _ = hosts_of_a_process()
    leader.fell_silent()
    assert not leader_elsewhere.may_have_lost(0.0)


def test_a_process_whose_service_was_killed_says_so_and_goes_on(shared: Path) -> None:
    shared.rmdir()
    with structlog.testing.capture_logs() as logged:
        _, leader, _ = hosts_of_a_process()
    assert [line["event"] for line in logged] == ["outages-not-shared"]
    leader.fell_silent()
    assert leader.may_have_lost(0.0)


def test_hosts_beyond_those_with_instants_of_their_own_share_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outages, "MOST_HOSTS", 1)
    _, leader, standby = hosts_of_a_process()
    leader.fell_silent()
    assert standby.may_have_lost(0.0)


@pytest.mark.usefixtures("shared")
def test_the_watch_of_a_replica_is_impatient_and_knows_by_itself(database_url: str) -> None:
    booking, booking_elsewhere, watching = engines = tuple(
        create_engine(replace(Config(), request_timeout_s=longest_s), database_url)
        for longest_s in (10, 10, LONGEST_LOOK_S)
    )
    with booking.connect() as session, booking_elsewhere.connect(), watching.connect():
        abandon_connections(watching, since=time.monotonic())
        assert not is_suspect(session)
        abandon_connections(booking_elsewhere, since=time.monotonic())
        assert is_suspect(session)
    for engine in engines:
        engine.dispose()


@pytest.mark.parametrize("has_time", [False, True])
def test_who_has_no_time_to_wait_for_a_connection_knows_nothing_of_the_host(*, has_time: bool) -> None:
    hosts = Hosts()
    with silent_server() as port:
        parameters = {"host": "127.0.0.1", "port": str(port), "connect_timeout": "1"}
        with deadlines.within(10 if has_time else 0.1), pytest.raises(DeadlinePassed):
            connect(hosts, parameters)
        ((host, _),) = hosts.in_order(parameters)
    assert host.may_have_lost(0.0) == has_time
