"""The event loop of a test's process: one for all of its threads, as a worker has one for all of its calls."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from functools import cache
from typing import Any, TypeVar

from jackpot_service.api.bet_groups import BetGroups
from jackpot_service.usecases.accept_bets import AcceptBets, BetsAccepted

T = TypeVar("T")


def on_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the loop, and wait for what it returns or raises."""
    return begun_on_loop(coroutine).result()


def begun_on_loop(coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    """Begin a coroutine on the loop."""
    return asyncio.run_coroutine_threadsafe(coroutine, _loop())


def accepted(groups: BetGroups, command: AcceptBets) -> BetsAccepted:
    """Have a batch booked as a worker does: on the loop."""
    return on_loop(groups.accept_async(command))


async def end_what_runs() -> None:
    """End what still runs on the loop, such as looking for those who listened until now, before its database goes."""
    running = asyncio.all_tasks() - {asyncio.current_task()}
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="event loop", daemon=True).start()
    return loop
