"""The asyncio client as a blocking one, so that one test can hold both to the same."""

import asyncio
import inspect
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar, cast

from jackpot_client import AsyncJackpotClient, JackpotClient

T = TypeVar("T")

LONGEST_S: Final = 240.0


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    @property
    def has_ended(self) -> bool:
        """Whether it runs nothing any more; its generators are closed then."""
        return self._loop.is_closed()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there, and wait for it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(LONGEST_S)

    def end(self) -> None:
        self.run(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


class _Blocking:
    def __init__(self, loop: Loop, client: AsyncJackpotClient) -> None:
        self._loop, self._client = loop, client

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)

        def call(*args: object, **kwargs: object) -> Any:
            made = method(*args, **kwargs)
            return self._loop.run(made) if inspect.iscoroutine(made) else self._iterated(made)

        return call

    def _iterated(self, items: AsyncGenerator[Any, None]) -> Iterator[Any]:
        async def next_item() -> Any:
            return await anext(items, _END)

        async def close() -> None:
            await items.aclose()

        try:
            while (item := self._loop.run(next_item())) is not _END:
                yield item
        finally:
            if not self._loop.has_ended:
                self._loop.run(close())


_END = object()


@contextmanager
def blocking_client(base_url: str, key: str | None, **options: Any) -> Iterator[JackpotClient]:
    """Make an asyncio client that is called like the other one; a `sleep` is one that blocks."""
    loop = Loop()
    if sleep := options.pop("sleep", None):

        async def asleep(seconds: float) -> None:
            sleep(seconds)

        options["sleep"] = asleep

    async def made() -> AsyncJackpotClient:
        return AsyncJackpotClient(base_url, key, **options)

    client = loop.run(made())
    try:
        yield cast("JackpotClient", _Blocking(loop, client))
    finally:
        loop.run(client.close())
        loop.end()
