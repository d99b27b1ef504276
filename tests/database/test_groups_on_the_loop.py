"""Group commit for coroutines: they wait as threads do, and the loop runs groups itself where it can."""

import asyncio
import time
from collections.abc import Sequence
from itertools import chain

import pytest

from jackpot_service.database.async_executor import NeedsThread
from jackpot_service.database.failures import Busy, HeldUp, OutcomeUnknown
from jackpot_service.database.groups import Grouping
from jackpot_service.domain.errors import LedgerError, Refused
from tests.database.gates import THREADS, Gate, anything, begun, until


def test_a_coroutine_waits_as_a_thread_does() -> None:
    gate = Gate()
    gate.failing = {3}
    groups = Grouping(gate.run, joining=anything, threads=THREADS, longest_wait_s=30)

    async def play() -> list[int | BaseException]:
        first = await begun(gate, groups)
        rest = [asyncio.ensure_future(groups.submit_async(command)) for command in (2, 3, -4)]
        await until(lambda: len(groups._waiting) == 3)
        gate.go.set()
        return await asyncio.gather(first, *rest, return_exceptions=True)

    first, two, three, refused = asyncio.run(play())

    assert gate.groups == [[1], [2, 3, -4], [2], [3], [-4]]
    assert (first, two) == (2, 4)
    assert isinstance(three, ZeroDivisionError)
    assert isinstance(refused, Refused)


def test_a_coroutine_that_waits_too_long_for_its_turn_is_told_and_was_never_run() -> None:
    gate = Gate()
    groups = Grouping(gate.run, joining=anything, threads=THREADS, longest_wait_s=30)

    async def play() -> int:
        first = await begun(gate, groups)
        with pytest.raises(Busy):
            await groups.submit_async(2, ends_at=time.monotonic() + 0.01)
        gate.go.set()
        return await first

    assert asyncio.run(play()) == 2
    assert gate.groups == [[1]]


def test_a_coroutine_that_is_stopped_leaves_the_others_as_they_are() -> None:
    gate = Gate()
    groups = Grouping(gate.run, joining=anything, threads=THREADS, longest_wait_s=30)

    async def play() -> int:
        first = await begun(gate, groups)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        gate.go.set()
        return await groups.submit_async(2)

    assert asyncio.run(play()) == 4


class Loop:
    """Runs commands on the loop as a gate does in a thread, unless it is told to fail."""

    def __init__(self, gate: Gate, *failures: Exception) -> None:
        self.groups: list[list[int]] = []
        self._gate = gate
        self._failures = list(failures)

    async def run(self, commands: Sequence[int]) -> list[int | LedgerError]:
        self.groups.append(list(commands))
        await asyncio.sleep(0.01)
        if self._failures:
            raise self._failures.pop(0)
        return [Refused(f"{command} is negative") if command < 0 else 2 * command for command in commands]

    def grouping(self) -> Grouping[int, int]:
        self._gate.go.set()
        run = self._gate.run
        return Grouping(run, joining=anything, threads=THREADS, longest_wait_s=30, run_on_loop=self.run)

    async def play(self, groups: Grouping[int, int], *commands: int) -> list[int | BaseException]:
        """Send the first, and the others when it has begun."""
        first = asyncio.ensure_future(groups.submit_async(commands[0]))
        await until(lambda: bool(self.groups))
        rest = [groups.submit_async(command) for command in commands[1:]]
        return await asyncio.gather(first, *rest, return_exceptions=True)


def test_the_loop_runs_groups_without_a_thread() -> None:
    gate = Gate()
    loop = Loop(gate)
    first, two, three, refused = asyncio.run(loop.play(loop.grouping(), 1, 2, 3, -4))

    assert (loop.groups, gate.groups) == ([[1], [2, 3, -4]], [])
    assert (first, two, three) == (2, 4, 6)
    assert isinstance(refused, Refused)


def test_what_the_loop_received_while_it_ran_a_group_is_in_the_next() -> None:
    calls: list[asyncio.Task[int]] = []
    seen: list[Sequence[int]] = []

    async def run(commands: Sequence[int]) -> list[int | LedgerError]:
        seen.append(commands)
        if not calls:
            calls.append(asyncio.ensure_future(groups.submit_async(2)))
            await asyncio.sleep(0)
            calls.append(asyncio.ensure_future(groups.submit_async(3)))
        return [2 * command for command in commands]

    groups: Grouping[int, int] = Grouping(
        Gate().run, joining=anything, threads=THREADS, longest_wait_s=30, run_on_loop=run
    )

    async def play() -> list[int]:
        first = await groups.submit_async(1)
        return [first, *await asyncio.gather(*calls)]

    assert asyncio.run(play()) == [2, 4, 6]
    assert seen == [[1], [2, 3]]


