"""
The account that the embedded PostgreSQL runs as: it refuses to run as root.

An ordinary user runs it under their own account. Root runs it as the account that owns the data directory, or as a
system account of its own. Nothing on the way to the directory is opened to others if it can be helped.
"""

import fcntl
import logging
import os
import pwd
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_NAME: Final = "pgserver"
_WITH_SBIN: Final = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
# The secure bit keeps the capability in access(2), by which PostgreSQL looks for its own programs.
_SEARCHING: Final = (
    "--inh-caps=-all,+dac_read_search",
    "--ambient-caps=+dac_read_search",
    "--securebits=+no_setuid_fixup",
)

_logger = logging.getLogger(__name__)


class NoAccount(Exception):
    """The system has no account for the server and lets us make none."""


@dataclass(frozen=True, slots=True)
class Account:
    """The account that owns the server's files, and the words before a command that make it run as that account."""

    uid: int
    gid: int
    run_as: tuple[str, ...] = ()

    def take(self, path: Path | int) -> None:
        """Give a file that we made to the account; only root has to, and may."""
        if os.geteuid() == 0:
            os.chown(path, self.uid, self.gid)


def account_for(data_dir: Path, programs: Path) -> Account:
    """
    Choose the account for a data directory, which is made when it is missing, and how it reaches that and programs.

    Raises: NoAccount; OSError if the directory cannot be made.
    """
    if os.geteuid() != 0:
        data_dir.mkdir(parents=True, exist_ok=True)
        return Account(os.geteuid(), os.getegid())
    entry = _owner(data_dir) or _own_entry()
    missing = not data_dir.exists()
    data_dir.mkdir(parents=True, exist_ok=True)
    if missing:
        os.chown(data_dir, entry.pw_uid, entry.pw_gid)
    run_as = ("setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups", "--no-new-privs")
    return Account(entry.pw_uid, entry.pw_gid, _reaching(run_as, programs, data_dir))


def _owner(directory: Path) -> pwd.struct_passwd | None:
    """Return who owns a directory, or else the nearest above it; but not root, nor somebody the system knows not."""
    uid = next(place for place in (directory, *directory.parents) if place.exists()).stat().st_uid
    try:
        return pwd.getpwuid(uid) if uid != 0 else None
    except KeyError:
        return None


def _own_entry() -> pwd.struct_passwd:
    """
    Return the server's own system account; make it the first time.

    One process at a time: of two at once useradd may make two accounts of the same name.
    """
    adding = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", _NAME]
    output = ""
    accounts = os.open("/etc", os.O_RDONLY)  # It is locked itself: the files in it are replaced by those who write.
    try:
        fcntl.flock(accounts, fcntl.LOCK_EX)
        if not _exists(_NAME):
            output = subprocess.run(adding, capture_output=True, text=True, check=False, env=_WITH_SBIN).stderr  # noqa: S603
        return pwd.getpwnam(_NAME)
    except KeyError as error:
        raise NoAccount(f"PostgreSQL cannot run as root, and the account {_NAME} cannot be made: {output}") from error
    finally:
        os.close(accounts)


def _exists(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _reaching(run_as: tuple[str, ...], *places: Path) -> tuple[str, ...]:
    """
    Return how to run as the account so that it reaches the places, which may lie below a closed directory (/root).

    Preferred is what leaves no trace: the account alone; then the account with the one capability to search and to
    read any directory, which ends with the server. Where a container withholds that, the closed directories on the
    way are opened for searching, though not for listing.
    """
    if all(_succeeds(*run_as, "test", "-x", str(place)) for place in places):
        return run_as
    if _succeeds(*run_as, *_SEARCHING, "true"):
        return (*run_as, *_SEARCHING)
    for place in places:
        for directory in (place.resolve(), *place.resolve().parents):
            mode = directory.stat().st_mode
            if not mode & stat.S_IXOTH:
                _logger.warning("opening %s for searching (o+x), so that PostgreSQL reaches %s", directory, place)
                directory.chmod(mode | stat.S_IXOTH)
    return run_as


def _succeeds(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, cwd="/", check=False).returncode == 0  # noqa: S603
