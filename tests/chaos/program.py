"""
The service from outside: its commands, its variables, and which of its processes is which.

Nothing else of the campaign knows these; when they change, they change here.
"""

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg
from psycopg import sql

from tests.chaos.timing import REQUEST_TIMEOUT_S

CHECKOUT: Final = Path(__file__).resolve().parents[2]
LONGEST_COMMAND_S: Final = 600
APP_ROLE: Final = "jackpot_app"
BOOKS_BROKEN: Final = "books-broken"
"""What the service logs of a bug in its books."""

_JOBS: Final = "jobs"
"""A word of the job runner's command."""

_NO_WORKER: Final = ("resource_tracker", "forkserver")


class CommandFailed(Exception):
    """A command of the service failed."""


def plain(url: str) -> str:
    """Return a URL as libpq and psycopg take it."""
    return url.replace("+psycopg", "")


def service_url(owner_url: str) -> str:
    """Return the URL with which the service is to connect: the application's own login, if the schema makes one."""
    return _by_app_role(owner_url) if _has_app_login(owner_url) else owner_url


def _by_app_role(url: str) -> str:
    scheme, _, rest = url.partition("://")
    login, _, place = rest.rpartition("@")
    _, colon, password = login.partition(":")
    return f"{scheme}://{APP_ROLE}{colon}{password}@{place}"


def _has_app_login(owner_url: str) -> bool:
    with psycopg.connect(plain(owner_url)) as connection:
        logins = connection.execute("SELECT FROM pg_roles WHERE rolname = %s AND rolcanlogin", [APP_ROLE])
        return bool(logins.rowcount)


def environment(url: str) -> dict[str, str]:
    """Return the variables of the service and of its commands; the owner's URL is not among them."""
    ours = {"JACKPOT_DATABASE_URL": url, "JACKPOT_REQUEST_TIMEOUT_S": f"{REQUEST_TIMEOUT_S:g}"}
    return {**os.environ, **ours}


def upgrade(owner_url: str) -> None:
    """Make the service's tables, as their owner, and give its login the owner's password. Raises: CommandFailed."""
    _run("db", "upgrade", environment={**environment(owner_url), "JACKPOT_OWNER_URL": owner_url})
    if not _has_app_login(owner_url):
        return
    with psycopg.connect(plain(owner_url)) as connection:
        password = connection.info.password
        if password:
            giving = sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(APP_ROLE), sql.Literal(password))
            connection.execute(giving)


def jackpot(*arguments: str, url: str, may_fail: bool = False) -> "subprocess.CompletedProcess[str]":
    """Run a command of the service by its own login. Raises: CommandFailed, with its last words."""
    return _run(*arguments, environment=environment(url), may_fail=may_fail)


def _run(*arguments: str, environment: Mapping[str, str], may_fail: bool = False) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [sys.executable, "-m", "jackpot_service.cli", *arguments],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LONGEST_COMMAND_S,
        check=False,
    )
    if done.returncode and not may_fail:
        message = f"jackpot {' '.join(arguments[:3])}: {(done.stderr or done.stdout).strip()[-500:]}"
        raise CommandFailed(message)
    return done


def serving(*, host: str, port: int, workers: int) -> list[str]:
    """Return the command that serves."""
    listen = [f"--host={host}", f"--port={port}", f"--workers={workers}"]
    return [sys.executable, "-m", "jackpot_service.cli", "serve", *listen]


def serving_by_another_clock(*, host: str, port: int) -> list[str]:
    """Return the command that serves the application of `shifted_clock`, by the server that is installed."""
    if importlib.util.find_spec("uvicorn"):
        listen = [f"--host={host}", f"--port={port}", "--log-level=warning"]
        return [sys.executable, "-m", "uvicorn", "--factory", "tests.chaos.shifted_clock:application", *listen]
    listen = [f"--bind={host}:{port}", "--worker-class=asgi", "--log-level=warning"]
    return [sys.executable, "-m", "gunicorn", "tests.chaos.shifted_clock:application()", *listen]


@dataclass(frozen=True, slots=True)
class Process:
    """A process of the service."""

    pid: int
    parent: int
    command: str


@dataclass(frozen=True, slots=True)
class Roles:
    """The service's processes by what they do. The supervisor is the command itself where there is no other."""

    supervisor: int
    workers: tuple[int, ...]
    job_runner: int | None


def roles(main: int) -> Roles:
    """Tell the processes of a running `jackpot serve` apart. Raises: LookupError if there is no worker."""
    family = tuple(_descendants(main))
    runner = next((process.pid for process in family if f" {_JOBS} " in process.command), None)
    parents = {process.parent for process in family}
    workers = tuple(
        process
        for process in family
        if process.pid not in parents
        and process.pid != runner
        and not any(word in process.command for word in _NO_WORKER)
    )
    if not workers:
        message = f"process {main} has no worker"
        raise LookupError(message)
    return Roles(workers[0].parent, tuple(worker.pid for worker in workers), runner)


def signal_all(pids: Mapping[int, object] | tuple[int, ...], number: signal.Signals) -> None:
    """Send a signal to processes, some of which may have ended."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def _descendants(main: int) -> Iterator[Process]:
    children: dict[int, list[Process]] = {}
    for process in _processes():
        children.setdefault(process.parent, []).append(process)
    waiting = [main]
    while waiting:
        children_ = children.get(waiting.pop(), [])
        yield from children_
        waiting += [process.pid for process in children_]


def _processes() -> Iterator[Process]:
    for directory in Path("/proc").iterdir():
        if not directory.name.isdigit():
            continue
        try:
            state, parent = (directory / "stat").read_text().rpartition(")")[2].split()[:2]
            command = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state != "Z":
            yield Process(int(directory.name), int(parent), f" {command}")
