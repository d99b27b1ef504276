"""A table that grows for ever, looked at as a mapping by seq, of which little is in memory at a time."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")

SPAN = 100
"""So many seqs are read at a time."""

KEPT_BLOCKS = 32
"""So many blocks of them are kept, and where so many more begin."""

Read = Callable[[int, int], Mapping[int, T]]
"""Reads the rows from a seq up to, and not with, another, in their order."""

Next = Callable[[int], int | None]
"""Finds the first seq that there is at or after another."""


class PagedRows(Mapping[int, T]):
    """Rows by seq, in the order of their seqs; each is read again when it was not asked for in a while."""

    def __init__(self, read: Read[T], first_from: Next) -> None:
        self._read = read
        self._first_from = lru_cache(KEPT_BLOCKS)(first_from)
        self._blocks: OrderedDict[int, Mapping[int, T]] = OrderedDict()

    def __getitem__(self, seq: int) -> T:
        return self._block(seq // SPAN)[seq]

    def __iter__(self) -> Iterator[int]:
        seq = self._first_from(1 - 2**63)
        while seq is not None:
            number = seq // SPAN
            yield from self._block(number)
            seq = self._first_from((number + 1) * SPAN)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _block(self, number: int) -> Mapping[int, T]:
        if number not in self._blocks:
            self._blocks[number] = self._read(number * SPAN, (number + 1) * SPAN)
        self._blocks.move_to_end(number)
        while len(self._blocks) > KEPT_BLOCKS:
            self._blocks.popitem(last=False)
        return self._blocks[number]
