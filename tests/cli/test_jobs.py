"""Exports on the command line: a job that is asked for, waited for and fetched, and the journal in one go."""

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from jackpot_service.exports.accounting import FORMS
from tests.support.command_line import Jackpot, jobs_done, key_of

pytestmark = pytest.mark.long

ASKED: Final = ("journal", "jackpot_id=live", "format=beancount")
EXPORT: Final = ("books", "export", "live", "--format")


@pytest.fixture
def asking(opened: Jackpot, monkeypatch: pytest.MonkeyPatch) -> Jackpot:
    """The program with a jackpot, as Fay, finance of the house."""
    monkeypatch.setenv("JACKPOT_KEY", key_of(opened, "Fay", "finance"))
    return opened


@pytest.fixture
def at_work(asking: Jackpot, monkeypatch: pytest.MonkeyPatch, database_url: str) -> Iterator[Jackpot]:
    """The same while somebody does jobs."""
    with jobs_done(monkeypatch, database_url):
        yield asking


@pytest.mark.parametrize("form", FORMS)
def test_a_journal_is_written_to_standard_output(at_work: Jackpot, form: str) -> None:
    written = at_work(*EXPORT, form)

    assert written.ok().startswith("; The journal of jackpot live, base currency EUR.\n")
    assert "jackpot_opened" in written.out
    assert written.err == ""


def test_a_journal_is_written_to_a_file_that_is_there_when_it_is_whole(at_work: Jackpot, tmp_path: Path) -> None:
    file = tmp_path / "live.beancount"

    at_work(*EXPORT, "beancount", "--output", str(file)).ok()

    assert file.read_text() == at_work(*EXPORT, "beancount").ok()
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_a_journal_ends_at_an_instant_if_it_is_asked_to(at_work: Jackpot) -> None:
    export = (*EXPORT, "beancount")
    whole = at_work(*export).ok()

    assert at_work(*export, "--as-of", f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}").ok() == whole
    assert "jackpot_opened" not in at_work(*export, "--as-of", "2026-01-01T00:00:00Z").ok()
    at_work(*export, "--as-of", "2126-01-01T00:00:00Z").refused(1, "instant-ahead")
    at_work(*export, "--as-of", "2026-01-01").refused(2, "must be a time such as")


def test_an_export_that_is_repeated_with_its_id_is_the_same_job(at_work: Jackpot) -> None:
    exports = [at_work(*EXPORT, "hledger", "--request-id", "q1").ok() for _ in range(2)]

    assert exports[0] == exports[1]
    assert len(at_work("jobs", "list", "--json").ok().splitlines()) == 1


def test_an_export_that_is_refused_leaves_no_file(at_work: Jackpot, tmp_path: Path) -> None:
    file = tmp_path / "it"

    exported = ("books", "export", "nothing", "--format", "hledger", "--output", str(file))
    at_work(*exported).refused(1, "jackpot-unknown: There is no jackpot nothing.")
    at_work(*EXPORT, "hledger", "--output", f"{file}/in").refused(1, "cannot be written")

    assert list(tmp_path.iterdir()) == []


def test_a_job_is_asked_for_waited_for_and_fetched(
    asking: Jackpot, monkeypatch: pytest.MonkeyPatch, database_url: str, tmp_path: Path
) -> None:
    job_id = asking("jobs", "create", *ASKED, "--request-id", "q1").ok().strip()
    assert asking("jobs", "create", *ASKED, "--request-id", "q1").ok().strip() == job_id
    asking("jobs", "fetch", job_id).refused(1, f"job-not-done: Job {job_id} is queued.")
    file = tmp_path / "file"

    with jobs_done(monkeypatch, database_url):
        asking("jobs", "fetch", job_id, "--wait", "--output", str(file)).ok()

    assert asking("jobs", "fetch", job_id).ok() == file.read_text()
    shown = json.loads(asking("jobs", "show", job_id, "--json").ok())
    assert (shown["state"], shown["principal"], shown["file"]["size"]) == ("done", "Fay", file.stat().st_size)


