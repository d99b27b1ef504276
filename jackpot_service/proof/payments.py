"""Whether payments of a round's awards are what their acts say, and were possible then."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain import held_awards
from jackpot_service.domain.awards import TO_PAY, AwardState, AwardStep, state_of
from jackpot_service.domain.errors import Conflict, NotFound
from jackpot_service.domain.held_awards import AwardKey, MadeAward
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.payments import Payment
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof import acts, payout_tiers, withholding
from jackpot_service.proof.documents import HIGHEST_KEY, RoundDocuments
from jackpot_service.proof.jackpots import Jackpot
from jackpot_service.records.payments import RecordedPayment, payment_of
from jackpot_service.usecases.changes.payment_reversal import PaidAward, ReversePayment


def paid_before(seq: int, round_: RoundDocuments) -> Counter[AwardKey]:
    """Sum what had been paid of each of a round's awards before an act, in minor units."""
    paid: Counter[AwardKey] = Counter()
    for row in round_.of("payments"):
        if row.act_seq < seq:
            paid[key_of(row)] += row.amount_minor
    return paid


def key_of(row: Row[Any]) -> AwardKey:
    """Return the award that a row is of."""
    return row.bet_id, row.tier, row.correction


def state_before(seq: int, award: MadeAward, round_: RoundDocuments) -> AwardState | None:
    """Say where an award stood before an act, by its steps and payments; None where it had taken no step."""
    steps = [row for row in round_.of("award_steps") if key_of(row) == award.key]
    taken = [AwardStep(row.step) for row in steps if row.act_seq is None or row.act_seq < seq]
    if not taken:
        return None
    return state_of(taken, amount_minor=award.amount_minor, paid_minor=paid_before(seq, round_)[award.key])


def are_due(
    rows: Sequence[Row[Any]],
    made: Mapping[AwardKey, MadeAward],
    round_: RoundDocuments,
    of: Jackpot,
    entries: Mapping[int, BookedEntry],
) -> Found:
    """Each payment is what an act says, of an award that was to be paid; each reversal is of one that stood."""
    expected = set()
    for act in rows:
        [stated] = act.after["awards"]
        award = made[stated["bet_id"], stated["tier"], stated["correction"]]
        payment, reverses = payment_of(act.after["payment"]), act.after.get("reverses")
        is_reversal = act.kind == EntryKind.PAYMENT_REVERSED
        shown = held_awards.facts_of_payment(round_.round, award, payment)
        yield from acts.says(act, {**shown, "reverses": reverses} if is_reversal else shown, of.jackpot_id)
        if not is_reversal:
            yield from payout_tiers.a_person_paid(act, [award], round_, of)
        minor = -payment.amount_minor if is_reversal else payment.amount_minor
        cost = of.sheet(round_.round.rate_sheet).base_value(minor, award.currency)
        withheld = -payment.withheld_minor if is_reversal else payment.withheld_minor
        yield from withholding.is_booked(act, award, withheld, round_, of, entries)
        expected.add((*award.key, act.seq, minor, withheld, cost, payment.reference, reverses))
        for why in [
            *_reasons_against(act, award, minor, round_),
            *withholding.reasons_against(act, award, payment, round_, of.references),
        ]:
            yield _mismatch(round_, f"act {act.seq}, bet {award.bet_id}, {award.tier}: {why}")
    stored = {
        (*key_of(row), row.act_seq, row.amount_minor, row.withheld_minor, row.cost, row.reference, row.reverses)
        for row in round_.of("payments")
    }
    yield from _reversed_awards_are_unpaid(round_)
    for bet_id, tier, _, seq, *figures in sorted(expected ^ stored, key=str):
        yield _mismatch(round_, f"bet {bet_id}, {tier}: {figures} is missing, or act {seq} did not record it")


def _reasons_against(act: Row[Any], award: MadeAward, minor: int, round_: RoundDocuments) -> Iterator[str]:
    """Say why a payment, or a reversal, was not possible when its act was booked."""
    before = [row for row in round_.of("payments") if key_of(row) == award.key and row.act_seq < act.seq]
    paid_minor = sum(row.amount_minor for row in before)
    state = state_before(act.seq, award, round_)
    if not 0 <= paid_minor + minor <= award.amount_minor:
        yield f"{paid_minor + minor} of {award.amount_minor} would be paid"
    if minor < 0:
        corrected = sum(row.act_seq < act.seq for row in round_.of("corrections"))
        seen = PaidAward(round_.round, award.correction, corrected, state, _recorded(before))
        yield from _reasons_against_reversal(act, seen)
        return
    reference = act.after["payment"]["reference"]
    if state not in TO_PAY:
        yield f"a {act.kind} while it was {state}"
    if any(row.reference == reference for row in before):
        yield f"its reference {reference} named another payment"


def _reasons_against_reversal(act: Row[Any], seen: PaidAward) -> Iterator[str]:
    """The same code that decided it chooses the payment that it reverses."""
    shown = payment_of(act.after["payment"])
    request = ReversePayment(
        jackpot_id=seen.round.jackpot_id, award_id=act.subject.removeprefix("award "), reference=shown.reference
    )
    try:
        reversal = request.decide(seen)
    except (Conflict, NotFound) as refusal:
        yield str(refusal)
        return
    stood, reversed_ = reversal.payment, (act.after["reverses"], shown.amount_minor, shown.withheld_minor)
    if (reversal.act_seq, stood.amount_minor, stood.withheld_minor) != reversed_:
        yield f"it reversed {reversed_}, due was {reversal}"


def _recorded(rows: Sequence[Row[Any]]) -> Sequence[RecordedPayment]:
    """Read payments from their rows, as far as a reversal looks at them."""
    reversed_by = {row.reverses: row.act_seq for row in rows if row.reverses is not None}
    return [
        RecordedPayment(
            Payment(row.amount_minor, row.reference, withheld_minor=row.withheld_minor),
            row.act_seq,
            reversed_by.get(row.act_seq),
        )
        for row in rows
        if row.reverses is None
    ]


def _reversed_awards_are_unpaid(round_: RoundDocuments) -> Found:
    """No payment stands of an award that a correction took back."""
    paid = paid_before(HIGHEST_KEY, round_)
    for row in round_.of("award_steps"):
        if row.step == AwardStep.REVERSED and paid[key_of(row)]:
            yield _mismatch(round_, f"bet {row.bet_id}, {row.tier}: {paid[key_of(row)]} paid of a reversed award")


def something_was_left(act: Row[Any], award: MadeAward, round_: RoundDocuments) -> Found:
    """An award was not paid as a whole when it was stopped."""
    if paid_before(act.seq, round_)[award.key] >= award.amount_minor:
        yield _mismatch(round_, f"act {act.seq}: stopped when it was {AwardState.PAID}")


def _mismatch(round_: RoundDocuments, detail: str) -> Mismatch:
    return Mismatch(Code.AWARD_PAYMENTS, round_.round.jackpot_id, round_.place, detail)
