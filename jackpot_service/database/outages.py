"""
When the hosts of databases last had an outage, as any process of the service has met it.

A worker whose connections were idle meanwhile has met none. Its next call must not wait for a connection to a host that
another worker has found silent.
"""

import mmap
import os
from hashlib import sha256
from pathlib import Path
from typing import Final

import structlog

from jackpot_service.telemetry import counters

MOST_HOSTS: Final = 32
"""Of a URL; those beyond share their instants with the first ones."""

_INSTANTS: Final = 2
"""When a host fell silent, and when its connections were abandoned: see `deadlines.Host`."""

_SIZE: Final = MOST_HOSTS * _INSTANTS * 8

log = structlog.get_logger()


def shared_instants(url: str, *, silence_s: float) -> "memoryview[float]":
    """
    Return the instants of a URL's hosts, as seconds of the steady clock, which all processes of a machine have.

    Processes of the service share them if they come by the same URL, and find a host silent after as many seconds. A
    process that waits for a moment only must not speak for those that wait longer.
    """
    return memoryview(_shared(sha256(f"{url} {silence_s}".encode()).hexdigest()) or bytearray(_SIZE)).cast("d")


def unshared_instants() -> "memoryview[float]":
    """Return instants that no other process knows."""
    return memoryview(bytearray(_SIZE)).cast("d")


def host_instants(instants: "memoryview[float]", number: int) -> "memoryview[float]":
    """Return the instants of one host: of the number that it has in its URL, from 0 on."""
    place = number % MOST_HOSTS * _INSTANTS
    return instants[place : place + _INSTANTS]


def _shared(name: str) -> mmap.mmap | None:
    directory = os.environ.get(counters.DIRECTORY)
    if directory is None:
        return None
    try:
        file = os.open(Path(directory) / f"outages-{name}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # Where memory is full, this fails; to write to a file that has no room yet would end the process.
            os.posix_fallocate(file, 0, _SIZE)
            return mmap.mmap(file, _SIZE)
        finally:
            os.close(file)
    except OSError as error:  # The directory is gone when the process that made it was killed.
        log.warning("outages-not-shared", detail=str(error))
        return None
