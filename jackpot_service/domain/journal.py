"""A journal entry: postings that sum to zero in every currency, for the movements of a jackpot's money."""

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from jackpot_service.domain.accounts import POOL_ACCOUNTS, Account, Pools
from jackpot_service.domain.errors import BooksBroken
from jackpot_service.domain.money import ZERO, plain


class Unbalanced(BooksBroken, code="entry-unbalanced"):
    """Postings that do not sum to zero were about to be booked."""


class EntryKind(StrEnum):
    """The kind of an entry: what it recorded."""

    BETS = "bets"
    VOIDS = "voids"
    CLOSING = "closing"
    RESULT = "result"
    CANCELLATION = "cancellation"
    JACKPOT_OPENED = "jackpot_opened"
    STRIPES_ADDED = "stripes_added"
    CASINO_ADDED = "casino_added"
    CASINO_CLAIMS_CHANGED = "casino_claims_changed"
    TABLE_ADDED = "table_added"
    PRINCIPAL_ADDED = "principal_added"
    KEY_CREATED = "key_created"
    KEY_REVOKED = "key_revoked"
    PASSKEY_REGISTERED = "passkey_registered"
    PASSKEY_REVOKED = "passkey_revoked"
    RATES_PUBLISHED = "rates_published"
    CHANGE_REQUESTED = "change_requested"
    CHANGE_APPROVED = "change_approved"
    CHANGE_REJECTED = "change_rejected"
    JACKPOT_SUSPENDED = "jackpot_suspended"
    JACKPOT_RESUMED = "jackpot_resumed"
    JACKPOT_RETIRED = "jackpot_retired"
    TRANSFER_RECEIVED = "transfer_received"
    RULES_CHANGED = "rules_changed"
    TABLE_LIMITS_CHANGED = "table_limits_changed"
    ADJUSTMENT = "adjustment"
    SEED_RECOVERED = "seed_recovered"
    PRIZE_FUND_TRUED_UP = "prize_fund_trued_up"
    AWARDS_APPROVED = "awards_approved"
    AWARDS_REJECTED = "awards_rejected"
    AWARDS_REINSTATED = "awards_reinstated"
    AWARD_STOPPED = "award_stopped"
    EVIDENCE_RECORDED = "evidence_recorded"
    AWARDS_RELEASED = "awards_released"
    AWARD_FORFEITED = "award_forfeited"
    AWARD_PAID = "award_paid"
    PAYMENT_REVERSED = "payment_reversed"
    SLIP_PRINTED = "slip_printed"
    AMOUNT_WITHHELD = "amount_withheld"
    COMPENSATION = "compensation"
    COMPENSATION_DECLINED = "compensation_declined"
    ROUND_CORRECTED = "round_corrected"
    STATEMENT_SETTLED = "statement_settled"
    EXCEPTION_ACKNOWLEDGED = "exception_acknowledged"
    PERIOD_CLOSED = "period_closed"
    BOOKS_SEALED = "books_sealed"
    EMERGENCY_SWITCHED = "emergency_switched"
    CHANGE_POLICY_CHANGED = "change_policy_changed"
    WITHHOLDING_CHANGED = "withholding_changed"


ACT_KINDS = frozenset(EntryKind) - {
    EntryKind.BETS,
    EntryKind.VOIDS,
    EntryKind.CLOSING,
    EntryKind.RESULT,
    EntryKind.CANCELLATION,
    EntryKind.TRANSFER_RECEIVED,
    EntryKind.AMOUNT_WITHHELD,
}
"""The kinds of entry of the reference book: everything that somebody does, and not a table server."""


class Movement(StrEnum):
    """Why a posting was made. The postings of one movement sum to zero by themselves."""

    CONTRIBUTION = "contribution"
    REVERSAL = "reversal"
    AWARD = "award"
    OVERFLOW = "overflow"
    REFILL = "refill"
    SEED = "seed"
    FILL = "fill"
    ADJUSTMENT = "adjustment"
    RECOVERY = "recovery"
    TRUE_UP = "true_up"
    TRANSFER = "transfer"
    RELEASE = "release"
    RETURN = "return"
    COMPENSATION = "compensation"
    CORRECTION = "correction"
    FORFEITURE = "forfeiture"
    PAYMENT = "payment"
    WITHHOLDING = "withholding"


class Posting(NamedTuple):
    """An exact signed amount put into (or, negative, taken from) an account, in one currency."""

    account: Account
    currency: str
    amount: Decimal
    movement: Movement


@dataclass(frozen=True, slots=True)
class Postings:
    """
    The postings of one entry. Values that do not balance cannot be built.

    Raises: Unbalanced if some currency of some movement does not sum to zero.
    """

    lines: tuple[Posting, ...] = ()

    def __post_init__(self) -> None:
        if not self.lines:
            return
        sums: defaultdict[tuple[Movement, str], Decimal] = defaultdict(Decimal)
        for _, currency, amount, movement in self.lines:  # Unpacked at once, not name by name: there are many.
            sums[movement, currency] += amount
        for (movement, currency), left_over in sums.items():
            if left_over:
                message = f"The {movement} postings in {currency} sum to {plain(left_over)}, not to zero."
                raise Unbalanced(message)

    def __add__(self, other: "Postings") -> "Postings":
        if not (self.lines and other.lines):
            return self if self.lines else other
        return Postings(self.lines + other.lines)

    def moved(self, account: Account) -> Decimal:
        """Sum what the postings put into an account (of one currency)."""
        return sum((line.amount for line in self.lines if line.account == account), ZERO)

    def pools(self) -> Pools:
        """Sum what the postings put into each of the jackpot's pools."""
        if not self.lines:
            return Pools()
        sums = dict.fromkeys(POOL_ACCOUNTS, ZERO)
        for line in self.lines:
            if line.account in sums:
                sums[line.account] += line.amount
        return Pools(*sums.values())
