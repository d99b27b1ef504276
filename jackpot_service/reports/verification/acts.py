"""Whether an act that moved a jackpot's money says, and booked, what the documents that it is about make due."""

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import Postings
from jackpot_service.ledger import replay
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry

Found = Iterator[Mismatch]


def says(row: Row[Any], due: Facts, book: str) -> Found:
    """The act shows exactly this as what is after it."""
    if row.after != due:
        yield Mismatch(Code.ACT_RECORD, book, f"act {row.seq}", f"a {row.kind} that says {row.after}, due was {due}")


def booked(row: Row[Any], due: Postings, book: str, entries: Mapping[int, BookedEntry]) -> Found:
    """The act booked one entry of its kind, which recorded what the act shows, with these postings and no others."""
    effects = [(effect["book"], effect["kind"], effect["recorded"]) for effect in row.effects]
    if effects != [(book, row.kind, row.after)]:
        detail = f"a {row.kind} that did not book one such entry, recording the same"
        yield Mismatch(Code.ACT_RECORD, book, f"act {row.seq}", detail)
        return
    entry = entries.get(row.effects[0]["seq"])
    if entry is not None and entry.lines != replay.lines_of(due):
        detail = f"{row.kind}: booked {entry.lines}, due was {replay.lines_of(due)}"
        yield Mismatch(Code.ENTRY_POSTINGS, book, entry.place, detail)


def booked_nothing(row: Row[Any], book: str) -> Found:
    """The act booked no entry."""
    if row.effects:
        yield Mismatch(Code.ACT_RECORD, book, f"act {row.seq}", f"a {row.kind} books nothing")
