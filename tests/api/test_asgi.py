"""An application without an event loop, called from one: bodies when they are asked for, answers as they are made."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from jackpot_service.api.asgi import InThreads, Message, Scope

THREADS = ThreadPoolExecutor(4)

SCOPE: Scope = {
    "type": "http",
    "http_version": "1.1",
    "method": "POST",
    "scheme": "http",
    "path": "/a/b c",
    "raw_path": b"/a%2Fb%20c%C3%A9",
    "query_string": b"q=%C3%A9",
    "headers": [(b"host", b"here"), (b"content-type", b"text/plain"), (b"x-one", b"1"), (b"x-one", b"2")],
}


class Caller:
    """A server with a client that sends some pieces of a body, and goes away when it has received so many pieces."""

    def __init__(self, *pieces: bytes, scope: Scope | None = None, leaves_after: int | None = None) -> None:
        self.scope = {**SCOPE, **(scope or {})}
        self.sent: list[Message] = []
        self.received = 0
        self._pieces: list[Message] = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
        self._leaves_after = leaves_after
        self._gone = asyncio.Event()

    async def receive(self) -> Message:
        self.received += 1
        if self._pieces:
            message = self._pieces.pop(0)
            return message | {"more_body": bool(self._pieces) or self._leaves_after == 0}
        if self._leaves_after != 0:
            await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)
        if len(self.sent) - 1 == self._leaves_after:
            self._gone.set()
            await asyncio.sleep(0)

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.sent[1:])


def call(application: Callable[..., Any], caller: Caller, **more: Any) -> None:
    asyncio.run(InThreads(application, THREADS, longest_s=5)(caller.scope, caller.receive, caller.send, **more))


def answering(*pieces: bytes, headers: list[tuple[str, str]] | None = None) -> Callable[..., Any]:
    def application(_: Any, start_response: Callable[..., Any]) -> list[bytes]:
        start_response("200 OK", headers or [])
        return list(pieces)

    return application


class Made:
    """A body that is made while it is sent, and knows what became of it."""

    def __init__(self, count: int, *, fails_at: int | None = None, length: int | None = None) -> None:
        self.count = count
        self.headers = [] if length is None else [("Content-Length", str(length))]
        self.fails_at = fails_at
        self.made = 0
        self.closed = 0

    def __call__(self, _: Any, start_response: Callable[..., Any]) -> "Made":
        start_response("200 OK", [("Content-Type", "text/csv"), *self.headers])
        return self

    def __iter__(self) -> Iterator[bytes]:
        for number in range(self.count):
            if number == self.fails_at:
                raise ZeroDivisionError
            self.made += 1
            yield b"x"

    def close(self) -> None:
        self.closed += 1


def test_an_answer_whose_first_piece_is_all_of_it_is_sent_at_once() -> None:
    caller = Caller(b"")
    call(answering(b"abc", headers=[("Content-Length", "3"), ("X-Two", "é")]), caller)
    assert caller.sent == [
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"3"), (b"x-two", b"\xe9")]},
        {"type": "http.response.body", "body": b"abc"},
    ]


def test_a_long_answer_of_stated_length_is_not_made_before_it_is_sent() -> None:
    """A job's file may be larger than the memory."""
    made, caller = Made(1000, length=1000), Caller(b"", leaves_after=3)
    call(made, caller)
    assert made.made < 10
    assert made.closed == 1


@pytest.mark.parametrize("pieces", [(), (b"",), (b"a",), (b"a", b"", b"b")])
def test_an_answer_of_no_stated_length_is_sent_piece_by_piece(pieces: tuple[bytes, ...]) -> None:
    caller = Caller(b"")
    call(answering(*pieces), caller)
    assert caller.body == b"".join(pieces)
    assert not caller.sent[-1].get("more_body")


def test_what_is_made_while_it_is_sent_is_closed_at_its_end() -> None:
    made, caller = Made(5), Caller(b"")
    call(made, caller)
    assert (caller.body, made.closed) == (b"xxxxx", 1)


def test_whoever_goes_away_is_sent_no_more() -> None:
    made, caller = Made(1000), Caller(b"", leaves_after=3)
    call(made, caller)
    assert made.made < 10
    assert made.closed == 1


def test_an_answer_that_fails_on_its_way_is_not_ended_as_if_it_were_whole() -> None:
    made, caller = Made(9, fails_at=4), Caller(b"")
    with pytest.raises(ZeroDivisionError):
        call(made, caller)
    assert caller.sent[-1]["more_body"]
    assert made.closed == 1


def test_an_answer_that_fails_before_it_is_sent_is_closed_and_nothing_sent() -> None:
    made, caller = Made(9, fails_at=0), Caller(b"")
    with pytest.raises(ZeroDivisionError):
        call(made, caller)
    assert (caller.sent, made.closed) == ([], 1)


def test_a_body_is_there_as_a_whole_and_nothing_of_it_is_asked_for() -> None:
    caller = Caller()
    seen: list[object] = []

    def application(environ: Any, start_response: Callable[..., Any]) -> list[bytes]:
        body = environ["wsgi.input"]
        seen.extend([caller.received, body.read(1), body.read(2), body.read(), body.read()])
        start_response("200 OK", [("Content-Length", "0")])
        return []

    call(application, caller, body=b"abcde")
    assert seen == [0, b"a", b"bc", b"de", b""]


def test_what_an_application_is_told_of_a_request() -> None:
    seen: dict[str, Any] = {}

    def application(environ: Any, start_response: Callable[..., Any]) -> list[bytes]:
        seen.update(environ)
        start_response("204 NO CONTENT", [("Content-Length", "0")])
        return []

    underscored = (b"x_forwarded_for", b"somebody else")
    caller = Caller(b"", scope={"headers": [*SCOPE["headers"], underscored]})
    call(application, caller, more={"more": 7})

    assert {name: value for name, value in seen.items() if not name.startswith("wsgi.")} == {
        "REQUEST_METHOD": "POST",
        "SCRIPT_NAME": "",
        "PATH_INFO": "/a/b c\xc3\xa9",
        "QUERY_STRING": "q=%C3%A9",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "0",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "",
        "HTTP_HOST": "here",
        "CONTENT_TYPE": "text/plain",
        "HTTP_X_ONE": "1,2",
        "more": 7,
    }
    assert seen["wsgi.input_terminated"]


def test_calls_wait_for_a_thread_and_keep_the_loop_free() -> None:
    may_answer = threading.Event()

    def application(_: Any, start_response: Callable[..., Any]) -> list[bytes]:
        assert may_answer.wait(30)
        start_response("200 OK", [("Content-Length", "0")])
        return []

    async def play() -> list[int]:
        callers = [Caller(b"") for _ in range(3)]
        in_threads = InThreads(application, ThreadPoolExecutor(2), longest_s=5)
        calls = [asyncio.ensure_future(in_threads(caller.scope, caller.receive, caller.send)) for caller in callers]
        await asyncio.sleep(0.05)
        assert not any(call.done() for call in calls)
        may_answer.set()
        await asyncio.gather(*calls)
        return [caller.sent[0]["status"] for caller in callers]

    assert asyncio.run(play()) == [200, 200, 200]
