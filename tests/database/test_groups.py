"""Group commit: what arrives while a commit is in flight shares the next one, and nobody harms another."""

import asyncio
import contextlib
import gc
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest

from jackpot_service.database.async_executor import NeedsThread
from jackpot_service.database.failures import Busy, HeldUp, OutcomeUnknown
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


def alike(_sharing: int) -> Callable[[int], bool]:
    """Joins even ones, or odd ones, as the first is."""
    chosen: list[int] = []

    def takes(command: int) -> bool:
        chosen.append(command)
        return chosen[0] % 2 == command % 2

    return takes


def test_a_call_that_comes_alone_runs_at_once_and_alone() -> None:
    gate = Gate()
    gate.go.set()
    groups = Grouping(gate.run, joining=anything, threads=THREADS, longest_wait_s=30)
    assert [groups.submit(4), groups.submit(5)] == [8, 10]
    assert gate.groups == [[4], [5]]


def test_calls_that_come_while_a_commit_is_in_flight_share_the_next_in_their_order() -> None:
    gate = Gate()
    outcomes = play(gate, Grouping(gate.run, joining=anything, threads=THREADS, longest_wait_s=30), [2, 3, 4])
    assert gate.groups == [[1], [2, 3, 4]]
    assert outcomes == {1: 2, 2: 4, 3: 6, 4: 8}


def test_what_may_not_go_together_goes_one_group_after_another_in_its_order() -> None:
    gate = Gate()
    groups = Grouping(gate.run, joining=alike, threads=THREADS, longest_wait_s=30)
    assert play(gate, groups, [2, 3, 4, 5]) == {1: 2, 2: 4, 3: 6, 4: 8, 5: 10}
    assert gate.groups == [[1], [2, 4], [3, 5]]


def test_a_refused_member_harms_no_other() -> None:
    gate = Gate()
    outcomes = play(gate, Grouping(gate.run, joining=anything, threads=THREADS, longest_wait_s=30), [2, -3, 4])
    assert {command: outcome for command, outcome in outcomes.items() if command > 0} == {1: 2, 2: 4, 4: 8}
    assert isinstance(outcomes[-3], Refused)


def test_a_member_that_breaks_its_group_breaks_alone() -> None:
    gate = Gate()
    gate.failing = {3}
    outcomes = play(gate, Grouping(gate.run, joining=anything, threads=THREADS, longest_wait_s=30), [2, 3, 4])
    assert gate.groups == [[1], [2, 3, 4], [2], [3], [4]]
    assert isinstance(outcomes.pop(3), ZeroDivisionError)
    assert outcomes == {1: 2, 2: 4, 4: 8}


def test_an_unknown_outcome_is_every_members_own() -> None:
    gate = Gate()
    gate.unknown = True
    outcomes = play(gate, Grouping(gate.run, joining=anything, threads=THREADS, longest_wait_s=30), [2, 3])
    assert gate.groups == [[1], [2, 3]]
    assert outcomes.pop(1) == 2
    assert all(isinstance(outcome, OutcomeUnknown) for outcome in outcomes.values())
    assert outcomes[2] is not outcomes[3]


def test_a_member_that_is_held_up_holds_up_no_other() -> None:
    gate = Gate()
    gate.held_up = {3}
    outcomes = play(gate, Grouping(gate.run, joining=anything, threads=THREADS, longest_wait_s=30), [2, 3, 4])
    assert gate.groups == [[1], [2, 3, 4], [2], [3], [4]]
    assert isinstance(outcomes.pop(3), HeldUp)
    assert outcomes == {1: 2, 2: 4, 4: 8}


def test_who_waits_too_long_for_a_turn_is_told_and_was_never_run() -> None:
    gate = Gate()
    groups = Grouping(gate.run, joining=anything, threads=THREADS, longest_wait_s=0.01)
    leader = threading.Thread(target=groups.submit, args=(1,))
    leader.start()
    assert gate.entered.wait(30)
    with pytest.raises(Busy):
        groups.submit(2)
    gate.go.set()
    leader.join(30)
    assert gate.groups == [[1]]
    assert groups.submit(3) == 6


