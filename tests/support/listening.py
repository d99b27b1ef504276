"""One who listens to an application, piece by piece, as a server with an event loop would let it."""

import asyncio
import queue
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Final

import orjson
from werkzeug.datastructures import Headers

from jackpot_service.api.asgi import PRESENCE, Application, Message, Presence, Scope
from tests.support.answers import Answer, Body
from tests.support.asgi import scope_of
from tests.support.loop import begun_on_loop, on_loop

LONGEST_S: Final = 30.0
"""How long a piece is waited for: only a failure takes so long."""


class Listener:
    """A caller who listens. What is said comes in `frames`; comments and what ends it are passed over."""

    def __init__(self, application: Application, path: str, *, headers: Mapping[str, str]) -> None:
        self.presence = Presence()
        self._messages: queue.Queue[Message] = queue.Queue()
        self._rest = ""
        self.last_event_id = ""
        scope = scope_of("GET", path, {"Accept": "text/event-stream", **headers})
        scope["state"] = {PRESENCE: self.presence}
        self._call: Future[None] = begun_on_loop(self._run(application, scope))
        start = self._messages.get(timeout=LONGEST_S)
        self.status: int = start["status"]
        self.headers = Headers([(name.decode(), value.decode("latin-1")) for name, value in start["headers"]])

    async def _run(self, application: Application, scope: Scope) -> None:
        await application(scope, self._receive, self._send)

    async def _receive(self) -> Message:
        return await asyncio.Future[Message]()

    async def _send(self, message: Message) -> None:
        self._messages.put(message)

    def answer(self) -> Answer:
        """Take all of an answer that has an end."""
        body = b""
        while (message := self._messages.get(timeout=LONGEST_S)).get("more_body"):
            body += message["body"]
        return Answer(self.status, self.headers, (body + message["body"]).decode())

    def blocks(self) -> Iterator[str]:
        """Yield the blocks of server-sent events until there are no more."""
        while True:
            message = self._messages.get(timeout=LONGEST_S)
            *blocks, self._rest = (self._rest + message["body"].decode()).split("\n\n")
            yield from blocks
            if not message.get("more_body"):
                return

    def frames(self) -> Iterator[Body]:
        """Yield what is said, without comments."""
        for block in self.blocks():
            fields = dict(line.split(": ", 1) for line in block.splitlines())
            self.last_event_id = fields.get("id", self.last_event_id)
            if "data" in fields:
                yield orjson.loads(fields["data"])

    def leave(self) -> None:
        """Leave, as a connection that is closed, and wait until the call is over."""
        on_loop(self._leave())

    async def _leave(self) -> None:
        self.presence.leave()


@contextmanager
def listening(application: Application, path: str, *, key: str | None = None, **headers: str) -> Iterator[Listener]:
    """Listen until the block ends."""
    shown = {} if key is None else {"Authorization": f"Bearer {key}"}
    listener = Listener(application, path, headers={**shown, **headers})
    try:
        yield listener
    finally:
        listener.leave()
