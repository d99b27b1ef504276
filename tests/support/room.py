"""A file system with little room, which a test can fill for real."""

import errno
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

CHUNK = b"\0" * 65536


@dataclass(frozen=True)
class Room:
    """A place of its own; what fills it is one file."""

    place: Path

    @property
    def _ballast(self) -> Path:
        return self.place / "ballast"

    def fill(self) -> None:
        """Take all the room that is left, to the last page."""
        with self._ballast.open("ab", buffering=0) as ballast:
            for size in (len(CHUNK), 4096):
                try:
                    while ballast.write(CHUNK[:size]) == size:
                        pass
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise

    def free(self) -> None:
        """Give the room back."""
        self._ballast.unlink()


@contextmanager
def limited(place: Path, *, megabytes: int) -> Iterator[Room]:
    """Mount a file system in memory; leaves the test out where that is not allowed."""
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield Room(place)
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