def test_who_waits_for_a_group_that_does_not_end_is_told_that_its_outcome_is_unknown() -> None:
    entered, go = threading.Event(), threading.Event()

    def run(commands: Sequence[int]) -> list[int]:
        if commands == [1]:
            entered.set()
            assert first_may_end.wait(30)
        else:
            second_began.set()
            assert go.wait(30)
        return [2 * command for command in commands]

    first_may_end, second_began = threading.Event(), threading.Event()
    groups: Grouping[int, int] = Grouping(run, joining=anything, threads=THREADS, longest_wait_s=1)
    outcomes: dict[int, object] = {}

    def submit(command: int) -> None:
        try:
            outcomes[command] = groups.submit(command)
        except OutcomeUnknown as error:
            outcomes[command] = error

    threads = [threading.Thread(target=submit, args=(one,)) for one in (1, 2, 3)]
    threads[0].start()
    assert entered.wait(30)
    for count, thread in enumerate(threads[1:], start=1):
        thread.start()
        while len(groups._waiting) < count:
            pass
    first_may_end.set()
    assert second_began.wait(30)
    for thread in threads:
        thread.join(30)
    assert (outcomes[1], type(outcomes[2]), type(outcomes[3])) == (2, OutcomeUnknown, OutcomeUnknown)
    go.set()
    assert groups.submit(4) == 8


def test_a_call_of_the_loop_does_not_wait_for_a_group_that_does_not_end() -> None:
    go = threading.Event()

    def run(commands: Sequence[int]) -> list[int]:
        assert go.wait(30)
        return [2 * command for command in commands]

    async def play() -> None:
        groups: Grouping[int, int] = Grouping(
            run, joining=anything, threads=THREADS, longest_wait_s=0.2, unfinished=Busy
        )
        with pytest.raises(Busy):
            await asyncio.wait_for(groups.submit_async(1), 30)
        go.set()
        assert await groups.submit_async(2) == 4

    asyncio.run(play())


def test_of_a_group_whose_members_run_alone_those_who_have_left_are_not_run() -> None:
    entered, go = threading.Event(), threading.Event()
    groups_run: list[list[int]] = []

    def run(commands: Sequence[int]) -> list[int]:
        groups_run.append(list(commands))
        if len(groups_run) == 1:
            entered.set()
            assert go.wait(30)
        if len(commands) > 1:
            left.wait(30)
            message = "Its round is locked."
            raise HeldUp(message)
        return [2 * command for command in commands]

    left = threading.Event()
    groups: Grouping[int, int] = Grouping(run, joining=anything, threads=THREADS, longest_wait_s=0.5)
    outcomes: dict[int, object] = {}

    def submit(command: int) -> None:
        try:
            outcomes[command] = groups.submit(command)
        except (Busy, OutcomeUnknown) as error:
            outcomes[command] = error

    threads = [threading.Thread(target=submit, args=(one,)) for one in (1, 2, 3)]
    threads[0].start()
    assert entered.wait(30)
    for count, thread in enumerate(threads[1:], start=1):
        thread.start()
        while len(groups._waiting) < count and thread.is_alive():
            pass
    go.set()
    for thread in threads[1:]:
        thread.join(30)
    left.set()
    assert groups.submit(4) == 8
    assert all(commands in ([1], [2, 3], [4]) for commands in groups_run)


def test_a_refusal_leaves_nothing_behind_that_only_a_collection_would_find() -> None:
    def refuse(commands: Sequence[int]) -> list[LedgerError]:
        return [Refused("no") for _ in commands]

    groups: Grouping[int, int] = Grouping(refuse, joining=anything, threads=THREADS, longest_wait_s=30)
    gc.collect()
    gc.disable()
    try:
        for _ in range(50):
            with contextlib.suppress(Refused):
                groups.submit(1)
        assert not [one for one in gc.get_objects() if isinstance(one, Refused)]
    finally:
        gc.enable()


def test_it_runs_again_after_everything_was_answered() -> None:
    gate = Gate()
    groups = Grouping(gate.run, joining=anything, threads=THREADS, longest_wait_s=30)
    play(gate, groups, [2])
    assert groups.submit(7) == 14


