"""
The rows of the catalogue of problems.

A row says of a code what the class of its error leaves open: what a caller does about it, and which members its problem
has besides the standard ones. Code, title and meaning stand in the head and the docstring of the class; the kind of the
error decides its status. Where no class of ours is raised, the row says all of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import getdoc
from typing import Any, Final

from jackpot_service.domain.errors import (
    BooksBroken,
    Conflict,
    Forbidden,
    LedgerError,
    LimitReached,
    NotFound,
    Refused,
    Unauthenticated,
    Unavailable,
)

STATUS_OF_KIND: Final[Mapping[type[LedgerError], int]] = {
    Refused: 422,
    Conflict: 409,
    NotFound: 404,
    Forbidden: 403,
    Unauthenticated: 401,
    LimitReached: 429,
    Unavailable: 503,
    BooksBroken: 500,
}

RETRYABLE: Final = frozenset({429, 503})
"""The statuses of answers after which the same call may be sent again, when `Retry-After` has passed."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a problem besides the standard ones: its JSON Schema, and whether each problem of the code has it."""

    schema: Mapping[str, Any]
    description: str
    is_always: bool = True

    @property
    def kind(self) -> str:
        """Name in words what its schema takes."""
        match self.schema:
            case {"type": "array"}:
                return "list of texts"
            case {"type": "object"}:
                return "object of texts"
            case {"type": "integer"}:
                return "whole number"
            case {"type": [*_]}:
                return "text or null"
            case _:
                return "text"

    @property
    def described(self) -> dict[str, Any]:
        """The schema with the description in it."""
        return {**self.schema, "description": self.description}


def text(description: str, *, is_always: bool = True) -> Member:
    """Make a member that is a text."""
    return Member({"type": "string"}, description, is_always)


def whole(description: str, *, is_always: bool = True) -> Member:
    """Make a member that is a whole number."""
    return Member({"type": "integer"}, description, is_always)


def texts(description: str, *, is_always: bool = True) -> Member:
    """Make a member that is a list of texts."""
    return Member({"type": "array", "items": {"type": "string"}}, description, is_always)


def texts_by_name(description: str, *, is_always: bool = True) -> Member:
    """Make a member that is an object of texts."""
    return Member({"type": "object", "additionalProperties": {"type": "string"}}, description, is_always)


@dataclass(frozen=True, slots=True)
class Row:
    """A code of a problem: what it means, what a caller does about it, and its further members by name."""

    code: str
    status: int
    title: str
    meaning: str
    remedy: str
    retryable: bool = False
    members: Mapping[str, Member] = field(default_factory=dict)

    @property
    def type(self) -> str:
        """The type of its problems (RFC 9457)."""
        return type_of(self.code)


@dataclass(frozen=True, slots=True)
class Section:
    """The rows of one subject, in the order of their codes."""

    title: str
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, title: str, *rows: Row) -> "Section":
        """Put rows in order."""
        return cls(title, tuple(sorted(rows, key=lambda row: row.code)))


def type_of(code: str) -> str:
    """
    Name the type of problems of a code: where the service itself describes it.

    It is a reference relative to the service's own address (RFC 9457, 3.1.1), which no setting can state wrongly.
    """
    return f"/problems/{code}"


def status_of(error: type[LedgerError]) -> int:
    """Return the status that errors of a class are answered with."""
    return next(status for kind, status in STATUS_OF_KIND.items() if issubclass(error, kind))


def row(error: type[LedgerError], remedy: str, /, **members: Member) -> Row:
    """Make the row of a class of errors."""
    meaning = " ".join((getdoc(error) or "").partition("\n\n")[0].split())
    status = status_of(error)
    return Row(error.code, status, error.title, meaning, remedy, status in RETRYABLE, members)
