"""Whether the reference book recorded its acts and they their documents, and whether what those name exists."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from sqlalchemy import Row, func, select

from jackpot_service.database.models import EntryRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts, seals
from jackpot_service.domain.casinos import Casino
from jackpot_service.domain.entries import REFERENCE_BOOK, Entry
from jackpot_service.domain.journal import ACT_KINDS, EntryKind
from jackpot_service.ledger import digests, replay
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof import (
    acts,
    change_policies,
    changes,
    claims,
    exceptions,
    figures,
    passkeys,
    people,
    withholding,
)
from jackpot_service.proof.changes import sheets_are_what_was_approved
from jackpot_service.proof.decoding import is_written_alike
from jackpot_service.proof.positions import PagedRows
from jackpot_service.proof.references import Document, References

_IS_ACT = (EntryRow.jackpot_id == REFERENCE_BOOK, EntryRow.stripe_no == 0)


def entries(session: Session) -> Mapping[int, BookedEntry]:
    """The entries of the reference book by seq, read when they are asked for: there is one for each act."""

    def read(first: int, end: int) -> Mapping[int, BookedEntry]:
        booked = replay.entries(session, REFERENCE_BOOK, 0, after=first - 1, upto=end - 1)
        return {entry.seq: entry for entry in booked}

    def first_from(seq: int) -> int | None:
        return session.scalar(select(func.min(EntryRow.seq)).where(*_IS_ACT, EntryRow.seq >= seq))

    return PagedRows(read, first_from)


def check(
    references: References, entries: Mapping[int, BookedEntry], *, on_act: Callable[[int], None] = lambda _seq: None
) -> Found:
    """Check the reference documents against the entries of the reference book, by seq; `on_act` gets each seq."""
    yield from acts_have_their_entries(references)
    written: set[int] = set()
    yield from documents_were_written(references, entries, written)
    for seq, entry in entries.items():
        act = references.acts.get(seq)
        yield from entry_recorded_its_act(entry, act)
        if entry.kind in WRITES_A_DOCUMENT and seq not in written:
            yield Mismatch(Code.ENTRY_DIGEST, REFERENCE_BOOK, entry.place, f"{entry.kind}: nothing is there")
        if act is not None:
            for law in ACT_LAWS:
                yield from law(act, references)
        on_act(seq)
    yield from acts.no_two_booked_one_entry(references)
    yield from changes.check(references, entries)
    yield from bindings_exist(references)
    yield from sheets_state_their_base(references)
    yield from sheets_are_what_was_approved(references, entries)
    yield from people.check_keys(references)
    yield from people.switches_begin_off(references)
    yield from change_policies.first_version_is_as_shipped(references)
    yield from change_policies.versions_are_what_was_approved(references)
    yield from withholding.versions_are_what_was_approved(references, entries)
    yield from claims.versions_are_what_was_approved(references)


def documents(references: References) -> Iterator[Document]:
    """Write every reference document as the facts that its act shows."""
    for row in references.casinos.values():
        recorded = facts.facts_of_casino(Casino(row.casino_id, row.name, row.zone, row.day_starts))
        yield Document(f"casino {row.casino_id}", row.entry_seq, EntryKind.CASINO_ADDED, recorded)
    for row in references.tables.values():
        recorded = facts.facts_of_table(
            table_id=row.table_id, casino_id=row.casino_id, game=row.game, jackpot_id=row.jackpot_id
        )
        yield Document(f"table {row.table_id}", row.entry_seq, EntryKind.TABLE_ADDED, recorded)
    yield from people.documents_of_people(references)
    for (base, number), row in references.sheet_rows.items():
        recorded = facts.facts_of_sheet(
            references.sheets[base, number], effective_at=row.effective_at, source=row.source
        )
        yield Document(f"rate sheet {base} {number}", row.entry_seq, EntryKind.RATES_PUBLISHED, recorded)
    for row in references.change_requests.values():
        recorded = facts.facts_of_change(
            request_id=row.request_id,
            kind=row.kind,
            payload=row.payload,
            base_version=row.base_version,
            to_confirm=row.to_confirm,
            approvals_due=row.approvals_due,
            expires_at=row.expires_at,
        )
        yield Document(f"change request {row.request_id}", row.entry_seq, EntryKind.CHANGE_REQUESTED, recorded)
    for row in references.change_decisions.values():
        recorded = facts.facts_of_decision(
            request_id=row.request_id,
            outcome=row.outcome,
            confirmed=row.confirmed,
            is_emergency=row.is_emergency,
            is_final=row.is_final,
            assertion=passkeys.assertion_facts(row),
        )
        kind = EntryKind.CHANGE_APPROVED if row.outcome == "approved" else EntryKind.CHANGE_REJECTED
        yield Document(f"decision of {row.checker} on {row.request_id}", row.entry_seq, kind, recorded)
    yield from exceptions.acknowledgements(references)
    for row in references.closed_periods:
        period = {"from": facts.instant(row.starts_at), "to": facts.instant(row.ends_at)}
        recorded = {**period, "reports": row.reports}
        yield Document(f"period to {period['to']}", row.entry_seq, EntryKind.PERIOD_CLOSED, recorded)
    for number, (entry_seq, digest) in references.seals.items():
        recorded = seals.facts_of(number=number, digest=digest)
        yield Document(f"seal {number}", entry_seq, EntryKind.BOOKS_SEALED, recorded)
    yield from change_policies.documents(references)
    yield from passkeys.documents(references)
    yield from withholding.documents(references)
    yield from claims.documents(references)
    for row in references.emergency_switches[1:]:
        recorded = facts.facts_of_emergency_switch(is_on=row.is_on)
        yield Document(f"emergency switch {row.entry_seq}", row.entry_seq, EntryKind.EMERGENCY_SWITCHED, recorded)


def acts_have_their_entries(references: References) -> Found:
    """Each act was booked in the reference book."""
    for seq in references.index.without_entry:
        yield Mismatch(Code.DOCUMENT_WITHOUT_ENTRY, REFERENCE_BOOK, f"act {seq}", f"there is no entry {seq}")


def entry_recorded_its_act(entry: BookedEntry, act: Row[Any] | None) -> Found:
    """An entry of the reference book is an act whose row says what the entry recorded, and moves no money."""
    if entry.kind not in ACT_KINDS or entry.round_key is not None:
        yield Mismatch(Code.ENTRY_KIND, entry.book, entry.place, f"a {entry.kind} does not belong here")
    elif act is None or digests.digest_of_booked(_entry(entry, act), entry.content) != entry.digest:
        detail = f"{entry.kind}: its act {'is not there' if act is None else 'says something else'}"
        yield Mismatch(Code.ENTRY_DIGEST, entry.book, entry.place, detail)
    if entry.lines:
        yield Mismatch(Code.ENTRY_POSTINGS, entry.book, entry.place, f"a {entry.kind} moves no money")
    yield from figures.act_comes_to_payments_alone(entry)


def _entry(entry: BookedEntry, row: Row[Any]) -> Entry:
    recorded = facts.facts_of_act(
        request_id=row.request_id,
        decides=row.decides,
        subject=row.subject,
        jackpot_id=row.jackpot_id,
        reason=row.reason,
        request=row.request,
        before=row.before,
        after=row.after,
        effects=row.effects,
    )
    return Entry(
        book=entry.book,
        kind=EntryKind(entry.kind),
        principal=entry.principal,
        received_at=entry.received_at,
        facts=entry.facts,
        in_rows=recorded,
    )


def documents_were_written(references: References, entries: Mapping[int, BookedEntry], written: set[int]) -> Found:
    """Each document was written by one act, which shows it as it is; notes the seqs of these acts."""
    for document in documents(references):
        entry, act = entries.get(document.seq), references.acts.get(document.seq)
        if entry is None or act is None or entry.kind != document.kind:
            detail = f"entry {document.seq} is no {document.kind}"
            yield Mismatch(Code.DOCUMENT_WITHOUT_ENTRY, REFERENCE_BOOK, document.name, detail)
        elif document.seq in written:
            detail = f"entry {document.seq} recorded another"
            yield Mismatch(Code.DOCUMENT_WITHOUT_ENTRY, REFERENCE_BOOK, document.name, detail)
        else:
            written.add(document.seq)
            if not is_written_alike(document.facts, act.after):
                detail = f"{document.kind}: {document.name} is there, and not as it was recorded"
                yield Mismatch(Code.ENTRY_DIGEST, REFERENCE_BOOK, entry.place, detail)


ACT_LAWS: Final = (acts.effects_are_due, people.act_was_of_one_who_may)
"""Each act by itself."""

WRITES_A_DOCUMENT = frozenset(
    {
        EntryKind.CASINO_ADDED,
        EntryKind.TABLE_ADDED,
        EntryKind.PRINCIPAL_ADDED,
        EntryKind.KEY_CREATED,
        EntryKind.PASSKEY_REGISTERED,
        EntryKind.PASSKEY_REVOKED,
        EntryKind.RATES_PUBLISHED,
        EntryKind.CHANGE_REQUESTED,
        EntryKind.CHANGE_APPROVED,
        EntryKind.CHANGE_REJECTED,
        EntryKind.EXCEPTION_ACKNOWLEDGED,
        EntryKind.PERIOD_CLOSED,
        EntryKind.BOOKS_SEALED,
        EntryKind.EMERGENCY_SWITCHED,
        EntryKind.CHANGE_POLICY_CHANGED,
        EntryKind.WITHHOLDING_CHANGED,
        EntryKind.CASINO_CLAIMS_CHANGED,
    }
)
"""The acts that write a row of their own in a reference table."""


def bindings_exist(references: References) -> Found:
    """The casinos and jackpots that tables name exist."""
    for row in references.tables.values():
        if row.casino_id not in references.casinos:
            yield _unknown(Code.TABLE_BINDING, f"table {row.table_id}", f"casino {row.casino_id}")
        if row.jackpot_id is not None and row.jackpot_id not in references.jackpots:
            yield _unknown(Code.TABLE_BINDING, f"table {row.table_id}", f"jackpot {row.jackpot_id}")


def _unknown(code: Code, place: str, missing: str) -> Mismatch:
    return Mismatch(code, REFERENCE_BOOK, place, f"there is no {missing}")


def sheets_state_their_base(references: References) -> Found:
    """Rates belong to a sheet, and a sheet states its base currency at 1."""
    for (base, number), sheet in references.sheets.items():
        place = f"rate sheet {base} {number}"
        if (base, number) not in references.sheet_rows:
            yield Mismatch(Code.SHEET_RATES, REFERENCE_BOOK, place, "has rates, and is not there")
        elif base not in sheet.rates or sheet.rates[base].base_per_unit != 1:
            yield Mismatch(Code.SHEET_RATES, REFERENCE_BOOK, place, f"does not state {base} at 1")
