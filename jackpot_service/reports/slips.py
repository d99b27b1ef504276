"""The slip of an award: the calculation from the stake to the amount, the evidence, and what was paid of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from jackpot_service.database.transactions import Session
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.principals import Principal
from jackpot_service.records import awards, payout_tiers, references, slips
from jackpot_service.records.awards import AwardRecord
from jackpot_service.records.payout_tiers import RecordedEvidence
from jackpot_service.records.slips import SlipPrint
from jackpot_service.reports.award_basis import AwardBasis, basis_of


class UnknownSlip(NotFound, code="slip-unknown", title="Unknown slip"):
    """The slip of this award was never printed."""


@dataclass(frozen=True, slots=True)
class Slip:
    """An award with the figures that it was made of, as its slip shows them."""

    record: AwardRecord
    printed: SlipPrint
    casino: str
    made_of: AwardBasis
    evidence: Sequence[RecordedEvidence]


def slip_of(session: Session, principal: Principal, award_id: str, *, copy: int | None = None) -> Slip:
    """
    Read the slip of an award, with what was paid of it by now, as it was printed last, or as a copy of it was.

    Raises: UnknownAward, also for another casino's; UnknownSlip.
    """
    record = awards.visible(session, principal, award_id)
    printed = slips.last_print(session, record, copy=copy)
    if printed is None:
        message = f"The slip of award {award_id} was never printed."
        raise UnknownSlip(message, award_id=award_id)
    casino = references.casino(session, record.casino_id)
    made_of = basis_of(session, record)
    return Slip(
        record=record,
        printed=printed,
        casino=record.casino_id if casino is None else casino.name,
        made_of=made_of,
        evidence=payout_tiers.evidence_of(session, made_of.round),
    )
