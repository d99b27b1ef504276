"""`jackpot verify`: what it shows on the way, and how it goes on from where the last one stood."""

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, Final

import psycopg
import pytest

from jackpot_service.cli import progress
from jackpot_service.database import deadlines
from jackpot_service.ledger.verification import Verification
from jackpot_service.reports.finance import registry
from tests.support import history
from tests.support.asking import raise_version
from tests.support.command_line import Jackpot, key_of
from tests.support.logins import owner_conninfo

pytestmark = pytest.mark.long

FAR: Final = 6
"""The note at which an interrupted verification is stopped: by then two jackpots are done, and the third has begun."""


def play(url: str) -> None:
    random.seed(5)
    with history.engine_of(url) as engine:
        history.write(engine)


def owner(url: str) -> "psycopg.Connection[Any]":
    connection = psycopg.connect(owner_conninfo(url))
    connection.execute("SET session_replication_role = replica")
    return connection


def counted(out: str) -> tuple[int, int]:
    """How many entries and rounds were checked."""
    match = re.search(r"Verified 4 books, ([\d,]+) entries, ([\d,]+) rounds, ", out)
    assert match
    entries, rounds = match.groups()
    return int(entries.replace(",", "")), int(rounds.replace(",", ""))


def test_each_goes_on_from_the_last(machine: Jackpot, database_url: str) -> None:
    play(database_url)
    assert machine("verify", "--from-last").err == "No verification is noted: beginning at zero.\n"

    again = machine("verify", "--from-last")

    assert counted(again.ok()) == (0, 0)
    assert re.fullmatch(
        r"Going on from verification 1, which ended at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\.\n", again.err
    )
    key_of(machine, "Ada", "auditor")
    assert counted(machine("verify", "--from-last").ok()) == (2, 0)
    assert counted(machine("verify").ok())[1] == 25


def test_after_something_was_wrong_the_next_begins_before_it(machine: Jackpot, database_url: str) -> None:
    play(database_url)
    machine("verify").ok()
    with owner(database_url) as connection:
        connection.execute("UPDATE casinos SET name = 'Eins' WHERE casino_id = 'c1'")

    wrong = [machine("verify", "--from-last") for _ in range(2)]

    assert [(ended.status, ended.out) for ended in wrong] == [(1, wrong[0].out)] * 2
    assert wrong[0].out.startswith("entry-digest  -  ")
    assert all("Going on from verification 1, which ended" in ended.err for ended in wrong)


