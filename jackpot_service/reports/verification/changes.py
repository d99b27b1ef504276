"""Whether every change request, and what became of it, is as its acts say; and whether what was approved was done."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.journal import EntryKind
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.reports.verification.references import References

Found = Iterator[Mismatch]
Entries = Mapping[int, BookedEntry]

TAKES_TWO = frozenset(
    {
        EntryKind.RATES_PUBLISHED,
        EntryKind.RULES_CHANGED,
        EntryKind.JACKPOT_RETIRED,
        EntryKind.ADJUSTMENT,
        EntryKind.SEED_RECOVERED,
        EntryKind.PRIZE_FUND_TRUED_UP,
        EntryKind.AWARDS_APPROVED,
        EntryKind.AWARDS_REJECTED,
        EntryKind.COMPENSATION,
        EntryKind.ROUND_CORRECTED,
        EntryKind.STATEMENT_SETTLED,
    }
)
"""The acts that carry out a change request."""

DECISIONS = frozenset({EntryKind.CHANGE_APPROVED, EntryKind.CHANGE_REJECTED})


def check(references: References, entries: Entries) -> Found:
    """Check change requests, their decisions, and what was done on them."""
    for law in LAWS:
        yield from law(references, entries)


def requests_are_as_their_acts_say(references: References, entries: Entries) -> Found:
    """Subject, reason, maker and time of a request are those of the act that recorded it."""
    for row in references.change_requests.values():
        act, entry = references.acts.get(row.entry_seq), entries.get(row.entry_seq)
        if act is None or entry is None:
            continue  # Named by the check of documents.
        found = (row.request_id, row.subject, row.jackpot_id, row.reason, row.maker, row.made_at)
        due = (act.request_id, act.subject, act.jackpot_id, act.reason, entry.principal, entry.received_at)
        if found != due:
            yield _mismatch(Code.CHANGE_RECORD, row, f"says {found}, its act {due}")


def decisions_are_as_their_acts_say(references: References, entries: Entries) -> Found:
    """Checker, reason and time of a decision are those of the act that recorded it, and it decides a request."""
    for row in references.change_decisions.values():
        act, entry = references.acts.get(row.entry_seq), entries.get(row.entry_seq)
        if act is None or entry is None:
            continue  # Named by the check of documents.
        found = (row.request_id, row.reason, row.checker, row.decided_at)
        due = (act.decides, act.reason, entry.principal, entry.received_at)
        if found != due:
            yield _mismatch(Code.CHANGE_RECORD, row, f"the decision says {found}, its act {due}")


def two_people_decided(references: References, _entries: Entries) -> Found:
    """A decision is another person's than the maker's, in time; or it is marked as an emergency."""
    for row in references.change_decisions.values():
        request = references.change_requests.get(row.request_id)
        if request is None:
            yield _mismatch(Code.CHANGE_RECORD, row, "was decided, and was never asked for")
        elif row.maker != request.maker or (row.checker == request.maker) is not row.is_emergency:
            yield _mismatch(Code.CHANGE_PEOPLE, row, f"{request.maker} asked, {row.checker} decided")
        elif not request.made_at <= row.decided_at < request.expires_at:
            yield _mismatch(Code.CHANGE_RECORD, row, f"decided at {row.decided_at}, when it could not be")


def what_was_approved_was_done(references: References, entries: Entries) -> Found:
    """An approval is followed by the act that does the change, and an act that does one follows its approval."""
    done: defaultdict[str, list[int]] = defaultdict(list)
    for seq, act in references.acts.items():
        if act.decides is not None and seq in entries and entries[seq].kind not in DECISIONS:
            done[act.decides].append(seq)
    for request_id in sorted(done.keys() | references.change_decisions.keys()):
        row = references.change_decisions.get(request_id)
        due = [row.entry_seq + 1] if row is not None and row.outcome == "approved" else []
        if done[request_id] != due:
            detail = f"was done by acts {done[request_id]}, due was {due or 'none'}"
            yield Mismatch(Code.CHANGE_DONE, REFERENCE_BOOK, f"change request {request_id}", detail)


def nobody_did_alone_what_takes_two(references: References, entries: Entries) -> Found:
    """What needs two people was done on an approval; of rate sheets, all but the first of a base currency."""
    for seq, act in references.acts.items():
        kind = entries[seq].kind if seq in entries else None
        is_first_sheet = kind == EntryKind.RATES_PUBLISHED and act.before is None
        if kind in TAKES_TWO and act.decides is None and not is_first_sheet:
            yield Mismatch(Code.CHANGE_DONE, REFERENCE_BOOK, f"act {seq}", f"a {kind} without an approval")


def _mismatch(code: Code, row: Row[Any], detail: str) -> Mismatch:
    return Mismatch(code, REFERENCE_BOOK, f"change request {row.request_id}", detail)


LAWS: tuple[Callable[[References, Entries], Found], ...] = (
    requests_are_as_their_acts_say,
    decisions_are_as_their_acts_say,
    two_people_decided,
    what_was_approved_was_done,
    nobody_did_alone_what_takes_two,
)
"""Every change request, by itself and with its decision."""
