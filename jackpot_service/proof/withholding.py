"""Whether each withholding rule is what two people asked for, and what it made due of an award."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain import held_awards, posting_rules, withholding
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.held_awards import MadeAward
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.payments import Payment
from jackpot_service.domain.withholding import VersionedRule
from jackpot_service.ledger import replay
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof.decoding import UNDERIVABLE
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot
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
            change = SetWithholding.read(request.payload).completed(Conditions(entry.booked_at, request.request_id))
            before = last[change.casino_id, change.currency]
            made = last[change.casino_id, change.currency] = change.decide(before)
            expected = change.facts_before(before), withholding.facts_of(change.casino_id, *made)
        except UNDERIVABLE as error:
            yield _mismatch(request.request_id, f"act {act.seq}: {type(error).__name__}")
            continue
        if (act.before, act.after) != expected:
            yield _mismatch(request.request_id, f"act {act.seq} shows {act.before} and {act.after}, due was {expected}")


def reasons_against(
    act: Row[Any], award: MadeAward, payment: Payment, round_: RoundDocuments, references: References
) -> Iterator[str]:
    """Say why a payment could not withhold what it did when its act was booked."""
    if not 0 <= payment.withheld_minor <= payment.amount_minor:
        yield f"{payment.withheld_minor} of {payment.amount_minor} withheld"
    if act.kind != EntryKind.AWARD_PAID or not payment.withheld_minor:
        return
    before_minor = sum(
        row.withheld_minor
        for row in round_.of("payments")
        if (row.bet_id, row.tier, row.correction) == award.key and row.act_seq < act.seq
    )
    due_minor = _due_minor(act.seq, award, round_, references)
    if before_minor + payment.withheld_minor > due_minor:
        yield f"{before_minor + payment.withheld_minor} withheld, due was {due_minor}"


def is_booked(  # noqa: PLR0917  all that the entry follows from
    act: Row[Any],
    award: MadeAward,
    withheld_minor: int,
    round_: RoundDocuments,
    jackpot: Jackpot,
    entries: Mapping[int, BookedEntry],
) -> Found:
    """The entry that a payment, or its reversal, booked for what it withheld: recorded and moved just that."""
    recorded = held_awards.facts_of_withholding(round_.round, award, withheld_minor)
    sheet = jackpot.sheet(round_.round.rate_sheet)
    postings = posting_rules.for_withholding(
        withheld_minor, award.currency, casino_id=round_.round.casino_id, sheet=sheet
    )
    for effect in act.effects:
        if effect.get("kind") != EntryKind.AMOUNT_WITHHELD:
            continue  # Named by the check of effects.
        if effect.get("recorded") != recorded:
            detail = f"recorded {effect.get('recorded')}, due was {recorded}"
            yield Mismatch(Code.ACT_RECORD, jackpot.jackpot_id, f"act {act.seq}", detail)
        entry = entries.get(effect.get("seq"))
        if entry is not None and entry.lines != replay.lines_of(postings):
            detail = f"{entry.kind}: booked {entry.lines}, due was {replay.lines_of(postings)}"
            yield Mismatch(Code.ENTRY_POSTINGS, jackpot.jackpot_id, entry.place, detail)


def _due_minor(seq: int, award: MadeAward, round_: RoundDocuments, references: References) -> int:
    """The due amount of an award by the versions that acts before this one had made; 0 where there was no rule."""
    versions = [
        rule_of(row)
        for row in references.withholding_rules
        if (row.casino_id, row.currency) == (round_.round.casino_id, award.currency) and row.entry_seq < seq
    ]
    rule = withholding.in_force(versions, opened_at=round_.round.opened_at)
    if rule is None:
        return 0
    [stake_minor] = [booked_bet.bet.stake_minor for booked_bet in round_.bets if booked_bet.bet.bet_id == award.bet_id]
    return withholding.withholding_of(rule, amount_minor=award.amount_minor, stake_minor=stake_minor).due_minor


def _mismatch(request_id: str, detail: str) -> Mismatch:
    return Mismatch(Code.CHANGE_DONE, REFERENCE_BOOK, f"change request {request_id}", detail)
