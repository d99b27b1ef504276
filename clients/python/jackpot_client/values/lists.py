"""Pages of lists; the client's iterators follow them by `next`."""

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """Some items of a list, and the cursor of the page after; None for the last page."""

    items: tuple[T, ...]
    next: str | None
