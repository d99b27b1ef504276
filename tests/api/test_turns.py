"""Turns: threads are taken in fair order, at once by who has fewer than a share, and nobody waits for ever."""

import asyncio
import time

import pytest

from jackpot_service.api.places import Caller, Places, Turn, Turns
from jackpot_service.database.failures import Busy

LONG_S = 30.0

FLOOD, OTHER, THIRD = Caller("c1", "flood"), Caller("c2", "other"), Caller("c3", "third")


def turns(most: int = 2, *, at_most: int | None = None, longest_wait_s: float = 30) -> Turns:
    return Turns(Places("calls", most, at_most=at_most), longest_wait_s=longest_wait_s)


async def take(turns: Turns, caller: Caller, *, within_s: float = LONG_S) -> Turn:
    """Take a turn for a call that has to be answered by then."""
    return await turns.take(caller, ends_at=time.monotonic() + within_s)


async def waiting(turns: Turns, caller: Caller) -> "asyncio.Task[Turn]":
    """Let a call take a turn, or wait for it."""
    task = asyncio.ensure_future(take(turns, caller))
    await settled()
    return task


async def settled() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


def test_a_call_waits_until_a_thread_is_free_and_calls_of_one_caller_keep_their_order() -> None:
    async def play() -> None:
        of = turns()
        calls = [await waiting(of, FLOOD) for _ in range(4)]
        assert [call.done() for call in calls] == [True, True, False, False]
        for number in (0, 1):
            calls[number].result().end()
            calls[number].result().end()  # Once is enough.
            await settled()
            assert [call.done() for call in calls].count(True) == number + 3

    asyncio.run(play())


def test_another_caller_waits_behind_no_flood() -> None:
    async def play() -> None:
        of = turns()
        flood = [await waiting(of, FLOOD) for _ in range(20)]
        first = await waiting(of, OTHER)
        assert first.done()
        second = await waiting(of, OTHER)
        assert not second.done()
        for call in flood[:2]:
            call.result().end()
        await settled()
        assert sum(call.done() for call in flood) + second.done() == 3
        flood[2].cancel()
        for call in flood[3:]:
            call.cancel()

    asyncio.run(play())


def test_those_who_wait_have_turns_in_fair_order() -> None:
    async def play() -> list[str]:
        of = turns(1, at_most=1)
        order: list[str] = []

        async def call(caller: Caller) -> None:
            turn = await take(of, caller)
            order.append(caller.key)
            turn.end()

        running = await take(of, THIRD)
        calls = [asyncio.ensure_future(call(caller)) for caller in [FLOOD] * 5 + [OTHER] * 2]
        await settled()
        running.end()
        await asyncio.gather(*calls)
        return order

    assert asyncio.run(play()) == ["flood", "other", "flood", "other", "flood", "flood", "flood"]


def test_a_call_that_waits_too_long_in_a_long_queue_is_refused_and_takes_no_turn_from_others() -> None:
    async def play() -> None:
        of = turns(1, longest_wait_s=0.01)
        running = await take(of, FLOOD)
        first = await waiting(of, FLOOD)
        with pytest.raises(Busy):
            await take(of, FLOOD)
        running.end()
        (await first).end()
        (await take(of, FLOOD)).end()

    asyncio.run(play())


def test_a_call_that_waits_with_no_more_than_there_are_places_waits_until_it_has_to_be_answered() -> None:
    async def play() -> None:
        of = turns(2, longest_wait_s=0.01)
        running = [await take(of, FLOOD) for _ in range(2)]
        patient = [await waiting(of, FLOOD) for _ in range(2)]
        await asyncio.sleep(0.1)
        assert not any(call.done() for call in patient)
        for turn in running:
            turn.end()
        for call in patient:
            (await call).end()

    asyncio.run(play())


def test_a_call_that_has_to_be_answered_is_refused_however_few_wait() -> None:
    async def play() -> None:
        of = turns(1)
        running = await take(of, FLOOD)
        with pytest.raises(Busy):
            await take(of, FLOOD, within_s=0.01)
        running.end()
        (await take(of, FLOOD)).end()

    asyncio.run(play())


@pytest.mark.parametrize("has_turn", [False, True])
def test_a_call_that_is_stopped_while_it_waits_keeps_no_turn(*, has_turn: bool) -> None:
    async def play() -> None:
        of = turns(1)
        running = await take(of, FLOOD)
        stopped = await waiting(of, FLOOD)
        if has_turn:
            running.end()
        stopped.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stopped
        running.end()
        await settled()
        (await asyncio.wait_for(take(of, FLOOD), 30)).end()

    asyncio.run(play())


def test_a_thread_may_end_a_turn() -> None:
    async def play() -> None:
        of = turns(1)
        running = await take(of, FLOOD)
        next_one = await waiting(of, FLOOD)
        await asyncio.to_thread(running.end)
        (await asyncio.wait_for(next_one, 30)).end()

    asyncio.run(play())
