"""HTTP/1.1 with keep-alive on raw sockets, to this machine only, and no more of it than a load generator needs."""

import re
import selectors
import socket

HOST = "127.0.0.1"
PATIENCE_SECONDS = 60.0

_RECEIVE_BYTES = 65_536
_CONTENT_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)\r\n", re.IGNORECASE)
_NOT_MODIFIED = b"HTTP/1.1 304 "


class LoadFailed(Exception):
    """The service did not do what it was asked, so there is nothing to measure."""


class Channel:
    """One connection in an event loop, with at most one request in flight."""

    __slots__ = ("_received", "_selector", "_socket", "_unsent", "_waits_to_send", "connection_no", "since_ns")

    def __init__(self, port: int, selector: selectors.BaseSelector, *, connection_no: int) -> None:
        self._socket = connect(port)
        self._socket.setblocking(False)  # noqa: FBT003 -- the standard library's own signature
        self._selector = selector
        self._unsent = b""
        self._waits_to_send = False
        self._received = b""
        self.connection_no = connection_no
        self.since_ns = 0
        selector.register(self._socket, selectors.EVENT_READ, self)

    def send(self, request: bytes, *, since_ns: int) -> None:
        """Begin a request; `since_ns` is the time from which its latency will count."""
        self.since_ns = since_ns
        self._unsent = request
        self._send()

    def proceed(self, events: int) -> bytes | None:
        """Do what the socket is ready for, and return the answer once it is whole. Raises: LoadFailed, OSError."""
        if events & selectors.EVENT_WRITE:
            self._send()
        if not events & selectors.EVENT_READ:
            return None
        answer = self._received + _received(self._socket)
        self._received = b"" if is_whole(answer) else answer
        return None if self._received else answer

    def close(self) -> None:
        """Close the connection, whatever is in flight."""
        self._socket.close()

    def _send(self) -> None:
        """Send what the socket takes; the rest of a large request waits until the socket takes more."""
        try:
            sent = self._socket.send(self._unsent)
        except BlockingIOError:
            sent = 0
        self._unsent = self._unsent[sent:]
        must_wait = bool(self._unsent)
        if must_wait != self._waits_to_send:
            self._waits_to_send = must_wait
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if must_wait else 0)
            self._selector.modify(self._socket, events, self)


def connect(port: int) -> socket.socket:
    """Open a connection that sends at once what it is given."""
    opened = socket.create_connection((HOST, port), timeout=PATIENCE_SECONDS)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return opened


def ask(connection: socket.socket, request: bytes, *, expected: bytes) -> bytes:
    """Send one request and wait for its answer. Raises: LoadFailed if it does not begin as expected."""
    try:
        connection.sendall(request)
        answer = _received(connection)
        while not is_whole(answer):
            answer += _received(connection)
    except OSError as broken:
        raise LoadFailed(f"a connection broke: {broken}") from broken
    require(answer, expected)
    return answer


def require(answer: bytes, expected: bytes) -> None:
    """Raises: LoadFailed, with the whole answer, if it does not begin as expected."""
    if not answer.startswith(expected):
        raise LoadFailed(f"{expected.decode()}was expected, not {answer.decode(errors='replace')}")


def is_whole(answer: bytes) -> bool:
    """Return whether nothing of an answer is missing. Raises: LoadFailed if it does not say how long it is."""
    end_of_head = answer.find(b"\r\n\r\n")
    if end_of_head < 0:
        return False
    if answer.startswith(_NOT_MODIFIED):
        return True
    length = _CONTENT_LENGTH.search(answer, 0, end_of_head + 2)
    if length is None:
        raise LoadFailed(f"an answer without Content-Length: {answer.decode(errors='replace')}")
    return len(answer) >= end_of_head + 4 + int(length[1])


def _received(connection: socket.socket) -> bytes:
    part = connection.recv(_RECEIVE_BYTES)
    if not part:
        raise LoadFailed("the service closed a connection")
    return part
