"""httptools' parser of requests, for a connection that stays with HTTP/1.1 and answers by itself what is none."""

from array import array
from typing import Protocol

from httptools import HttpParserError, HttpParserInvalidMethodError, HttpParserUpgrade, HttpRequestParser

from jackpot_service.server import refusals
from jackpot_service.server.heads import Head
from jackpot_service.server.refusals import Refusal


class Reader(Protocol):
    """A connection whose callbacks the parser calls; see httptools."""

    head: Head

    def refuse_method(self, data: bytes) -> None:
        """Refuse what came because the parser knows no such method."""

    def refuse(self, refusal: Refusal) -> None:
        """Answer that what comes is refused, and read no more."""


class Stopped(Exception):
    """Raised by a callback: the parser is to go no further."""


class Parser(HttpRequestParser):
    """A parser that never changes to another protocol, and raises nothing."""

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader)
        self._reader = reader
        self.set_dangerous_leniencies(lenient_data_after_close=True)  # It is read, and dropped.

    def feed_data(self, data: "bytes | bytearray | memoryview[int] | array[int]") -> None:
        """Parse what came."""
        rest = bytes(data)
        try:
            while rest:
                rest = self._rest_of(rest)
        except HttpParserInvalidMethodError:
            self._reader.refuse_method(rest)
        except HttpParserError:
            self._reader.refuse(refusals.BAD_REQUEST)

    def _rest_of(self, data: bytes) -> bytes:
        """Parse data up to a head that asks for another protocol, and that again as if it did not; return the rest."""
        try:
            super().feed_data(data)
        except HttpParserUpgrade as upgrade:
            (head_bytes,) = upgrade.args
            super().feed_data(self._reader.head.without_upgrade())
            return data[head_bytes:]
        return b""
