"""What the reversal of a payment is refused by, decided of what the books hold: for the change, and for the proof."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

import pytest

from jackpot_service.domain.awards import AwardState, AwardStateConflict
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.payments import Payment, PaymentReversed, UnknownPayment
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.records.payments import RecordedPayment
from jackpot_service.usecases.changes.held_awards import RoundCorrected
from jackpot_service.usecases.changes.payment_reversal import PaidAward, ReversePayment

OPENED_AT: Final = datetime(2026, 11, 26, tzinfo=UTC)
ROUND: Final = Round("j1", 1, "T1", "r1", "c1", RoundState.SETTLED, 1, 1, 2, 1, Decimal(1), OPENED_AT)
STANDS: Final = RecordedPayment(Payment(1000, "slip 0"), 7, None)
REVERSED: Final = RecordedPayment(Payment(400, "slip 1"), 8, 9)
REQUEST: Final = ReversePayment(jackpot_id="j1", award_id="a1", reference="slip 0")


def paid(
    *,
    payments: Sequence[RecordedPayment] = (REVERSED, STANDS),
    state: AwardState | None = AwardState.PART_PAID,
    correction: int = 0,
    corrections: int = 0,
) -> PaidAward:
    return PaidAward(ROUND, correction, corrections, state, payments)


@pytest.mark.parametrize("seen", [paid(), paid(state=AwardState.PAID), paid(correction=1, corrections=1)])
def test_the_payment_that_stands_under_the_reference_is_reversed(seen: PaidAward) -> None:
    assert REQUEST.decide(seen) is STANDS


@pytest.mark.parametrize(
    ("seen", "refusal"),
    [
        (paid(payments=(REVERSED,)), UnknownPayment),
        (paid(payments=(RecordedPayment(STANDS.payment, 7, 8),)), PaymentReversed),
        (paid(state=AwardState.STOPPED), AwardStateConflict),
        (paid(state=AwardState.FORFEITED), AwardStateConflict),
        (paid(state=None), AwardStateConflict),
        (paid(corrections=1), RoundCorrected),
    ],
)
def test_any_other_is_refused(seen: PaidAward, refusal: type[LedgerError]) -> None:
    with pytest.raises(refusal):
        REQUEST.decide(seen)
