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

PAGE: Final = 4096


@dataclass(frozen=True, slots=True)
class Disk:
    """A mounted file system of limited size."""

    directory: Path

    def fill(self) -> None:
        """Leave no room: what is used now is all that there is."""
        stat = os.statvfs(self.directory)
        used = (stat.f_blocks - stat.f_bfree) * stat.f_frsize
        self._limit(used + PAGE)

    def empty(self) -> None:
        """Give room again."""
        self._limit(SIZE)

    def _limit(self, size: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size}", str(self.directory)], check=True)


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
