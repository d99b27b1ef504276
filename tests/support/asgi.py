"""An application asked as a server with an event loop asks it, one request at a time."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from werkzeug.datastructures import Headers
from werkzeug.urls import iri_to_uri

from jackpot_service.api.asgi import Application, Message, Scope
from tests.support.answers import Answer
from tests.support.loop import on_loop

PEER = "192.0.2.1"
"""Where every request comes from."""


def answer_to(
    application: Application, method: str, path: str, *, data: bytes | None = None, headers: Mapping[str, str]
) -> Answer:
    """Send a request, and wait for the whole answer; all are answered by one event loop, whichever thread asks."""
    return on_loop(replied(application, method, path, data=data, headers=headers))


async def replied(
    application: Application, method: str, path: str, *, data: bytes | None = None, headers: Mapping[str, str]
) -> Answer:
    """Send a request on the loop that runs, and wait for the whole answer."""
    sent = {} if data is None else {"Content-Length": str(len(data))}
    return await _answer_to(application, scope_of(method, path, {**sent, **headers}), data or b"")


def scope_of(method: str, path: str, headers: Mapping[str, str]) -> Scope:
    """Write what a server knows of a request before its body."""
    raw_path, _, query = iri_to_uri(path).partition("?")
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "client": (PEER, 50_000),
        "path": unquote(raw_path),
        "raw_path": raw_path.encode(),
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), _bytes(value)) for name, value in {"Host": "localhost", **headers}.items()],
    }


def _bytes(value: str) -> bytes:
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode()


async def _answer_to(application: Application, scope: Scope, data: bytes) -> Answer:
    received: Iterator[Message] = iter([{"type": "http.request", "body": data, "more_body": False}])
    sent: list[Message] = []

    async def receive() -> Message:
        message = next(received, None)
        return await asyncio.Future[Any]() if message is None else message

    async def send(message: Message) -> None:
        sent.append(message)

    await application(scope, receive, send)
    start, *pieces = sent
    headers = Headers([(name.decode(), value.decode("latin-1")) for name, value in start["headers"]])
    is_text = "officedocument" not in headers.get("Content-Type", "")  # Of a workbook nobody reads the text.
    content = b"".join(piece["body"] for piece in pieces)
    return Answer(start["status"], headers, content.decode(errors="strict" if is_text else "replace"))
