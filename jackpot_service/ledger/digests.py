"""
The digest of an entry and the chain of heads.

The digest is SHA-256 over the canonical JSON (UTF-8, keys sorted, no white space) of everything that the entry wrote.
A stripe's head after an entry is SHA-256 over 72 bytes: its head before it, the entry's digest, and when the entry was
booked, in microseconds since 1970 as a big-endian 64-bit integer. Before the first entry it is SHA-256 over
`<book>/<stripe number>`.
"""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import orjson

from jackpot_service.domain import facts
from jackpot_service.domain.entries import Entry

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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


def of_booked(entry: Entry, figures: Sequence[str]) -> bytes:
    """Figure the digest of an entry that was put together again."""
    return digest(entry, facts.of_postings(entry.postings), figures)


def first_head(book: str, stripe_no: int) -> bytes:
    """Figure the head of a stripe that has no entry yet."""
    return hashlib.sha256(f"{book}/{stripe_no}".encode()).digest()


def next_head(head: bytes, entry_digest: bytes, booked_at: datetime) -> bytes:
    """Figure the head after an entry; the database does the same in the stripe's update."""
    microseconds = (booked_at - _EPOCH) // timedelta(microseconds=1)
    return hashlib.sha256(head + entry_digest + microseconds.to_bytes(8, "big", signed=True)).digest()
