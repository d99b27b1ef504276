"""
The application as a server calls it, and the fast path: calls that come by the thousand are answered by the event loop.

For one bet, Flask and the libraries that read its body take more of a processor than its share of a commit
(docs/decisions/server.md), and so does a thread that waits for it among others (docs/decisions/server.md). The fast
path answers what nearly all of these calls are, and what is wrong with them. Any other call goes on to Flask, which a
thread runs.

Every call takes the same steps on the loop, in this order, and may be refused at each: who calls, at which rate, with
which role (`entrance.py`); the whole body (`bodies.py`); its turn (`turns.py`).
"""

import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import orjson
from marshmallow import ValidationError

from jackpot_service.api import asgi, security_headers
from jackpot_service.api.asgi import ENVIRON, PRESENCE, InThreads, Receive, Scope, Send, path_of
from jackpot_service.api.bodies import ROOM, Body, Gone, length_of
from jackpot_service.api.entrance import Entrance
from jackpot_service.api.parsing import MEDIA_TYPES, invalid_by
from jackpot_service.api.places import Caller, Places
from jackpot_service.api.problems import MEDIA_TYPE, Problem, problem_of
from jackpot_service.api.request_context import END_TURN, PRINCIPAL, RequestContext
from jackpot_service.api.request_ids import REQUEST_ID, request_id
from jackpot_service.api.routes import Routes
from jackpot_service.domain.principals import Role
from jackpot_service.domain.shapes import IDENTIFIER

ID: Final = f"({IDENTIFIER.pattern})"
"""An id in a path of a call."""

LONGEST_BODY: Final = 256 * 1024
"""Bytes: a batch of a thousand bets and more. What is longer is read by a thread, so that it holds nobody up."""

_WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods whose calls look at no body: what is sent as one is left where it is."""

_ENCODINGS: Final = frozenset({b"content-encoding", b"transfer-encoding"})
_REQUEST_ID: Final = REQUEST_ID.lower().encode()
_PROBLEM: Final = MEDIA_TYPE.encode()


class Fallback(Exception):
    """The fast path does not take this call: Flask answers it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What Flask would answer, but for the request's id; without a body it has no type and length."""

    body: Mapping[str, Any] | None
    status: HTTPStatus = HTTPStatus.OK
    headers: Sequence[tuple[bytes, bytes]] = ()


