"""The steps of calls, taken by a task of asyncio; the same as `sync_line.py` but for its waiting."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from jackpot_client.connection import ENDED, Body, built, is_stream
from jackpot_client.steps import (
    FAILURES,
    Failed,
    Hear,
    Item,
    Listen,
    Listening,
    Outcome,
    Pause,
    Received,
    Send,
    Step,
    Steps,
    failed,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AsyncLine:
    """Connections to the service, those of usual calls apart from those that wait; for the tasks of one event loop."""

    http: httpx.AsyncClient
    waiting: httpx.AsyncClient
    sleep: Callable[[float], Awaitable[None]]
    clock: Callable[[], float]

    async def run(self, steps: Steps[T]) -> T:
        """Take the steps of a call, and return its answer."""
        stream = _Stream()
        outcome: Outcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as end:
                answer: T = end.value
                return answer
            outcome = await self._take(step, stream)

    async def iterate(self, steps: Steps[None]) -> AsyncGenerator[Any, None]:
        """Take the steps of an iterator, and yield its items; a stream is closed when the caller leaves."""
        stream = _Stream()
        outcome: Outcome = None
        try:
            with suppress(StopIteration):
                while True:
                    step = steps.send(outcome)
                    if isinstance(step, Item):
                        yield step.value
                        outcome = None
                    else:
                        outcome = await self._take(step, stream)
        finally:
            steps.close()
            await stream.close()

    async def close(self) -> None:
        """Close the connections."""
        await self.http.aclose()
        await self.waiting.aclose()

    async def _take(self, step: Step, stream: "_Stream") -> Outcome:
        if isinstance(step, Send):
            return await self._send(step)
        if isinstance(step, Listen):
            return await self._listen(step, stream)
        if isinstance(step, Hear):
            return await stream.hear()
        if isinstance(step, Pause):
            await self.sleep(step.seconds)
        return None

    async def _send(self, step: Send) -> Received | Failed:
        http = self.waiting if step.is_waiting else self.http
        ends_at = self.clock() + step.seconds
        try:
            response = await http.send(built(http, step.request, httpx.Timeout(step.seconds)), stream=True)
            return await self._whole(response, ends_at)
        except FAILURES as error:
            return failed(error)

    async def _listen(self, step: Listen, stream: "_Stream") -> Received | Listening | Failed:
        await stream.close()
        timeout = httpx.Timeout(step.silence_seconds, connect=step.connect_seconds)
        try:
            response = await self.waiting.send(built(self.waiting, step.request, timeout), stream=True)
            if is_stream(response):
                stream.open(response)
                return Listening()
            return await self._whole(response, self.clock() + step.silence_seconds)
        except FAILURES as error:
            return failed(error)

    async def _whole(self, response: httpx.Response, ends_at: float) -> Received:
        body = Body(response, ends_at)
        try:
            async for piece in response.aiter_bytes():
                body.add(piece, now=self.clock())
        finally:
            await response.aclose()
        return body.received()


@dataclass(slots=True)
class _Stream:
    """The answer that an iterator listens to, if any."""

    _response: httpx.Response | None = None
    _pieces: AsyncIterator[bytes] | None = None

    def open(self, response: httpx.Response) -> None:
        self._response, self._pieces = response, response.aiter_bytes()

    async def hear(self) -> bytes | Failed:
        try:
            piece = None if self._pieces is None else await anext(self._pieces, None)
        except FAILURES as error:
            return failed(error)
        return ENDED if piece is None else piece

    async def close(self) -> None:
        if self._response is not None:
            await self._response.aclose()
            self._response = None
