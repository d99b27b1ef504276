"""
A connection of HTTP/1.1: uvicorn's, with a bound on everything that its client could make the worker hold.

Used of uvicorn: the constructor of its protocol, `parser` (which is httptools'), `url`, `headers`, and `shutdown`. All
else are the callbacks of httptools' parser and the methods of `asyncio.Protocol`, which every version of the two keeps.
"""

import asyncio
import time
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from jackpot_service.api.asgi import PRESENCE, Presence
from jackpot_service.server import framing
from jackpot_service.server.clients import Clients
from jackpot_service.server.framing import LONGEST_HEAD, MOST_FIELDS, Head, Parser, Refusal, Stopped
from jackpot_service.server.transports import ClientTransport

CLIENTS: Final = "clients"
"""Where the state of the worker, which all its connections share, holds its `Clients`."""

CONNECTION: Final = "connection"
"""Where the state of a request holds its connection."""

LONGEST_REQUEST_S: Final = 20.0
"""How long a client may be at sending a request, or take nothing of an answer."""

PIECE: Final = 1024
"""Bytes that are parsed at a time, but for bodies of a stated length: whatever follows a request waits unparsed."""

LONGEST_ANSWER_S: Final = 600.0
"""How long a client may be at taking an answer, however steadily it does; one that listens may for ever."""

KEPT_FOR_S: Final = 75.0
"""How long a connection without a request is kept: longer than proxies usually keep theirs."""

LONGEST_FIRST_REQUEST_S: Final = 1.0
"""How long a worker that ends waits for the first request of a connection that was just made."""

LONGEST_FAREWELL_S: Final = 5.0
"""How long a refused client may go on sending before it has read why: to close at once would take the answer away."""

WEIGHT_OF_A_REQUEST: Final = 2048
"""Bytes of a body that cost a worker as much as a request does without its body."""

WEIGHT_IN_A_THREAD: Final = 16 * 1024
"""The same of a request that a thread answers; eight at a time are enough for a worker."""

WEIGHT_OF_A_REPORT: Final = 48 * 1024
"""The same of a report. A worker that makes three, as many as it takes by default, is full."""

SHORTEST_SLEEP_S: Final = 1e-5
"""The kernel runs another process meanwhile."""


