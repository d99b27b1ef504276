"""
A jackpot's journal as text, in pieces, from its beginning or from the end of any piece.

The same jackpot, form and positions give the same bytes for ever, however often the writing was interrupted: where a
piece ends depends only on its content. Entries are ordered by booking time, then by stripe, then by seq. A stripe's
entries never go back in time, so its chain has that order, and K streams merged give it without a sort. Entries up to
a vector of positions never change. So the pages need not be read in one snapshot, which would keep the database from
cleaning up for as long as a client is slow.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import and_, select

from jackpot_service.database.models import EntryRow, RoundRow, StripeRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.counting import counted
from jackpot_service.domain.errors import Refused
from jackpot_service.exports.accounting import Declared, ExportedEntry, Form, Heading
from jackpot_service.records import references
from jackpot_service.records.rounds import RoundName

IN_MEMORY: Final = 4096
"""How many entries are in memory at a time, over all stripes; a stripe has at least `SMALLEST_PAGE`."""

SMALLEST_PAGE: Final = 16

PIECE_BYTES: Final = 256 * 1024
"""A piece ends with the entry that fills it."""


class PositionsUnknown(Refused, code="positions-unknown", title="The journal does not reach there"):
    """The positions are not those of entries that the jackpot's stripes have."""


@dataclass(frozen=True, slots=True)
class JournalExport:
    """An export to write: a jackpot's entries up to positions of its stripes, in a form."""

    jackpot_id: str
    base: str
    form: Form
    positions: tuple[int, ...]

    @property
    def total(self) -> int:
        """How many entries there are to write: a stripe's positions have no gaps."""
        return sum(self.positions)


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a piece ended: the positions written, and what the text has declared by then."""

    positions: tuple[int, ...]
    currencies: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JournalPiece:
    """A part of the text, and where it ends."""

    content: bytes
    mark: Mark


def committed_positions(session: Session, jackpot_id: str) -> tuple[int, ...]:
    """Read where a jackpot's stripes end, all at one instant. Raises: UnknownJackpot."""
    references.require_base(session, jackpot_id)
    question = select(StripeRow.seq).where(StripeRow.jackpot_id == jackpot_id).order_by(StripeRow.stripe_no)
    return tuple(session.scalars(question))


def journal_export(
    session: Session, jackpot_id: str, form: Form, *, positions: Sequence[int] | None = None
) -> JournalExport:
    """
    Settle what to write: everything committed, unless positions are given; a stripe that they do not reach counts 0.

    Raises: UnknownJackpot; PositionsUnknown for some that lie after a stripe's last entry.
    """
    base = references.require_base(session, jackpot_id)
    committed = committed_positions(session, jackpot_id)
    if positions is None:
        return JournalExport(jackpot_id, base, form, committed)
    starts = (*positions, *[0] * (len(committed) - len(positions)))
    if len(starts) > len(committed):
        message = f"{jackpot_id} has {counted(len(committed), 'stripe')}, not {len(starts)}."
        raise PositionsUnknown(message, jackpot_id=jackpot_id)
    for stripe_no, (seq, last) in enumerate(zip(starts, committed, strict=True)):
        if not 0 <= seq <= last:
            message = f"Stripe {stripe_no} of {jackpot_id} ends at {last}; {seq} is no position of it."
            raise PositionsUnknown(message, jackpot_id=jackpot_id, stripe_no=stripe_no)
    return JournalExport(jackpot_id, base, form, starts)


def pieces(
    session: Session, export: JournalExport, *, after: Mark | None = None, piece_bytes: int = PIECE_BYTES
) -> Iterator[JournalPiece]:
    """Write a journal, or what of it comes after a mark."""
    text = _Text(export, after or Mark((0,) * len(export.positions)))
    if after is None:
        text.add(export.form.heading(Heading(export.jackpot_id, export.base, export.positions)))
    for entry in entries(session, export.jackpot_id, after=text.positions, upto=export.positions):
        text.add(export.form.entry(entry, text.declared))
        text.positions[entry.stripe_no] = entry.seq
        if text.size >= piece_bytes:
            yield text.piece()
    if text.size:
        yield text.piece()


@dataclass(slots=True)
class _Text:
    """The piece that is being written."""

    export: JournalExport
    start: Mark
    size: int = 0
    positions: list[int] = field(init=False)
    declared: Declared = field(init=False)
    parts: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.positions = list(self.start.positions)
        self.declared = Declared(set(self.start.currencies), set(self.start.accounts))

    def add(self, text: str) -> None:
        self.parts.append(text.encode())
        self.size += len(self.parts[-1])

    def piece(self) -> JournalPiece:
        content, self.parts, self.size = b"".join(self.parts), [], 0
        declared = sorted(self.declared.currencies), sorted(self.declared.accounts)
        return JournalPiece(content, Mark(tuple(self.positions), *map(tuple, declared)))


def entries(session: Session, jackpot_id: str, *, after: Sequence[int], upto: Sequence[int]) -> Iterator[ExportedEntry]:
    """Read the entries after one vector of positions, up to another; both have a position for each stripe."""
    page = max(SMALLEST_PAGE, IN_MEMORY // max(1, len(upto)))
    of_stripes = (
        _entries_of_stripe(session, jackpot_id, stripe_no, after=first, upto=last, page=page)
        for stripe_no, (first, last) in enumerate(zip(after, upto, strict=True))
    )
    return heapq.merge(*of_stripes, key=lambda entry: entry.order)


def _entries_of_stripe(
    session: Session, jackpot_id: str, stripe_no: int, *, after: int, upto: int, page: int
) -> Iterator[ExportedEntry]:
    while after < upto:
        page_entries = _page(session, jackpot_id, stripe_no, after=after, upto=upto, limit=page)
        if not page_entries:
            return
        yield from page_entries
        after = page_entries[-1].seq


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
