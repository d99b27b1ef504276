"""The connections of a worker: how many there are, and which of them keep the worker waiting."""

from typing import Final, Protocol

MOST_CONNECTIONS: Final = 900
"""Of a worker that may open 1,024 files, without the connections of listeners. One more takes the place of a
connection that keeps the worker waiting."""


class Client(Protocol):
    """A connection, as the worker bounds it."""

    def close_if_late(self, now: float) -> None:
        """Close the connection if the other side takes too long to send, or to take an answer."""

    def cut(self) -> None:
        """End the connection at once."""


class Colleagues(Protocol):
    """The other workers, which a connection may be passed on to."""

    @property
    def wants_less(self) -> bool:
        """Whether the next connection that has its answer is to be passed on."""

    def pass_on(self, file: int) -> bool:
        """Pass on a connection of which a request was answered; returns whether another worker has it."""

    def leave(self) -> None:
        """Have nothing passed to this worker any more, and pass on nothing."""


class Clients:
    """
    The connections of a worker.

    The worker waits for a connection's next request, or for the rest of one. Such a connection can be closed, and
    nothing is lost that was asked for in full. One that has had no answer yet goes first, so that a crowd that connects
    at once takes no place of a table server. Among equals, the one goes that the worker waits for longest.

    Connections of listeners are not counted: however many there are, they take no place of a table server. Their number
    is bounded where a request to listen is answered.
    """

    def __init__(self, *, most_body_bytes: int, most_connections: int = MOST_CONNECTIONS) -> None:
        self.most_body_bytes = most_body_bytes
        self.is_draining = False
        self.colleagues: Colleagues | None = None
        self._most_connections = most_connections
        self._all: set[Client] = set()
        self._listeners: set[Client] = set()
        self._new: dict[Client, None] = {}
        self._waited_for: dict[Client, None] = {}
        self.in_hand = 0
        """The bytes of the requests that have no answer yet; each counts 2 KiB more than its body."""

    def __len__(self) -> int:
        return len(self._all)

    def take(self, client: Client, *, has_asked: bool = False) -> bool:
        """
        Take a connection, in the place of another if there are too many; False if every other is at work.

        `has_asked` says that another worker has answered it before.
        """
        if len(self._all) - len(self._listeners) >= self._most_connections:
            longest = next(iter(self._new or self._waited_for), None)
            if longest is None:
                return False
            self.forget(longest)
            longest.cut()
        self._all.add(client)
        (self._waited_for if has_asked else self._new)[client] = None
        return True

    def forget(self, client: Client) -> None:
        """Forget a connection that has ended."""
        self._all.discard(client)
        self._listeners.discard(client)
        self.work_for(client)

    def listen(self, client: Client) -> None:
        """Note that a connection belongs to a listener, until its request is answered."""
        if client in self._all:
            self._listeners.add(client)

    def listen_no_more(self, client: Client) -> None:
        """Note that a connection is there for calls again."""
        self._listeners.discard(client)

    def wait_for(self, client: Client) -> None:
        """Note that the worker waits for a connection from now on."""
        if client in self._all:
            waited_for = self._new if client in self._new else self._waited_for
            waited_for.pop(client, None)
            waited_for[client] = None

    def work_for(self, client: Client) -> None:
        """Note that a connection has sent a whole request, and the worker is to answer it."""
        self._new.pop(client, None)
        self._waited_for.pop(client, None)

    def close_late(self, now: float) -> None:
        """Close the connections whose other side takes too long. `now` is of the event loop's clock."""
        for client in tuple(self._all):
            client.close_if_late(now)
