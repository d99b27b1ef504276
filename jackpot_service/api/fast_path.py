"""
The application as a server calls it, and the fast path: calls that come by the thousand are answered by the event loop.

For one bet, Flask and the libraries that read its body take more of a processor than the bet's share of a commit. So
does a thread that waits for it among others (docs/decisions/server.md). The fast path answers nearly all of these
calls, also where something is wrong with them. Any other call goes on to Flask, which a thread runs.

Every call takes the same steps on the loop, in this order, and may be refused at each. The first finds who calls, at
which rate and with which role (`entrance.py`); the next reads the whole body (`requests.py`); the last waits for the
call's turn (`places.py`).
"""

import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, aclosing, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import flask
import orjson
from marshmallow import ValidationError
from werkzeug.exceptions import HTTPException

from jackpot_service.api import asgi
from jackpot_service.api.asgi import (
    PRESENCE,
    REPORTS,
    REQUEST_ID,
    InThreads,
    Presence,
    Receive,
    Scope,
    Send,
    headers_lacking,
    path_of,
    request_id,
)
from jackpot_service.api.entrance import Entrance
from jackpot_service.api.parsing import invalid_by
from jackpot_service.api.places import Caller, Places
from jackpot_service.api.problems import MEDIA_TYPE, Problem, problem_of
from jackpot_service.api.request_context import ADDRESS, END_TURN, PRINCIPAL, RequestContext
from jackpot_service.api.requests import ROOM, Body, Fallback, Gone, Request, length_of
from jackpot_service.api.streams import HEADERS as STREAM_HEADERS
from jackpot_service.api.streams import Listening, Stream
from jackpot_service.auth.authenticator import is_page, roles_of
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.domain.shapes import IDENTIFIER


class Routes:
    """The routes of an application, all of which are there. Raises: LookupError if one states no roles."""

    def __init__(self, app: flask.Flask) -> None:
        self.roles_of_endpoints: Mapping[str, frozenset[Role] | None] = {
            endpoint: roles_of(view) for endpoint, view in app.view_functions.items()
        }
        self._pages = frozenset(endpoint for endpoint, view in app.view_functions.items() if is_page(view))
        self._adapter = app.url_map.bind("localhost")

    def access(self, method: str, path: str) -> "Access":
        """How a call is let in; if there is no such call, anybody is, and Flask says so."""
        try:
            endpoint, _ = self._adapter.match(path, method)
        except HTTPException:
            return Access(None, is_page=method in _WITHOUT_BODY)  # It may be answered by a page, which takes a turn.
        return Access(self.roles_of_endpoints[endpoint], is_page=endpoint in self._pages)


@dataclass(frozen=True, slots=True)
class Access:
    """
    How a call is let in: by a key of one of the roles, or without a key if they are None.

    The caller of a page is known by their address alone, until Flask has looked at their cookie.
    """

    roles: frozenset[Role] | None
    is_page: bool = False


ID: Final = f"({IDENTIFIER.pattern})"
"""An id in a path of a call."""

STRANGERS: Final = "callers of pages"
"""As a casino, whose name none can have: those who open pages share what one casino has, by their addresses."""

MOST_FORM_BYTES: Final = 64 * 1024
"""Of a page's form; one byte more is read, and refused."""

_WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods whose calls look at no body: what is sent as one is left where it is."""

_REQUEST_ID: Final = REQUEST_ID.lower().encode()
_PROBLEM: Final = MEDIA_TYPE.encode()


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer that Flask would give, but for the request's id; without a body it has no type and length."""

    body: Mapping[str, Any] | None
    status: HTTPStatus = HTTPStatus.OK
    headers: Sequence[tuple[bytes, bytes]] = ()


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
class StreamCall:
    """
    A GET that may be answered by a stream, whatever its headers are.

    `take` finds itself who calls, if it needs to know. It raises Fallback, or what the call is refused by.
    """

    path: re.Pattern[str]
    roles: frozenset[Role]
    take: Callable[..., Awaitable[Answer | Stream]]


