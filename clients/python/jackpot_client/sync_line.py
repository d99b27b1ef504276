"""The steps of calls, taken by a thread that waits."""

from collections.abc import Callable, Generator, Iterator
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
class SyncLine:
    """Connections to the service, those of usual calls apart from those that wait; thread-safe."""

    http: httpx.Client
    waiting: httpx.Client
    sleep: Callable[[float], None]
    clock: Callable[[], float]

    def run(self, steps: Steps[T]) -> T:
        """Take the steps of a call, and return its answer."""
        stream = _Stream()
        outcome: Outcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as end:
                answer: T = end.value
                return answer
            outcome = self._take(step, stream)

    def iterate(self, steps: Steps[None]) -> Generator[Any, None, None]:
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
                        outcome = self._take(step, stream)
        finally:
            steps.close()
            stream.close()

    def close(self) -> None:
        """Close the connections."""
        self.http.close()
        self.waiting.close()

    def _take(self, step: Step, stream: "_Stream") -> Outcome:
        if isinstance(step, Send):
            return self._send(step)
        if isinstance(step, Listen):
            return self._listen(step, stream)
        if isinstance(step, Hear):
            return stream.hear()
        if isinstance(step, Pause):
            self.sleep(step.seconds)
        return None

    def _send(self, step: Send) -> Received | Failed:
        http = self.waiting if step.is_waiting else self.http
        ends_at = self.clock() + step.seconds
        try:
            return self._whole(http.send(built(http, step.request, httpx.Timeout(step.seconds)), stream=True), ends_at)
        except FAILURES as error:
            return failed(error)

    def _listen(self, step: Listen, stream: "_Stream") -> Received | Listening | Failed:
        stream.close()
        timeout = httpx.Timeout(step.silence_seconds, connect=step.connect_seconds)
        try:
            response = self.waiting.send(built(self.waiting, step.request, timeout), stream=True)
            if is_stream(response):
                stream.open(response)
                return Listening()
            return self._whole(response, self.clock() + step.silence_seconds)
        except FAILURES as error:
            return failed(error)

    def _whole(self, response: httpx.Response, ends_at: float) -> Received:
        body = Body(response, ends_at)
        try:
            for piece in response.iter_bytes():
                body.add(piece, now=self.clock())
        finally:
            response.close()
        return body.received()


@dataclass(slots=True)
class _Stream:
    """The answer that an iterator listens to, if any."""

    _response: httpx.Response | None = None
    _pieces: Iterator[bytes] | None = None

    def open(self, response: httpx.Response) -> None:
        self._response, self._pieces = response, response.iter_bytes()

    def hear(self) -> bytes | Failed:
        try:
            piece = None if self._pieces is None else next(self._pieces, None)
        except FAILURES as error:
            return failed(error)
        return ENDED if piece is None else piece

    def close(self) -> None:
        if self._response is not None:
            self._response.close()
            self._response = None
