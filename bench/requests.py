"""What a load asks for: ready bytes, and what the answers to them must be."""

import json
import re
from collections.abc import Sequence
from typing import Protocol

from bench import batches, wire
from bench.servers import Server
from bench.wire import LoadFailed

CREATED = b"HTTP/1.1 201 "
OK = b"HTTP/1.1 200 "
NOT_MODIFIED = b"HTTP/1.1 304 "

_ETAG = re.compile(rb"\r\netag: *([^\r]+)\r\n", re.IGNORECASE)


class Requests(Protocol):
    """An endless supply of requests of one kind."""

    @property
    def expected(self) -> bytes:
        """What every answer must begin with."""

    def make(self, connection_no: int) -> bytes:
        """Write the next request of a connection, which is known by its number."""

    def check(self, answer: bytes) -> None:
        """Read an answer that began as expected. Raises: LoadFailed if it is not the one to measure."""


class BetRequests:
    """Batches of N bets, each opening a round of its own; every connection keeps to one table."""

    def __init__(self, server: Server, *, bets: int, tables: Sequence[str] = batches.TABLES) -> None:
        self.expected = CREATED  # 200 would be a replay
        self._bets = bets
        self._templates = [
            batches.bets_template(table, key=server.key, bets=bets, shift=shift) for shift, table in enumerate(tables)
        ]
        self._serials = batches.serials()

    def make(self, connection_no: int) -> bytes:
        """Write a batch with ids that were never used."""
        return batches.fill(self._templates[connection_no % len(self._templates)], next(self._serials))

    def check(self, answer: bytes) -> None:
        """Raises: LoadFailed unless every bet was accepted."""
        accepted = json.loads(answer[answer.find(b"\r\n\r\n") :]).get("accepted")
        if accepted != self._bets:
            raise LoadFailed(f"an answer accepted {accepted} bets of {self._bets}")


class MeterRequests:
    """One and the same question for the meter; with the ETag it has now, the answer is that it has not moved."""

    def __init__(self, server: Server, *, query: str = "", etag: bytes | None = None) -> None:
        self.expected = OK if etag is None else NOT_MODIFIED
        condition = "" if etag is None else f"If-None-Match: {etag.decode()}\r\n"
        head = f"Host: {wire.HOST}\r\nAuthorization: Bearer {server.key}\r\n{condition}"
        self._request = f"GET /v1/jackpots/live/meter{query} HTTP/1.1\r\n{head}\r\n".encode()

    def make(self, _connection_no: int) -> bytes:
        """Repeat the question."""
        return self._request

    def check(self, answer: bytes) -> None:
        """Raises: LoadFailed unless it is the meter's."""
        etag_of(answer)


def etag_of(answer: bytes) -> bytes:
    """Find the ETag of an answer. Raises: LoadFailed if it has none."""
    match = _ETAG.search(answer)
    if match is None:
        raise LoadFailed(f"an answer without ETag: {answer.decode(errors='replace')}")
    return match[1]
