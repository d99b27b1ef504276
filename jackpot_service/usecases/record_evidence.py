"""A person records evidence for the awards of a round, before others make them payable."""

from collections.abc import Sequence
from dataclasses import dataclass

from jackpot_service.database.transactions import Session
from jackpot_service.domain import held_awards
from jackpot_service.domain.awards import AwardState, AwardStateConflict
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.lives import UserRequired
from jackpot_service.domain.payout_tiers import Evidence, Requirement, missing_evidence, requirement_of
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.records import awards, corrections, immutable, payout_tiers, rounds
from jackpot_service.records.payout_tiers import RecordedEvidence
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act

WAITING = frozenset({AwardState.HELD, AwardState.STOPPED, AwardState.REJECTED})
"""The states of an award that evidence may still help."""


@dataclass(frozen=True, slots=True)
class RecordEvidence:
    """
    The evidence of a round. The act carries the request id.

    `statement` says what was seen, and where; `sha256` is that of a file which is kept elsewhere.
    """

    act: Act
    table_id: str
    round_id: str
    kind: Evidence
    statement: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class RoundEvidence:
    """
    The demands on a round's waiting awards, and the evidence recorded; whether this call repeats an earlier one.

    `requirement` is None where no award waits.
    """

    round: Round
    requirement: Requirement | None
    recorded: Sequence[RecordedEvidence]
    is_replay: bool = False

    @property
    def missing(self) -> tuple[Evidence, ...]:
        """The kinds of evidence that nobody has recorded."""
        return (
            () if self.requirement is None else missing_evidence(self.requirement, {one.kind for one in self.recorded})
        )


def record_evidence(session: Session, command: RecordEvidence) -> RoundEvidence:
    """
    Record evidence for the awards of a settled round of which at least one is held, stopped or rejected.

    Raises: UserRequired; UnknownTable, also for another casino's; NoJackpot; UnknownRound; RequestConflict;
    AwardStateConflict where no award waits for it.
    """
    acts.lock(session)
    act = command.act
    if act.principal.is_service_account:
        message = f"{act.principal.name} is a service account."
        raise UserRequired(message)
    found = evidence_of(session, act.principal, command.table_id, command.round_id)
    round_ = found.round
    evidence = held_awards.of_evidence(round_, command.kind, statement=command.statement, sha256=command.sha256)
    if acts.find_replay(session, act, EntryKind.EVIDENCE_RECORDED, evidence) is not None:
        return RoundEvidence(round_, found.requirement, found.recorded, is_replay=True)
    if found.requirement is None:
        message = f"No award of round {round_.table_id}/{round_.round_id} is held, stopped or rejected."
        raise AwardStateConflict(message, table_id=round_.table_id, round_id=round_.round_id)
    acts.record(
        session,
        act,
        EntryKind.EVIDENCE_RECORDED,
        subject=f"round {round_.table_id}/{round_.round_id}",
        after=evidence,
        request=evidence,
        jackpot_id=round_.jackpot_id,
    )
    return RoundEvidence(round_, found.requirement, payout_tiers.evidence_of(session, round_))


def evidence_of(session: Session, principal: Principal, table_id: str, round_id: str) -> RoundEvidence:
    """
    Return what the waiting awards of a round need, and what was recorded.

    Raises: UnknownTable, also for another casino's; NoJackpot; UnknownRound.
    """
    table, jackpot_id = immutable.table_with_jackpot(session, principal, table_id)
    round_ = rounds.require(session, jackpot_id, RoundName(table.table_id, round_id))
    if round_.state is not RoundState.SETTLED:
        return RoundEvidence(round_, None, ())
    judged = awards.of_verdicts(session, round_, corrections=corrections.count(session, round_))
    waiting = [awards.made(one) for one in judged if one.state in WAITING]
    requirement = requirement_of(payout_tiers.of_round(session, round_), waiting) if waiting else None
    return RoundEvidence(round_, requirement, payout_tiers.evidence_of(session, round_))
