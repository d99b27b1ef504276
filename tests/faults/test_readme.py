"""
README is executed: every command of its blocks, in order, by a shell, as a newcomer would run them.

Four things differ. What `make setup` sets up is there. The port is a free one, since others may use the machine. The
tests that README names are collected and not run, since this is one of them. What goes on for ever is ended.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

import orjson
import pytest

from tests.faults.processes import LONGEST_WAIT_S, pids_of_session, wait_until
from tests.faults.service import free_port

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

CHECKOUT: Final = Path(__file__).parents[2]
README: Final = (CHECKOUT / "README.md").read_text(encoding="utf-8")
MAKE, *BLOCKS = map(dedent, re.findall(r"(?:^ {4}\S.*\n(?:(?: {4}.*)?\n)*)", README, re.MULTILINE))

FOLLOWING: Final = "jackpot events --follow"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with what `make setup` makes, and without data."""
    for path in CHECKOUT.iterdir():
        if path.name not in {"var", ".venv"}:
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


def environment() -> dict[str, str]:
    """The one of a newcomer, who has set nothing of ours."""
    return {name: value for name, value in os.environ.items() if not name.startswith("JACKPOT_")}


@contextmanager
def started(directory: Path, *command: str) -> Iterator["subprocess.Popen[str]"]:
    """Start a command, whose output is in `printed`; nothing of it is left in the end."""
    with (directory / "printed").open("w") as printed:
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(LONGEST_WAIT_S)
        wait_until(lambda: not pids_of_session(process.pid))


def make(directory: Path, *arguments: str) -> tuple[str, ...]:
    return ("make", "--assume-old=setup", f"--directory={directory}", *arguments)


def run_the_product(checkout: Path, port: int) -> str:
    """Run it until it has played some rounds, try its example in a fresh shell, and end it by Ctrl-C."""
    with started(checkout, *make(checkout, "run", f"ARGS=--port {port}")) as process:
        printed = checkout / "printed"
        wait_until(lambda: "Ctrl-C ends all of it" in printed.read_text() or process.poll() is not None, within_s=300)
        try_it = next(line for line in printed.read_text().splitlines() if line.startswith("    . "))
        listed = subprocess.run(
            ["bash", "-c", try_it],
            cwd=checkout,
            env={"PATH": os.defpath},
            capture_output=True,
            text=True,
            check=True,
            timeout=LONGEST_WAIT_S,
        )
        assert "\nlive " in listed.stdout
        os.killpg(process.pid, signal.SIGINT)
        process.wait(LONGEST_WAIT_S)
        return printed.read_text()


def script(port: int) -> str:
    """Return the blocks after the first as one script, which ends with the first command that fails."""
    commands = "\n".join(BLOCKS)
    assert commands.count(FOLLOWING) == 1
    commands = commands.replace(FOLLOWING, f"{{ timeout 5 {FOLLOWING} || test $? = 124; }}")
    assert commands.count("jackpot serve &") == 1
    commands = commands.replace("jackpot serve &", f"jackpot serve --port {port} &")
    commands = commands.replace("127.0.0.1:8000", f"127.0.0.1:{port}")
    address = f"export JACKPOT_URL=http://127.0.0.1:{port}"
    return f"set -euo pipefail; {address}\n{commands}\nset +x; kill $!; wait $!\n"


def answers(printed: str) -> list[dict[str, Any]]:
    """Return the answers of the API among what was printed."""
    return [orjson.loads(line) for line in printed.splitlines() if line.startswith('{"') and '"round"' in line]


def test_readme_is_executed(checkout: Path) -> None:
    assert [line.split("#")[0].strip() for line in MAKE.strip().splitlines()] == ["make run", "make quick", "make test"]
    port = free_port()
    printed = run_the_product(checkout, port)
    assert f"http://127.0.0.1:{port}/docs" in printed
    assert "Traceback" not in printed
    for target in ("quick", "test"):
        collected = make(checkout, target, "ARGS=--collect-only --quiet -n 0 tests/domain")
        subprocess.run(collected, check=True, env=environment(), capture_output=True)

    assert "`make reset`" in README
    before = {path.name for path in checkout.iterdir()}
    subprocess.run(make(checkout, "reset", "SURE=yes"), check=True, env=environment(), capture_output=True)
    (checkout / "script").write_text(script(port))
    with started(checkout, "bash", "script") as process:
        process.wait(600)
        printed = (checkout / "printed").read_text()
        assert process.returncode in {0, 128 + signal.SIGTERM}, printed

    bets, result = answers(printed)[:2]
    assert f"W = {bets['round']['total_stake_base']} " in README
    assert f"M = {Decimal(bets['meter']['amount_exact']):,} " in README
    awards = [
        f"{award['currency']} {Decimal(award['amount_minor']) / 100:,}" for award in result["settlement"]["awards"]
    ]
    assert "**{}, {} and {}**".format(*awards) in " ".join(README.split())
    assert result["settlement"]["carried"] in README
    assert ": the books are right." in printed
    assert re.search(r"^  live +awards:held +EUR .* 5,434\.040742$", printed, re.MULTILINE), "a report without figures"
    assert {path.name for path in checkout.iterdir()} - before <= {"script", "var"}
