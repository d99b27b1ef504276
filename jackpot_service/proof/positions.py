"""Rows and pools by their positions in tables that grow for ever, of which little is in memory at a time."""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import TypeVar

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import Pools
from jackpot_service.ledger import books, replay
from jackpot_service.ledger.verification import NOTHING, Verified

ENTRIES_AT_ONCE = 250
"""So many entries are read at a time."""

KEPT_BLOCKS_OF_POOLS = 64
"""So many blocks of them are kept, or two for each stripe, where a jackpot has more stripes."""

HIGHEST = 2**63 - 1

Block = tuple[list[int], list[Pools]]
"""Seqs, and the pools after each."""


class PoolsByPosition:
    """
    The pools of a book at any vector of positions.

    Entries are read a block at a time, and the blocks read last are kept, since rounds that are near in time settle at
    positions that are near. The pools at a block's beginning are summed from the nearest position whose pools are
    known. That is the beginning, where the book was verified before, or the end of the block read last, which is mostly
    where it begins. So memory does not grow with the books.

    Such rounds also settle at vectors that share most of their positions. So the pools at the last one are kept: only
    stripes that moved since are looked at.
    """

    def __init__(self, session: Session, book: str, since: Verified = NOTHING) -> None:
        self._session = session
        self._book = book
        self._since = since
        self._ends: dict[int, tuple[int, Pools]] = {}
        self._blocks: OrderedDict[tuple[int, int], Block] = OrderedDict()
        self._last: list[tuple[int, Pools]] = []
        self._sum = Pools()

    def at(self, positions: Sequence[int]) -> Pools:
        """Sum the pools of all stripes, each after its entry at its position."""
        most = max(KEPT_BLOCKS_OF_POOLS, 2 * len(positions))
        self._last += [(0, Pools())] * (len(positions) - len(self._last))
        for stripe_no, (seq, (before, held)) in enumerate(zip(chain(positions, repeat(0)), self._last, strict=False)):
            if seq != before:
                pools = self._on_stripe(stripe_no, seq, most)
                self._sum += pools - held
                self._last[stripe_no] = seq, pools
        return self._sum

    def _on_stripe(self, stripe_no: int, seq: int, most: int) -> Pools:
        if seq <= 0:
            return Pools()
        seqs, pools = self._block(stripe_no, seq // ENTRIES_AT_ONCE, most)
        return pools[bisect_right(seqs, seq) - 1]

    def _block(self, stripe_no: int, number: int, most: int) -> Block:
        key = (stripe_no, number)
        if key not in self._blocks:
            self._blocks[key] = self._read(stripe_no, number * ENTRIES_AT_ONCE)
        self._blocks.move_to_end(key)
        while len(self._blocks) > most:
            self._blocks.popitem(last=False)
        return self._blocks[key]

    def _read(self, stripe_no: int, start: int) -> Block:
        end = min(start + ENTRIES_AT_ONCE, HIGHEST)
        seqs, pools = [start], [self._begin(stripe_no, start)]
        for seq, added in replay.pools_of_entries(self._session, self._book, stripe_no, after=start, upto=end):
            seqs.append(seq)
            pools.append(pools[-1] + added)
        self._ends[stripe_no] = (end, pools[-1])
        return seqs, pools

    def _begin(self, stripe_no: int, start: int) -> Pools:
        known = [(0, Pools())]
        if stripe_no in self._since.stripes:
            known.append((self._since.seq_on(stripe_no), self._since.stripes[stripe_no].pools))
        if stripe_no in self._ends:
            known.append(self._ends[stripe_no])
        near, pools = min(known, key=lambda place: abs(place[0] - start))
        return pools + self._between(stripe_no, near, start) - self._between(stripe_no, start, near)

    def _between(self, stripe_no: int, after: int, upto: int) -> Pools:
        """Nothing where the second lies before the first."""
        return books.pools_between(self._session, self._book, stripe_no, after=after, upto=upto)


T = TypeVar("T")

ROWS_AT_ONCE = 100
"""So many seqs are read at a time."""

KEPT_BLOCKS_OF_ROWS = 32
"""So many blocks of them are kept, and where so many more begin."""

Read = Callable[[int, int], Mapping[int, T]]
"""Reads the rows from a seq up to, and not with, another, in their order."""

Next = Callable[[int], int | None]
"""Finds the first seq that there is at or after another."""


class PagedRows(Mapping[int, T]):
    """Rows by seq, in the order of their seqs; each is read again when it was not asked for in a while."""

    def __init__(self, read: Read[T], first_from: Next) -> None:
        self._read = read
        self._first_from = lru_cache(KEPT_BLOCKS_OF_ROWS)(first_from)
        self._blocks: OrderedDict[int, Mapping[int, T]] = OrderedDict()

    def __getitem__(self, seq: int) -> T:
        return self._block(seq // ROWS_AT_ONCE)[seq]

    def __iter__(self) -> Iterator[int]:
        seq = self._first_from(1 - 2**63)
        while seq is not None:
            number = seq // ROWS_AT_ONCE
            yield from self._block(number)
            seq = self._first_from((number + 1) * ROWS_AT_ONCE)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _block(self, number: int) -> Mapping[int, T]:
        if number not in self._blocks:
            self._blocks[number] = self._read(number * ROWS_AT_ONCE, (number + 1) * ROWS_AT_ONCE)
        self._blocks.move_to_end(number)
        while len(self._blocks) > KEPT_BLOCKS_OF_ROWS:
            self._blocks.popitem(last=False)
        return self._blocks[number]
