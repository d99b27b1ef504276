"""
The parts of a path that calls choose: ids, and numbers.

A part that is none is as wrong as it would be in a query, and is refused in the same words. That is said only to those
who may make the call: a route takes any part, and what is wrong with it is looked at when the caller is known.
"""

from collections.abc import Mapping
from typing import Any

from werkzeug.routing import BaseConverter

from jackpot_service.api.parsing import Invalid, error_of_parameter
from jackpot_service.api.problem_catalogue import http
from jackpot_service.domain.shapes import IDENTIFIER
from jackpot_service.usecases.readers import NO_IDENTIFIER

MOST_DIGITS = 18
LARGEST_NUMBER = 10**MOST_DIGITS - 1
"""In a path: no more digits than a column holds."""


class InvalidPath(Invalid):
    """A part of the path is not what its place takes."""

    problem = http.VALIDATION


class WrongPart(str):
    """A part of a path that is not what its place takes; `detail` says what it must be."""

    __slots__ = ("detail",)
    detail: str

    @classmethod
    def saying(cls, detail: str, part: str) -> "WrongPart":
        """Return a part, and what it must be."""
        wrong = cls(part)
        wrong.detail = detail
        return wrong


class IdentifierConverter(BaseConverter):
    """A part of a path that is an id."""

    def to_python(self, value: str) -> str:
        """Read it."""
        return value if IDENTIFIER.fullmatch(value) else WrongPart.saying(NO_IDENTIFIER, value)


class NumberConverter(BaseConverter):
    """A part of a path that is a whole number from 0 on."""

    def to_python(self, value: str) -> int | WrongPart:
        """Read it."""
        if len(value) <= MOST_DIGITS and value.isascii() and value.isdecimal():
            return int(value)
        return WrongPart.saying(f"must be a whole number from 0 to {LARGEST_NUMBER}", value)


def require_parts(parts: Mapping[str, Any]) -> None:
    """Refuse the parts of a path that are not what their places take, by their names. Raises: InvalidPath."""
    wrong = [error_of_parameter(name, part.detail) for name, part in parts.items() if isinstance(part, WrongPart)]
    if wrong:
        raise InvalidPath(tuple(wrong))