def test_a_report_is_asked_for_as_a_job_and_is_the_one_that_is_shown(at_work: Jackpot, tmp_path: Path) -> None:
    file = tmp_path / "balance.csv"
    job_id = at_work("jobs", "create", "report", "name=trial-balance", "format=csv").ok().strip()
    to = json.loads(at_work("jobs", "show", job_id, "--json").ok())["parameters"]["to"]

    at_work("jobs", "fetch", job_id, "--wait", "--output", str(file)).ok()

    shown = at_work("reports", "show", "trial-balance", "--as-of", to, "--format", "csv").ok()
    assert file.read_bytes() == shown.encode()
    assert shown.startswith("jackpot_id,account,")
    at_work("jobs", "create", "report", "name=nothing", "format=csv").refused(1, "report-unknown")
    at_work("jobs", "create", "report", "--parameters", '{"name":"rounds"}').refused(1, "payload-invalid", "format")
    grouped = at_work("jobs", "create", "report", "name=pool-movements", "format=csv", "by=cycle,day").ok().strip()
    assert json.loads(at_work("jobs", "show", grouped, "--json").ok())["parameters"]["by"] == ["cycle", "day"]


def test_jobs_are_listed_and_ended(asking: Jackpot) -> None:
    first, second = (asking("jobs", "create", *ASKED).ok().strip() for _ in range(2))

    assert f"Job {first} is cancelled." in asking("jobs", "cancel", first).err

    _, *listed = (re.split(r" {2,}", line) for line in asking("jobs", "list").ok().splitlines())
    assert [line[0] for line in listed] == [second, first]
    assert listed[0][2:] == ["Fay", "journal", "queued", "-", "-"]
    _, cancelled = asking("jobs", "list", "--state", "cancelled").ok().splitlines()
    assert cancelled.startswith(first)
    asking("jobs", "fetch", first, "--wait").refused(1, f"job-not-done: Job {first} is cancelled.")


WRONG: Final = (
    (("create", "everything"), 2, "'everything' is not"),
    (("create", "journal", "--parameters", "{"), 2, "this is not JSON"),
    (("create", "journal", "jackpot_id=live", "--parameters", "{}"), 2, "as NAME=VALUE, or as --parameters"),
    (("create", "journal"), 1, "\n  jackpot_id=…: is missing\n"),
    (("create", "journal", "jackpot_id=nothing", "format=beancount"), 1, "jackpot-unknown"),
    (("show", "nothing"), 1, "job-unknown"),
    (("cancel", "nothing"), 1, "job-unknown"),
    (("fetch", "nothing", "--wait"), 1, "job-unknown"),
    (("fetch", "a b"), 2, "must be 1 to 64 letters"),
)


def test_what_is_wrong_is_said_in_a_line(asking: Jackpot, subtests: pytest.Subtests) -> None:
    for arguments, status, expected in WRONG:
        with subtests.test(str(arguments)):
            asking("jobs", *arguments).refused(status, expected)


def test_a_key_asks_under_its_own_name_and_only_if_it_may(opened: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    auditor = key_of(opened, "Ada", "auditor")
    of_riga = key_of(opened, "Fred", "finance", "--casino", "riga")
    opened("jobs", "create", *ASKED).refused(1, "role-forbidden")

    monkeypatch.setenv("JACKPOT_KEY", auditor)
    job_id = opened("jobs", "create", *ASKED).ok().strip()
    assert json.loads(opened("jobs", "show", job_id, "--json").ok())["principal"] == "Ada"
    monkeypatch.setenv("JACKPOT_KEY", of_riga)
    opened("jobs", "create", *ASKED).refused(1, "job-forbidden")
    opened("jobs", "cancel", job_id).refused(1, "job-unknown")


def test_whoever_watches_sees_a_bar_on_standard_error(at_work: Jackpot) -> None:
    command = [sys.executable, "-m", "jackpot_service.cli", *EXPORT, "hledger"]
    terminal, its_end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=its_end, env=environment) as exporting:
        os.close(its_end)
        shown = everything_on(terminal)
        exported, _ = exporting.communicate()

    assert "job " in shown
    assert "1/1" in shown
    assert exporting.returncode == 0
    assert exported.decode() == at_work(*EXPORT, "hledger").ok()


def everything_on(terminal: int) -> str:
    """Read what was written on a terminal, piece by piece, until nobody has it open any more."""
    pieces = []
    with os.fdopen(terminal, "rb", buffering=0) as watched, suppress(OSError):  # That is how it ends.
        while piece := watched.read(100_000):
            pieces.append(piece)
    return b"".join(pieces).decode()
