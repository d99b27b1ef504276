"""
Answers that go on for as long as their caller listens: server-sent events, which the event loop sends.

A listener holds no thread, no connection to the database and no turn. Its connection is not one of those that are
there for calls (`server/clients.py`). A key that is not in force any more ends its answer: it is looked at once a
minute, and believed for a quarter of one.
"""

import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from jackpot_service.api.asgi import Presence
from jackpot_service.api.places import Caller, Places
from jackpot_service.api.requests import Request
from jackpot_service.database.failures import Busy
from jackpot_service.domain.errors import LedgerError, LimitReached, Unavailable
from jackpot_service.domain.principals import Principal

MEDIA_TYPE: Final = "text/event-stream"

HEADERS: Final = ((b"content-type", MEDIA_TYPE.encode()), (b"connection", b"close"), (b"x-accel-buffering", b"no"))
"""The connection is the listener's alone. Because of the last field nginx passes each piece on at once."""

STREAMED: Final = {MEDIA_TYPE: {"schema": {"type": "string"}}}
"""The stream, as the description of an operation has it besides JSON."""

Pieces = AsyncGenerator[bytes]

BEGINNING: Final = b"retry: 3000\n\n"
"""Said first: after how many milliseconds a browser connects again."""

ALIVE: Final = b": alive\n\n"
"""A comment, which says that there is nothing new, and that somebody is there to say so."""

ADMITTED_FOR_S: Final = 60.0
"""For how long a listener that was admitted goes on listening, until its key is looked at again."""


LEAST_WAIT_S: Final = 15
LONGEST_WAIT_S: Final = 30
"""
When a listener without a place is to come again, any number of seconds between the two.

Places are free when displays are switched off. Of 10,000 listeners, the thousands without a place took a third of a
core of each worker when they came again every second, and bets waited three times as long.
"""


class Crowded(Busy):
    """As many listen as there are places for; nothing was written."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.retry_after_s = random.randint(LEAST_WAIT_S, LONGEST_WAIT_S)  # noqa: S311  spreads them, hides nothing


@dataclass(frozen=True, slots=True)
class Stream:
    """An answer without an end; nothing can be wrong with its request any more."""

    pieces: Pieces
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Listening:
    """
    A request that may be answered by a stream: what it says, who is there, and how its caller is found.

    `headers` are those that its answer has, also if the request is refused.
    """

    request: Request
    presence: Presence
    held: ExitStack = field(repr=False)
    """Closed when the call is over."""
    admit: Callable[[], Awaitable[Principal]] = field(repr=False)
    """Finds who calls. Raises: what refuses the caller."""
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)

    @property
    def wants_stream(self) -> bool:
        """Whether it asks for server-sent events, as browsers do; anything else gets JSON."""
        return MEDIA_TYPE.encode() in self.request.header(b"accept").encode()

    def take_place(self, places: Places, caller: Caller) -> None:
        """Hold a place for as long as the call lasts. Raises: Crowded."""
        try:
            self.held.enter_context(places.place(caller))
        except Busy:
            message = "As many listen as there are places for. One is free when another listener leaves."
            raise Crowded(message) from None

    def admitted_again(self, pieces: Pieces) -> Pieces:
        """Pass pieces on for as long as the caller is admitted."""
        return _admitted_again(pieces, self.admit)


async def _admitted_again(pieces: Pieces, admit: Callable[[], Awaitable[Principal]]) -> Pieces:
    until = time.monotonic() + ADMITTED_FOR_S
    async for piece in pieces:
        if time.monotonic() > until:
            try:
                await admit()
            except (Unavailable, LimitReached):
                pass  # Nobody knows, or asks just now: it goes on, and is looked at again with the next piece.
            except LedgerError:
                return
            else:
                until = time.monotonic() + ADMITTED_FOR_S
        yield piece


def event_bytes(data: Mapping[str, Any], event_id: str | None = None) -> bytes:
    """Write an event: one line of JSON, and the id after which a listener asks to go on."""
    place = b"" if event_id is None else b"id: %b\n" % event_id.encode()
    return b"%bdata: %b\n\n" % (place, orjson.dumps(data))


def page_bytes(items: Sequence[Mapping[str, Any]], event_id: str | None = None) -> bytes:
    """Write events. The last one has the id, so what is cut off comes again whole."""
    ids = [None] * (len(items) - 1) + [event_id]
    return b"".join(map(event_bytes, items, ids))


def reached(event_id: str) -> bytes:
    """Write that nothing is new up to an id: a listener that comes again asks from there on."""
    return b"id: %b\n\n" % event_id.encode()
