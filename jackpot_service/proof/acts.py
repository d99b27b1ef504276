"""Whether an act says what the documents that it is about make due, and booked what such an act books."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sqlalchemy import Row

from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.ledger import replay
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof import figures
from jackpot_service.proof.references import References
from jackpot_service.proof.status_changes import LIFE_AFTER
from jackpot_service.usecases.acts import Done
from jackpot_service.usecases.changes.registry import CARRIES_OUT

Found = Iterator[Mismatch]

BOOKS_AN_ENTRY: Final = frozenset(CARRIES_OUT) - {EntryKind.RATES_PUBLISHED} | {
    EntryKind.JACKPOT_OPENED,
    EntryKind.STRIPES_ADDED,
    EntryKind.JACKPOT_SUSPENDED,
    EntryKind.JACKPOT_RESUMED,
}
"""The acts that book an entry of their own kind in the book of the jackpot that they are about."""


def check(references: References) -> Found:
    """Check what acts say that they booked in jackpots' books, all acts together."""
    yield from effects_are_due(references)
    yield from no_two_booked_one_entry(references)


def effects_are_due(references: References) -> Found:
    """Each act booked the entries that such an act books, in the books that it is about, and no others."""
    for seq, act in references.acts.items():
        if act.kind is None:
            continue  # Named by the check of entries.
        found, due = [(effect.get("book"), effect.get("kind")) for effect in act.effects], list(_due(act))
        if found != due:
            detail = f"a {act.kind} that booked {found}, due was {due}"
            yield Mismatch(Code.ACT_RECORD, REFERENCE_BOOK, f"act {seq}", detail)


def _due(act: Row[Any]) -> Iterator[tuple[str | None, str]]:
    """Book and kind of each entry: none if the jackpot had that status. A retirement books one more, at its target."""
    after = act.after
    stood_so = act.kind in LIFE_AFTER and act.before == {"state": after.get("state")}
    if act.kind in BOOKS_AN_ENTRY and not stood_so:
        yield act.jackpot_id, act.kind
    if act.kind == EntryKind.JACKPOT_RETIRED:
        yield after.get("to"), EntryKind.TRANSFER_RECEIVED.value


def no_two_booked_one_entry(references: References) -> Found:
    """No two acts, nor one twice, say that they booked the same entry."""
    told = Counter(
        (effect.get("book"), effect.get("seq")) for act in references.acts.values() for effect in act.effects
    )
    for (book, seq), times in told.items():
        if times > 1:
            detail = f"booked by {times} acts, as they say"
            yield Mismatch(Code.ACT_EFFECTS, str(book), f"stripe 0, seq {seq}", detail)


def says(row: Row[Any], due: Facts, book: str) -> Found:
    """The act shows exactly this as what is after it."""
    if row.after != due:
        yield Mismatch(Code.ACT_RECORD, book, f"act {row.seq}", f"a {row.kind} that says {row.after}, due was {due}")


def booked(row: Row[Any], done: Done, book: str, entries: Mapping[int, BookedEntry]) -> Found:
    """The act's entry of its own kind recorded what the act shows, with the postings and figures that were due."""
    due = done.postings
    for effect in row.effects:
        if (effect.get("book"), effect.get("kind")) != (book, row.kind):
            continue  # Named by `effects_are_due`.
        if effect.get("recorded") != row.after:
            detail = f"a {row.kind} whose entry recorded something else than the act shows"
            yield Mismatch(Code.ACT_RECORD, book, f"act {row.seq}", detail)
        entry = entries.get(effect.get("seq"))
        if entry is not None and entry.lines != replay.lines_of(due):
            detail = f"{row.kind}: booked {entry.lines}, due was {replay.lines_of(due)}"
            yield Mismatch(Code.ENTRY_POSTINGS, book, entry.place, detail)
        if entry is not None and done.attributed_to is not None:
            yield from figures.are(entry, done.attributed_to, done.figures)
