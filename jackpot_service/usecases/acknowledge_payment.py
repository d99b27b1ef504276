"""A casino acknowledges that it paid an award to its player. No money moves in the books: the award itself moved it."""

from dataclasses import dataclass
from datetime import datetime

from jackpot_service.database.transactions import Session
from jackpot_service.domain import figures, held_awards
from jackpot_service.domain.awards import AwardState, AwardStep, require_step
from jackpot_service.domain.entries import Attribution
from jackpot_service.domain.errors import Forbidden
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.occurrence import require_paid_between
from jackpot_service.domain.payout_tiers import requirement_of
from jackpot_service.domain.principals import Principal, Role, UserRequired
from jackpot_service.records import awards as records
from jackpot_service.records import payout_tiers, rounds
from jackpot_service.records.awards import AwardRecord
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases import acts, keys
from jackpot_service.usecases.acts import Act


class WrongCasino(Forbidden, code="wrong-casino", title="Only the casino that paid may acknowledge it"):
    """Only the casino that pays an award acknowledges it, or the operator in its place."""


@dataclass(frozen=True, slots=True)
class AcknowledgePayment:
    """The award that was paid, and the casino's own reference and time of the payment, if it states them."""

    act: Act
    award_id: str
    reference: str | None = None
    paid_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PaymentAcknowledged:
    """The award as it is now; whether this call said so or a call before."""

    record: AwardRecord
    is_replay: bool


def acknowledge_payment(session: Session, command: AcknowledgePayment) -> PaymentAcknowledged:
    """
    Record that an award was paid. The same said again, under whichever request id, changes nothing.

    Where several people approve the award, no table's key records it (UserRequired). AwardStateConflict says that it is
    not payable, or was paid otherwise.

    Raises: UnknownAward, also for another casino's; WrongCasino; RequestConflict; KeyMaker; UserRequired;
    AwardStateConflict; OccurredAhead and DatedBeforeAward for a time that cannot be.
    """
    acts.lock(session)
    act, payment = command.act, held_awards.of_payment(reference=command.reference, paid_at=command.paid_at)
    request = {"award_id": command.award_id, **payment}
    record = records.visible(session, act.principal, command.award_id)
    _require_payer(act.principal)
    replayed = acts.find_replay(session, act, EntryKind.AWARD_PAID, request)
    if replayed is not None or (record.award.state is AwardState.PAID and record.payment == payment):
        return PaymentAcknowledged(record, is_replay=True)
    keys.require_not_maker(session, act, jackpot_id=record.jackpot_id, round_key=record.round_key)
    require_step(AwardStep.PAID, taken=record.award.steps, award_id=command.award_id)
    _require_user(session, act.principal, record)
    awarded_at = records.credited_at(session, record)
    require_paid_between(command.paid_at, awarded_at=awarded_at, now=act.now)
    _record(session, act, record, request=request, payment=payment, awarded_at=awarded_at)
    return PaymentAcknowledged(records.visible(session, act.principal, command.award_id), is_replay=False)


def _require_payer(principal: Principal) -> None:
    if principal.casino_id is None and principal.role is not Role.OPERATOR:
        message = f"A key of role {principal.role} that belongs to no casino acknowledges no payment."
        raise WrongCasino(message)


def _require_user(session: Session, principal: Principal, record: AwardRecord) -> None:
    """Raises: UserRequired for a table's key, if the payout tiers of the award ask for more than one approval."""
    if principal.role is not Role.TABLE:
        return
    round_ = rounds.require(session, record.jackpot_id, RoundName(record.table_id, record.round_id))
    approvals = requirement_of(payout_tiers.of_round(session, round_), [records.made(record.award)]).approvals
    if approvals > 1:
        message = f"{approvals} people approve such an award: a person records its payment, not a table's key."
        raise UserRequired(message, award_id=record.award.award_id)


def _record(
    session: Session, act: Act, record: AwardRecord, *, request: Facts, payment: Facts, awarded_at: datetime
) -> None:
    """
    Write the act and the step.

    The act names no jackpot: payments come by the thousand, and must not hide what else was done to the jackpot. It is
    not booked before what it pays, whatever the clocks say: at no instant was more paid than had been awarded.
    """
    made = records.made(record.award)
    made_on = records.made_on(session, record.jackpot_id, record.round_key)[made.correction]
    act_seq = acts.record(
        session,
        act,
        EntryKind.AWARD_PAID,
        subject=f"award {record.award.award_id}",
        before={"state": record.award.state.value},
        after={**held_awards.of_step(record, AwardStep.PAID, [made]), "payment": payment},
        request=request,
        not_before=awarded_at,
        figures=[figures.of_payment(made, jackpot_id=record.jackpot_id, made_on=made_on)],
        attributed_to=Attribution(record.casino_id, record.table_id),
    )
    records.take_step(
        session,
        AwardStep.PAID,
        [made.key],
        jackpot_id=record.jackpot_id,
        round_key=record.round_key,
        taken_at=act.now,
        act_seq=act_seq,
    )
