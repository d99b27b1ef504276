"""What a jackpot's pools held at any of its positions, summed up from its postings."""

from bisect import bisect_right
from collections import OrderedDict, defaultdict
from collections.abc import Sequence

from jackpot_service.db import Session
from jackpot_service.domain.pools import Pools
from jackpot_service.ledger import replay
from jackpot_service.ledger.replay import BookedEntry

SPAN = 500
"""So many entries lie between two marks; only marks are kept, so memory grows with a 500th of the books."""

KEPT_BLOCKS = 256


class PoolsByPosition:
    """
    The pools of a book at any vector of positions.

    While the book is replayed, `note` keeps a mark now and then; `at` reads the entries between two marks again, and
    keeps those read last, since rounds that are near in time settle at positions that are near.
    """

    def __init__(self, session: Session, book: str) -> None:
        self._session = session
        self._book = book
        self._seqs: defaultdict[int, list[int]] = defaultdict(lambda: [0])
        self._marks: defaultdict[int, list[Pools]] = defaultdict(lambda: [Pools()])
        self._counts: defaultdict[int, int] = defaultdict(int)
        self._blocks: OrderedDict[tuple[int, int], tuple[list[int], list[Pools]]] = OrderedDict()

    def note(self, entry: BookedEntry, pools: Pools) -> None:
        """Take notice of an entry, in the order of its stripe, and of the stripe's pools after it."""
        self._counts[entry.stripe_no] += 1
        if self._counts[entry.stripe_no] % SPAN == 0:
            self._seqs[entry.stripe_no].append(entry.seq)
            self._marks[entry.stripe_no].append(pools)

    def at(self, positions: Sequence[int]) -> Pools:
        """Sum the pools of all stripes, each after its entry at its position."""
        return sum((self._on_stripe(stripe_no, seq) for stripe_no, seq in enumerate(positions)), Pools())

    def _on_stripe(self, stripe_no: int, seq: int) -> Pools:
        if seq <= 0:
            return Pools()
        mark = bisect_right(self._seqs[stripe_no], seq) - 1
        seqs, pools = self._block(stripe_no, mark)
        return pools[bisect_right(seqs, seq) - 1]

    def _block(self, stripe_no: int, mark: int) -> tuple[list[int], list[Pools]]:
        key = (stripe_no, mark)
        if key not in self._blocks:
            self._blocks[key] = self._read(stripe_no, mark)
        self._blocks.move_to_end(key)
        if len(self._blocks) > KEPT_BLOCKS:
            self._blocks.popitem(last=False)
        return self._blocks[key]

    def _read(self, stripe_no: int, mark: int) -> tuple[list[int], list[Pools]]:
        seqs, pools = [self._seqs[stripe_no][mark]], [self._marks[stripe_no][mark]]
        upto = self._seqs[stripe_no][mark + 1] if mark + 1 < len(self._seqs[stripe_no]) else 2**63 - 1
        for entry in replay.entries(self._session, self._book, stripe_no, after=seqs[0], upto=upto):
            seqs.append(entry.seq)
            pools.append(pools[-1] + entry.pools())
        return seqs, pools
