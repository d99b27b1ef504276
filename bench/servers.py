"""The two applications that are measured, each started as an operator would and stopped by its own process id."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection
from pathlib import Path
from socket import create_server
from types import MappingProxyType

from sqlalchemy import URL

from bench import databases, naive
from bench.batches import TABLES
from bench.wire import HOST
from jackpot_service.database.tables import ROLE

WORKERS = 2
NAIVE_THREADS = 2

CHECKOUT = Path(__file__).resolve().parent.parent
_START_SECONDS = 60
_STOP_SECONDS = 20
_COMMAND_SECONDS = 120
_VERIFY_SECONDS = 1800

_WHY = ("--reason", "to be measured")
_REFERENCES = (
    ("casinos", "add", "c1", "Bench casino", *_WHY),
    ("rates", "publish", "--base", "EUR", "GBP=1.17", "SEK=0.0873", *_WHY),
)
_BY_DATABASE = "No such command 'key'."
"""The answer of a checkout from before the command line spoke HTTP: its commands need no key."""


class ServerFailed(Exception):
    """A server did not start, or one of its commands failed."""


@dataclass(frozen=True, slots=True)
class Server:
    """
    Where a started application listens, the key it takes, where it writes, and the process of its command.

    `operator_key` is for the commands of its checkout that set it up.
    """

    port: int
    key: str = field(repr=False)
    database: URL
    pid: int
    checkout: Path = CHECKOUT
    operator_key: str = field(default="", repr=False)


@contextmanager
def service(url: URL, directory: Path, *, checkout: Path = CHECKOUT) -> Iterator[Server]:
    """
    Set up the service on an empty database, with one jackpot and its tables, and serve it until the end.

    Another checkout's service runs on the packages that it has installed, or else on those of this one.

    Raises: ServerFailed, with what the command or the server had to say.
    """
    upgrade(url, checkout=checkout)
    operator_key = _operator_key(url, checkout)
    with serving(url, directory / "service.log", checkout=checkout) as started_server:
        server = replace(started_server, operator_key=operator_key)
        for arguments in _REFERENCES:
            _act(server, arguments)
        open_jackpot(server, "live", tables=TABLES)
        yield replace(server, key=_table_key(server, "c1", name="bench"))


@contextmanager
def serving(
    url: URL,
    log: Path,
    *,
    key: str = "",
    settings: Mapping[str, str] = MappingProxyType({}),
    checkout: Path = CHECKOUT,
    workers: int = WORKERS,
) -> Iterator[Server]:
    """Serve a database that is set up, with other settings than usual if some are given. Raises: ServerFailed."""
    port = _free_port()
    serve = (_command(checkout), "serve", "--port", str(port), "--workers", str(workers))
    environment = {**_environment(url, checkout), **settings}
    with _running(serve, port, environment=environment, log=log, folder=checkout) as pid:
        yield Server(port, key, url, pid, checkout)


@contextmanager
def serving_people(server: Server, log: Path) -> Iterator[Server]:
    """
    Serve the pages of a service in another, of one worker that is nice to others, as docs/production does.

    Raises: ServerFailed.
    """
    port = _free_port()
    serve = ("nice", "-n", "10", _command(), "serve", "--port", str(port), "--workers", "1", "--no-jobs")
    with _running(serve, port, environment=_environment(server.database), log=log) as pid:
        yield Server(port, server.key, server.database, pid)


def upgrade(url: URL, *, checkout: Path = CHECKOUT) -> None:
    """Make the tables of an empty database. Raises: ServerFailed."""
    _jackpot(url, ("db", "upgrade"), checkout=checkout, by_owner=True)
    # A checkout of before the login of its own makes a role that nobody can log in as.
    databases.execute(url, f"ALTER ROLE {ROLE} LOGIN")


def open_jackpot(server: Server, jackpot_id: str, *, tables: Sequence[str], stripes: int | None = None) -> None:
    """Open a jackpot and its tables, with the service's own number of stripes or another. Raises: ServerFailed."""
    stated = () if stripes is None else ("--stripes", str(stripes))
    rules = ("--rules", "live-caribbean-stud", "--currency", "EUR")
    _act(server, ("jackpots", "open", jackpot_id, *rules, *stated, *_WHY))
    for table in tables:
        _add_table(server, table, casino_id="c1", jackpot_id=jackpot_id)


def add_casino(server: Server, casino_id: str, *, table: str) -> str:
    """Add a casino with a table that plays for `live`, and return the key of its server. Raises: ServerFailed."""
    _act(server, ("casinos", "add", casino_id, "Another casino", *_WHY))
    _add_table(server, table, casino_id=casino_id, jackpot_id="live")
    return _table_key(server, casino_id, name=f"bench {casino_id}")


def _add_table(server: Server, table: str, *, casino_id: str, jackpot_id: str) -> None:
    playing = ("--casino", casino_id, "--game", "caribbean-stud", "--jackpot", jackpot_id)
    _act(server, ("tables", "add", table, *playing, *_WHY))


def _table_key(server: Server, casino_id: str, *, name: str) -> str:
    return _act(server, ("keys", "create", "--role", "table", "--casino", casino_id, "--name", name, *_WHY))


def add_key(url: URL, role: str) -> str:
    """Make a key of a role of the house, and return it: none of them bets. Raises: ServerFailed."""
    return _jackpot(url, _key_of(role), by_owner=True).stdout.strip()