class Connection(HttpToolsProtocol):
    """A connection of a client, which reads a request when the one before is answered."""

    transport: ClientTransport

    def __init__(self, *, app_state: dict[str, Any], **options: Any) -> None:  # noqa: ANN401  uvicorn's
        # uvloop takes all connections that wait, at one go: one worker would have nearly all. As it sleeps after each,
        # another worker can take the next.
        time.sleep(SHORTEST_SLEEP_S)
        self._presence = Presence(self._listen, self._occupy_thread)
        self._state = {**app_state, CONNECTION: self, PRESENCE: self._presence}
        super().__init__(app_state=self._state, **options)
        self.parser = Parser(self)
        self._clients: Clients = app_state[CLIENTS]
        self._clock = self.loop.time
        self._since = 0.0
        self._taken_at = 0.0
        self._untaken_bytes = 0
        self._received = 0
        self._received_before = 0
        self._answered = 0
        self._early = memoryview(b"")
        self._refusal: Refusal | None = None
        self._is_half_closed = False
        self._is_over = False
        self._is_in_request = False
        self._is_listening = False
        self._in_hand = 0
        self.head = Head([])
        self._reset()

    def _reset(self) -> None:
        """Forget the request before."""
        self._is_in_head = True
        self._body_bytes = 0
        self._framing_bytes = 0
        self._began_now = True

    def take_over(self) -> None:
        """Go on where another worker has left off, which has answered requests."""
        self._received = self._answered = 1

    # Called by asyncio.

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, or close it if no other can make place."""
        super().connection_made(ClientTransport(transport, self.loop))
        self._since = self._taken_at = self._clock()
        if not self._clients.take(self, has_asked=self._answered > 0):
            self.cut()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  asyncio's
        """Forget the connection."""
        self._clients.forget(self)
        self._is_over = True
        self._presence.leave()
        self._state.clear()
        super().connection_lost(None)  # With an error, uvicorn would keep its timer, and that the connection.

    def data_received(self, data: bytes) -> None:
        """Read what came, as far as the request before is answered; the rest waits until it is."""
        if self._is_deaf():
            return
        if self._early or self._is_busy() or len(data) > PIECE:
            self._read_early(memoryview(bytes(self._early) + data))
        else:
            self._read(data)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the connection for the answers to what came whole: a client may say so that it sends no more."""
        self._is_half_closed = True
        self._presence.leave()
        self.transport.flush()  # A connection that is closed now is closed behind its back.
        return self._is_busy() or (self._refusal is None and bool(self._early))

    def resume_writing(self) -> None:
        """Note that the client takes of its answer."""
        self._taken_at = self._clock()
        super().resume_writing()

    # Called by httptools.

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._since = self._clock()
        self._is_in_request = True
        self._reset()
        if not self._is_busy():
            self._clients.wait_for(self)
        super().on_message_begin()
        self.head = Head(self.headers)

    def on_url(self, url: bytes) -> None:
        """Read a part of what is asked for."""
        super().on_url(url)
        self.head.target = self.url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Read a field; those that follow a body in chunks say nothing to anybody, and are dropped."""
        if not self._is_in_head:
            return
        if len(self.headers) >= MOST_FIELDS:
            self.refuse(framing.HEAD_TOO_LARGE)
            raise Stopped
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Hand the request to the application, unless its head says already that it is refused."""
        self._is_in_head = False
        self.head.method = self.parser.get_method()
        self.head.version = self.parser.get_http_version()
        refusal = self.head.refusal(most_body_bytes=self._clients.most_body_bytes)
        if refusal is not None:
            self.refuse(refusal)
            raise Stopped
        if self.parser.should_upgrade():
            return  # It is read again, without its wish.
        super().on_headers_complete()
        if self._clients.is_draining:
            super().shutdown()  # The answer says that the connection is closed.

    def on_body(self, body: bytes) -> None:
        """Read a part of the body, unless there is too much of it."""
        self._body_bytes += len(body)
        self._framing_bytes -= len(body)
        if self._body_bytes > self._clients.most_body_bytes:
            self.refuse(framing.BODY_TOO_LARGE)
            raise Stopped
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Have the request answered: it is there as a whole."""
        if self.parser.should_upgrade():
            return
        self._is_in_request = False
        self._received += 1
        if self._is_busy():
            self._clients.work_for(self)
            self._weigh(WEIGHT_OF_A_REQUEST + self._body_bytes)
        super().on_message_complete()

    # Called by uvicorn when the worker ends.

    def shutdown(self) -> None:
        """
        Close the connection when the request in hand is answered.

        The first request of a new connection may be on its way, and its client was not notified: it has a moment.
        """
        if self._received or self._refusal is not None:
            super().shutdown()
        else:
            asyncio.get_running_loop().call_later(LONGEST_FIRST_REQUEST_S, self._shut_down)

    def _shut_down(self) -> None:
        if not self._is_over:
            super().shutdown()

    # Called by the application.

    def _listen(self) -> None:
        self._is_listening = True
        self._clients.listen(self)
        self._weigh(0)

    def _occupy_thread(self, is_report: bool) -> None:  # noqa: FBT001  `Presence` names it
        if self._is_busy():
            self._weigh(max(self._in_hand, WEIGHT_OF_A_REPORT if is_report else WEIGHT_IN_A_THREAD))

    # Called by the worker.

    def request_answered(self) -> None:
        """Go on with what follows a request that the application has answered."""
        self._answered += 1
        self._weigh(0)
        self._since = self._clock()
        if self._is_listening:
            self._is_listening = False
            self._clients.listen_no_more(self)
        if self._is_over or self._is_busy():
            return
        if self._early or self._refusal is not None or self._is_half_closed:
            asyncio.get_running_loop().call_soon(self._go_on)  # When uvicorn has put the request away as well.
        elif not self._is_in_request:
            self._clients.wait_for(self)
            if self._clients.colleagues is not None and self._clients.colleagues.wants_less:
                asyncio.get_running_loop().call_soon(self._pass_on)

    def close_if_late(self, now: float) -> None:
        """Close the connection if the client takes nothing of its answer, or is too long at sending a request."""
        if self._is_late_at_taking(now):
            self.cut()
            return
        waited_s = 0.0 if self._is_busy() else now - self._since
        if self._is_over:
            if waited_s > LONGEST_FAREWELL_S:
                self.transport.abort()
        elif self._is_in_request and waited_s > LONGEST_REQUEST_S:
            self.refuse(framing.REQUEST_TIMEOUT)
        elif not self._untaken_bytes and waited_s > (KEPT_FOR_S if self._answered else LONGEST_REQUEST_S):
            self.transport.close()

    def cut(self) -> None:
        """End the connection at once, whatever it is at."""
        self._leave()
        self.transport.abort()

    def refuse(self, refusal: Refusal) -> None:
        """Read no more; say why, when all requests that came before are answered."""
        if self._refusal is None and not self._is_over:
            self._refusal = refusal
            self._go_on()

    def refuse_method(self, data: bytes) -> None:
        """
        Refuse what came because httptools knows no such method.

        httptools does not say where: behind a request that came in the same piece, it may as well be no request.
        """
        is_method = self._received == self._received_before and framing.begins_with_method(data)
        self.refuse(framing.UNKNOWN_METHOD if is_method else framing.BAD_REQUEST)

    def _weigh(self, in_hand: int) -> None:
        """Note how much the worker has in hand for this connection."""
        self._clients.in_hand += in_hand - self._in_hand
        self._in_hand = in_hand

    def _pass_on(self) -> None:
        """Pass the connection on, unless it is at something."""
        colleagues = self._clients.colleagues
        is_at_something = self._is_busy() or self._is_in_request or self._early or self._is_half_closed
        if colleagues is None or is_at_something or self._is_deaf():
            return
        self.transport.flush()
        if self.transport.get_write_buffer_size():
            return
        if colleagues.pass_on(self.transport.get_extra_info("socket").fileno()):
            self.transport.abort()

    def _is_busy(self) -> bool:
        """Whether a request that came as a whole has no answer yet."""
        return self._answered < self._received

    def _is_deaf(self) -> bool:
        """Whether nothing that comes is a request any more: the client was notified that the connection is closed."""
        return self._refusal is not None or self._is_over or self.transport.is_closing()

    def _is_late_at_taking(self, now: float) -> bool:
        """Whether the client has taken nothing of its answers for long, or is at it for very long."""
        before, self._untaken_bytes = self._untaken_bytes, self.transport.untaken_bytes()
        if not self._untaken_bytes:
            self._taken_at = now
            return False
        if self._untaken_bytes < before:
            self._taken_at = now
        is_long = now - self._since > LONGEST_ANSWER_S and not self._is_listening
        return is_long or now - self._taken_at > LONGEST_REQUEST_S

    def _read_early(self, early: memoryview) -> None:
        """Read on, a piece at a time, until a request is to be answered; nothing else is taken until all is read."""
        while early and not self._is_busy() and not self._is_deaf():
            piece = early[: max(PIECE, self._body_bytes_to_come())]
            early = early[len(piece) :]
            self._read(bytes(piece))
        self._early = memoryview(b"") if self._is_deaf() else early
        if self._early:
            self.transport.hold_reading()
        else:
            self.transport.release_reading()

    def _body_bytes_to_come(self) -> int:
        """Return how much is missing of a body of a stated length."""
        lengths = () if self._is_in_head or not self._is_in_request else self.head.values(b"content-length")
        return int(lengths[0]) - self._body_bytes if lengths else 0

    def _read(self, data: bytes) -> None:
        self._began_now = False
        self._received_before = self._received
        super().data_received(data)
        if self._began_now:
            self._framing_bytes = 0  # A body that came in one piece with its head is bounded by the piece.
        else:
            self._framing_bytes += len(data)
            if self._is_in_request and self._framing_bytes > LONGEST_HEAD:
                self.refuse(framing.HEAD_TOO_LARGE)

    def _go_on(self) -> None:
        if self._is_busy() or self._is_over:
            return
        if self._refusal is not None:
            self._say(self._refusal)
            return
        if self._early and not self._is_deaf():
            self._read_early(self._early)
        if self._is_busy():
            return
        self._clients.wait_for(self)
        if self._is_half_closed:
            self.transport.close()

    def _say(self, refusal: Refusal) -> None:
        """Answer a refusal, unless the application has answered already what is refused now; then close."""
        has_answer = self._answered > self._received
        self._leave()
        self._since = self._clock()
        if self.transport.is_closing():
            return
        if not has_answer:
            named = next(iter(self.head.values(b"x-request-id")), b"").decode("latin-1")
            path = self.head.target.partition(b"?")[0]
            self.transport.write(framing.answer(refusal, path=path, named=named))
        self.transport.write_eof()
        self.transport.release_reading()
        self.transport.resume_reading()

    def _leave(self) -> None:
        """Let uvicorn, and the application, know that the connection is over: nothing more of them is sent."""
        self._is_over = True
        self._presence.leave()
        super().connection_lost(ConnectionAbortedError())
