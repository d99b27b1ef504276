"""What a jackpot's pools held at any of its positions, summed up from its postings."""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import Pools
from jackpot_service.ledger import balances, replay
from jackpot_service.ledger.verified import NOTHING, Verified

SPAN = 250
"""So many entries are read at a time."""

KEPT_BLOCKS = 64
"""So many blocks of them are kept, or two for each stripe, where a jackpot has more stripes."""

HIGHEST = 2**63 - 1

Block = tuple[list[int], list[Pools]]
"""Seqs, and the pools after each."""


class PoolsByPosition:
    """
    The pools of a book at any vector of positions.

    Entries are read a block at a time, and the blocks read last are kept, since rounds that are near in time settle at
    positions that are near. Where a block begins is summed from the nearest position whose pools are known: the
    beginning, where the book was verified before, or the end of the block read last, which is mostly where it begins.
    So memory does not grow with the books.
    """

    def __init__(self, session: Session, book: str, since: Verified = NOTHING) -> None:
        self._session = session
        self._book = book
        self._since = since
        self._ends: dict[int, tuple[int, Pools]] = {}
        self._blocks: OrderedDict[tuple[int, int], Block] = OrderedDict()

    def at(self, positions: Sequence[int]) -> Pools:
        """Sum the pools of all stripes, each after its entry at its position."""
        kept = max(KEPT_BLOCKS, 2 * len(positions))
        return sum((self._on_stripe(stripe_no, seq, kept) for stripe_no, seq in enumerate(positions)), Pools())

    def _on_stripe(self, stripe_no: int, seq: int, kept: int) -> Pools:
        if seq <= 0:
            return Pools()
        seqs, pools = self._block(stripe_no, seq // SPAN, kept)
        return pools[bisect_right(seqs, seq) - 1]

    def _block(self, stripe_no: int, number: int, kept: int) -> Block:
        key = (stripe_no, number)
        if key not in self._blocks:
            self._blocks[key] = self._read(stripe_no, number * SPAN)
        self._blocks.move_to_end(key)
        while len(self._blocks) > kept:
            self._blocks.popitem(last=False)
        return self._blocks[key]

    def _read(self, stripe_no: int, start: int) -> Block:
        end = min(start + SPAN, HIGHEST)
        seqs, pools = [start], [self._begin(stripe_no, start)]
        for entry in replay.entries(self._session, self._book, stripe_no, after=start, upto=end):
            seqs.append(entry.seq)
            pools.append(pools[-1] + entry.pools())
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
        return balances.pools_between(self._session, self._book, stripe_no, after=after, upto=upto)
