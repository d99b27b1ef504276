"""
How a server with an event loop calls an application that has none (ASGI 3, PEP 3333).

Each call runs in a thread, with its body, which was received before: nobody's slow sending keeps a thread. An answer
that is there goes back in one piece. Any other is made a piece at a time, each when the one before is on its way, until
its caller goes away. Between two pieces it keeps no thread.

The libraries for this pass every piece of every answer from thread to loop and wait (docs/decisions/server.md).

Every answer, of the application or of the server itself, has the id of its request and says what browsers and caches
may do with it.
"""

import asyncio
import io
import random
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import unquote_to_bytes

from werkzeug.datastructures import Headers as NamedHeaders

from jackpot_service.database import deadlines
from jackpot_service.database.failures import Busy
from jackpot_service.domain.shapes import IDENTIFIER

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

T = TypeVar("T")

PRESENCE: Final = "presence"
"""Under which the state of a call, and in Flask its environment, may hold the `Presence` of its caller."""

_NOTHING_MORE: Final[Mapping[str, object]] = {}

_UNPREFIXED: Final = {"content-length": "CONTENT_LENGTH", "content-type": "CONTENT_TYPE"}


def _nothing() -> None:
    pass


def _no_thread(_is_report: bool) -> None:  # noqa: FBT001  as `Presence` calls it
    pass


class Presence:
    """
    Whether a caller is still there, which the server notes and a call that waits may look at from its thread.

    A caller that closes its connection looks like one that closes its own half: both have left, and the second may
    still read an answer.

    A caller that listens or waits says so by `listen`. Until it is answered, its connection is one of the listeners'.
    One whom a thread answers says so by `occupy_thread`: that is more work than the event loop has with a call, and a
    report is still more.
    `when_left` is called once, on the loop, when the caller leaves.
    """

    __slots__ = ("_listen", "_occupy_thread", "has_left", "when_left")

    def __init__(
        self, listen: Callable[[], object] | None = None, occupy_thread: Callable[[bool], object] | None = None
    ) -> None:
        self.has_left = False
        self.when_left: Callable[[], object] = _nothing
        self._listen = listen or _nothing
        self._occupy_thread = occupy_thread or _no_thread

    def listen(self) -> None:
        """Let the server know that the caller listens from now on."""
        self._listen()

    def occupy_thread(self, *, is_report: bool) -> None:
        """Let the server know that a thread answers the call."""
        self._occupy_thread(is_report)

    def leave(self) -> None:
        """Note that the caller has left."""
        self.has_left = True
        # Else the server's connection and this would hold each other until collected.
        self._listen, self._occupy_thread = _nothing, _no_thread
        when_left, self.when_left = self.when_left, _nothing
        when_left()


REPORTS: Final = "/v1/reports"
"""Where all reports are."""

REQUEST_ID: Final = "X-Request-Id"


def request_id(sent: str) -> str:
    """Return the id that a request sent, if it is one, or else a new one."""
    # Not secret; and the system's random source is a call into the kernel.
    return sent if IDENTIFIER.fullmatch(sent) else f"{random.getrandbits(128):032x}"


_ALWAYS: Final = ("X-Content-Type-Options", "nosniff")
_UNLESS_SAID: Final = ("Cache-Control", "no-store")

_CACHE_CONTROL: Final = _UNLESS_SAID[0].lower().encode()
_PLAIN: Final = ((_ALWAYS[0].lower().encode(), _ALWAYS[1].encode()), (_CACHE_CONTROL, _UNLESS_SAID[1].encode()))


def add_headers(headers: NamedHeaders) -> None:
    """Add the headers to an answer of Flask. A meter may be kept, if it is asked for again each time."""
    headers[_ALWAYS[0]] = _ALWAYS[1]
    headers.setdefault(*_UNLESS_SAID)


def headers_lacking(headers: Sequence[tuple[bytes, bytes]]) -> Sequence[tuple[bytes, bytes]]:
    """Return the headers that an answer of the fast path lacks, which has its names in small letters."""
    return _PLAIN[:1] if any(name == _CACHE_CONTROL for name, _ in headers) else _PLAIN


