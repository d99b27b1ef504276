"""A casino records that it paid an award to its player, or a part of it. The award itself moved the money."""

from dataclasses import dataclass
from datetime import datetime

from jackpot_service.database.transactions import Session
from jackpot_service.domain import payments, withholding
from jackpot_service.domain.awards import require_to_pay
from jackpot_service.domain.errors import Forbidden
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.occurrence import require_paid_between
from jackpot_service.domain.payments import Channel, Payment
from jackpot_service.domain.payout_tiers import is_any_reached
from jackpot_service.domain.principals import Principal, Role, UserRequired
from jackpot_service.domain.rounds import Round
from jackpot_service.records import awards as records
from jackpot_service.records import payout_tiers, rounds
from jackpot_service.records.awards import AwardRecord
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases import acts, keys, payment_acts
from jackpot_service.usecases.acts import Act


class WrongCasino(Forbidden, code="wrong-casino", title="Only the casino that paid may record it"):
    """Only the casino that pays an award records it, or the operator in its place."""


@dataclass(frozen=True, slots=True)
class RecordPayment:
    """
    A payment of an award: of an amount, or of all that is unpaid.

    `currency` is the one that the caller states, which must be the award's; None if it states none.
    """

    act: Act
    award_id: str
    reference: str
    amount_minor: int | None = None
    currency: str | None = None
    paid_at: datetime | None = None
    channel: Channel | None = None
    payer: str | None = None
    withheld_minor: int = 0

    def payment_of(self, amount_minor: int) -> Payment:
        """Return the payment, if it is of this amount."""
        return Payment(amount_minor, self.reference, self.paid_at, self.channel, self.payer, self.withheld_minor)


@dataclass(frozen=True, slots=True)
class PaymentRecorded:
    """The award as it is now; whether this call said so or a call before."""

    record: AwardRecord
    is_replay: bool


def record_payment(session: Session, command: RecordPayment) -> PaymentRecorded:
    """
    Record a payment. The same said again, under whichever request id, changes nothing: its reference names it.

    Where the award reaches a payout tier, no table's key records it (UserRequired). AwardStateConflict says that
    nothing of it is to be paid.

    Raises: UnknownAward, also for another casino's; WrongCasino; RequestConflict; KeyMaker; UserRequired;
    WrongPaymentCurrency; AwardStateConflict; PaymentReferenceTaken; PaymentTooLarge; WithheldTooMuch;
    WithholdingTooLarge; OccurredAhead and DatedBeforeAward for a time that cannot be.
    """
    acts.lock(session)
    act = command.act
    record = records.visible(session, act.principal, command.award_id)
    award = record.award
    payment = command.payment_of(command.amount_minor or award.unpaid_minor)
    request = {"award_id": command.award_id, **payment.facts, "amount_minor": command.amount_minor}
    _require_payer(act.principal)
    payments.require_currency(command.currency, currency=award.currency)
    replayed = acts.find_replay(session, act, EntryKind.AWARD_PAID, request)
    if replayed is not None or _is_recorded(record, command):
        return PaymentRecorded(record, is_replay=True)
    keys.require_not_maker(session, act, jackpot_id=record.jackpot_id, round_key=record.round_key)
    require_to_pay(award.state, award_id=command.award_id)
    round_ = rounds.require(session, record.jackpot_id, RoundName(record.table_id, record.round_id))
    _require_user(session, act.principal, record, round_)
    payments.require_new_reference(payment.reference, (earlier.payment.reference for earlier in record.payments))
    payments.require_room(payment.amount_minor, unpaid_minor=award.unpaid_minor, currency=award.currency)
    payments.require_part(payment.withheld_minor, amount_minor=payment.amount_minor)
    _require_due(record, payment)
    require_paid_between(payment.paid_at, payable_since=record.payable_since, now=act.now)
    payment_acts.record(session, act, record, payment, round_=round_, request=request)
    return PaymentRecorded(records.visible(session, act.principal, command.award_id), is_replay=False)


def _is_recorded(record: AwardRecord, command: RecordPayment) -> bool:
    """Return whether this payment was recorded before and stands; without an amount, if nothing is left to pay."""
    if command.amount_minor is None and record.award.unpaid_minor:
        return False
    made = [payment.payment for payment in record.payments if payment.reversed_by is None]
    return any(payment == command.payment_of(command.amount_minor or payment.amount_minor) for payment in made)


def _require_payer(principal: Principal) -> None:
    if principal.casino_id is None and principal.role is not Role.OPERATOR:
        message = f"A key of role {principal.role} that belongs to no casino records no payment."
        raise WrongCasino(message)


def _require_due(record: AwardRecord, payment: Payment) -> None:
    """Raises: WithholdingTooLarge; where the casino had no rule, nothing is due."""
    rule = record.withholding
    withholding.require_due(
        payment.withheld_minor,
        withheld_minor=record.withheld_minor,
        due_minor=0 if rule is None else rule.due_minor,
        currency=record.award.currency,
    )


def _require_user(session: Session, principal: Principal, record: AwardRecord, round_: Round) -> None:
    """Raises: UserRequired for a table's key, if the award reaches a payout tier: each asks for an approval."""
    if principal.role is Role.TABLE and is_any_reached(
        payout_tiers.tiers_of_round(session, round_), [records.made(record.award)]
    ):
        message = "The award reaches a payout tier: somebody else than a table's key records its payment."
        raise UserRequired(message, award_id=record.award.award_id)
