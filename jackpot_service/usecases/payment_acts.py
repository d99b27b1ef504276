"""The acts of payments and of their reversals: what each writes and books, once it was found to be possible."""

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import figures, held_awards, posting_rules
from jackpot_service.domain.entries import Attribution
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.payments import Payment
from jackpot_service.domain.rounds import Round
from jackpot_service.ledger import stripes
from jackpot_service.records import awards as records
from jackpot_service.records import payments
from jackpot_service.records.awards import AwardRecord
from jackpot_service.records.payments import RecordedPayment
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act, Done, Effect
from jackpot_service.usecases.round_terms import sheet_of


def record(session: Session, act: Act, award: AwardRecord, payment: Payment, *, round_: Round, request: Facts) -> None:
    """
    Write that an award, or a part of it, was paid.

    Unless something is withheld, the act names no jackpot: payments come by the thousand, and must not hide what else
    was done to it.
    """
    shown = held_awards.facts_of_payment(award, records.made(award.award), payment)
    _write(session, act, EntryKind.AWARD_PAID, award, payment, round_=round_, shown=shown, request=request)


def reverse(
    session: Session, act: Act, award: AwardRecord, recorded: RecordedPayment, *, round_: Round
) -> tuple[Effect, ...]:
    """Write that a payment was recorded wrongly, and book back what it withheld. Returns the entries that booked it."""
    return _write(
        session,
        act,
        EntryKind.PAYMENT_REVERSED,
        award,
        recorded.payment.reversal,
        round_=round_,
        shown=shown_reversal(award, recorded),
        reverses=recorded.act_seq,
    )


def shown_reversal(award: AwardRecord, recorded: RecordedPayment) -> Facts:
    """Write a reversal as its act shows it."""
    paid = held_awards.facts_of_payment(award, records.made(award.award), recorded.payment)
    return {**paid, "reverses": recorded.act_seq}


def _write(
    session: Session,
    act: Act,
    kind: EntryKind,
    award: AwardRecord,
    payment: Payment,
    *,
    round_: Round,
    shown: Facts,
    request: Facts | None = None,
    reverses: int | None = None,
) -> tuple[Effect, ...]:
    """
    Write the act and the row of a payment; one that is below zero takes back the payment that it reverses.

    It is not booked before what it pays, whatever the clocks say: at no instant was more paid than had been awarded.
    """
    made, round_key, jackpot_id = records.made(award.award), award.round_key, award.jackpot_id
    cost = sheet_of(session, round_).base_value(payment.amount_minor, made.currency)
    figure = figures.figure_of_payment(
        made,
        paid_minor=award.award.paid_minor,
        amount_minor=payment.amount_minor,
        cost=cost,
        jackpot_id=jackpot_id,
        made_on=records.made_on(session, jackpot_id, round_key)[made.correction],
    )
    done = withheld(session, award, payment, round_=round_)
    effects = () if done is None else (_book_withheld(session, act, award, done),)
    act_seq = acts.record(
        session,
        act,
        kind,
        subject=f"award {award.award.award_id}",
        before={"state": award.award.state.value},
        after=shown,
        request=request,
        jackpot_id=jackpot_id if effects or reverses is not None else None,
        effects=effects,
        not_before=records.credited_at(session, award),
        figures=[figure],
        attributed_to=Attribution(award.casino_id, award.table_id),
    )
    payments.add(
        session,
        made,
        jackpot_id=jackpot_id,
        round_key=round_key,
        amount_minor=payment.amount_minor,
        withheld_minor=payment.withheld_minor,
        cost=cost,
        reference=payment.reference,
        act_seq=act_seq,
        reverses=reverses,
    )
    return effects


def withheld(session: Session, award: AwardRecord, payment: Payment, *, round_: Round) -> Done | None:
    """
    Decide the entry that moves what a payment withheld from the casino's account to its authority's.

    It moves it back, if the payment is negative; None if nothing was withheld.
    """
    withheld_minor = payment.withheld_minor
    if not withheld_minor:
        return None
    made, sheet = records.made(award.award), sheet_of(session, round_)
    return Done(
        EntryKind.AMOUNT_WITHHELD,
        {},
        held_awards.facts_of_withholding(award, made, withheld_minor),
        posting_rules.for_withholding(withheld_minor, made.currency, casino_id=award.casino_id, sheet=sheet),
    )


def _book_withheld(session: Session, act: Act, award: AwardRecord, done: Done) -> Effect:
    book = award.jackpot_id
    not_before = max(
        acts.booking_time(session, act), stripes.last_booked_at(session, book), records.credited_at(session, award)
    )
    act_seq = acts.next_seq(session)
    with pipelined(session) as pipe:
        cursor = acts.book_effect(pipe, act, done, book=book, act_seq=act_seq, not_before=not_before)
    return acts.effect_of(cursor, done, book=book)
