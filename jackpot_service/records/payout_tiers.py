"""The payout tiers under which a round's awards were held, and the evidence that people recorded for them."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from jackpot_service.database.models import ActRow, CycleRow
from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.payout_tiers import Evidence, PayoutTier
from jackpot_service.domain.rounds import Round
from jackpot_service.records import immutable, verdicts
from jackpot_service.records.acts import RecordedAct, recorded_acts


@dataclass(frozen=True, slots=True)
class RecordedEvidence:
    """
    A person's evidence, as it was recorded; the SHA-256 is that of a file that is kept elsewhere.

    `principal` is None for a reader who is not to know.
    """

    kind: Evidence
    statement: str
    sha256: str | None
    principal: str | None
    recorded_at: datetime
    act_seq: int


def tiers_of_round(session: Session, round_: Round) -> tuple[PayoutTier, ...]:
    """Return the payout tiers in force when a settled round was settled: those of its cycle."""
    with pipelined(session) as pipe:
        cursor = verdicts.send_ending(pipe, round_)
    cycle = verdicts.ending_of(cursor)["settlement"]["cycle"]
    version = session.execute(
        select(CycleRow.rules_version).where(CycleRow.jackpot_id == round_.jackpot_id, CycleRow.cycle == cycle)
    ).scalar_one()
    return immutable.rules(session, round_.jackpot_id, version).payout_tiers


def evidence_of(session: Session, round_: Round) -> tuple[RecordedEvidence, ...]:
    """Return the evidence recorded for a round's awards, in the order of the acts."""
    question = recorded_acts().where(
        ActRow.jackpot_id == round_.jackpot_id,
        ActRow.after["round"]["round_key"] == func.to_jsonb(round_.round_key),
        ActRow.after.has_key("evidence"),
    )
    rows = session.execute(question.order_by(ActRow.seq))
    return tuple(_evidence(RecordedAct(*row)) for row in rows)


def _evidence(act: RecordedAct) -> RecordedEvidence:
    stated = act.after
    return RecordedEvidence(
        kind=Evidence(stated["evidence"]),
        statement=stated["statement"],
        sha256=stated["sha256"],
        principal=act.principal,
        recorded_at=act.received_at,
        act_seq=act.seq,
    )