@pytest.mark.parametrize("threads", [2, 16])
def test_every_one_of_many_calls_gets_its_own_outcome_once(threads: int) -> None:
    lock = threading.Lock()
    ran: list[int] = []

    def run(commands: Sequence[int]) -> list[int]:
        with lock:
            ran.extend(commands)
        return [2 * command for command in commands]

    groups: Grouping[int, int] = Grouping(run, joining=anything, threads=THREADS, longest_wait_s=30)
    outcomes: dict[int, int] = {}

    def submit(first: int) -> None:
        for command in range(first, first + 200):
            outcomes[command] = groups.submit(command)

    workers = [threading.Thread(target=submit, args=(1000 * number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert sorted(ran) == sorted(outcomes)
    assert len(ran) == 200 * threads
    assert all(outcome == 2 * command for command, outcome in outcomes.items())


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110  other threads make it so
        await asyncio.sleep(0)


async def begun(gate: Gate, groups: Grouping[int, int]) -> "asyncio.Future[int]":
    """Submit 1, and have it in flight."""
    first = asyncio.ensure_future(groups.submit_async(1))
    await until(lambda: bool(gate.groups))
    return first


@pytest.mark.parametrize("breaking", [SystemExit("stopped"), None])
def test_a_run_that_breaks_off_stalls_nobody_who_comes_later(breaking: BaseException | None) -> None:
    """None stands for a run that answers fewer than asked."""
    ran: list[int] = []

    def run(commands: Sequence[int]) -> list[int]:
        ran.extend(commands)
        if ran == [1]:
            if breaking is not None:
                raise breaking
            return []
        return [2 * command for command in commands]

    groups: Grouping[int, int] = Grouping(run, joining=anything, threads=THREADS, longest_wait_s=5)
    with pytest.raises(OutcomeUnknown if breaking is not None else ValueError):
        groups.submit(1)
    assert groups.submit(2) == 4


def test_a_coroutine_waits_as_a_thread_does() -> None:
    gate = Gate()
    gate.failing = {3}
    groups = Grouping(gate.run, joining=anything, threads=THREADS, longest_wait_s=30)

    async def play() -> list[int | BaseException]:
        first = await begun(gate, groups)
        others = [asyncio.ensure_future(groups.submit_async(command)) for command in (2, 3, -4)]
        await until(lambda: len(groups._waiting) == 3)
        gate.go.set()
        return await asyncio.gather(first, *others, return_exceptions=True)

    one, two, three, refused = asyncio.run(play())

    assert gate.groups == [[1], [2, 3, -4], [2], [3], [-4]]
    assert (one, two) == (2, 4)
    assert isinstance(three, ZeroDivisionError)
    assert isinstance(refused, Refused)


def test_a_coroutine_that_waits_too_long_for_its_turn_is_told_and_was_never_run() -> None:
    gate = Gate()
    groups = Grouping(gate.run, joining=anything, threads=THREADS, longest_wait_s=0.01)

    async def play() -> int:
        first = await begun(gate, groups)
        with pytest.raises(Busy):
            await groups.submit_async(2)
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
        others = [groups.submit_async(command) for command in commands[1:]]
        return await asyncio.gather(first, *others, return_exceptions=True)


def test_the_loop_runs_groups_without_a_thread() -> None:
    gate = Gate()
    loop = Loop(gate)
    one, two, three, refused = asyncio.run(loop.play(loop.grouping(), 1, 2, 3, -4))

    assert (loop.groups, gate.groups) == ([[1], [2, 3, -4]], [])
    assert (one, two, three) == (2, 4, 6)
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
    one, two, three = asyncio.run(loop.play(loop.grouping(), 1, 2, 3))

    assert (loop.groups, gate.groups) == ([[1], [2, 3]], [[1], [2], [3]])
    assert (one, two) == (2, 4)
    assert isinstance(three, HeldUp)


def test_an_outcome_that_the_loop_does_not_know_is_that_of_all_members() -> None:
    loop = Loop(Gate(), NeedsThread(), OutcomeUnknown("The connection broke."))
    one, *others = asyncio.run(loop.play(loop.grouping(), 1, 2, 3))

    assert one == 2
    assert [type(outcome) for outcome in others] == [OutcomeUnknown] * 2


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


class Sharing:
    """Takes so many commands into a group, and notes how many shared it."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.sharing: list[int] = []

    def __call__(self, sharing: int) -> Callable[[int], bool]:
        self.sharing.append(sharing)
        left = [self.most]

        def takes(_: int) -> bool:
            left[0] -= 1
            return left[0] >= 0

        return takes


def test_each_of_those_who_share_has_a_part_of_every_group_however_many_calls_one_of_them_sends() -> None:
    gate, sharing = Gate(), Sharing(most=2)
    groups: Grouping[int, int] = Grouping(
        gate.run,
        joining=sharing,
        threads=THREADS,
        longest_wait_s=30,
        path_of=lambda one: ("odd" if one % 2 else "even",),
    )
    flood, other = [3, 5, 7, 9, 11, 13], [2, 4]

    outcomes = play(gate, groups, [*flood, *other])

    assert gate.groups == [[1], [3, 2], [5, 4], [7, 9], [11, 13]]
    assert outcomes == {one: 2 * one for one in (1, *flood, *other)}
    assert sharing.sharing == [1, 2, 2, 2, 2]  # A casino that had its part a moment ago is about to come again.
