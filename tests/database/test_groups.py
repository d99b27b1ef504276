"""Group commit: what arrives while a commit is in flight shares the next one, and nobody harms another."""

import asyncio
import contextlib
import gc
import threading
import time
from collections.abc import Callable, Sequence

import pytest

from jackpot_service.database.failures import Busy, HeldUp, OutcomeUnknown
from jackpot_service.database.groups import Grouping
from jackpot_service.domain.errors import LedgerError, Refused
from tests.database.gates import THREADS, Gate, anything, play


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
    groups = Grouping(gate.run, joining=anything, threads=THREADS, longest_wait_s=1)
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

    threads = [threading.Thread(target=submit, args=(number,)) for number in (1, 2, 3)]
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
            run, joining=anything, threads=THREADS, longest_wait_s=30, unfinished=Busy
        )
        with pytest.raises(Busy):
            await asyncio.wait_for(groups.submit_async(1, ends_at=time.monotonic() + 0.2), 30)
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
    groups: Grouping[int, int] = Grouping(run, joining=anything, threads=THREADS, longest_wait_s=1)
    outcomes: dict[int, object] = {}

    def submit(command: int) -> None:
        try:
            outcomes[command] = groups.submit(command)
        except (Busy, OutcomeUnknown) as error:
            outcomes[command] = error

    threads = [threading.Thread(target=submit, args=(number,)) for number in (1, 2, 3)]
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
        assert not [object_ for object_ in gc.get_objects() if isinstance(object_, Refused)]
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
        path_of=lambda number: ("odd" if number % 2 else "even",),
    )
    flood, other = [3, 5, 7, 9, 11, 13], [2, 4]

    outcomes = play(gate, groups, [*flood, *other])

    assert gate.groups == [[1], [3, 2], [5, 4], [7, 9], [11, 13]]
    assert outcomes == {number: 2 * number for number in (1, *flood, *other)}
    assert sharing.sharing == [1, 2, 2, 2, 2]  # A casino that had its part a moment ago is about to come again.
