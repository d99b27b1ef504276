"""Instants of outages: what one process of a service has met, the others know."""

import time
from pathlib import Path

import pytest
import structlog

from jackpot_service.database import outages
from jackpot_service.database.connections import Hosts
from jackpot_service.database.deadlines import Host
from jackpot_service.telemetry import counters

URL = {"host": "one,two", "port": "5432"}


def hosts_of_a_process() -> tuple[Hosts, Host, Host]:
    hosts = Hosts()
    (one, _), (two, _) = hosts.in_order(URL)
    return hosts, one, two


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(counters.DIRECTORY, str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("shared")
def test_a_host_that_fell_silent_for_one_process_is_asked_last_by_the_others_too() -> None:
    _, one, two = hosts_of_a_process()
    others, others_one, others_two = hosts_of_a_process()
    opened_at = time.monotonic()
    one.fell_silent()
    assert (others_one.may_have_lost(opened_at), others_two.may_have_lost(opened_at)) == (True, False)
    assert [host for host, _ in others.in_order(URL)] == [others_two, others_one]
    assert not others_one.may_have_lost(time.monotonic())
    assert not two.may_have_lost(opened_at)


@pytest.mark.usefixtures("shared")
def test_connections_that_one_process_lost_are_abandoned_by_the_others_and_only_once() -> None:
    hosts, *_ = hosts_of_a_process()
    others, others_one, _ = hosts_of_a_process()
    began = opened_at = time.monotonic()
    hosts.abandon_connections(since=began)
    assert others_one.may_have_lost(opened_at)
    opened_anew_at = time.monotonic()
    others.abandon_connections(since=began)
    assert not others_one.may_have_lost(opened_anew_at)


def test_processes_that_share_nothing_know_nothing_of_each_other() -> None:
    _, one, _ = hosts_of_a_process()
    _, others_one, _ = hosts_of_a_process()
    one.fell_silent()
    assert not others_one.may_have_lost(0.0)


def test_a_process_whose_service_was_killed_says_so_and_goes_on(shared: Path) -> None:
    shared.rmdir()
    with structlog.testing.capture_logs() as said:
        _, one, _ = hosts_of_a_process()
    assert [line["event"] for line in said] == ["outages-not-shared"]
    one.fell_silent()
    assert one.may_have_lost(0.0)


def test_hosts_that_share_a_place_are_no_more_than_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outages, "MOST_HOSTS", 1)
    _, one, two = hosts_of_a_process()
    one.fell_silent()
    assert two.may_have_lost(0.0)
