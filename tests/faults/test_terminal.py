"""
A terminal that is closed, or in which Ctrl-C is pressed: what was started in it ends, all of it.

It leaves neither the port nor the data held.
"""

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from jackpot_service.database.embedded import Cluster
from tests.faults.processes import LONGEST_WAIT_S, command_of, wait_until, wait_until_program_runs
from tests.faults.service import HOST, free_port

pytestmark = pytest.mark.long

CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal with a command in it; `watcher` reads what is printed there, and holds it open."""

    command: "subprocess.Popen[bytes]"
    watcher: "subprocess.Popen[bytes]"

    def close(self) -> None:
        self.watcher.kill()
        self.watcher.wait()


@contextmanager
def in_terminal(
    directory: Path, *command: str, screen: Path = Path(os.devnull), **environment: str
) -> Iterator[Terminal]:
    """Run a command in a terminal of its own, which prints into a file; in the end nothing of it is left."""
    master, slave = pty.openpty()
    # The mark is in every process that the command starts, wherever it goes.
    environment = {**os.environ, "JACKPOT_DATA_DIR": str(directory), **environment, "MARK": str(directory)}
    with screen.open("wb") as shown:
        watcher = subprocess.Popen(["cat"], stdin=master, stdout=shown, stderr=subprocess.DEVNULL)
    os.close(master)
    # Both the command takes the place of. Who runs the tests may ignore the signal, as under nohup.
    leader = ("setsid", "--ctty", "env", "--default-signal=HUP", *command)
    process = subprocess.Popen(leader, stdin=slave, stdout=slave, stderr=slave, env=environment, cwd=CHECKOUT)
    os.close(slave)
    terminal = Terminal(process, watcher)
    try:
        yield terminal
    finally:
        terminal.close()
        for pid in marked(directory):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def marked(directory: Path) -> set[int]:
    """The processes that were started, at whatever distance, by the command of a directory."""
    descriptors = set()
    for path in Path("/proc").iterdir():
        with suppress(OSError):
            if path.name.isdigit() and f"MARK={directory}\0".encode() in (path / "environ").read_bytes():
                descriptors.add(int(path.name))
    return descriptors


def require_ended(directory: Path) -> None:
    """Wait until all of them have ended; if some do not, say which, and where they wait in the kernel."""
    with suppress(AssertionError):
        wait_until(lambda: not marked(directory), within_s=2 * LONGEST_WAIT_S)
    left = {pid: (command_of(pid), (Path("/proc") / str(pid) / "wchan").read_text()) for pid in marked(directory)}
    assert not left, "\n".join(f"{pid} {wchan} {command!r}" for pid, (command, wchan) in left.items())


def embedded_of(directory: Path) -> set[int]:
    """The processes of the PostgreSQL of a directory."""
    pids = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
    return {pid for pid in pids if str(directory / "postgres").encode() in command_of(pid)}


def is_ready(port: int) -> bool:
    try:
        return httpx.get(f"http://{HOST}:{port}/readyz", trust_env=False, timeout=5).is_success
    except httpx.TransportError:
        return False


def plays(directory: Path) -> bool:
    """Whether everything is there that is to end: the service and its workers, its jobs, and the tables' partner."""
    commands = [command_of(pid) for pid in marked(directory)]
    parts = (b"\0serve\0", b"multiprocessing.spawn", b"\0jobs\0", b"demo.partner")
    return all(any(part in command for command in commands) for part in parts)


RUN = (sys.executable, "-m", "jackpot_service.cli", "run")
MAKE = ("make", "run")


@pytest.mark.parametrize(
    ("run", "how"),
    [
        (RUN, "the terminal is closed"),
        (RUN, "the command is told"),
        (RUN, "the command is killed"),
        (MAKE, "the terminal is closed"),
        (MAKE, "the terminal is closed after the royal flush"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[-2:]),
)
def test_a_closed_terminal_ends_the_service_its_jobs_its_tables_and_its_database(
    made: Path, tmp_path: Path, run: tuple[str, ...], how: str
) -> None:
    subprocess.run(["cp", "--archive", f"{made}/.", tmp_path], check=True)
    port = free_port()
    arguments = (f"--port={port}", "--seed=1", "--weeks=0")
    command = (*run, f"ARGS={' '.join(arguments)}") if run == MAKE else (*run, *arguments)
    screen = tmp_path / "screen"
    with in_terminal(tmp_path, *command, screen=screen) as terminal:
        wait_until(lambda: is_ready(port), within_s=2 * LONGEST_WAIT_S)
        wait_until(lambda: plays(tmp_path))
        if "royal flush" in how:
            # That line is the last which the program prints itself: after it no write fails and ends the program.
            wait_until(lambda: "royal flush" in screen.read_text().lower())
            time.sleep(3)
        if "the terminal is closed" in how:
            terminal.close()
        else:
            terminal.command.send_signal(signal.SIGHUP if how == "the command is told" else signal.SIGKILL)
        # Rounds are played to their end first, and the books proved.
        require_ended(tmp_path)
        wait_until(lambda: not embedded_of(tmp_path))
        assert not is_ready(port)


@pytest.mark.parametrize("later_ms", [0, 50, 100, 200, 400, 600, 800, 1_000, 1_500, 2_500, 4_000])
def test_ctrl_c_soon_after_the_start_of_a_demo_ends_it_without_a_trace(
    made: Path, tmp_path: Path, later_ms: int
) -> None:
    subprocess.run(["cp", "--archive", f"{made}/.", tmp_path], check=True)
    screen, port = tmp_path / "screen", free_port()
    with in_terminal(tmp_path, *RUN, f"--port={port}", screen=screen) as terminal:
        wait_until_program_runs(terminal.command.pid)
        time.sleep(later_ms / 1000)
        os.killpg(terminal.command.pid, signal.SIGINT)  # As the terminal does: to all of its foreground.
        terminal.command.wait(2 * LONGEST_WAIT_S)
        require_ended(tmp_path)
        wait_until(lambda: not embedded_of(tmp_path))
        assert not is_ready(port)
    assert "Traceback" not in screen.read_text(), screen.read_text()


def test_a_closed_terminal_ends_a_service_that_was_started_in_it(standing_cluster: Cluster, tmp_path: Path) -> None:
    port = free_port()
    serve = (sys.executable, "-m", "jackpot_service.cli", "serve", f"--port={port}")
    with in_terminal(tmp_path, *serve, JACKPOT_DATABASE_URL=standing_cluster.service_url()) as terminal:
        wait_until(lambda: is_ready(port))
        terminal.close()
        require_ended(tmp_path)
        assert not is_ready(port)
