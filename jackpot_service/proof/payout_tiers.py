"""The payout tiers of a round's awards and the evidence for them, as the proof finds them again."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain import held_awards
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.held_awards import MadeAward
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.payout_tiers import Evidence, PayoutTier, is_any_reached
from jackpot_service.domain.principals import Role
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.proof import acts, people
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot


def tiers_of(round_: RoundDocuments, jackpot: Jackpot) -> Sequence[PayoutTier]:
    """Return the payout tiers of the cycle in which a round was settled."""
    settled = next(entry for entry in round_.entries if entry.kind == EntryKind.RESULT)
    return jackpot.rules[jackpot.cycle_at(settled).rules_version].payout_tiers


def evidence_before(act: Row[Any], round_: RoundDocuments, jackpot: Jackpot, *, after: int = 0) -> set[Evidence]:
    """Return the kinds of evidence that were recorded before an act, and after another."""
    recorded = [act_ for act_ in _recorded(round_, jackpot) if after < act_.seq < act.seq]
    return {Evidence(act_.after["evidence"]) for act_ in recorded}


def evidence_is_of_its_round(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """Each act that recorded evidence shows its round as it is, and is of nobody who made a key of it."""
    recorded = _recorded(round_, jackpot)
    for act in recorded:
        kind = Evidence(act.after["evidence"])
        statement, sha256 = act.after["statement"], act.after["sha256"]
        expected = held_awards.facts_of_evidence(round_.round, kind, statement=statement, sha256=sha256)
        yield from acts.says(act, expected, jackpot.jackpot_id)
    yield from people.nobody_released_what_an_own_key_won(recorded, round_, jackpot.references)


def enough_approve(act: Row[Any], recorded: Facts, jackpot: Jackpot) -> Found:
    """So many people were to approve a change as the payout tiers ask for; `changes` finds whether they did."""
    request = jackpot.references.change_requests.get(act.decides)
    if request is None or "refused" in recorded:
        return  # Named by the check of changes, or of what the act says.
    expected = recorded["requirement"]["approvals"] if "requirement" in recorded else 1
    if request.approvals_due != expected:
        detail = f"act {act.seq}: {request.approvals_due} were to approve it, {expected} was due"
        yield Mismatch(Code.CHANGE_PRINCIPAL, jackpot.jackpot_id, f"change request {act.decides}", detail)


def a_person_paid(act: Row[Any], awards: Sequence[MadeAward], round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """No table's key recorded the payment of awards that reach a payout tier."""
    payer = jackpot.references.principals.get(act.principal)
    if payer is not None and payer.role == Role.TABLE and is_any_reached(tiers_of(round_, jackpot), awards):
        detail = f"act {act.seq} by {act.principal}: somebody approves such an award"
        yield Mismatch(Code.AWARD_PRINCIPAL, jackpot.jackpot_id, round_.place, detail)


def _recorded(round_: RoundDocuments, jackpot: Jackpot) -> list[Row[Any]]:
    index = jackpot.references.index_of(jackpot.jackpot_id)
    return [jackpot.references.acts[seq] for seq in index.evidence.get(round_.round.round_key, ())]