def test_a_thread_runs_the_group_that_the_loop_cannot() -> None:
    gate = Gate()
    loop = Loop(gate, NeedsThread())

    assert asyncio.run(loop.play(loop.grouping(), 1, 2, 3)) == [2, 4, 6]
    assert (loop.groups, gate.groups) == ([[1], [2, 3]], [[1]])


def test_a_group_that_was_held_up_on_the_loop_is_run_by_a_thread_one_after_another() -> None:
    gate = Gate()
    gate.held_up = {3}
    loop = Loop(gate, NeedsThread(), HeldUp("Its round is locked."))
    first, two, three = asyncio.run(loop.play(loop.grouping(), 1, 2, 3))

    assert (loop.groups, gate.groups) == ([[1], [2, 3]], [[1], [2], [3]])
    assert (first, two) == (2, 4)
    assert isinstance(three, HeldUp)


def test_an_outcome_that_the_loop_does_not_know_is_that_of_all_members() -> None:
    loop = Loop(Gate(), NeedsThread(), OutcomeUnknown("The connection broke."))
    first, *rest = asyncio.run(loop.play(loop.grouping(), 1, 2, 3))

    assert first == 2
    assert [type(outcome) for outcome in rest] == [OutcomeUnknown] * 2


@pytest.mark.parametrize("breaking", [ValueError("made up"), asyncio.CancelledError()])
def test_a_run_on_the_loop_that_breaks_off_stalls_nobody(breaking: BaseException) -> None:
    broken: list[BaseException] = [breaking]

    async def run(commands: Sequence[int]) -> list[int | LedgerError]:
        await asyncio.sleep(0)
        if broken:
            raise broken.pop()
        return [2 * command for command in commands]

    groups: Grouping[int, int] = Grouping(
        Gate().run, joining=anything, threads=THREADS, longest_wait_s=5, run_on_loop=run
    )

    async def play() -> int:
        with pytest.raises(OutcomeUnknown):
            await groups.submit_async(1)
        return await groups.submit_async(2)

    assert asyncio.run(play()) == 4


def test_threads_and_coroutines_share_the_groups_of_a_loop() -> None:
    loop = Loop(Gate())
    groups = loop.grouping()

    async def play() -> list[int]:
        first = asyncio.ensure_future(groups.submit_async(1))
        await until(lambda: bool(loop.groups))
        by_thread = asyncio.to_thread(groups.submit, 2)
        return list(await asyncio.gather(first, by_thread, groups.submit_async(3)))

    assert asyncio.run(play()) == [2, 4, 6]
    assert sorted(chain.from_iterable(loop.groups)) == [1, 2, 3]


def test_a_run_on_the_loop_that_is_cancelled_before_it_begins_is_a_threads() -> None:
    gate = Gate()
    loop = Loop(gate)
    groups = loop.grouping()

    async def play() -> int:
        first = asyncio.ensure_future(groups.submit_async(1))
        await asyncio.sleep(0)
        assert groups._running is not None
        groups._running.cancel()
        assert await first == 2
        await until(lambda: not groups._is_running)  # The outcome is there a moment before its thread has left.
        return await groups.submit_async(2)

    assert asyncio.run(play()) == 4
    assert (gate.groups, loop.groups) == ([[1]], [[2]])


def test_a_call_that_comes_while_a_thread_still_runs_groups_is_in_its_next_one_and_the_loop_follows() -> None:
    gate = Gate()
    loop = Loop(gate)
    groups = loop.grouping()
    gate.go.clear()

    async def play() -> list[int]:
        by_thread = asyncio.ensure_future(groups.submit_async(1))
        await asyncio.sleep(0)
        assert groups._running is not None
        groups._running.cancel()
        await until(gate.entered.is_set)
        meanwhile = asyncio.ensure_future(groups.submit_async(2))
        await until(lambda: len(groups._waiting) == 1)
        gate.go.set()
        outcomes = [await by_thread, await meanwhile]
        await until(lambda: not groups._is_running)
        return [*outcomes, await groups.submit_async(3)]

    assert asyncio.run(play()) == [2, 4, 6]
    assert (gate.groups, loop.groups) == ([[1], [2]], [[3]])
