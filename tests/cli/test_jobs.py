"""Exports on the command line: the journal at once, or as a job that is asked for, waited for and fetched."""

import os
import pty
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import orjson
import pytest
import sqlalchemy

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.exports.accounting import FORMS
from jackpot_service.exports.jobs import runner as runners
from jackpot_service.exports.jobs.runner import Runner
from tests.cli.test_command_line import Jackpot, jackpot, opened

pytestmark = pytest.mark.long

__all__ = ["jackpot", "opened"]

ASKED = '{"jackpot_id":"live","format":"beancount"}'


@pytest.fixture
def engine(database_url: str) -> Iterator[sqlalchemy.Engine]:
    engine = create_engine(Config(), database_url)
    yield engine
    engine.dispose()


@contextmanager
def at_work(engine: sqlalchemy.Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have somebody do jobs, as a server would beside its calls."""
    monkeypatch.setattr(runners, "IDLE_S", 0.02)
    runner = Runner(engine, timedelta(days=7))
    thread = threading.Thread(target=runner.work)
    thread.start()
    try:
        yield
    finally:
        runner.stop.set()
        thread.join(20)


@pytest.mark.parametrize("form", FORMS)
def test_a_journal_is_written_to_standard_output(opened: Jackpot, form: str) -> None:
    written = opened("books", "export", "live", "--format", form)

    assert written.ok().startswith("; The journal of jackpot live, base currency EUR.\n")
    assert "jackpot_opened" in written.out
    assert written.err == ""


def test_a_journal_is_written_to_a_file_that_is_there_when_it_is_whole(opened: Jackpot, tmp_path: Path) -> None:
    file = tmp_path / "live.beancount"

    opened("books", "export", "live", "--format", "beancount", "--output", str(file)).ok()

    assert file.read_text() == opened("books", "export", "live", "--format", "beancount").ok()
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_a_journal_ends_at_an_instant_if_it_is_asked_to(opened: Jackpot) -> None:
    export = ("books", "export", "live", "--format", "beancount")
    whole = opened(*export).ok()

    assert opened(*export, "--as-of", f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}").ok() == whole
    assert "jackpot_opened" not in opened(*export, "--as-of", "2026-01-01T00:00:00Z").ok()
    opened(*export, "--as-of", "2126-01-01T00:00:00Z").refused(1, "instant-ahead")
    opened(*export, "--as-of", "2026-01-01").refused(2, "must be a time by RFC 3339")
    opened("books", "export", "nothing", *export[3:], "--as-of", "2026-01-01T00:00:00Z").refused(1, "jackpot-unknown")


def test_an_export_that_is_refused_leaves_no_file(opened: Jackpot, tmp_path: Path) -> None:
    file = tmp_path / "it"

    exported = ("books", "export", "nothing", "--format", "hledger", "--output", str(file))
    opened(*exported).refused(1, "jackpot-unknown: There is no jackpot nothing.")
    opened("books", "export", "live", "--format", "hledger", "--output", f"{file}/in").refused(1, "cannot be written")

    assert list(tmp_path.iterdir()) == []


def test_a_job_is_asked_for_waited_for_and_fetched(
    opened: Jackpot, engine: sqlalchemy.Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    job_id = opened("jobs", "create", "journal", ASKED, "--request-id", "q1").ok().strip()
    assert opened("jobs", "create", "journal", ASKED, "--request-id", "q1").ok().strip() == job_id
    opened("jobs", "fetch", job_id).refused(1, f"job-not-done: Job {job_id} is queued.")
    file = tmp_path / "file"

    with at_work(engine, monkeypatch):
        opened("jobs", "fetch", job_id, "--wait", "--output", str(file)).ok()

    assert file.read_text() == opened("books", "export", "live", "--format", "beancount").ok()
    assert opened("jobs", "fetch", job_id).ok() == file.read_text()
    shown = orjson.loads(opened("jobs", "show", job_id).ok())
    assert (shown["state"], shown["principal"], shown["file"]["size"]) == ("done", "cli", file.stat().st_size)


def test_a_report_is_asked_for_as_a_job_and_is_the_one_that_is_shown(
    opened: Jackpot, engine: sqlalchemy.Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "balance.csv"
    job_id = opened("jobs", "create", "report", '{"name":"trial-balance","format":"csv"}').ok().strip()
    to = orjson.loads(opened("jobs", "show", job_id).ok())["parameters"]["to"]

    with at_work(engine, monkeypatch):
        opened("jobs", "fetch", job_id, "--wait", "--output", str(file)).ok()

    shown = opened("reports", "show", "trial-balance", "--as-of", to, "--format", "csv").ok()
    assert file.read_bytes() == shown.encode()
    assert shown.startswith("jackpot_id,account,")
    opened("jobs", "create", "report", '{"name":"nothing","format":"csv"}').refused(1, "report-unknown")
    opened("jobs", "create", "report", '{"name":"rounds"}').refused(1, "payload-invalid: parameters/format")


def test_jobs_are_listed_and_ended(opened: Jackpot) -> None:
    first, second = (opened("jobs", "create", "journal", ASKED).ok().strip() for _ in range(2))

    assert f"Job {first} is cancelled." in opened("jobs", "cancel", first).err

    listed = opened("jobs", "list").ok().splitlines()
    assert [line.split()[0] for line in listed] == [second, first]
    assert listed[0].endswith("journal-live-1.beancount  by cli  queued")
    assert [line.partition(" ")[0] for line in opened("jobs", "list", "--state", "cancelled").ok().splitlines()] == [
        first
    ]
    opened("jobs", "fetch", first, "--wait").refused(1, f"job-not-done: Job {first} is cancelled.")


WRONG: Final = (
    (("create", "everything", "{}"), 2, "'everything' is not"),
    (("create", "journal", "{"), 2, "PARAMETERS"),
    (("create", "journal", "{}"), 1, "parameters/jackpot_id Missing data for required field."),
    (("create", "journal", ASKED.replace("live", "nothing")), 1, "jackpot-unknown"),
    (("show", "nothing"), 1, "job-unknown"),
    (("cancel", "nothing"), 1, "job-unknown"),
    (("fetch", "nothing", "--wait"), 1, "job-unknown"),
    (("fetch", "a b"), 2, "must be a string that matches"),
)


def test_what_is_wrong_is_said_in_a_line(opened: Jackpot, subtests: pytest.Subtests) -> None:
    for arguments, status, said in WRONG:
        with subtests.test(str(arguments)):
            opened("jobs", *arguments).refused(status, said)


def test_a_key_asks_under_its_own_name_and_only_if_it_may(opened: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    creating = ("keys", "create", "--reason", "as agreed", "--name")
    auditor = opened(*creating, "Ada", "--role", "auditor").ok().strip()
    operator = opened(*creating, "Olga", "--role", "operator").ok().strip()
    casinos = opened(*creating, "Fred", "--role", "finance", "--casino", "riga").ok().strip()

    monkeypatch.setenv("JACKPOT_KEY", auditor)
    job_id = opened("jobs", "create", "journal", ASKED).ok().strip()
    assert orjson.loads(opened("jobs", "show", job_id).ok())["principal"] == "Ada"
    monkeypatch.setenv("JACKPOT_KEY", operator)
    opened("jobs", "create", "journal", ASKED).refused(1, "role-forbidden")
    monkeypatch.setenv("JACKPOT_KEY", casinos)
    opened("jobs", "create", "journal", ASKED).refused(1, "job-forbidden")
    opened("jobs", "cancel", job_id).refused(1, "job-unknown")


def test_whoever_watches_sees_a_bar_on_standard_error(opened: Jackpot, database_url: str) -> None:
    command = [sys.executable, "-m", "jackpot_service.cli", "books", "export", "live", "--format", "hledger"]
    terminal, its_end = pty.openpty()
    environment = {**os.environ, "JACKPOT_DATABASE_URL": database_url, "TERM": "xterm", "COLUMNS": "120"}

    exported = subprocess.run(command, stdout=subprocess.PIPE, stderr=its_end, env=environment, check=True)
    os.close(its_end)
    with os.fdopen(terminal, "rb", buffering=0) as watched:
        shown = watched.read(100_000).decode()

    assert "journal of live" in shown
    assert "1/1" in shown
    assert exported.stdout.decode() == opened("books", "export", "live", "--format", "hledger").ok()