def _operator_key(url: URL, checkout: Path) -> str:
    """Return the key by which a checkout's commands set its service up; none where they do it by the database."""
    made = _jackpot(url, _key_of("operator"), checkout=checkout, by_owner=True, may_fail=True)
    if made.returncode != 0 and _BY_DATABASE not in made.stderr:
        raise ServerFailed(f"jackpot db key ended with {made.returncode}: {made.stderr.strip()}")
    return made.stdout.strip()


def _key_of(role: str) -> tuple[str, ...]:
    return ("db", "key", "--role", role, "--name", f"bench {role}", *_WHY)


def _act(server: Server, arguments: tuple[str, ...]) -> str:
    """Run a command as the operator, and return what it prints. Raises: ServerFailed."""
    caller = {"JACKPOT_URL": f"http://{HOST}:{server.port}"}
    if server.operator_key:
        caller["JACKPOT_KEY"] = server.operator_key
    return _jackpot(server.database, arguments, settings=caller, checkout=server.checkout).stdout.strip()


@contextmanager
def naive_application(url: URL, directory: Path) -> Iterator[Server]:
    """Serve the naive application by granian, with as many workers. Raises: ServerFailed."""
    naive.create_schema(url)
    port = _free_port()
    listen = ("--host", HOST, "--port", str(port))
    processes = ("--workers", str(WORKERS), "--blocking-threads", str(NAIVE_THREADS))
    application = ("--interface", "wsgi", "--factory", "bench.naive:create_app")
    serve = (sys.executable, "-m", "granian", *listen, *processes, *application)
    environment = {**os.environ, naive.URL_VARIABLE: url.render_as_string(hide_password=False)}
    with _running(serve, port, environment=environment, log=directory / "naive.log") as pid:
        yield Server(port, "none", url, pid)


def verify(url: URL) -> tuple[bool, str]:
    """
    Run `jackpot verify`: whether the books are clean, and its verdict; with its progress if they are not.

    Without an end in time nothing is known of them, which is not clean: what was measured is printed all the same.
    """
    try:
        finished = _jackpot(url, ("verify",), may_fail=True, seconds=_VERIFY_SECONDS)
    except subprocess.TimeoutExpired:
        return False, f"not verified within {_VERIFY_SECONDS} s"
    is_clean = finished.returncode == 0
    return is_clean, (finished.stdout if is_clean else finished.stdout + finished.stderr).strip()


def _jackpot(
    url: URL,
    arguments: tuple[str, ...],
    *,
    settings: Mapping[str, str] = MappingProxyType({}),
    checkout: Path = CHECKOUT,
    by_owner: bool = False,
    may_fail: bool = False,
    seconds: int = _COMMAND_SECONDS,
) -> subprocess.CompletedProcess[str]:
    finished = subprocess.run(  # noqa: S603 -- the words are our own
        (_command(checkout), *arguments),
        cwd=checkout,
        env={**_environment(url, checkout, by_owner=by_owner), **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
    if finished.returncode != 0 and not may_fail:
        raise ServerFailed(f"jackpot {' '.join(arguments)} ended with {finished.returncode}: {finished.stderr.strip()}")
    return finished


def started(url: URL, arguments: tuple[str, ...]) -> "subprocess.Popen[bytes]":
    """Start a command of the service's program, whose output is of no interest; the caller waits for it."""
    return subprocess.Popen(  # noqa: S603 -- as above
        (_command(), *arguments),
        cwd=CHECKOUT,
        env=_environment(url),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _command(checkout: Path = CHECKOUT) -> str:
    """Return the program of a checkout, which may need other packages than this one."""
    own = checkout / ".venv" / "bin" / "jackpot"
    return str(own if own.is_file() else Path(sys.executable).with_name("jackpot"))


def _environment(url: URL, checkout: Path = CHECKOUT, *, by_owner: bool = False) -> dict[str, str]:
    """Say where the database is and who logs in, and whose modules come before those that are installed."""
    database = (url if by_owner else databases.url_of_service(url)).render_as_string(hide_password=False)
    owner = {"JACKPOT_OWNER_URL": database} if by_owner else {}
    # One key sends more than those of many tables together.
    limits = {"JACKPOT_KEY_RATE": "1000000"}
    return {**os.environ, **limits, "JACKPOT_DATABASE_URL": database, **owner, "PYTHONPATH": str(checkout)}


def _free_port() -> int:
    with create_server((HOST, 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def _running(
    command: tuple[str, ...], port: int, *, environment: dict[str, str], log: Path, folder: Path = CHECKOUT
) -> Iterator[int]:
    """Run a server in a folder, where what it starts by `python -m` is found first; yields the id of its process."""
    with log.open("w") as output:
        process = subprocess.Popen(  # noqa: S603 -- the words are our own
            command, cwd=folder, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    try:
        _wait_until_ready(process, port, log)
        yield process.pid
        if process.poll() is not None:
            raise ServerFailed(f"{command[0]} ended with {process.returncode}:\n{log.read_text()[-2000:]}")
    finally:
        _stop(process)


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    give_up_at = time.monotonic() + _START_SECONDS
    while not _is_ready(port):
        if process.poll() is not None or time.monotonic() > give_up_at:
            raise ServerFailed(f"no server came up on port {port}:\n{log.read_text()[-2000:]}")
        time.sleep(0.1)


def _is_ready(port: int) -> bool:
    connection = HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200  # noqa: PLR2004 -- HTTP's own number
    except OSError:
        return False
    finally:
        connection.close()


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a server and its workers: kindly, then its whole process group, which is ours by its id."""
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
