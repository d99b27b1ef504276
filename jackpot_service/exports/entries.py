"""
The entries of a jackpot in one order: by the time of booking, then by stripe, then by seq.

A stripe's entries never go back in time, so the order is that of its chain within every stripe, and K streams merged
give it without a sort. What stands at or before a vector of positions never changes, so the pages need not be read in
one snapshot, which would keep the database from cleaning up for as long as a client is slow.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, select

from jackpot_service.database.transactions import Session
from jackpot_service.ledger.replay import Line
from jackpot_service.ledger.schema import EntryRow
from jackpot_service.records.rounds import RoundName
from jackpot_service.records.schema import RoundRow

IN_MEMORY = 4096
"""How many entries are in memory at a time, over all stripes; a stripe has at least `SMALLEST_PAGE`."""

SMALLEST_PAGE = 16


@dataclass(frozen=True, slots=True)
class ExportedEntry:
    """An entry as it leaves the ledger: its place, what it was, whose round it changed, and its postings."""

    book: str
    stripe_no: int
    seq: int
    kind: str
    principal: str
    booked_at: datetime
    digest: bytes
    round: RoundName | None
    lines: tuple[Line, ...]

    @property
    def order(self) -> tuple[datetime, int, int]:
        """Its place among all entries of its book."""
        return self.booked_at, self.stripe_no, self.seq


def entries(session: Session, jackpot_id: str, *, after: Sequence[int], upto: Sequence[int]) -> Iterator[ExportedEntry]:
    """Read the entries after one vector of positions, up to another; both have a position for each stripe."""
    page = max(SMALLEST_PAGE, IN_MEMORY // max(1, len(upto)))
    of_stripes = (
        _of_stripe(session, jackpot_id, stripe_no, after=first, upto=last, page=page)
        for stripe_no, (first, last) in enumerate(zip(after, upto, strict=True))
    )
    return heapq.merge(*of_stripes, key=lambda entry: entry.order)


def _of_stripe(
    session: Session, jackpot_id: str, stripe_no: int, *, after: int, upto: int, page: int
) -> Iterator[ExportedEntry]:
    while after < upto:
        found = _page(session, jackpot_id, stripe_no, after=after, upto=upto, limit=page)
        if not found:
            return
        yield from found
        after = found[-1].seq


def _page(
    session: Session, jackpot_id: str, stripe_no: int, *, after: int, upto: int, limit: int
) -> list[ExportedEntry]:
    its_round = and_(RoundRow.jackpot_id == jackpot_id, RoundRow.round_key == EntryRow.round_key)
    rows = session.execute(
        select(
            EntryRow.seq,
            EntryRow.kind,
            EntryRow.principal,
            EntryRow.booked_at,
            EntryRow.digest,
            EntryRow.round_key,
            RoundRow.table_id,
            RoundRow.round_id,
            EntryRow.accounts,
            EntryRow.currencies,
            EntryRow.amounts,
            EntryRow.movements,
        )
        .join(RoundRow, its_round, isouter=True)
        .where(
            EntryRow.jackpot_id == jackpot_id,
            EntryRow.stripe_no == stripe_no,
            EntryRow.seq > after,
            EntryRow.seq <= upto,
        )
        .order_by(EntryRow.seq)
        .limit(limit)
    )
    return [
        ExportedEntry(
            jackpot_id,
            stripe_no,
            seq,
            kind,
            principal,
            booked_at,
            digest,
            None if round_key is None else RoundName(table_id, round_id),
            tuple(zip(*lines, strict=True)),
        )
        for seq, kind, principal, booked_at, digest, round_key, table_id, round_id, *lines in rows
    ]
