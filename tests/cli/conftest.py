"""The fixtures of tests of the command line."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import Jackpot, calling_service, key_of, program


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give each test a folder of settings of its own, in which sign-ins are kept."""
    folder = tmp_path_factory.mktemp("settings")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    monkeypatch.delenv("JACKPOT_KEY", raising=False)
    monkeypatch.delenv("JACKPOT_URL", raising=False)
    return folder


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str) -> Jackpot:
    """The program on a machine with a migrated database, without a service and without a key."""
    return program(monkeypatch, capsys, database_url)


@pytest.fixture
def jackpot(machine: Jackpot, monkeypatch: pytest.MonkeyPatch, database_url: str) -> Iterator[Jackpot]:
    """The program, calling a service on a migrated database by the key of an operator, Olga."""
    run = machine
    with calling_service(monkeypatch, database_url):
        monkeypatch.setenv("JACKPOT_KEY", key_of(run, "Olga", "operator"))
        yield run


@pytest.fixture
def opened(jackpot: Jackpot) -> Jackpot:
    """The program on a database with a jackpot of sixteen stripes, without tables."""
    jackpot("casinos", "add", "riga", "Casino Riga", "--reason", "as agreed").ok()
    jackpot("rates", "publish", "--base", "EUR", "GBP=1.17", "--reason", "as agreed").ok()
    opening = ("jackpots", "open", "live", "--rules", "live-caribbean-stud", "--currency", "EUR")
    jackpot(*opening, "--reason", "as agreed").ok()
    return jackpot
