"""Rounds that are proved side by side by several processes: they find the same, and leave nothing behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from multiprocessing import active_children
from typing import Any

import psycopg
import pytest
import sqlalchemy

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.failures import HeldUp
from jackpot_service.database.snapshots import snapshot
from jackpot_service.domain.money import ZERO
from jackpot_service.ledger.verification import Progress, Reached, Verification, Verified
from jackpot_service.proof.processes import Answers, Processes, SideBySide
from jackpot_service.proof.proof import verify
from jackpot_service.proof.round_proof import ProvedRounds
from tests.proof.corruptions import CORRUPTIONS
from tests.support import history
from tests.support.logins import owner_conninfo

pytestmark = pytest.mark.long

LONGEST_WAIT_S = 30


def write(url: str) -> None:
    with history.engine_of(url) as engine:
        history.write(engine)


def engine_of(url: str) -> sqlalchemy.Engine:
    return create_engine(Config(), url)


def side_by_side(url: str, number: int = 3) -> Processes:
    """Processes that share out the few rounds of a history too."""
    return Processes(number, partial(engine_of, url), rounds_of_a_share=1, least_shares=1)


def proved(
    url: str, processes: Processes | None, since: Mapping[str, Verified] | None = None
) -> tuple[Verification, list[Reached]]:
    reached: list[Reached] = []
    with history.engine_of(url) as engine, snapshot(engine) as session:
        return verify(session, since=since, on_reached=reached.append, processes=processes), reached


@pytest.mark.parametrize("number", [1, 2, 5])
def test_several_processes_prove_what_a_single_one_does(url: str, number: int) -> None:
    (alone, _), (shared, reached) = proved(url, None), proved(url, side_by_side(url, number))
    assert shared == alone
    assert shared.is_clean
    assert shared.rounds > 5
    keys = [step.books["live"].last_round_key for step in reached if "live" in step.books]
    assert keys == sorted(keys)
    assert len(set(keys)) > 5


def no_engine() -> sqlalchemy.Engine:
    message = "A process began."
    raise AssertionError(message)


def test_no_process_begins_where_there_are_few_full_shares(url: str) -> None:
    alone, _ = proved(url, None)
    processes = Processes(2, no_engine, rounds_of_a_share=1, least_shares=alone.rounds + 2)
    assert proved(url, processes)[0] == alone
    with pytest.raises(HeldUp, match="has ended"):
        proved(url, replace(processes, least_shares=alone.rounds + 1))


def test_what_others_have_proved_waits_until_it_is_taken_in_the_order_of_the_rounds() -> None:
    first, second = Answers(), Answers()
    side_by_side = SideBySide([first, second], shares=3)
    taken = iter(side_by_side)

    second.add(proved_rounds(5))
    first.add(proved_rounds(3))
    first.add("It has ended.")

    assert side_by_side.entries_waiting == 8
    assert (next(taken).entries, side_by_side.entries_waiting) == (3, 5)
    assert (next(taken).entries, side_by_side.entries_waiting) == (5, 0)
    with pytest.raises(HeldUp, match="It has ended"):
        next(taken)


def proved_rounds(entries: int) -> ProvedRounds:
    return ProvedRounds(1, entries, rounds=1, bets=1, awards=0, held=ZERO, unreadable=(), mismatches=())


def test_the_progress_of_several_processes_never_goes_back_and_ends_at_its_total(url: str) -> None:
    seen: list[Progress] = []
    with history.engine_of(url) as engine, snapshot(engine) as session:
        verify(session, on_progress=seen.append, processes=side_by_side(url))

    done = [progress.done for progress in seen]
    assert done == sorted(done)
    assert done[-1] == seen[-1].total > 0


def test_who_goes_on_after_an_interruption_shares_out_the_rest(url: str) -> None:
    _, reached = proved(url, side_by_side(url))
    half_way = reached[len(reached) // 2]
    rest, _ = proved(url, side_by_side(url), half_way.books)
    whole, _ = proved(url, None)
    assert rest.is_clean
    assert (half_way.rounds + rest.rounds, half_way.bets + rest.bets) == (whole.rounds, whole.bets)


@pytest.fixture
def corrupted(database_url: str) -> str:
    """A history of which much was changed, each in a row of its own, as only a superuser can."""
    write(database_url)
    changed = 0
    with psycopg.connect(owner_conninfo(database_url), autocommit=True) as owner:
        owner.execute("SET session_replication_role = replica")
        for corruption in CORRUPTIONS:
            if corruption.table in {"bets", "voids", "awards", "award_steps", "entries", "rounds"}:
                changed += changes_something(owner, corruption.statement)
    assert changed > 20
    return database_url


def changes_something(owner: psycopg.Connection[Any], statement: str) -> bool:
    try:
        return owner.execute(statement.encode()).rowcount > 0
    except psycopg.Error:
        return False  # Another corruption took what this one is about.


def test_several_processes_find_what_a_single_one_finds_and_in_its_order(corrupted: str) -> None:
    (alone, _), (shared, _) = proved(corrupted, None), proved(corrupted, side_by_side(corrupted))
    assert len(alone.mismatches) > 50
    assert set(shared.mismatches) == set(alone.mismatches)
    assert len(shared.mismatches) == len(alone.mismatches)


def when_there_are_children(act: Callable[[int], object]) -> threading.Thread:
    def run() -> None:
        wait_for(lambda: bool(active_children()))
        pid = active_children()[0].pid
        assert pid
        act(pid)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_a_process_that_is_killed_ends_the_verification_and_all_others(url: str) -> None:
    killing = when_there_are_children(lambda pid: os.kill(pid, signal.SIGKILL))
    with pytest.raises(HeldUp, match="has ended, with -9"):
        proved(url, side_by_side(url))
    killing.join()
    assert active_children() == []


def test_a_database_that_refuses_a_process_ends_the_verification(url: str) -> None:
    elsewhere = sqlalchemy.make_url(url).set(database="nowhere").render_as_string(hide_password=False)
    with pytest.raises(HeldUp, match="A process that proved rounds has ended"):
        proved(url, side_by_side(elsewhere))
    assert active_children() == []


ON_AND_ON = """
from sys import argv
from tests.proof.test_processes import proved, side_by_side
while True:
    proved(argv[1], side_by_side(argv[1]))
"""


def test_processes_whose_verification_is_killed_end_too(url: str) -> None:
    with subprocess.Popen([sys.executable, "-c", ON_AND_ON, url]) as verification:
        wait_for(lambda: connections(url) > 1)
        verification.kill()
    wait_for(lambda: connections(url) == 0)


def connections(url: str) -> int:
    """How many there are besides this one."""
    with psycopg.connect(owner_conninfo(url), autocommit=True) as owner:
        question = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        return owner.execute(question).rowcount


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + LONGEST_WAIT_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)
