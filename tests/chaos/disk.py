"""A small disk in memory for the data directory, which can be made full, and roomy again, by its limit alone."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SIZE: Final = 3 << 30
"""Bytes; only what is used takes memory."""

SLACK: Final = 1 << 16
MOST_SLACK: Final = 100 * SLACK


@dataclass(frozen=True, slots=True)
class Disk:
    """A mounted file system of limited size."""

    directory: Path

    def fill(self) -> None:
        """Leave next to no room: what is used now is all that there is. Raises: OSError."""
        for slack in range(0, MOST_SLACK, SLACK):
            stat = os.statvfs(self.directory)
            used = (stat.f_blocks - stat.f_bfree) * stat.f_frsize
            if self._limit(used + slack):
                return
        message = f"{self.directory} grows faster than it can be limited"
        raise OSError(message)

    def empty(self) -> None:
        """Give room again. Raises: OSError."""
        if not self._limit(SIZE):
            message = f"{self.directory} cannot be given its room again"
            raise OSError(message)

    def _limit(self, size: int) -> bool:
        """Set the limit; False if more is used already, as it may be by now."""
        command = ["mount", "-o", f"remount,size={size}", str(self.directory)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextmanager
def mounted(directory: Path) -> Iterator[Disk | None]:
    """Mount a disk at a directory, for as long as the block lasts; None where mounting is not allowed."""
    directory.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=711", "chaos", str(directory)]
    try:
        is_mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        is_mounted = False
    if not is_mounted:
        yield None
        return
    try:
        yield Disk(directory)
    finally:
        subprocess.run(["umount", "--lazy", str(directory)], check=False)
