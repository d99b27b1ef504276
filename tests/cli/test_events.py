"""`jackpot events`: a line of JSON an event, and the cursor after the last of them."""

import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import PIPE, Popen
from typing import IO, Final

import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.events.cursor import Cursor, encode
from tests.support import notifications
from tests.support.command_line import Jackpot, calling, program
from tests.support.fixtures import world as world  # noqa: PLC0414  a fixture of these tests
from tests.support.world import World

pytestmark = pytest.mark.slow

PIPE_BYTES: Final = 4096

ROUNDS: Final = 100
"""So many that their events do not fit in a pipe: whoever prints them waits in the middle until they are read."""


@pytest.fixture
def run(
    world: World, database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Jackpot]:
    """The program, calling the world's service as an auditor of the house."""
    monkeypatch.setenv("JACKPOT_KEY", world.person("Ada", Role.AUDITOR))
    with calling(monkeypatch, world.app):
        yield program(monkeypatch, capsys, database_url)


def cursor_of(err: str) -> str:
    result = re.fullmatch(r"Next: --after ([A-Za-z0-9_-]+)\n", err)
    assert result, err
    return result[1]


def test_every_event_is_a_line_as_the_house_sees_it(world: World, run: Jackpot) -> None:
    notifications.bring_about_everything(world)

    ended = run("events")

    assert [json.loads(line) for line in ended.ok().splitlines()] == notifications.follow(world)
    assert cursor_of(ended.err) == notifications.now(world)


def test_it_goes_on_after_the_cursor_that_was_printed(world: World, run: Jackpot) -> None:
    world.open(base_amount="1000")
    now = cursor_of(run("events", "--after", "now").err)
    world.cancel()

    ended = run("events", "--after", now)
    assert notifications.types(map(json.loads, ended.ok().splitlines())) == ["round.cancelled"]

    assert run("events", "--after", cursor_of(ended.err)).ok() == ""


@contextmanager
def printing(*arguments: str, pipesize: int = -1) -> Iterator[tuple[Popen[str], IO[str], IO[str]]]:
    """A command under way, its standard output and its standard error; killed if it has not ended."""
    with Popen(
        [sys.executable, "-m", "jackpot_service.cli", "events", *arguments],
        env=os.environ,
        stdout=PIPE,
        stderr=PIPE,
        text=True,
        pipesize=pipesize,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            yield process, process.stdout, process.stderr
        finally:
            process.kill()


@pytest.mark.usefixtures("run")
def test_it_follows_what_happens_until_it_is_interrupted(world: World) -> None:
    world.open(base_amount="1000")
    with printing("--follow", "--after", notifications.now(world)) as (process, printed, _):
        for round_id in ("r1", "r2"):
            world.cancel(round_id=round_id)
            assert json.loads(printed.readline())["subject"] == f"round T1/{round_id}"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)

    assert (process.returncode, out) == (0, "")
    assert cursor_of(err) == notifications.now(world)


@pytest.mark.usefixtures("run")
def test_interrupted_in_the_middle_of_a_page_it_prints_the_rest_and_the_cursor_after_it(world: World) -> None:
    world.open(base_amount="1000")
    for number in range(ROUNDS):
        world.cancel(round_id=f"r{number}")
    with printing(pipesize=PIPE_BYTES) as (process, printed, output):
        lines = [printed.readline()]
        process.send_signal(signal.SIGINT)
        lines += printed.readlines()
        err = output.read()

    assert sum(map(len, lines)) > 4 * PIPE_BYTES
    assert [json.loads(line) for line in lines] == notifications.follow(world)
    assert cursor_of(err) == notifications.now(world)


@pytest.mark.usefixtures("run")
def test_when_its_reader_goes_away_the_cursor_is_that_after_the_last_whole_page(world: World) -> None:
    world.open(base_amount="1000")
    with printing("--follow", "--after", notifications.now(world)) as (_, printed, output):
        world.cancel(round_id="r1")
        printed.readline()
        whole = notifications.now(world)
        printed.close()
        world.cancel(round_id="r2")
        err = output.read()

    assert cursor_of(err) == whole
    assert whole != notifications.now(world)


WRONG: Final = (
    (("--after", "yesterday!"), 1, "jackpot: validation: --after "),
    (("--after", ""), 1, "jackpot: validation: --after "),
    (("--after", encode(Cursor({"-": (1,)}))[:-1]), 1, "jackpot: validation: --after "),
    (("--after", encode(Cursor({"-": (10**9,)}))), 1, "jackpot: cursor-ahead: "),
    (("--after", encode(Cursor({"none": (1,)}))), 1, "jackpot: cursor-ahead: "),
    (("--limit", "3"), 2, "No such option"),
)


def test_a_cursor_that_cannot_be_is_said_in_a_line(run: Jackpot, subtests: pytest.Subtests) -> None:
    for arguments, status, output in WRONG:
        with subtests.test(str(arguments)):
            run("events", *arguments).refused(status, output)
