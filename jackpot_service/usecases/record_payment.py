"""A casino records that it paid an award to its player, or a part of it. The award itself moved the money."""

from dataclasses import dataclass
from datetime import datetime

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import figures, held_awards, payments, posting_rules, withholding
from jackpot_service.domain.awards import require_to_pay
from jackpot_service.domain.entries import Attribution
from jackpot_service.domain.errors import Forbidden
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.held_awards import MadeAward
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.occurrence import require_paid_between
from jackpot_service.domain.payments import Channel, Payment
from jackpot_service.domain.payout_tiers import requirement_of
from jackpot_service.domain.principals import Principal, Role, UserRequired
from jackpot_service.domain.rounds import Round
from jackpot_service.ledger import stripes
from jackpot_service.records import awards as records
from jackpot_service.records import payments as payment_records
from jackpot_service.records import payout_tiers, rounds
from jackpot_service.records.awards import AwardRecord
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases import acts, keys
from jackpot_service.usecases.acts import Act, Done, Effect
from jackpot_service.usecases.round_terms import sheet_of


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

    Where several people approve the award, no table's key records it (UserRequired). AwardStateConflict says that
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
    payments.require_new_reference(payment.reference, (one.payment.reference for one in record.payments))
    payments.require_room(payment.amount_minor, unpaid_minor=award.unpaid_minor, currency=award.currency)
    payments.require_part(payment.withheld_minor, amount_minor=payment.amount_minor)
    _require_due(record, payment)
    require_paid_between(payment.paid_at, awarded_at=records.credited_at(session, record), now=act.now)
    write(session, act, EntryKind.AWARD_PAID, record, round_=round_, payment=payment, request=request)
    return PaymentRecorded(records.visible(session, act.principal, command.award_id), is_replay=False)


def _is_recorded(record: AwardRecord, command: RecordPayment) -> bool:
    """Return whether this payment was recorded before and stands; without an amount, if nothing is left to pay."""
    if command.amount_minor is None and record.award.unpaid_minor:
        return False
    standing = [one.payment for one in record.payments if one.reversed_by is None]
    return any(one == command.payment_of(command.amount_minor or one.amount_minor) for one in standing)


def _require_payer(principal: Principal) -> None:
    if principal.casino_id is None and principal.role is not Role.OPERATOR:
        message = f"A key of role {principal.role} that belongs to no casino records no payment."
        raise WrongCasino(message)


def _require_due(record: AwardRecord, payment: Payment) -> None:
    """Raises: WithholdingTooLarge; where the casino had no rule, nothing is due."""
    due = record.withholding
    withholding.require_due(
        payment.withheld_minor,
        withheld_minor=record.withheld_minor,
        due_minor=0 if due is None else due.due_minor,
        currency=record.award.currency,
    )


def _require_user(session: Session, principal: Principal, record: AwardRecord, round_: Round) -> None:
    """Raises: UserRequired for a table's key, if the payout tiers of the award ask for more than one approval."""
    if principal.role is not Role.TABLE:
        return
    approvals = requirement_of(payout_tiers.of_round(session, round_), [records.made(record.award)]).approvals
    if approvals > 1:
        message = f"{approvals} people approve such an award: a person records its payment, not a table's key."
        raise UserRequired(message, award_id=record.award.award_id)


def write(
    session: Session,
    act: Act,
    kind: EntryKind,
    record: AwardRecord,
    *,
    round_: Round,
    payment: Payment,
    request: Facts | None = None,
    reverses: int | None = None,
) -> Facts:
    """
    Write the act of a payment, or of the reversal of one, and its row. Returns what the act shows.

    A payment's act names no jackpot: payments come by the thousand, and must not hide what else was done to it. One
    that withheld something does, as it is an entry in the jackpot's book. It is not booked before what it pays,
    whatever the clocks say: at no instant was more paid than had been awarded.
    """
    made, round_key, jackpot_id = records.made(record.award), record.round_key, record.jackpot_id
    amount_minor = payment.amount_minor if reverses is None else -payment.amount_minor
    withheld_minor = payment.withheld_minor if reverses is None else -payment.withheld_minor
    cost = sheet_of(session, round_).base_value(amount_minor, made.currency)
    figure = figures.of_payment(
        made,
        paid_minor=record.award.paid_minor,
        amount_minor=amount_minor,
        cost=cost,
        jackpot_id=jackpot_id,
        made_on=records.made_on(session, jackpot_id, round_key)[made.correction],
    )
    shown = held_awards.of_payment(record, made, payment)
    if reverses is not None:
        shown = {**shown, "reverses": reverses}
    effects = [] if not withheld_minor else [_book_withheld(session, act, record, made, withheld_minor, round_=round_)]
    act_seq = acts.record(
        session,
        act,
        kind,
        subject=f"award {record.award.award_id}",
        before={"state": record.award.state.value},
        after=shown,
        request=request,
        jackpot_id=jackpot_id if effects or reverses is not None else None,
        effects=effects,
        not_before=records.credited_at(session, record),
        figures=[figure],
        attributed_to=Attribution(record.casino_id, record.table_id),
    )
    payment_records.add(
        session,
        made,
        jackpot_id=jackpot_id,
        round_key=round_key,
        amount_minor=amount_minor,
        withheld_minor=withheld_minor,
        cost=cost,
        reference=payment.reference,
        act_seq=act_seq,
        reverses=reverses,
    )
    return shown


def _book_withheld(
    session: Session, act: Act, record: AwardRecord, made: MadeAward, withheld_minor: int, *, round_: Round
) -> Effect:
    """Move what a payment withheld from the casino's account to its authority's; back, if it is negative."""
    book, sheet = record.jackpot_id, sheet_of(session, round_)
    done = Done(
        EntryKind.AMOUNT_WITHHELD,
        {},
        held_awards.of_withholding(record, made, withheld_minor),
        posting_rules.for_withholding(withheld_minor, made.currency, casino_id=record.casino_id, sheet=sheet),
    )
    not_before = max(
        acts.booking_time(session, act), stripes.last_booked_at(session, book), records.credited_at(session, record)
    )
    act_seq = acts.next_seq(session)
    with pipelined(session) as pipe:
        cursor = acts.book_effect(pipe, act, done, book=book, act_seq=act_seq, not_before=not_before)
    return acts.effect_of(cursor, done, book=book)