def killed_at(url: str, number: int) -> None:
    """Begin to verify, and kill it where it is about to note for the so-manieth time how far it has come."""
    environment = {**os.environ, "JACKPOT_DATABASE_URL": url}
    environment |= {"JACKPOT_LOCK_TIMEOUT_MS": "60000", "JACKPOT_STATEMENT_TIMEOUT_MS": "60000"}
    command = [sys.executable, "-m", "jackpot_service.cli", "verify", "--note-every", "0"]
    with owner(url) as blocking, psycopg.connect(owner_conninfo(url), autocommit=True) as watching:
        noting = """
            INSERT INTO verifications (number, begun_at, noted_at, service_version, is_whole, entries, rounds, bets,
                                       awards, books)
            VALUES (%s, now(), now(), '0', true, 0, 0, 0, 0, '{}')
        """
        blocking.execute(noting, [number])
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until = time.monotonic() + 60
        while not watching.execute(
            "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        ).rowcount:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        process.communicate()
        blocking.rollback()


def test_one_that_was_killed_is_gone_on_with_from_where_it_stood(machine: Jackpot, database_url: str) -> None:
    play(database_url)
    killed_at(database_url, FAR)

    with owner(database_url) as connection:
        notes = connection.execute("SELECT number, is_whole, rounds FROM verifications ORDER BY number").fetchall()
    assert [note[:2] for note in notes] == [(number, False) for number in range(1, FAR)]
    done = notes[-1][2]
    rest = machine("verify", "--from-last")

    assert re.search(rf"^Going on from verification {FAR - 1}, which was under way at ", rest.err)
    assert 0 < counted(rest.ok())[1] == 25 - done < 25
    assert counted(machine("verify", "--from-last").ok()) == (0, 0)


def test_what_is_wrong_beyond_where_it_was_killed_is_found_and_before_it_from_zero_only(
    machine: Jackpot, database_url: str
) -> None:
    play(database_url)
    killed_at(database_url, FAR)
    with owner(database_url) as connection:
        connection.execute("UPDATE bets SET player_id = 'eve' WHERE jackpot_id = 'capped' AND bet_id = 'b'")

    machine("verify", "--from-last").ok()
    assert machine("verify").status == 1
    with owner(database_url) as connection:
        connection.execute("DELETE FROM verifications WHERE number >= %s", [FAR])
        connection.execute("UPDATE bets SET player_id = 'eve' WHERE jackpot_id = 'live' AND bet_id = 'a'")
    beyond = machine("verify", "--from-last")

    assert (beyond.status, "entry-digest  live  " in beyond.out, "  capped  " in beyond.out) == (1, True, False)


@pytest.mark.parametrize("books", ["[]", '{"live": 7}', '{"live": {"stripes": [[0]]}}', '{"live": {"stripes": "x"}}'])
def test_a_note_that_cannot_be_read_is_told(machine: Jackpot, database_url: str, books: str) -> None:
    machine("verify").ok()
    with owner(database_url) as connection:
        connection.execute("UPDATE verifications SET books = %s", [books])

    machine("verify", "--from-last").refused(1, "jackpot: verification-unreadable: Verification 1 noted ")
    machine("verify").ok()


def test_where_it_cannot_be_noted_it_is_verified_all_the_same(machine: Jackpot, database_url: str) -> None:
    with psycopg.connect(owner_conninfo(database_url), autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')

    verified = machine("verify")

    assert verified.ok().endswith(": the books are right.\n")
    assert verified.err.startswith("How far this verification comes is not noted: ")


def test_it_ends_by_itself_when_its_own_backend_hangs_while_the_database_lives(
    machine: Jackpot, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"

    def freeze_it() -> int:
        """Stop the backend where it waits for a lock, and let it have the lock; from then on little time is left."""
        with owner(database_url) as blocking, psycopg.connect(owner_conninfo(database_url), autocommit=True) as other:
            blocking.execute("LOCK TABLE ONLY bets")  # Nothing before the proof asks for it.
            is_locked.set()
            until = time.monotonic() + 60
            while (match := other.execute(waiting).fetchone()) is None:
                assert time.monotonic() < until
                time.sleep(0.02)
            os.kill(match[0], signal.SIGSTOP)
        monkeypatch.setattr(deadlines, "LONGEST_STATEMENT_S", 0.5)
        pid: int = match[0]
        return pid

    is_locked = threading.Event()
    monkeypatch.setenv("JACKPOT_LOCK_TIMEOUT_MS", "60000")
    with ThreadPoolExecutor(1) as threads:
        freezing = threads.submit(freeze_it)
        assert is_locked.wait(60)
        try:
            ended = machine("verify")
            assert (ended.status, ended.err[:15]) == (1, "jackpot: busy: ")
        finally:
            os.kill(freezing.result(), signal.SIGCONT)


# --- What it shows on the way ----------------------------------------------------------------------------------------


def test_in_a_pipe_it_says_a_line_now_and_then(
    machine: Jackpot, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(database_url)
    quiet = machine("verify")
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)

    ended = machine("verify")

    assert quiet.err == ""
    assert ended.ok() == quiet.ok()
    *_, last = ended.err.splitlines()
    assert re.fullmatch(
        r"looks at entries, now of live: ([\d,]+) of \1 \(100 %\), [\d,]+/s, (0 s left|no telling how long it takes)",
        last,
    )


def test_on_a_terminal_it_shows_a_bar_on_standard_error(
    machine: Jackpot, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(database_url)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")

    ended = machine("verify")

    assert re.fullmatch(r"Verified 4 books, .*: the books are right\.\n", ended.ok())
    assert "looks at entries, now of live" in ended.err
    assert "100%" in ended.err


def test_reports_of_closed_periods_that_it_cannot_compare_are_said_and_are_nothing_wrong(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACKPOT_KEY", key_of(opened, "Fay", "finance"))
    for _ in range(2):
        end = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
        opened("reports", "close", "--to", end, "--reason", "period end").ok()
    (line,) = opened("verify").ok().splitlines()
    assert line.startswith("Verified ")

    raise_version(monkeypatch, "rtp")
    monkeypatch.setattr(
        registry, "REPORTS", {name: report for name, report in registry.REPORTS.items() if name != "fx"}
    )
    *lines, verdict = opened("verify").ok().splitlines()

    assert lines == [
        "Not compared: fx of 2 closed period(s), kept in version 1; there is no such report any more.",
        "Not compared: rtp of 2 closed period(s), kept in version 2; its version is 3 now.",
    ]
    assert verdict.endswith(": the books are right.")


LACKING: Final = "Without statistics this takes many times as long. The database's owner runs: ANALYZE jackpots;\n"


@pytest.mark.parametrize("is_owner_known", [False, True])
def test_tables_that_nobody_has_analysed_are_analysed_first_or_named(
    machine: Jackpot, database_url: str, monkeypatch: pytest.MonkeyPatch, *, is_owner_known: bool
) -> None:
    with owner(database_url) as session:
        session.execute("INSERT INTO jackpots SELECT 'j' || n, 'EUR' FROM generate_series(1, 5000) AS n")
    monkeypatch.setattr("jackpot_service.cli.verifying.verify", lambda *_, **__: Verification(0, 0, 0, 0, 0, (), {}))
    if not is_owner_known:
        monkeypatch.delenv("JACKPOT_OWNER_URL")

    assert machine("verify").err == ("" if is_owner_known else LACKING)

    with owner(database_url) as session:
        analysed = session.execute("SELECT count(*) > 0 FROM pg_stats WHERE tablename = 'jackpots'").fetchone()
    assert analysed == (is_owner_known,)