@dataclass(frozen=True, slots=True)
class Preflight:
    """
    An OPTIONS by which a browser asks whether a page of another origin may make a GET.

    `take` raises Fallback, or what the call is refused by.
    """

    path: re.Pattern[str]
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
        stream_calls: Iterable[StreamCall] = (),
        open_calls: Iterable[OpenCall] = (),
        preflights: Iterable[Preflight] = (),
    ) -> None:
        self._flask = flask
        self._context = context
        self._entrance = entrance
        self._routes = routes
        self._room = Places("bytes of bodies", max(ROOM, 2 * context.config.max_body_bytes))
        self._calls = tuple(calls)
        self._stream_calls = tuple(stream_calls)
        self._open_calls = tuple(open_calls)
        self._preflights = tuple(preflights)

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
                _presence_of(scope).occupy_thread(is_report=scope["path"].startswith(f"{REPORTS}/"))
                await self._flask(
                    scope,
                    receive,
                    send,
                    body=request.body,
                    more=request.handed_on,
                    ends_at=request.ends_at,
                    then=held.close,
                )
            elif isinstance(answered, Stream):
                _presence_of(scope).listen()
                await _send_stream(answered, request_id(request.header(_REQUEST_ID)), send)
            else:
                named = request_id(request.header(_REQUEST_ID))
                await _send(answered, named, send, is_head=scope["method"] == "HEAD")

    async def _answered(
        self, scope: Scope, request: Request, receive: Receive, held: ExitStack
    ) -> Answer | Stream | Problem | None:
        """Answer a call; None leaves it to Flask, which has the body and a turn then, if it needs them."""
        if scope["method"] in _WITHOUT_BODY:
            with suppress(Fallback):
                answered = await self._answered_by_itself(scope, request, held)
                if answered is not None:
                    return answered
        call, ids = self._call_of(scope)
        principal: Principal | None = None
        access = self._routes.access(scope["method"], path_of(scope)) if call is None else Access(call.roles)
        if access.is_page:
            address = self._entrance.address(scope)
            caller = Caller(STRANGERS, address)
            request.handed_on = {ADDRESS: address}
        elif access.roles is None:
            return None
        else:
            principal = await self._entrance.admitted(
                scope, request.header(b"authorization"), access.roles, ends_at=request.ends_at
            )
            caller = Caller.of(principal)
            request.handed_on = {PRINCIPAL: principal}
        if scope["method"] not in _WITHOUT_BODY and not self._is_too_long(request):
            body = Body(self._room)
            held.callback(body.forget)
            reads_since = time.monotonic()
            most_bytes = MOST_FORM_BYTES if access.is_page else self._context.config.max_body_bytes
            await body.read(receive, caller, most_bytes=most_bytes)
            request.body = body.data
            request.ends_at += time.monotonic() - reads_since  # That was the client's time.
        if call is not None and principal is not None and not request.has_header_twice:
            with suppress(Fallback):
                return await call.take(self._context, request, principal, *ids)
        turn = await self._context.calls.take(caller, ends_at=request.ends_at)
        held.callback(turn.end)
        request.handed_on = {**request.handed_on, END_TURN: turn.end}
        return None

    async def _answered_by_itself(
        self, scope: Scope, request: Request, held: ExitStack
    ) -> Answer | Stream | Problem | None:
        """Answer a call that finds itself who calls, if it needs to know; None for any other. Raises: Fallback."""
        if scope["method"] == "OPTIONS":
            preflight, ids = self._preflight_of(scope)
            return None if preflight is None else await preflight.take(self._context, request, *ids)
        open_call = self._open_call_of(scope)
        if open_call is not None:
            return await open_call.take(self._context)
        stream_call, ids = self._stream_call_of(scope)
        if stream_call is None:
            return None
        listening = self._listening(scope, request, stream_call.roles, held)
        try:
            return await stream_call.take(self._context, listening, *ids)
        except Fallback:
            raise
        except Exception as error:  # noqa: BLE001  as of any other call, with the headers of this one
            refused = _refused(error, scope).having(listening.headers)
            return refused.closing() if listening.wants_stream else refused  # A crowd keeps no connection.

    def _call_of(self, scope: Scope) -> tuple[Call | None, Iterable[str]]:
        for call in self._calls:
            if scope["method"] == call.method and (ids := call.path.fullmatch(scope["path"])):
                return call, ids.groups()
        return None, ()

    def _stream_call_of(self, scope: Scope) -> tuple[StreamCall | None, Iterable[str]]:
        if scope["method"] == "GET":
            for call in self._stream_calls:
                if ids := call.path.fullmatch(scope["path"]):
                    return call, ids.groups()
        return None, ()

    def _preflight_of(self, scope: Scope) -> tuple[Preflight | None, Iterable[str]]:
        for preflight in self._preflights:
            if ids := preflight.path.fullmatch(scope["path"]):
                return preflight, ids.groups()
        return None, ()

    def _listening(self, scope: Scope, request: Request, roles: frozenset[Role], held: ExitStack) -> Listening:
        shown = request.header(b"authorization")

        async def admit() -> Principal:
            ends_at = time.monotonic() + self._context.config.request_timeout_s
            return await self._entrance.admitted(scope, shown, roles, ends_at=ends_at)

        return Listening(request, _presence_of(scope), held, admit)

    def _open_call_of(self, scope: Scope) -> OpenCall | None:
        if scope["method"] not in {"GET", "HEAD"}:
            return None
        return next((call for call in self._open_calls if call.path.fullmatch(scope["path"])), None)

    def _is_too_long(self, request: Request) -> bool:
        """Whether a body is longer than Flask takes, as its head says: then none of it is read, and Flask says why."""
        length = length_of(request.headers.get(b"content-length", b""))
        return length is not None and length > self._context.config.max_body_bytes + 1


def _presence_of(scope: Scope) -> Presence:
    presence: Presence | None = scope.get("state", {}).get(PRESENCE)
    return Presence() if presence is None else presence


async def _send_stream(stream: Stream, named: str, send: Send) -> None:
    headers: asgi.Headers = [(_REQUEST_ID, named.encode()), *STREAM_HEADERS, *stream.headers]
    headers += headers_lacking(headers)
    async with aclosing(stream.pieces) as pieces:
        await send({"type": "http.response.start", "status": HTTPStatus.OK.value, "headers": headers})
        async for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def _refused(error: Exception, scope: Scope) -> Problem:
    if isinstance(error, ValidationError):
        error = invalid_by(error)
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
    headers += headers_lacking(headers)
    if body:
        headers += [(b"content-type", media_type), (b"content-length", b"%d" % len(body))]
    await asgi.answer(send, status, headers, b"" if is_head else body)
