"""A person records evidence for the awards of a round, before others make them payable."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jackpot_service.database.transactions import Session
from jackpot_service.domain import held_awards
from jackpot_service.domain.awards import UNPAID, AwardState, AwardStateConflict
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.payout_tiers import Evidence, Requirement, is_any_reached, missing_evidence, requirement_of
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.records import awards, corrections, immutable, payout_tiers, rounds
from jackpot_service.records.payout_tiers import RecordedEvidence
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases import acts, keys
from jackpot_service.usecases.acts import Act

WAITING = frozenset({AwardState.HELD, AwardState.REJECTED})
"""The states of an award that needs evidence before it is payable."""

PAID = frozenset({AwardState.PART_PAID, AwardState.PAID})
"""The states of an award of which something was paid, so that evidence comes too late."""


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

    `requirement` is None where no award is held or rejected. `is_over` says that all awards that need it were paid.
    """

    round: Round
    requirement: Requirement | None
    recorded: Sequence[RecordedEvidence]
    is_over: bool = False
    is_replay: bool = False

    @property
    def missing(self) -> tuple[Evidence, ...]:
        """The kinds of evidence that nobody has recorded."""
        return (
            ()
            if self.requirement is None
            else missing_evidence(self.requirement, {recorded_evidence.kind for recorded_evidence in self.recorded})
        )


def record_evidence(session: Session, command: RecordEvidence) -> RoundEvidence:
    """
    Record evidence for the awards of a settled round: those that wait, or those of a correction to come.

    Raises: UserRequired; UnknownTable, also for another casino's; NoJackpot; UnknownRound; RequestConflict; KeyMaker;
    AwardStateConflict for a round that is not settled, or whose awards were paid after their evidence.
    """
    acts.lock(session)
    act = command.act
    acts.require_user(act)
    round_evidence = evidence_of(session, act.principal, command.table_id, command.round_id)
    round_ = round_evidence.round
    evidence = held_awards.facts_of_evidence(round_, command.kind, statement=command.statement, sha256=command.sha256)
    if acts.find_replay(session, act, EntryKind.EVIDENCE_RECORDED, evidence) is not None:
        return RoundEvidence(round_, round_evidence.requirement, round_evidence.recorded, is_replay=True)
    if round_.state is not RoundState.SETTLED or round_evidence.is_over:
        why = "was paid" if round_evidence.is_over else "is not settled"
        message = f"Round {round_.table_id}/{round_.round_id} {why}: evidence changes nothing there."
        raise AwardStateConflict(message, table_id=round_.table_id, round_id=round_.round_id)
    keys.require_not_maker(session, act, jackpot_id=round_.jackpot_id, round_key=round_.round_key)
    acts.record(
        session,
        act,
        EntryKind.EVIDENCE_RECORDED,
        subject=f"round {round_.table_id}/{round_.round_id}",
        after=evidence,
        request=evidence,
        jackpot_id=round_.jackpot_id,
    )
    return RoundEvidence(round_, round_evidence.requirement, _recorded(session, act.principal, round_))


def evidence_of(session: Session, principal: Principal, table_id: str, round_id: str) -> RoundEvidence:
    """
    Return what the waiting awards of a round need, and what was recorded.

    Raises: UnknownTable, also for another casino's; NoJackpot; UnknownRound.
    """
    table, jackpot_id = immutable.table_with_jackpot(session, principal, table_id)
    round_ = rounds.require(session, jackpot_id, RoundName(table.table_id, round_id))
    if round_.state is not RoundState.SETTLED:
        return RoundEvidence(round_, None, ())
    judged = awards.awards_of_verdicts(session, round_, corrections=corrections.count(session, round_))
    tiers = payout_tiers.tiers_of_round(session, round_)
    waiting, paid = ([awards.made(award) for award in judged if award.state in states] for states in (WAITING, PAID))
    return RoundEvidence(
        round_,
        requirement_of(tiers, waiting) if waiting else None,
        _recorded(session, principal, round_),
        is_over=is_any_reached(tiers, paid) and not any(award.state in UNPAID for award in judged),
    )


def _recorded(session: Session, reader: Principal, round_: Round) -> Sequence[RecordedEvidence]:
    """Return the evidence of a round; who recorded it is for the house alone."""
    recorded = payout_tiers.evidence_of(session, round_)
    return recorded if reader.casino_id is None else [replace(evidence, principal=None) for evidence in recorded]
