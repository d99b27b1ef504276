"""Instants of outages: what one process of a service has met, the elsewhere know."""

import time
from pathlib import Path

import pytest
import structlog

from jackpot_service.database import outages
from jackpot_service.database.connections import Hosts
from jackpot_service.database.deadlines import Host
from jackpot_service.telemetry import counters

URL = {"host": "leader,standby", "port": "5432"}


def hosts_of_a_process() -> tuple[Hosts, Host, Host]:
    hosts = Hosts()
    (leader, _), (standby, _) = hosts.in_order(URL)
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
    assert [host for host, _ in elsewhere.in_order(URL)] == [standby_elsewhere, leader_elsewhere]
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


def test_hosts_that_share_a_place_are_no_more_than_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outages, "MOST_HOSTS", 1)
    _, leader, standby = hosts_of_a_process()
    leader.fell_silent()
    assert standby.may_have_lost(0.0)
