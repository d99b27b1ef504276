"""A worker: one event loop, on which gunicorn reads calls of HTTP, and an application that answers them."""

import gc
import os
import signal
import time
from typing import Any, Final

from gunicorn.asgi.protocol import ASGIProtocol
from gunicorn.workers import gasgi

from jackpot_service import logs
from jackpot_service.api.door import EXTENSION
from jackpot_service.app import Application, create_app
from jackpot_service.config import Config
from jackpot_service.connections import create_engine

OBJECTS_BETWEEN_COLLECTIONS: Final = 20_000
"""A call leaves eight objects in a cycle. Every 700, looking for them cost a quarter of the time; 200,000 stopped all
calls for 230 ms when their turn came, 20,000 do for 20."""

MOST_CONNECTIONS: Final = 512
"""Of a worker; one more is closed at once."""

LONGEST_HEAD: Final = 128 * 1024
"""Bytes: the longest cursor, twice. The parser would take more of them, and wait for their end."""

LONGEST_REQUEST_S: Final = 20.0
"""For how long a client may be at sending one, or take nothing of its answer; within the second after, its connection
is closed."""


def application() -> Application:
    """Make a worker's application; whoever serves has put the database's URL into its environment."""
    config = Config.from_environment(os.environ)
    if config.database_url is None:
        message = "A worker needs JACKPOT_DATABASE_URL; `jackpot serve` sets it."
        raise LookupError(message)
    logs.configure(config.log_level)
    app = create_app(config, create_engine(config, config.database_url))
    gc.freeze()  # What is made at the start lives as long as the worker; no collection need look at it again.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    return app


class Worker(gasgi.ASGIWorker):
    """A worker that bounds what its clients can hold, and ends as soon as the calls in progress are answered."""

    def __init__(self, *settings: Any) -> None:  # noqa: ANN401  the supervisor's
        super().__init__(*settings)
        self.connections: set[Connection] = set()
        self._listens = False

    def load_wsgi(self) -> None:
        """Make the application."""
        self._application: Application = self.app.wsgi()
        self.asgi = self._application.asgi

    def init_signals(self) -> None:
        """Let any signal end the worker until its loop runs: one that came before, the loop would keep to itself."""
        for number in self.SIGNALS:
            signal.signal(number, signal.SIG_DFL)

    def notify(self) -> None:
        """Tell the supervisor, every second, that the loop runs; look whether it is there, and whose call is late."""
        super().notify()
        if not self._listens:
            self._listens = True
            super().init_signals()
        if self.alive and os.getppid() != self.ppid:
            self.handle_exit_signal()
        now = time.monotonic()
        for connection in tuple(self.connections):
            connection.close_if_late(now)

    def handle_exit_signal(self) -> None:
        """Take no more calls, and let nobody wait for what may not come."""
        super().handle_exit_signal()
        for server in self.servers:
            server.close()
        self._application.extensions[EXTENSION].events.end()
        for connection in tuple(self.connections):
            connection.close_if_idle()

    def handle_quit_signal(self) -> None:
        """End as on any other signal, if Ctrl-C reaches the worker itself: calls in progress are answered."""
        self.handle_exit_signal()


class Connection(ASGIProtocol):
    """
    A connection of a client, which gunicorn would wait for as long as it pleases to send, or to take an answer.

    What is read here of gunicorn's are attributes of its own, of the pinned version; `tests/faults/test_serving.py`
    asks for what they are read for.
    """

    worker: Worker

    def __init__(self, worker: Worker) -> None:
        super().__init__(worker)
        self._sending: object = None
        self._sending_since = 0.0
        self._head = 0
        self._unread_since: float | None = None
        self._early: list[bytes] = []

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401  as the base
        """Take a connection, or close it if there are too many, or the worker ends."""
        if len(self.worker.connections) >= MOST_CONNECTIONS or not self.worker.alive:
            transport.abort()
            return
        super().connection_made(transport)
        self._sending, self._sending_since = self, time.monotonic()
        self.worker.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection, if it was taken."""
        if self in self.worker.connections:
            self.worker.connections.remove(self)
            super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait for the client to take of its answer."""
        self._unread_since = time.monotonic()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Go on with the answer."""
        self._unread_since = None
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Take what the client sends, unless a head gets too long; what comes before its turn waits for it."""
        if self._body_receiver is not None and self._body_receiver._complete:  # noqa: SLF001  see the class
            self._early.append(data)
            self._pause_reading()
            return
        super().data_received(data)
        if self._current_request is not None:
            self._head = 0
            return
        self._head += len(data)
        if self._head > LONGEST_HEAD:
            self._send_error_response(431, "The head of the request is too long.")
            self.transport.close()

    def _resume_reading(self) -> None:
        """
        Go on with what came early, when gunicorn has put the request before it away: that follows at once.

        Its parser would keep 64 KiB of it, and close the connection of a client that has sent more.
        """
        if self._early:
            self.worker.loop.call_soon(self._take_early)
        else:
            super()._resume_reading()

    def _take_early(self) -> None:
        early, self._early = b"".join(self._early), []
        super()._resume_reading()
        if early and not self.transport.is_closing():
            self.data_received(early)

    def close_if_late(self, now: float) -> None:
        """Close the connection if its client takes too long to send a request, or takes nothing of an answer."""
        if self._unread_since is not None and now - self._unread_since > LONGEST_REQUEST_S:
            self.transport.abort()
        sending = self._request_being_sent()
        if sending is None or sending is not self._sending:
            self._sending, self._sending_since = sending, now
        elif now - self._sending_since > LONGEST_REQUEST_S:
            self.transport.close()

    def close_if_idle(self) -> None:
        """Close the connection unless a call is in progress on it."""
        if self._awaiting_request and self._current_request is None:
            self.transport.close()

    def _request_being_sent(self) -> object:
        """Something that stands for a request that has not arrived as a whole; a later one is another thing."""
        if self._body_receiver is not None:
            return None if self._body_receiver._complete else self._body_receiver  # noqa: SLF001  see the class
        is_first = self.req_count <= 1  # Before any other, a client may wait for as long as gunicorn keeps it.
        return self if self._current_request is None and (is_first or self._head) else None


ASGIProtocol._check_h1c_protocol_available()  # noqa: SLF001  asked by a subclass, it would note the answer there
gasgi.ASGIProtocol = Connection  # The worker has no other place where it could be told.
