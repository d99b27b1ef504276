"""
The contents of an entry's digest, its figures among them, and the chain of heads.

The digest is SHA-256 over the canonical JSON (UTF-8, keys sorted, no white space) of everything that the entry wrote. A
stripe's head after an entry is SHA-256 over 72 bytes: its head before it, the entry's digest, and the entry's booking
time. That is in microseconds since 1970, as a big-endian 64-bit integer. Before the first entry it is SHA-256 over
`<book>/<stripe number>`. An entry that does not state what it comes to is refused before it has a digest.
"""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import orjson

from jackpot_service.domain import facts
from jackpot_service.domain.entries import REFERENCE_BOOK, Attribution, Entry
from jackpot_service.domain.errors import BooksBroken
from jackpot_service.domain.figures import FigureKind
from jackpot_service.domain.journal import EntryKind, Movement

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def digest(entry: Entry, postings: Sequence[Sequence[str]], figures: Sequence[str]) -> bytes:
    """Figure the digest of an entry, 32 bytes, given its postings as facts, and whose figures it has, and which."""
    step = entry.round_step
    document = {
        "book": entry.book,
        "kind": str(entry.kind),
        "principal": entry.principal,
        "received_at": facts.instant(entry.received_at),
        "round": None if step is None else [step.table_id, step.round_id, step.round_key, step.step],
        "facts": {**entry.facts, **entry.in_rows},
        "postings": postings,
        "figures": figures,
    }
    return hashlib.sha256(orjson.dumps(document, option=orjson.OPT_SORT_KEYS)).digest()


def digest_of_booked(entry: Entry, figures: Sequence[str]) -> bytes:
    """Figure the digest of an entry that was put together again."""
    return digest(entry, facts.facts_of_postings(entry.postings), figures)


def first_head(book: str, stripe_no: int) -> bytes:
    """Figure the head of a stripe that has no entry yet."""
    return hashlib.sha256(f"{book}/{stripe_no}".encode()).digest()


def next_head(head: bytes, entry_digest: bytes, booked_at: datetime) -> bytes:
    """Figure the head after an entry; the database does the same in the stripe's update."""
    microseconds = (booked_at - _EPOCH) // _MICROSECOND
    return hashlib.sha256(head + entry_digest + microseconds.to_bytes(8, "big", signed=True)).digest()


_OF_ACTS: Final = frozenset({EntryKind.AWARD_PAID, EntryKind.PAYMENT_REVERSED})
"""The acts that have figures in the reference book."""

_OF_EFFECTS: Final = frozenset(
    {
        EntryKind.ROUND_CORRECTED,
        EntryKind.AWARDS_APPROVED,
        EntryKind.AWARDS_REJECTED,
        EntryKind.AWARDS_REINSTATED,
        EntryKind.AWARD_STOPPED,
        EntryKind.AWARDS_RELEASED,
        EntryKind.AWARD_FORFEITED,
    }
)
"""The acts whose entry in a jackpot's book has them. A correction may come to nothing; the others never do."""


class FiguresMissing(BooksBroken, code="figures-missing"):
    """An entry was about to be booked without what it comes to."""


def written(entry: Entry) -> list[str]:
    """
    Write an entry's figures, each as PostgreSQL writes a row.

    Raises: FiguresMissing.
    """
    _require_whole(entry)
    return [figure.written() for figure in entry.figures]


def content(attribution: Attribution, figures: Sequence[str]) -> list[str]:
    """The figures' part of the digest: their attribution, and each of them as it is written."""
    return [attribution.casino_id, attribution.table_id, str(attribution.rules_version), *figures]


def _require_whole(entry: Entry) -> None:
    if entry.kind is EntryKind.BETS:
        is_whole = entry.round_step is not None and bool(entry.figures)
    elif entry.round_step is not None:
        movements = {line.movement for line in entry.postings.lines}
        kinds = {figure.kind for figure in entry.figures}
        is_whole = (Movement.REVERSAL in movements) is bool(kinds & {FigureKind.REFUNDS, FigureKind.LATE_REFUNDS}) and (
            (Movement.AWARD in movements) is (FigureKind.AWARDS in kinds)
        )
    elif entry.kind in (_OF_ACTS if entry.book == REFERENCE_BOOK else _OF_EFFECTS):
        is_whole = entry.attributed_to is not None and (bool(entry.figures) or entry.kind is EntryKind.ROUND_CORRECTED)
    else:
        is_whole = True
    if not is_whole:
        message = f"An entry of {entry.kind} states its round, or whose it is, and what it comes to by currency."
        raise FiguresMissing(message)