class Request:
    """
    A request as the fast path looks at it.

    `body` is there when it has been read. `ends_at` is when the call has to be answered, on the steady clock.
    """

    def __init__(self, scope: Scope, *, ends_at: float) -> None:
        self.query: bytes = scope["query_string"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.has_header_twice = len(self.headers) != len(scope["headers"])
        if self.has_header_twice:  # As Flask reads it.
            named: dict[bytes, list[bytes]] = {}
            for name, value in scope["headers"]:
                named.setdefault(name, []).append(value)
            self.headers = {name: b",".join(values) for name, values in named.items()}
        self.body = b""
        self.ends_at = ends_at

    def header(self, name: bytes) -> str:
        """The value of a header, empty if there is none."""
        return self.headers.get(name, b"").decode("latin-1")

    def require_usual(self) -> None:
        """Raises: Fallback unless its body was sent as JSON of a stated length, without an encoding and a query."""
        if (
            self.header(b"content-type").partition(";")[0].strip(" \t").lower() not in MEDIA_TYPES
            or not _ENCODINGS.isdisjoint(self.headers)
            or self.query
            or length_of(self.headers.get(b"content-length", b"")) != len(self.body)
            or len(self.body) > LONGEST_BODY
        ):
            raise Fallback


@dataclass(frozen=True, slots=True)
class Call:
    """
    A call that may take the fast path: its method and path, who may make it, and what answers it.

    `take` is given the ids of the path. It raises Fallback before it does anything, or what the call is refused by. It
    must not wait but by `await`: all calls of a process share its thread.
    """

    method: str
    path: re.Pattern[str]
    roles: frozenset[Role]
    take: Callable[..., Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A GET, or HEAD, that needs no key and takes any query: it is always answered here, behind no other call."""

    path: re.Pattern[str]
    take: Callable[[RequestContext], Awaitable[Answer]]


class FastPath:
    """The application as a server calls it: first what both ways need, then the fast path, then Flask."""

    def __init__(
        self,
        flask: InThreads,
        context: RequestContext,
        *,
        entrance: Entrance,
        routes: Routes,
        calls: Iterable[Call],
        open_calls: Iterable[OpenCall] = (),
    ) -> None:
        self._flask = flask
        self._context = context
        self._entrance = entrance
        self._routes = routes
        self._room = Places("bytes of bodies", max(ROOM, 2 * context.config.max_body_bytes))
        self._calls = tuple(calls)
        self._open_calls = tuple(open_calls)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, if it is one of HTTP; see the specification of ASGI."""
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        request = Request(scope, ends_at=time.monotonic() + self._context.config.request_timeout_s)
        with ExitStack() as held:
            try:
                answered = await self._answered(scope, request, receive, held)
            except Gone:
                return
            except Exception as error:  # noqa: BLE001  whatever it is, it is answered as a problem
                answered = _refused(error, scope)
            if answered is None:
                await self._flask(scope, receive, send, body=request.body, ends_at=request.ends_at, then=held.close)
            else:
                named = request_id(request.header(_REQUEST_ID))
                await _send(answered, named, send, is_head=scope["method"] == "HEAD")

    async def _answered(
        self, scope: Scope, request: Request, receive: Receive, held: ExitStack
    ) -> Answer | Problem | None:
        """Answer a call; None leaves it to Flask, which has the body and a turn then, if it needs them."""
        open_call = self._open_call_of(scope)
        if open_call is not None:
            return await open_call.take(self._context)
        call, ids = self._call_of(scope)
        roles = self._routes.roles(scope["method"], path_of(scope)) if call is None else call.roles
        if roles is None:
            return None
        principal = await self._entrance.admitted(
            scope, request.header(b"authorization"), roles, ends_at=request.ends_at
        )
        caller = Caller.of(principal)
        if scope["method"] not in _WITHOUT_BODY and not self._is_too_long(request):
            body = Body(self._room)
            held.callback(body.forget)
            reads_since = time.monotonic()
            await body.read(receive, caller, most_bytes=self._context.config.max_body_bytes)
            request.body = body.data
            request.ends_at += time.monotonic() - reads_since  # That was the client's time.
        if call is not None and not request.has_header_twice:
            with suppress(Fallback):
                return await call.take(self._context, request, principal, *ids)
        turn = await self._context.calls.take(caller, ends_at=request.ends_at)
        held.callback(turn.end)
        scope[ENVIRON] = {PRINCIPAL: principal, END_TURN: turn.end, PRESENCE: scope.get("state", {}).get(PRESENCE)}
        return None

    def _call_of(self, scope: Scope) -> tuple[Call | None, Iterable[str]]:
        for call in self._calls:
            if scope["method"] == call.method and (ids := call.path.fullmatch(scope["path"])):
                return call, ids.groups()
        return None, ()

    def _open_call_of(self, scope: Scope) -> OpenCall | None:
        if scope["method"] not in {"GET", "HEAD"}:
            return None
        return next((call for call in self._open_calls if call.path.fullmatch(scope["path"])), None)

    def _is_too_long(self, request: Request) -> bool:
        """Whether a body is longer than Flask takes, as its head says: then none of it is read, and Flask says why."""
        length = length_of(request.headers.get(b"content-length", b""))
        return length is not None and length > self._context.config.max_body_bytes + 1


def _refused(error: Exception, scope: Scope) -> Problem:
    if isinstance(error, ValidationError):
        error = invalid_by(error.messages)
    return problem_of(error, instance=path_of(scope))


async def _send(answered: Answer | Problem, named: str, send: Send, *, is_head: bool) -> None:
    headers: asgi.Headers = [(_REQUEST_ID, named.encode())]
    if isinstance(answered, Problem):
        body, media_type, status = answered.body, _PROBLEM, answered.status
        headers += [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in answered.headers]
    else:
        body = b"" if answered.body is None else orjson.dumps(answered.body)
        media_type, status = b"application/json", answered.status.value
        headers += answered.headers
    headers += security_headers.lacking(headers)
    if body:
        headers += [(b"content-type", media_type), (b"content-length", b"%d" % len(body))]
    await asgi.answer(send, status, headers, b"" if is_head else body)
