"""The codes that an operation may be refused with, besides those that all operations of its kind share."""

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

WRITING: Final = ("outcome-unknown", "clock-skew")
"""Of every operation that books; also of a GET that asks for a transaction of its own."""

View = TypeVar("View", bound=Callable[..., Any])


def refused_with(*codes: str) -> Callable[[View], View]:
    """
    State the codes of the problems that a view may be answered by.

    `contract/answers.py` adds those that follow from its method, path, roles and body. A test that meets a code which
    is not stated fails.
    """

    def mark(view: View) -> View:
        view.refused_with = frozenset(codes)  # type: ignore[attr-defined]
        return view

    return mark


def codes_of(view: Callable[..., Any]) -> Iterable[str]:
    """Return the codes that a view states."""
    codes: Iterable[str] = getattr(view, "refused_with", frozenset())
    return codes
