"""Callers who ask again as soon as they are answered share groups; nobody waits for those who do not."""

import asyncio
from collections.abc import Sequence

import pytest

from jackpot_service.database import callers, groups
from jackpot_service.database.callers import AT_ONCE_S, MOST_REMEMBERED, Callers
from jackpot_service.database.fair_queue import Path
from jackpot_service.database.groups import Grouping
from jackpot_service.domain.errors import LedgerError
from tests.database.gates import THREADS, until

ROUNDS = 40
LATE_TURNS = 3 * groups.TURNS_BETWEEN_GROUPS
"""Of the loop: so late does a caller ask again that the next group would have begun without it."""

Call = tuple[str, int]


class Play:
    """Callers of a grouping, and the groups that the loop ran for them."""

    def __init__(self) -> None:
        self.groups: list[Sequence[Call]] = []
        self.grouping: Grouping[Call, int] = Grouping(
            lambda calls: [number for _, number in calls],
            joining=lambda _: lambda _: True,
            threads=THREADS,
            longest_wait_s=30,
            run_on_loop=self._run,
            path_of=lambda call: (call[0],),
        )

    async def _run(self, calls: Sequence[Call]) -> list[int | LedgerError]:
        self.groups.append(calls)
        await asyncio.sleep(0.001)
        return [number for _, number in calls]

    async def ask_again_and_again(self, caller: str) -> None:
        for number in range(10 * ROUNDS):
            assert await self.grouping.submit_async((caller, number)) == number
            for _ in range(LATE_TURNS):
                await asyncio.sleep(0)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a busy machine count as a fast one."""
    monkeypatch.setattr(groups, "LONGEST_GATHERING_S", 1)
    monkeypatch.setattr(callers, "AT_ONCE_S", 3600)


@pytest.mark.usefixtures("patient")
def test_callers_who_ask_again_at_once_share_each_group() -> None:
    play = Play()

    async def four() -> None:
        tasks = [asyncio.ensure_future(play.ask_again_and_again("a"))]
        await until(lambda: bool(play.groups))
        tasks += [asyncio.ensure_future(play.ask_again_and_again(caller)) for caller in "bcd"]
        await until(lambda: len(play.groups) >= ROUNDS)
        for task in tasks:
            task.cancel()

    asyncio.run(four())
    assert [len(group) for group in play.groups[ROUNDS // 2 : ROUNDS]] == [4] * (ROUNDS // 2)


def test_nobody_waits_for_callers_who_have_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "AT_ONCE_S", 3600)
    play = Play()

    async def two_then_a_third() -> int:
        async with asyncio.timeout(30):
            await asyncio.gather(play.ask_again_and_again("a"), play.ask_again_and_again("b"))
            return await play.grouping.submit_async(("c", 7))

    assert asyncio.run(two_then_a_third()) == 7


def test_nobody_waits_where_each_caller_asks_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "LONGEST_GATHERING_S", 20)
    play = Play()

    async def three_and_then_another() -> None:
        async with asyncio.timeout(10):
            for number in range(20):
                tables = [play.grouping.submit_async((f"{number} {table}", number)) for table in "abc"]
                assert await asyncio.gather(*tables) == [number] * 3
                assert await play.grouping.submit_async((f"{number} d", number)) == number

    asyncio.run(three_and_then_another())


def call(watched: Callers, path: Path, *, at: float, answered_at: float) -> None:
    watched.ask(path, now=at)
    watched.answer(path, now=answered_at)


def test_callers_ask_again_at_once_when_most_are_back_within_two_milliseconds() -> None:
    watched, now = Callers(), 100.0
    for _ in range(20):
        call(watched, ("T1",), at=now, answered_at=now + 0.001)
        now += 0.001 + AT_ONCE_S / 2
    assert watched.ask_again_at_once
    for number in range(20):
        call(watched, (f"T{number + 2}",), at=now, answered_at=now)
    assert not watched.ask_again_at_once


def test_callers_who_are_back_later_do_not_ask_again_at_once() -> None:
    watched, now = Callers(), 100.0
    for _ in range(50):
        call(watched, ("T1",), at=now, answered_at=now)
        now += 2 * AT_ONCE_S
    assert not watched.ask_again_at_once


def test_of_callers_who_do_not_come_back_a_thousand_are_remembered() -> None:
    watched = Callers()
    for number in range(3 * MOST_REMEMBERED):
        watched.answer((str(number),), now=0.0)
    assert len(watched._answered) == MOST_REMEMBERED
