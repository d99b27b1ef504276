"""What a thread finds out for a call of the event loop, within the time that the call has."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

from jackpot_service.database import deadlines
from jackpot_service.database.transactions import Busy

T = TypeVar("T")


async def by_thread(threads: Executor, ask: Callable[[], T], *, ends_at: float) -> T:
    """
    Have one of the threads ask, and return what it finds; others of the loop run meanwhile.

    All of it ends with the call, at `ends_at` of the steady clock: the wait for a thread, and what is asked of the
    database. Raises: whatever `ask` raises; Busy.
    """
    found = asyncio.get_running_loop().run_in_executor(threads, _asked, ask, ends_at)
    try:
        await asyncio.wait({found}, timeout=max(0.0, ends_at - time.monotonic()))
        if found.done():
            return found.result()
    finally:
        found.cancel()  # If no thread has begun, none does.
    message = "What this needs was not found out in time; nothing was written."
    raise Busy(message)


def _asked(ask: Callable[[], T], ends_at: float) -> T:
    with deadlines.until(ends_at):
        return ask()
