"""Problems of awards and of what is paid of them."""

from collections.abc import Mapping
from typing import Final

from jackpot_service.api.problem_catalogue.rows import Member, Section, row, text, texts, whole
from jackpot_service.domain.awards import AwardStateConflict
from jackpot_service.domain.claims import AwardClaimable
from jackpot_service.domain.occurrence import DatedBeforeAward
from jackpot_service.domain.payments import (
    PaymentReferenceTaken,
    PaymentReversed,
    PaymentTooLarge,
    UnknownPayment,
    WithheldTooMuch,
    WrongPaymentCurrency,
)
from jackpot_service.domain.payout_tiers import EvidenceMissing
from jackpot_service.domain.withholding import WithholdingTooLarge
from jackpot_service.records.awards import UnknownAward
from jackpot_service.reports.slips import UnknownSlip
from jackpot_service.usecases.changes.held_awards import NothingHeld, NothingRejected, NothingStopped, RoundCorrected
from jackpot_service.usecases.keys import KeyMaker
from jackpot_service.usecases.record_payment import WrongCasino

_AWARD: Final = text("The award.")
_OF_ROUND: Final[Mapping[str, Member]] = {
    "table_id": text("The table."),
    "round_id": text("Its round."),
    "bet_ids": texts("The bets that were named and have no such award."),
}

AWARDS: Final = Section.of(
    "Awards and payments",
    row(UnknownAward, "Check the award's id, and the casino of the key.", award_id=_AWARD),
    row(
        AwardStateConflict,
        "Read the award: its state says which step is possible.",
        award_id=text("The award.", is_always=False),
        state=text("Its state.", is_always=False),
        table_id=text(
            "The table of a round that takes no evidence: it is not settled, or paid already.", is_always=False
        ),
        round_id=text("That round.", is_always=False),
    ),
    row(DatedBeforeAward, "Send the time at which it was paid: after the award became payable."),
    row(WrongPaymentCurrency, "Pay in the award's currency.", currency=text("The award's currency.")),
    row(
        PaymentTooLarge,
        "Pay what is unpaid at most.",
        unpaid_minor=whole("The unpaid amount, in minor units."),
        currency=text("Their currency."),
    ),
    row(
        PaymentReferenceTaken,
        "Give the payment a reference of its own, or send the other one as it was.",
        reference=text("The reference."),
    ),
    row(
        WithheldTooMuch,
        "Withhold no more than is paid.",
        amount_minor=whole("The payment, in minor units."),
    ),
    row(
        WithholdingTooLarge,
        "Withhold what is due, over all payments of the award.",
        due_minor=whole("The amount that is due to be withheld, in minor units."),
        withheld_minor=whole("The amount that was withheld before."),
        currency=text("Their currency."),
    ),
    row(WrongCasino, "Have the casino that pays record the payment, or the operator."),
    row(
        KeyMaker,
        "Have somebody else do it, who made none of the round's keys. A table server that is to record payments needs "
        "a key of `jackpot db key`.",
        principal=text("The person who may not."),
    ),
    row(
        EvidenceMissing,
        "Record what is missing (`POST …/evidence`), then decide again.",
        missing=texts("The kinds of evidence that are missing."),
    ),
    row(UnknownSlip, "Print the slip first (`POST …/slip`).", award_id=_AWARD),
    row(UnknownPayment, "Check the reference of the payment.", award_id=_AWARD, reference=text("The reference.")),
    row(PaymentReversed, "Nothing is to be done.", award_id=_AWARD, reference=text("The reference.")),
    row(
        AwardClaimable,
        "Wait until the award cannot be claimed any more.",
        award_id=_AWARD,
        claimable_until=Member({"type": ["string", "null"]}, "Until when; null where the casino sets no period."),
    ),
    row(NothingHeld, "Read the awards of the round.", **_OF_ROUND),
    row(NothingRejected, "Read the awards of the round.", **_OF_ROUND),
    row(NothingStopped, "Read the awards of the round.", **_OF_ROUND),
    row(
        RoundCorrected,
        "Read the awards of the verdict in force, and decide about those.",
        table_id=text("The table.", is_always=False),
        round_id=text("Its round.", is_always=False),
        award_id=text("The award whose payment was to be reversed.", is_always=False),
    ),
)
