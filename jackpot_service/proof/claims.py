"""Whether casinos' claims are what two people set, and whether each forfeited award was unclaimed then."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain.awards import AwardStep, state_of
from jackpot_service.domain.claims import NEVER_SET, CasinoClaims
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.held_awards import MadeAward
from jackpot_service.domain.journal import EntryKind
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof import acts, corrections, payments
from jackpot_service.proof.decoding import UNDERIVABLE
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot, life_before
from jackpot_service.proof.references import Document, References
from jackpot_service.records.claims import claims_of
from jackpot_service.usecases.acts import Done
from jackpot_service.usecases.changes.award_forfeiture import ClaimedAward, ForfeitAward
from jackpot_service.usecases.changes.casino_claims import SetCasinoClaims


def documents(references: References) -> Iterator[Document]:
    """Write each version as the facts that its act shows."""
    for row in references.casino_claims:
        recorded = {
            "casino_id": row.casino_id,
            "version": row.version,
            "claim_days": row.claim_days,
            "forfeited_to": row.forfeited_to,
        }
        name = f"claims {row.version} of casino {row.casino_id}"
        yield Document(name, row.entry_seq, EntryKind.CASINO_CLAIMS_CHANGED, recorded)


def versions_are_what_was_approved(references: References) -> Found:
    """Each act that set claims shows those before, and after them what was asked for; of a casino that is there."""
    before: defaultdict[str, CasinoClaims] = defaultdict(lambda: NEVER_SET)
    for row in references.casino_claims:
        act, place = references.acts.get(row.entry_seq), f"claims {row.version} of casino {row.casino_id}"
        request = None if act is None else references.change_requests.get(act.decides)
        if row.casino_id not in references.casinos:
            yield Mismatch(Code.CHANGE_DONE, REFERENCE_BOOK, place, "there is no such casino")
        if act is None or request is None:
            continue  # Named by the check of documents, or of changes.
        try:
            change = SetCasinoClaims.read(request.payload)
            shown = before[change.casino_id].facts_of(change.casino_id)
            after = change.decide(before[change.casino_id])
        except UNDERIVABLE as error:
            yield Mismatch(Code.CHANGE_DONE, REFERENCE_BOOK, place, f"act {act.seq}: {type(error).__name__}")
            continue
        expected = (shown, after.facts_of(change.casino_id))
        if (act.before, act.after) != expected:
            yield Mismatch(
                Code.CHANGE_DONE, REFERENCE_BOOK, place, f"act {act.seq} shows {act.after}, due was {expected}"
            )
        before[change.casino_id] = after


def claims_at(references: References, casino_id: str, seq: int) -> CasinoClaims:
    """Return what was in force at a casino for the act of a seq. Raises: ValueError for what cannot be read."""
    rows = [row for row in references.casino_claims if row.casino_id == casino_id and row.entry_seq < seq]
    return claims_of(rows[-1]) if rows else NEVER_SET


def forfeiture_is_due(
    row: Row[Any],
    made: Sequence[MadeAward],
    round_: RoundDocuments,
    jackpot: Jackpot,
    entries: Mapping[int, BookedEntry],
) -> Found:
    """Decide again, of the award that was asked for, from where it stood; what is refused makes nothing due."""
    done = _decided(row, made, round_, jackpot)
    yield from acts.says(row, done.recorded, jackpot.jackpot_id)
    yield from acts.booked(row, done, jackpot.jackpot_id, entries)


def _decided(row: Row[Any], made: Sequence[MadeAward], round_: RoundDocuments, jackpot: Jackpot) -> Done:
    award, award_id = _asked_for(row, made, round_, jackpot)
    steps = [step for step in round_.of("award_steps") if payments.key_of(step) == award.key]
    before = [step for step in steps if step.act_seq is None or step.act_seq < row.seq]
    paid_minor = payments.paid_before(row.seq, round_)[award.key]
    taken = [AwardStep(step.step) for step in before]
    state = ClaimedAward(
        round=round_.round,
        sheet=jackpot.sheet(round_.round.rate_sheet),
        award=award,
        state=state_of(taken, amount_minor=award.amount_minor, paid_minor=paid_minor),
        paid_minor=paid_minor,
        last_step_at=max(step.taken_at for step in before),
        made_on=corrections.booked_on(round_, jackpot),
        claims=claims_at(jackpot.references, round_.round.casino_id, row.seq),
        life=life_before(jackpot.status_changes, row.effects[0]["seq"]),
        now=row.received_at,
    )
    try:
        return ForfeitAward(jackpot_id=jackpot.jackpot_id, award_id=award_id).decide(state)
    except LedgerError as refusal:
        return Done(EntryKind.AWARD_FORFEITED, {}, {"refused": refusal.detail})


def _asked_for(
    row: Row[Any], made: Sequence[MadeAward], round_: RoundDocuments, jackpot: Jackpot
) -> tuple[MadeAward, str]:
    """Find the award that the change request names, or else the one that the act does. Raises: LookupError."""
    by_key = {award.key: award for award in made}
    request = jackpot.references.change_requests.get(row.decides)
    if request is None:  # A forfeiture that nobody asked for is found by `changes`.
        [stated] = row.after["awards"]
        return by_key[stated["bet_id"], stated["tier"], stated["correction"]], ""
    award_id = request.payload["award_id"]
    for award_row in round_.of("awards"):
        if award_row.award_id == award_id:
            return by_key[payments.key_of(award_row)], award_id
    message = f"the round has no award {award_id}"
    raise LookupError(message)
