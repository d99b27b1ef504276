"""Whether every change request, and what became of it, is as its acts say; and whether what was approved was done."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain import facts
from jackpot_service.domain.changes import Outcome
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.facts import instant
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.rates import stated_rates
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof import people
from jackpot_service.proof.decoding import UNDERIVABLE
from jackpot_service.proof.references import References
from jackpot_service.usecases.changes.kinds import Conditions
from jackpot_service.usecases.changes.rate_sheet import ChangeRates, Sheet
from jackpot_service.usecases.changes.registry import CARRIES_OUT, KINDS

Entries = Mapping[int, BookedEntry]
Done = tuple[int, str, str | None]
"""The seq of an act, the kind of change that it carries out, and the jackpot that it is about."""

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
        stored = (row.request_id, row.subject, row.jackpot_id, row.reason, row.maker, row.made_at)
        expected = (act.request_id, act.subject, act.jackpot_id, act.reason, entry.principal, entry.received_at)
        if stored != expected:
            yield _mismatch(Code.CHANGE_RECORD, row, f"says {stored}, its act {expected}")


def decisions_are_as_their_acts_say(references: References, entries: Entries) -> Found:
    """Checker, reason and time of a decision are those of the act that recorded it, and it decides a request."""
    for row in references.change_decisions.values():
        act, entry = references.acts.get(row.entry_seq), entries.get(row.entry_seq)
        if act is None or entry is None:
            continue  # Named by the check of documents.
        stored = (row.request_id, row.reason, row.checker, row.decided_at)
        expected = (act.decides, act.reason, entry.principal, entry.received_at)
        if stored != expected:
            yield _mismatch(Code.CHANGE_RECORD, row, f"the decision says {stored}, its act {expected}")


def two_people_decided(references: References, _entries: Entries) -> Found:
    """A decision is another person's than the maker's, who may decide, in time; or it is marked as an emergency."""
    for row in references.change_decisions.values():
        request = references.change_requests.get(row.request_id)
        if request is None:
            yield _mismatch(Code.CHANGE_RECORD, row, "was decided, and was never asked for")
            continue
        if row.maker != request.maker or (row.checker == request.maker) is not row.is_emergency:
            yield _mismatch(Code.CHANGE_PRINCIPAL, row, f"{request.maker} asked, {row.checker} decided")
            continue
        for why in people.reasons_against_checker(row, request, references):
            yield _mismatch(Code.CHANGE_PRINCIPAL, row, f"{row.checker} decided: {why}")
        if not request.made_at <= row.decided_at < request.expires_at:
            yield _mismatch(Code.CHANGE_RECORD, row, f"decided at {instant(row.decided_at)}, when it could not be")


def as_many_approved_as_were_due(references: References, _entries: Entries) -> Found:
    """One decision of a request is final, the last: a rejection, an emergency, or the last approval that was due."""
    by_request: defaultdict[str, list[Row[Any]]] = defaultdict(list)
    for row in sorted(references.change_decisions.values(), key=attrgetter("entry_seq")):
        by_request[row.request_id].append(row)
    for request_id, rows in by_request.items():
        request = references.change_requests.get(request_id)
        if request is None:
            continue  # Named by `two_people_decided`.
        stored = [row.is_final for row in rows]
        expected = [
            row.outcome == Outcome.REJECTED or row.is_emergency or number >= request.approvals_due
            for number, row in enumerate(rows, start=1)
        ]
        if stored != expected or any(stored[:-1]):
            detail = f"{len(rows)} decided, final are {stored}; {request.approvals_due} approvals were due"
            yield _mismatch(Code.CHANGE_PRINCIPAL, request, detail)


def what_was_approved_was_done(references: References, _entries: Entries) -> Found:
    """An approval is followed by one act of its kind on its jackpot, and such an act follows its approval."""
    done: defaultdict[str, list[Done]] = defaultdict(list)
    for act in _acts_of_changes(references):
        if act.decides is not None and act.kind is not None and act.kind not in DECISIONS:
            kind = CARRIES_OUT.get(act.kind)
            done[act.decides].append((act.seq, act.kind if kind is None else kind.name, act.jackpot_id))
    final = {row.request_id: row for row in references.change_decisions.values() if row.is_final}
    for request_id in sorted(done.keys() | final.keys()):
        expected = _expected_acts(references.change_requests.get(request_id), final.get(request_id))
        if done[request_id] != expected:
            detail = f"was done by {_listed(done[request_id])}, due was {_listed(expected)}"
            yield Mismatch(Code.CHANGE_DONE, REFERENCE_BOOK, f"change request {request_id}", detail)


def _expected_acts(request: Row[Any] | None, decision: Row[Any] | None) -> list[Done]:
    if request is None or decision is None or decision.outcome != Outcome.APPROVED:
        return []
    return [(decision.entry_seq + 1, request.kind, request.jackpot_id)]


def _listed(done: Sequence[Done]) -> str:
    return ", ".join(f"act {seq} ({kind}, {jackpot_id or 'no jackpot'})" for seq, kind, jackpot_id in done) or "none"


def what_was_done_was_asked_for(references: References, _entries: Entries) -> Found:
    """An act that carries out a change request shows what its payload says."""
    for act in _acts_of_changes(references):
        request = references.change_requests.get(act.decides)
        if request is not None and act.kind in CARRIES_OUT:
            for wrong in _not_as_asked(request, act):
                yield _mismatch(Code.CHANGE_DONE, request, f"act {act.seq}: {wrong}")


def _not_as_asked(request: Row[Any], act: Row[Any]) -> Iterator[str]:
    """Say in what an act does not show what its change request asked for. The rest: see `proof.acts`."""
    try:
        kind = KINDS.get(request.kind)
        requested = {"jackpot_id": request.payload.get("jackpot_id"), **(kind.stated(request.payload) if kind else {})}
        shown = {**act.after, **act.after.get("round", {}), "jackpot_id": act.jackpot_id}
    except UNDERIVABLE as error:
        yield f"cannot be compared: {type(error).__name__}: {error}"
        return
    for name, expected in requested.items():
        if shown.get(name) != expected:
            yield f"shows {name} {shown.get(name)}, asked for was {expected}"


def nobody_did_alone_what_takes_two(references: References, _entries: Entries) -> Found:
    """An act that needs two people was done on an approval; of rate sheets, all but the first of a base currency."""
    first_sheets = {sheet.entry_seq for (_, number), sheet in references.sheet_rows.items() if number == 1}
    for act in _acts_of_changes(references):
        if act.kind in CARRIES_OUT and act.decides is None and act.seq not in first_sheets:
            yield Mismatch(Code.CHANGE_DONE, REFERENCE_BOOK, f"act {act.seq}", f"a {act.kind} without an approval")


def _acts_of_changes(references: References) -> Iterator[Row[Any]]:
    return map(references.acts.__getitem__, references.index.of_changes)


def _mismatch(code: Code, row: Row[Any], detail: str) -> Mismatch:
    return Mismatch(code, REFERENCE_BOOK, f"change request {row.request_id}", detail)


LAWS: tuple[Callable[[References, Entries], Found], ...] = (
    requests_are_as_their_acts_say,
    decisions_are_as_their_acts_say,
    two_people_decided,
    as_many_approved_as_were_due,
    what_was_approved_was_done,
    what_was_done_was_asked_for,
    nobody_did_alone_what_takes_two,
)
"""Every change request, by itself and with its decision."""


def sheets_are_what_was_approved(references: References, entries: Mapping[int, BookedEntry]) -> Found:
    """A sheet that carries out a change request has its rates, its source and its time."""
    for (base, number), sheet in references.sheet_rows.items():
        act, entry = references.acts.get(sheet.entry_seq), entries.get(sheet.entry_seq)
        request = None if act is None else references.change_requests.get(act.decides)
        if request is None or entry is None:
            continue  # It was published by one, or lacks its act or its request, which is found elsewhere.
        wrong = _wrong(references, sheet, request, entry)
        if wrong is not None:
            detail = f"{request.request_id}, put over sheet {request.base_version}, {wrong}"
            yield Mismatch(Code.SHEET_CHANGE, REFERENCE_BOOK, f"rate sheet {base} {number}", detail)


def _wrong(references: References, sheet: Row[Any], request: Row[Any], entry: BookedEntry) -> str | None:
    """Say in what a sheet is not what was asked for; None if it is."""
    try:
        agreed = _agreed(references, request, entry)
    except UNDERIVABLE as error:
        return f"makes none: {type(error).__name__}"
    rates = stated_rates(references.sheets[sheet.base, sheet.number])
    expected = (agreed.base, agreed.rates, agreed.effective_at, facts.facts_of_rate_source(agreed.source))
    if (sheet.base, rates, sheet.effective_at, sheet.source) != expected:
        return "makes another sheet"
    return None


def _agreed(references: References, request: Row[Any], entry: BookedEntry) -> Sheet:
    """Decide again what a request makes of the sheet before: in force from its booking unless it says when."""
    number = int(request.base_version)
    request_ = ChangeRates.read(request.payload).completed(Conditions(entry.booked_at, request.request_id))
    before = stated_rates(references.sheets[request_.base, number]) if number else {}
    return request_.decide(before)
