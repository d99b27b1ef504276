"""
When the hosts of databases last had an outage, as any process of the service has met it.

A worker whose connections were idle meanwhile has met none. Its next call must not wait for a connection to a host that
another worker has found silent.
"""

import mmap
import os
from pathlib import Path
from typing import Final
from zlib import crc32

import structlog

from jackpot_service.telemetry import counters

MOST_HOSTS: Final = 256
"""Two hosts may share a place. Then more connections are made anew than need be, and nothing else happens."""

_INSTANTS: Final = 2

_SIZE: Final = MOST_HOSTS * _INSTANTS * 8

log = structlog.get_logger()


def all_instants() -> "memoryview[float]":
    """Return the instants of all hosts: shared with the other processes of the service, if it has any."""
    return memoryview(_shared() or bytearray(_SIZE)).cast("d")


def host_instants(instants: "memoryview[float]", name: str | None, port: str | None) -> "memoryview[float]":
    """Return the two instants of a host, in seconds of the steady clock, which the machine's processes share."""
    place = crc32(f"{name}:{port}".encode()) % MOST_HOSTS * _INSTANTS
    return instants[place : place + _INSTANTS]


def unshared_instants() -> "memoryview[float]":
    """Return two instants that no other process knows."""
    return memoryview(bytearray(_INSTANTS * 8)).cast("d")


def _shared() -> mmap.mmap | None:
    directory = os.environ.get(counters.DIRECTORY)
    if directory is None:
        return None
    try:
        file = os.open(Path(directory) / "outages", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # Where memory is full, this fails; to write to a file that has no room yet would end the process.
            os.posix_fallocate(file, 0, _SIZE)
            return mmap.mmap(file, _SIZE)
        finally:
            os.close(file)
    except OSError as error:  # The directory is gone when the process that made it was killed.
        log.warning("outages-not-shared", detail=str(error))
        return None
