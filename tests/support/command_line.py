"""The program `jackpot` as a test runs it: in this process, on a real database and against a service that is served."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from jackpot_service.app import Application, create_app
from jackpot_service.cli.main import main
from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.exports.jobs import runner as runners
from jackpot_service.exports.jobs.runner import Runner
from tests.support.logins import owner_url, service_url
from tests.support.loop import end_what_runs, on_loop
from tests.support.served import served


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it said where."""

    status: int
    out: str
    err: str

    def ok(self) -> str:
        """What a command that must have succeeded printed on standard output."""
        assert self.status == 0, self.err
        return self.out

    def refused(self, status: int, *output: str) -> None:
        """Require this status, nothing on standard output, and all this on standard error."""
        assert (self.status, self.out) == (status, ""), self
        for text in output:
            assert text in self.err, self.err


Jackpot = Callable[..., Ended]
"""Runs the program in this process, from the reading of its arguments and of the environment to its exit."""


def program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str) -> Jackpot:
    """The program, with both logins of a database in its environment."""
    monkeypatch.setenv("JACKPOT_DATABASE_URL", service_url(database_url))
    monkeypatch.setenv("JACKPOT_OWNER_URL", owner_url(database_url))

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["jackpot", *arguments])
        capsys.readouterr()  # What the service said before.
        with pytest.raises(SystemExit) as ended:
            main()
        output = capsys.readouterr()
        return Ended(int(ended.value.code or 0), output.out, output.err)

    return run


@contextmanager
def calling(monkeypatch: pytest.MonkeyPatch, application: Application) -> Iterator[None]:
    """Have commands call an application, which logs nothing among what they print, until the block ends."""
    with capture_logs(), served(application) as url:
        monkeypatch.setenv("JACKPOT_URL", url)
        yield


@contextmanager
def calling_service(monkeypatch: pytest.MonkeyPatch, database_url: str, config: Config | None = None) -> Iterator[None]:
    """Have commands call a service on a database, which goes by this machine's clock, until the block ends."""
    engine = create_engine(config or Config(), service_url(database_url))
    try:
        with calling(monkeypatch, create_app(config or Config(), engine)):
            yield
    finally:
        on_loop(end_what_runs())
        engine.dispose()


def key_of(jackpot: Jackpot, name: str, role: str, *more: str) -> str:
    """Have the owner of the database make a key."""
    return jackpot("db", "key", "--role", role, "--name", name, "--reason", "hired", *more).ok().strip()


@contextmanager
def jobs_done(monkeypatch: pytest.MonkeyPatch, database_url: str) -> Iterator[None]:
    """Have somebody do jobs, as a server does next to its calls, until the block ends."""
    monkeypatch.setattr(runners, "IDLE_S", 0.02)
    engine = create_engine(Config(), service_url(database_url))
    runner = Runner(engine, timedelta(days=7))
    thread = threading.Thread(target=runner.work)
    thread.start()
    try:
        yield
    finally:
        runner.stop.set()
        thread.join(20)
        engine.dispose()
