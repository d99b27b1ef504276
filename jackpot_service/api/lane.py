"""
A lane of their own for the calls that come by the thousand: they are answered by the event loop, without a thread.

For one bet, Flask and the libraries that read its body take more of a processor than its share of a commit
(docs/decisions/lane.md), and so does a thread that waits for it among others (docs/decisions/event-loop.md). The lane
answers what is as nearly all of these calls are. Whatever else comes goes on to Flask as it came; so does what ends
with an error, with that error. All problems are therefore made in one place.
"""

import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import orjson
from marshmallow import ValidationError
from werkzeug.exceptions import HTTPException

from jackpot_service.api import asgi, decided, security_headers
from jackpot_service.api.asgi import ENVIRON, Application, Message, Receive, Scope, Send
from jackpot_service.api.door import Door
from jackpot_service.api.parsing import MEDIA_TYPES, read_json
from jackpot_service.api.request_ids import REQUEST_ID, request_id
from jackpot_service.auth import Authenticator
from jackpot_service.domain.principals import Role
from jackpot_service.domain.shapes import IDENTIFIER

ID: Final = f"({IDENTIFIER.pattern})"
"""An id in a path of a call."""

LONGEST_BODY: Final = 256 * 1024
"""Bytes: a batch of a thousand bets and more. What is longer is read by a thread, so that it holds nobody up."""

_LONGEST_LENGTH: Final = 9
"""Digits of a length that are read: more of them tell one that is longer than any."""

_ENCODINGS: Final = frozenset({b"content-encoding", b"transfer-encoding"})
_REQUEST_ID: Final = REQUEST_ID.lower().encode()


class NotPlain(Exception):
    """The call is not as nearly all others are."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What Flask would answer, but for the request's id; without a body it has no type and length."""

    body: Mapping[str, Any] | None
    status: HTTPStatus = HTTPStatus.OK
    headers: Sequence[tuple[bytes, bytes]] = ()


class Request:
    """A request as the lane looks at it; what was read of its body can be received again."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.query: bytes = scope["query_string"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.has_header_twice = len(self.headers) != len(scope["headers"])
        self._receive = receive
        self._received: deque[Message] = deque()

    def header(self, name: bytes) -> str:
        """The value of a header, empty if there is none."""
        return self.headers.get(name, b"").decode("latin-1")

    async def document(self, *, most_bytes: int) -> Any:  # noqa: ANN401  any JSON
        """
        Read the body of a plain call.

        Raises: NotPlain if it is not sent as JSON of a stated length, without an encoding and a query; NotJson;
        KeyTwice.
        """
        length = self.headers.get(b"content-length", b"")
        if (
            self.header(b"content-type").partition(";")[0].strip(" \t").lower() not in MEDIA_TYPES
            or not _ENCODINGS.isdisjoint(self.headers)
            or self.query
            or not length.isdigit()
            or len(length) > _LONGEST_LENGTH
            or int(length) > min(most_bytes, LONGEST_BODY)
        ):
            raise NotPlain
        return read_json(await self._body(int(length)))

    async def _body(self, length: int) -> bytes:
        pieces: list[bytes] = []
        while True:
            message = await self._receive()
            self._received.append(message)
            if message["type"] == "http.disconnect":
                raise NotPlain
            pieces.append(message["body"])
            if sum(map(len, pieces)) > length:
                raise NotPlain
            if not message["more_body"]:
                return b"".join(pieces)

    async def receive(self) -> Message:
        """Receive what was received before, and then what follows."""
        return self._received.popleft() if self._received else await self._receive()


@dataclass(frozen=True, slots=True)
class Call:
    """
    A call that may take the lane: its method and path, who may make it, and what answers it.

    `take` is given the ids of the path. It raises NotPlain, or what is wrong with the body, before it does anything. It
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
    take: Callable[[Door], Awaitable[Answer]]


class Lane:
    """The application as a server calls it: first the lane, then Flask."""

    def __init__(
        self,
        flask: Application,
        door: Door,
        authenticator: Authenticator,
        calls: Iterable[Call],
        open_calls: Iterable[OpenCall] = (),
    ) -> None:
        self._flask = flask
        self._door = door
        self._authenticator = authenticator
        self._calls = tuple(calls)
        self._open_calls = tuple(open_calls)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, if it is one of HTTP; see the specification of ASGI."""
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        for call in self._calls:
            if scope["method"] == call.method and (ids := call.path.fullmatch(scope["path"])):
                request = Request(scope, receive)
                answered = await self._take(call, ids.groups(), scope, request)
                if answered is not None:
                    await _send(answered, request_id(request.header(_REQUEST_ID)), send)
                    return
                receive = request.receive
        for open_call in self._open_calls:
            if scope["method"] in {"GET", "HEAD"} and open_call.path.fullmatch(scope["path"]):
                named = request_id(Request(scope, receive).header(_REQUEST_ID))
                answered = await open_call.take(self._door)
                await _send(answered, named, send, without_body=scope["method"] == "HEAD")
                return
        await self._flask(scope, receive, send)

    async def _take(self, call: Call, ids: Iterable[str], scope: Scope, request: Request) -> Answer | None:
        """Answer a call; None leaves it to Flask."""
        caller = self._authenticator.remembered(request.header(b"authorization"))
        if caller is None or caller.role not in call.roles or request.has_header_twice:
            return None
        try:
            return await call.take(self._door, request, caller, *ids)
        except (NotPlain, HTTPException, ValidationError):
            return None  # What is wrong with a body is found again by Flask, and told.
        except Exception as error:  # noqa: BLE001  told, and logged where nobody foresaw it, by Flask
            decided.leave(scope.setdefault(ENVIRON, {}), caller, error)
            return None


async def _send(answered: Answer, named: str, send: Send, *, without_body: bool = False) -> None:
    headers = [*answered.headers, *security_headers.lacking(answered.headers), (_REQUEST_ID, named.encode())]
    body = b""
    if answered.body is not None:
        body = orjson.dumps(answered.body)
        headers += [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await asgi.answer(send, answered.status.value, headers, b"" if without_body else body)
