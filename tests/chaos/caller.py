"""
One connection's worth of calls: each is made until it is answered for good, and noted before it is sent.

It speaks HTTP by the standard library, so that every single attempt is seen, with what became of it.
"""

import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse
from itertools import count
from typing import Any, Final

import orjson

from tests.chaos.call_log import CallLog, now_s
from tests.chaos.calls import METHODS, TOO_MANY_REQUESTS, Attempt, Content

PATIENCE_S: Final = 45.0
"""How long an attempt is waited for: far longer than the service may take, so that a call that hangs is measured."""

LONGEST_CALL_S: Final = 90.0
LONGEST_GOODBYE_S: Final = 10.0
FIRST_PAUSE_S: Final = 0.02
LONGEST_PAUSE_S: Final = 0.5


class GaveUp(Exception):
    """A call was left without an answer for good."""


@dataclass
class Caller:
    """Makes calls under a name, by one key; `gives_up` is how often a call is left although its outcome is unknown."""

    name: str
    address: tuple[str, int]
    log: CallLog
    stop: threading.Event
    chance: random.Random
    gives_up: float = 0.0
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _connection: HTTPConnection | None = None
    _stopped_s: float | None = None

    def call(self, content: Content, key: str, *, must_refuse: str = "") -> None:
        """Make a call until it is answered for good. Raises: GaveUp, also if it is refused and need not be."""
        call_id = f"{self.name}#{next(self._numbers)}"
        began_s, pause_s = now_s(), FIRST_PAUSE_S
        for attempt in count(1):
            self.log.sent(call_id, self.name, content, attempt=attempt, must_refuse=must_refuse)
            ended = self._attempt(content, key)
            self.log.ended(
                call_id,
                attempt=attempt,
                status=ended.status,
                answer=ended.answer,
                why=ended.why,
                is_sent=ended.is_sent,
            )
            if ended.is_acknowledged or (ended.is_refused and must_refuse):
                return
            if ended.is_refused:
                raise GaveUp
            self._require_patience(began_s, ended)
            self.stop.wait(pause_s * self.chance.uniform(0.5, 1.5))
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def _require_patience(self, began_s: float, ended: Attempt) -> None:
        """Raises: GaveUp, now and then, so that there are calls whose outcome nobody knows."""
        if self.stop.is_set() and self._stopped_s is None:
            self._stopped_s = now_s()
        is_over = self._stopped_s is not None and now_s() - self._stopped_s > LONGEST_GOODBYE_S
        is_unknown = ended.is_sent and ended.status != TOO_MANY_REQUESTS
        if is_over or now_s() - began_s > LONGEST_CALL_S or (is_unknown and self.chance.random() < self.gives_up):
            raise GaveUp

    def _attempt(self, content: Content, key: str) -> Attempt:
        """Send a call once, and read its whole answer."""
        sent_s = now_s()
        try:
            connection = self._connected()
        except OSError as error:
            self.hang_up()
            return Attempt(sent_s, why=type(error).__name__, is_sent=False)
        try:
            connection.request(METHODS[content.kind], content.path, orjson.dumps(content.body()), _headers(key))
            response = connection.getresponse()
            return Attempt(sent_s, status=response.status, answer=_document(response))
        except (OSError, HTTPException) as error:
            self.hang_up()
            return Attempt(sent_s, why=type(error).__name__)

    def _connected(self) -> HTTPConnection:
        if self._connection is None:
            self._connection = HTTPConnection(*self.address, timeout=PATIENCE_S)
        if self._connection.sock is None:
            self._connection.connect()
        return self._connection

    def hang_up(self) -> None:
        """Close the connection, whatever is in progress on it; the next call opens another."""
        if self._connection is not None:
            self._connection.close()


def _headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}


def _document(response: HTTPResponse) -> Any:
    """Read an answer: JSON, or the text that came in its place."""
    body = response.read()
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return body.decode(errors="replace")
