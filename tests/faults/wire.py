"""Connections to a running service on which every byte is the test's own."""

import socket
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import orjson

from tests.faults.service import HOST, Service
from tests.support.answers import PROBLEM, require_in_catalogue

LONGEST_WAIT_S = 60


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @classmethod
    def of(cls, data: bytes) -> Self:
        """Read an answer that came whole."""
        head, _, body = data.partition(b"\r\n\r\n")
        line, *fields = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, value in (field.split(": ", 1) for field in fields)}
        return cls(int(line.split()[1]), headers, body)

    def json(self) -> Any:
        return orjson.loads(self.body)

    def problem(self, status: int, code: str) -> Any:
        """Give the body of a problem that must have this status and code."""
        assert self.headers["content-type"] == PROBLEM, self
        problem = self.json()
        assert (self.status, problem["code"]) == (status, code), self
        require_in_catalogue(problem)
        return problem


class Wire:
    """A connection; what comes on it is read answer by answer."""

    def __init__(self, service: Service) -> None:
        self.socket = socket.create_connection((HOST, service.port), timeout=LONGEST_WAIT_S)
        self._file = self.socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()
        self.socket.close()

    def send(self, data: bytes) -> Self:
        self.socket.sendall(data)
        return self

    def say_no_more(self) -> Self:
        """Close the own half of the connection."""
        self.socket.shutdown(socket.SHUT_WR)
        return self

    def answer(self) -> Answer:
        """Read an answer, which states its length."""
        line, *fields = self._head().split("\r\n")
        headers = dict(field.split(": ", 1) for field in fields)
        headers = {name.lower(): value for name, value in headers.items()}
        return Answer(int(line.split()[1]), headers, self._file.read(int(headers["content-length"])))

    def rest(self) -> bytes:
        """Read until the service closes the connection."""
        return self._file.read()

    def _head(self) -> str:
        lines: list[bytes] = []
        while (line := self._file.readline()) != b"\r\n":
            assert line, f"the connection was closed after {lines}"
            lines.append(line)
        return b"".join(lines).decode("latin-1").removesuffix("\r\n")


def answer_to_bytes(service: Service, request: bytes) -> Answer:
    """Send a request on a connection of its own, and read its answer."""
    with Wire(service) as wire:
        return wire.send(request).answer()
