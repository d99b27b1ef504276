"""How many files a worker may open: every connection is one, and a listener keeps its own for hours."""

import resource
from typing import Final

import structlog

from jackpot_service.server.clients import MOST_CONNECTIONS

OF_ITS_OWN: Final = 124
"""Files of a worker that are no connection of a client: the database's, the log, counters, what it offers to others."""

log = structlog.get_logger()


def listeners_within_limit(listeners: int) -> int:
    """
    Raise the limit of this process as far as so many listeners need, and return how many the limit has room for.

    A quarter more may listen while callers share their places anew.
    """
    reserved = MOST_CONNECTIONS + OF_ITS_OWN
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = reserved + listeners + listeners // 4
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return listeners
    room = max(0, soft - reserved) * 4 // 5
    log.warning("few-files", listeners=room, files=soft, files_needed=needed)
    return room
