"""One entry of a book, by its place: its postings and figures, what it states, and its link in the chain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.ledger.digests import first_head
from jackpot_service.ledger.replay import Line
from jackpot_service.records.rounds import RoundName

_ENTRY: Final = text("""
SELECT e.kind, e.principal, e.received_at, e.booked_at, e.step, r.table_id AS round_table, r.round_id, e.casino_id,
       e.table_id, e.rules_version, e.facts, e.digest, e.head, before.head AS head_before,
       e.accounts, e.currencies, e.amounts, e.movements
FROM entries e
LEFT JOIN rounds r ON r.jackpot_id = :book AND r.round_key = e.round_key
LEFT JOIN entries before ON before.jackpot_id = :book AND before.stripe_no = e.stripe_no AND before.seq = e.seq - 1
WHERE e.jackpot_id = :book AND e.stripe_no = :stripe_no AND e.seq = :seq
""")

_FIGURES: Final = text("""
SELECT f.kind, f.currency, f.tier, f.account, f.detail, f.made_on, f.number, f.minor, f.value
FROM entries e
CROSS JOIN LATERAL unnest(e.figures) WITH ORDINALITY
    AS f (kind, currency, tier, account, detail, made_on, number, minor, value, place)
WHERE e.jackpot_id = :book AND e.stripe_no = :stripe_no AND e.seq = :seq
ORDER BY f.place
""")

LARGEST_STRIPE_NO: Final = 2**31 - 1


class UnknownEntry(NotFound, code="entry-unknown", title="Unknown entry"):
    """No entry at this place, or not for this caller."""


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """
    An entry as the books hold it.

    `round_name` and `step` are those of an entry of a round. Casino, table and rules version are those that its figures
    belong to; empty, or 0, where there is none. `head` is the hash over the head before it, `digest` and `booked_at`.
    """

    book: str
    stripe_no: int
    seq: int
    kind: str
    principal: str | None
    received_at: datetime
    booked_at: datetime
    round_name: RoundName | None
    step: int | None
    casino_id: str
    table_id: str
    rules_version: int
    postings: Sequence[Line]
    figures: Sequence[Mapping[str, Any]]
    facts: Facts | None
    digest: bytes
    head: bytes
    head_before: bytes


def entry_at(session: Session, principal: Principal, *, book: str, stripe_no: int, seq: int) -> ShownEntry:
    """Show the entry at a place. Raises: UnknownEntry, also for one that the principal may not see."""
    place = {"book": book, "stripe_no": stripe_no, "seq": seq}
    row = None if stripe_no > LARGEST_STRIPE_NO else session.execute(_ENTRY, place).one_or_none()
    if row is None or not _sees(principal, book, casino_id=row.casino_id, table_id=row.table_id):
        message = f"Stripe {stripe_no} of book {book} has no entry {seq}."
        raise UnknownEntry(message, book=book, stripe=stripe_no, seq=seq)
    return ShownEntry(
        book=book,
        stripe_no=stripe_no,
        seq=seq,
        kind=row.kind,
        principal=None if row.round_id is None and principal.casino_id is not None else row.principal,
        received_at=row.received_at,
        booked_at=row.booked_at,
        round_name=None if row.round_id is None else RoundName(row.round_table, row.round_id),
        step=row.step,
        casino_id=row.casino_id,
        table_id=row.table_id,
        rules_version=row.rules_version,
        postings=tuple(zip(row.accounts, row.currencies, row.amounts, row.movements, strict=True)),
        figures=[dict(figure) for figure in session.execute(_FIGURES, place).mappings()],
        facts=row.facts,
        digest=row.digest,
        head=row.head,
        head_before=first_head(book, stripe_no) if row.head_before is None else row.head_before,
    )


def _sees(principal: Principal, book: str, *, casino_id: str, table_id: str) -> bool:
    """The reference book is the audit trail, which is for auditors; what is of no casino is the house's."""
    if book == REFERENCE_BOOK:
        return principal.role is Role.AUDITOR
    return principal.casino_id is None or principal.sees_table(table_id, casino_id)
