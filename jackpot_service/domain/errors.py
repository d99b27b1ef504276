"""
The kinds of error the service knows; each error itself stands next to the function that raises it.

A kind says what the caller may do about it, never how it travels: `api/problems.py` alone turns kinds into statuses.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

Fact = str | int | bool | None | list[str] | list[int] | dict[str, str]


@dataclass(frozen=True, slots=True)
class FieldError:
    """
    One thing wrong with a request: where, which code, in which words.

    `pointer` is a JSON pointer (RFC 6901) into the body. A parameter of the path or the query, or a header, has
    its name in `parameter`, and no place in the body: the pointer is empty.
    """

    pointer: str
    code: str
    detail: str
    parameter: str | None = None

    @property
    def place(self) -> str:
        """The place as a sentence names it."""
        if self.parameter is not None:
            return self.parameter or "the query"
        return self.pointer or "the body"


def in_order(field_errors: Iterable[FieldError]) -> tuple[FieldError, ...]:
    """Put field errors in the order of what they point at: the tenth bet comes after the second."""
    return tuple(sorted(dict.fromkeys(field_errors), key=_place_of))


def _place_of(error: FieldError) -> list[tuple[int, str]]:
    return [(len(part) if part.isdigit() else 0, part) for part in f"{error.parameter or ''}{error.pointer}".split("/")]


class LedgerError(Exception):
    """
    Anything that the ledger answers with something else than what was asked.

    `code` is stable and part of the contract; `facts` travel with the answer, so that a caller's program need not
    read the sentence. `further` are the errors that the request would meet next, if this one were mended.
    """

    code: ClassVar[str] = "ledger-error"
    title: ClassVar[str] = "The ledger could not do this"
    further: "tuple[LedgerError, ...]" = ()

    def __init_subclass__(cls, *, code: str | None = None, title: str | None = None) -> None:
        """Take the code and the title that stand in the head of a class; those of its base where there are none."""
        super().__init_subclass__()
        cls.code, cls.title = code or cls.code, title or cls.title

    def __init__(self, detail: str, *, field_errors: tuple[FieldError, ...] = (), **facts: Fact) -> None:
        super().__init__(detail)
        self.detail = detail
        self.field_errors = field_errors
        self.facts: Mapping[str, Fact] = facts


class Refused(LedgerError, code="refused", title="The request was refused"):
    """The request is well formed and wrong; sent again unchanged it is refused again."""


class Conflict(LedgerError, code="conflict", title="The request contradicts the ledger"):
    """The request contradicts what the ledger already holds."""


class NotFound(LedgerError, code="not-found", title="Not found"):
    """The object of the request does not exist, or not for this caller."""


class Forbidden(LedgerError, code="forbidden", title="Not allowed"):
    """The caller is known, and may not do this."""


class Unauthenticated(LedgerError, code="unauthenticated", title="A valid key is required"):
    """The caller showed no key, or none that is in force."""


class Unavailable(LedgerError, code="unavailable", title="Temporarily unavailable: try again with the same ids"):
    """Nothing is known to have been written, or it is not known whether it was; the same request may be sent again."""

    retry_after_s: int = 1


class LimitReached(LedgerError, code="limit-reached", title="Limit reached"):
    """The caller came more often than its limit allows. Nothing was done; the same request may be sent again, later."""

    def __init__(self, detail: str, *, retry_after_s: int) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class BooksBroken(LedgerError, code="books-broken", title="A bookkeeping law was broken"):
    """
    A law of the books would be or was broken, which is a bug; nothing of it was booked.

    It is raised, and never caught on the way up.
    """


def raised_by(check: Callable[[], object]) -> Iterator[LedgerError]:
    """Run a check, and yield the error that it raises, if it does, instead of raising it."""
    try:
        check()
    except LedgerError as error:
        yield error.with_traceback(None)
