"""A gate that holds up the first group of calls, so that a test says what comes meanwhile."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from jackpot_service.database.failures import HeldUp, OutcomeUnknown
from jackpot_service.database.groups import Grouping
from jackpot_service.domain.errors import LedgerError, Refused

THREADS = ThreadPoolExecutor(4)


class Gate:
    """Runs commands, each to its double; the first run waits until it is let go. Odd ones may be refused."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.entered = threading.Event()
        self.go = threading.Event()
        self.failing: set[int] = set()
        self.held_up: set[int] = set()
        self.unknown = False

    def run(self, commands: Sequence[int]) -> list[int | LedgerError]:
        self.groups.append(list(commands))
        if len(self.groups) == 1:
            self.entered.set()
            assert self.go.wait(30)
        elif self.unknown:
            message = "The connection broke."
            raise OutcomeUnknown(message)
        if self.held_up & set(commands):
            message = "Its round is locked."
            raise HeldUp(message)
        if self.failing & set(commands):
            message = f"broken by {sorted(self.failing & set(commands))}"
            raise ZeroDivisionError(message)
        return [Refused(f"{command} is negative") if command < 0 else 2 * command for command in commands]


def play(gate: Gate, groups: Grouping[int, int], commands: Sequence[int]) -> dict[int, int | Exception]:
    """Submit 1, and the commands while it is in flight, in their order; return every outcome."""
    outcomes: dict[int, int | Exception] = {}

    def submit(command: int) -> None:
        try:
            outcomes[command] = groups.submit(command)
        except Exception as error:  # noqa: BLE001  it is the outcome
            outcomes[command] = error

    threads = [threading.Thread(target=submit, args=(1,))]
    threads[0].start()
    assert gate.entered.wait(30)
    for count, command in enumerate(commands, start=1):
        threads.append(threading.Thread(target=submit, args=(command,)))
        threads[-1].start()
        while len(groups._waiting) < count and threads[-1].is_alive():
            pass
    gate.go.set()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    return outcomes


def anything(_sharing: int) -> Callable[[int], bool]:
    return lambda _: True


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110  other threads make it so
        await asyncio.sleep(0)


async def begun(gate: Gate, groups: Grouping[int, int]) -> "asyncio.Future[int]":
    """Submit 1, and have it in flight."""
    first = asyncio.ensure_future(groups.submit_async(1))
    await until(lambda: bool(gate.groups) or first.done())
    assert gate.groups, f"1 has ended without being run: {first}"
    return first
