"""Whether each withholding rule is what two people asked for, and what it made due of an award."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from jackpot_service.domain import withholding
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.withholding import VersionedRule
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof.decoding import UNDERIVABLE
from jackpot_service.proof.references import Document, References
from jackpot_service.records.withholding_rules import rule_of
from jackpot_service.usecases.changes.casino_withholding import SetWithholding
from jackpot_service.usecases.changes.kinds import Conditions


def documents(references: References) -> Iterator[Document]:
    """Write each version as the facts that its act shows; one that no rule can be shows nothing."""
    for row in references.withholding_rules:
        name = f"withholding rule {row.version} of {row.casino_id} in {row.currency}"
        try:
            recorded = withholding.facts_of(row.casino_id, *rule_of(row))
        except UNDERIVABLE:
            recorded = {}
        yield Document(name, row.entry_seq, EntryKind.WITHHOLDING_CHANGED, recorded)


def versions_are_what_was_approved(references: References, entries: Mapping[int, BookedEntry]) -> Found:
    """Each version is the next of its casino and currency, made of what was asked for; its act shows the one before."""
    last: defaultdict[tuple[str, str], VersionedRule | None] = defaultdict(lambda: None)
    for row in sorted(references.withholding_rules, key=lambda row: row.entry_seq):
        act, entry = references.acts.get(row.entry_seq), entries.get(row.entry_seq)
        request = None if act is None else references.change_requests.get(act.decides)
        if act is None or entry is None or request is None:
            continue  # Named by the check of documents, or of changes.
        try:
            asked = SetWithholding.read(request.payload).completed(Conditions(entry.booked_at, request.request_id))
            before = last[asked.casino_id, asked.currency]
            made = last[asked.casino_id, asked.currency] = asked.decide(before)
            due = asked.facts_before(before), withholding.facts_of(asked.casino_id, *made)
        except UNDERIVABLE as error:
            yield _mismatch(request.request_id, f"act {act.seq}: {type(error).__name__}")
            continue
        if (act.before, act.after) != due:
            yield _mismatch(request.request_id, f"act {act.seq} shows {act.before} and {act.after}, due was {due}")


def _mismatch(request_id: str, detail: str) -> Mismatch:
    return Mismatch(Code.CHANGE_DONE, REFERENCE_BOOK, f"change request {request_id}", detail)