async def answer(send: Send, status: int, headers: Headers, body: bytes) -> None:
    """Send a whole answer."""
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class InThreads:
    """
    An application without an event loop, called from one; as many calls run at once as there are threads.

    A call's statements end `longest_s` after it came, unless it has a deadline; the wait for a thread counts.
    """

    def __init__(self, application: "WSGIApplication", threads: Executor, *, longest_s: float) -> None:
        self._application = application
        self._threads = threads
        self._longest_s = longest_s

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        body: bytes = b"",
        more: Mapping[str, object] = _NOTHING_MORE,
        ends_at: float | None = None,
        then: Callable[[], object] = _nothing,
    ) -> None:
        """
        Answer a request; see the specification of ASGI.

        `body` is all of its body that it is to know of, and `more` is what else its environment shall have. `ends_at`
        is when it has to be answered, on the steady clock. `then` is called when its thread is free again.
        """
        loop = asyncio.get_running_loop()
        latest = time.monotonic() + self._longest_s if ends_at is None else ends_at
        environ = {**_environ_of(scope, body), **more}
        begun = await loop.run_in_executor(self._threads, _begin, self._application, environ, latest)
        then()
        if begun.rest is None:
            await answer(send, begun.status, begun.headers, begun.body)
        else:
            await self._stream(begun, begun.rest, receive, send)

    async def _stream(self, begun: "_Begun", rest: "_Rest", receive: Receive, send: Send) -> None:
        loop = asyncio.get_running_loop()
        gone = loop.create_task(_disconnected(receive))
        try:
            await send({"type": "http.response.start", "status": begun.status, "headers": begun.headers})
            piece: bytes | None = begun.body
            while piece is not None and not gone.done():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                piece = await loop.run_in_executor(self._threads, next, rest.pieces, None)
            if piece is None:
                await send({"type": "http.response.body", "body": b""})
        finally:
            gone.cancel()
            await loop.run_in_executor(self._threads, rest.close)


@dataclass(frozen=True, slots=True)
class _Rest:
    """The rest of an answer that is made while it is sent."""

    pieces: Iterator[bytes]
    close: Callable[[], object]


@dataclass(frozen=True, slots=True)
class _Begun:
    """An answer; if it is not whole, `body` is its beginning and the rest follows."""

    status: int
    headers: Headers
    body: bytes
    rest: _Rest | None


def _begin(application: "WSGIApplication", environ: "WSGIEnvironment", ends_at: float) -> _Begun:
    """Call an application. An answer of one piece is there; any other is made while it is sent."""
    with deadlines.until(ends_at):
        return _called(application, environ)


def _called(application: "WSGIApplication", environ: "WSGIEnvironment") -> _Begun:
    started: list[tuple[str, list[tuple[str, str]]]] = []

    def start_response(status: str, headers: list[tuple[str, str]], _failure: object = None) -> Callable[[bytes], None]:
        started[:] = [(status, headers)]
        return _refuse_to_write

    answered = application(environ, start_response)
    with ExitStack() as closing:
        closing.callback(getattr(answered, "close", _nothing))
        pieces = iter(answered)
        body = next(pieces, b"")  # An application may begin its answer as late as this.
        status, named = started[0]
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in named]
        if dict(headers).get(b"content-length") == b"%d" % len(body):
            return _Begun(int(status[:3]), headers, body, None)
        return _Begun(int(status[:3]), headers, body, _Rest(pieces, closing.pop_all().close))


def _refuse_to_write(_: bytes) -> None:
    message = "Answers are returned here, not written."
    raise RuntimeError(message)


def path_of(scope: Scope) -> str:
    """Return the path of a request as the application gets it."""
    return _path_info(scope).encode("latin-1").decode(errors="replace")


def _path_info(scope: Scope) -> str:
    return unquote_to_bytes(scope["raw_path"]).decode("latin-1")


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _environ_of(scope: Scope, body: bytes) -> "WSGIEnvironment":
    host, port = scope.get("server") or ("localhost", None)
    environ: WSGIEnvironment = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": _path_info(scope),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": host,
        "SERVER_PORT": str(port or 0),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": (scope.get("client") or ("",))[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": io.BytesIO(body),
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in _named(scope["headers"]):
        key = _UNPREFIXED.get(name) or f"HTTP_{name.upper().replace('-', '_')}"
        environ[key] = f"{environ[key]},{value}" if key in environ else value
    return environ


def _named(headers: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[str, str]]:
    """Read headers, but for those whose names could be taken for others': `x_request_id`."""
    for name, value in headers:
        if b"_" not in name:
            yield name.decode("latin-1"), value.decode("latin-1")


async def by_thread(threads: Executor, ask: Callable[[], T], *, ends_at: float) -> T:
    """
    Have one of the threads ask, and return what it finds; others of the loop run meanwhile.

    All of it ends with the call, at `ends_at` of the steady clock: the wait for a thread, and what is asked of the
    database. Raises: whatever `ask` raises; Busy.
    """
    future = asyncio.get_running_loop().run_in_executor(threads, _within, ask, ends_at)
    try:
        await asyncio.wait({future}, timeout=max(0.0, ends_at - time.monotonic()))
        if future.done():
            return future.result()
    finally:
        future.cancel()  # If no thread has begun, none does.
    message = "What this needs was not found out in time; nothing was written."
    raise Busy(message)


def _within(ask: Callable[[], T], ends_at: float) -> T:
    with deadlines.until(ends_at):
        return ask()
