"""The rights of somebody at an award as it stands: its page offers nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jackpot_service.api.awards import PAYERS, STOPPERS
from jackpot_service.api.evidence import RECORDERS
from jackpot_service.database.transactions import Session
from jackpot_service.domain.awards import FOLLOWING, TO_PAY, AwardState, AwardStep, last_step
from jackpot_service.domain.held_awards import Decision
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.pages.change_links import Links, can_be_unpaid
from jackpot_service.records import change_policies, corrections
from jackpot_service.records.awards import AwardRecord
from jackpot_service.usecases import keys
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.award_forfeiture import ForfeitAward
from jackpot_service.usecases.changes.held_awards import DecideAwards
from jackpot_service.usecases.changes.payment_reversal import ReversePayment
from jackpot_service.usecases.keys import KeyMaker
from jackpot_service.usecases.print_slip import PRINTED_IN
from jackpot_service.usecases.record_evidence import RoundEvidence


@dataclass(frozen=True, slots=True)
class AwardRights:
    """
    The rights of somebody at an award.

    `requests` are labels and addresses of the forms by which two people decide on it; `reversal_of` has those of its
    payments, by reference.
    """

    may_stop: bool
    may_pay: bool
    may_record_evidence: bool
    may_print: bool
    requests: Sequence[tuple[str, str]]
    reversal_of: dict[str, str]


def rights_of(
    session: Session,
    record: AwardRecord,
    evidence: RoundEvidence,
    person: Principal,
    *,
    is_tier_reached: bool,
    at: datetime,
) -> AwardRights:
    """Return what somebody may do about an award at an instant."""
    state, is_to_pay = record.award.state, record.award.state in TO_PAY
    is_maker = _is_key_maker(session, record, person, at=at)
    may_stop = AwardStep.STOPPED in FOLLOWING[last_step(record.award.steps)]
    is_payer = person.casino_id is not None or person.role is Role.OPERATOR
    needs_evidence = evidence.requirement is not None or is_tier_reached
    links = Links(change_policies.in_force(session))
    return AwardRights(
        may_stop=person.role in STOPPERS and is_to_pay and may_stop,
        may_pay=person.role in PAYERS and is_payer and is_to_pay and not is_maker,
        may_record_evidence=person.role in RECORDERS and needs_evidence and not evidence.is_over and not is_maker,
        may_print=person.role in PAYERS and state in PRINTED_IN,
        requests=list(_requests(links, record, evidence, at=at)),
        reversal_of=_reversals(session, links, record, evidence),
    )


def _is_key_maker(session: Session, record: AwardRecord, person: Principal, *, at: datetime) -> bool:
    act = Act(person, at)
    try:
        keys.require_not_maker(session, act, jackpot_id=record.jackpot_id, round_key=record.round_key)
    except KeyMaker:
        return True
    return False


def _requests(links: Links, record: AwardRecord, evidence: RoundEvidence, *, at: datetime) -> Sequence[tuple[str, str]]:
    """List the forms of the changes that the award's state allows."""
    labels: list[tuple[str, Decision]] = []
    match record.award.state:
        case AwardState.HELD:
            labels = [("Ask for its rejection", Decision.REJECT)]
            if not evidence.missing:
                labels.insert(0, ("Ask for its approval", Decision.APPROVE))
        case AwardState.REJECTED:
            labels = [("Ask for its reinstatement", Decision.REINSTATE)]
        case AwardState.STOPPED:
            labels = [("Ask for its release", Decision.RELEASE)]
    fields = {"jackpot_id": record.jackpot_id, "table_id": record.table_id, "round_id": record.round_id}
    fields["bets"] = record.award.bet_id
    forms = [(label, links.address(DecideAwards.name, **fields, decision=decision.value)) for label, decision in labels]
    if record.state_at(at) is AwardState.UNCLAIMED:
        named = {"jackpot_id": record.jackpot_id, "award_id": record.award.award_id}
        forms.append(("Ask for its forfeiture", links.address(ForfeitAward.name, **named)))
    return [(label, address) for label, address in forms if address is not None]


def _reversals(session: Session, links: Links, record: AwardRecord, evidence: RoundEvidence) -> dict[str, str]:
    """The forms by which a wrong payment is reversed; not after a later verdict on the round."""
    if not can_be_unpaid(record.award, corrections=corrections.count(session, evidence.round)):
        return {}
    forms = {}
    for payment in record.payments:
        if payment.reversed_by is None:
            named = {"jackpot_id": record.jackpot_id, "award_id": record.award.award_id}
            reference = payment.payment.reference
            address = links.address(ReversePayment.name, **named, reference=reference)
            if address is not None:
                forms[reference] = address
    return forms
