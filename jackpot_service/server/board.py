"""The states of all workers of a service, in memory that all of them share."""

import fcntl
import math
import mmap
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

MOST_WORKERS: Final = 128
"""A worker that finds no number left works by itself, as if there were no other."""

SILENT_AFTER_S: Final = 0.5
"""A worker that has not said for so long what it does is passed over: it is stopped, stuck or gone."""

_POSTED: Final = struct.Struct("ddd")


class State(NamedTuple):
    """
    How many connections a worker has, and the bytes of the requests that it has not answered.

    The bytes are a mean of the last moments. Each request counts 2 KiB more than its body.
    """

    connections: int
    in_hand: float


class Board:
    """
    The states of all workers, each written by its own worker alone, in a file of `directory`.

    A worker takes the lowest number that no living worker has; the kernel gives it back when the worker ends. The
    states of others may be some milliseconds old: they are for choices that may be wrong now and then.
    """

    def __init__(self, directory: Path) -> None:
        self._file = os.open(directory / "board", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        # Where memory is full, this fails; to write to a file that has no room yet would end the process.
        os.posix_fallocate(self._file, 0, MOST_WORKERS * _POSTED.size)
        self._memory = mmap.mmap(self._file, MOST_WORKERS * _POSTED.size)
        self.number = self._free_number()

    def _free_number(self) -> int:
        for number in range(MOST_WORKERS):
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
            except BlockingIOError:
                continue
            return number
        message = f"there are {MOST_WORKERS} workers"
        raise LookupError(message)

    def post(self, state: State, *, now: float) -> None:
        """Say what this worker does. `now` is of the monotonic clock, which all processes of the machine share."""
        _POSTED.pack_into(self._memory, self.number * _POSTED.size, now, *state)

    def leave(self) -> None:
        """Say that this worker takes no more."""
        self.post(State(0, 0), now=-math.inf)

    def states(self, *, now: float) -> Mapping[int, State]:
        """Return what each worker does that was heard of lately, by its number."""
        return {
            number: State(int(connections), in_hand)
            for number, (heard_at, connections, in_hand) in enumerate(_POSTED.iter_unpack(self._memory))
            if heard_at and now - heard_at < SILENT_AFTER_S
        }

    def close(self) -> None:
        """Give the number back."""
        self._memory.close()
        os.close(self._file)
