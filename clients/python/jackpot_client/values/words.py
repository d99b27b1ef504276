"""
Words of closed lists; each is a text as well, so it is compared with one, and written as one.

An answer of a later version may have another word, which is passed on as a text. Only an unknown state of a round or of
an award is an error, in the answer of a call about it: it decides what is done with money.
"""

from enum import StrEnum


class RoundState(StrEnum):
    """Where a round is in its life; the last two are for ever."""

    OPEN = "open"
    CLOSED = "closed"
    SETTLED = "settled"
    CANCELLED = "cancelled"


class AwardState(StrEnum):
    """Whether an award may be paid out to its player now, or was; the answer to a result says how it began."""

    PAYABLE = "payable"
    HELD = "held"
    REJECTED = "rejected"
    STOPPED = "stopped"
    PART_PAID = "part-paid"
    PAID = "paid"
    UNCLAIMED = "unclaimed"
    FORFEITED = "forfeited"
    REVERSED = "reversed"


class HandStatus(StrEnum):
    """How a hand of a round ended: dealt, dead (its bets are refunded) or forfeited (neither award nor refund)."""

    DEALT = "dealt"
    DEAD = "dead"
    FORFEITED = "forfeited"


class JackpotState(StrEnum):
    """Whether a jackpot takes bets; a retired one never does again."""

    OPEN = "open"
    SUSPENDED = "suspended"
    RETIRED = "retired"


class Tier(StrEnum):
    """The hands that win, best first."""

    ROYAL_FLUSH = "royal_flush"
    STRAIGHT_FLUSH = "straight_flush"
    FOUR_OF_A_KIND = "four_of_a_kind"
    FULL_HOUSE = "full_house"
    FLUSH = "flush"
    STRAIGHT = "straight"
    THREE_OF_A_KIND = "three_of_a_kind"


class Policy(StrEnum):
    """How several winners of one round are paid."""

    SHARED_BY_STAKE = "shared_by_stake"
    AGGREGATE_PRO_RATA = "aggregate_pro_rata"
    MINOR_FIRST = "minor_first"
    EQUAL_SHARE = "equal_share"


class FundedBy(StrEnum):
    """The pool that pays a prize."""

    PRIZE_FUND = "prize_fund"
    METER = "meter"


class DeadHand(StrEnum):
    """The treatment of bets on a hand with a wrong number of cards: they are refunded, or stay in play."""

    REFUND = "refund"
    PLAY_ON = "play-on"


class HitPayment(StrEnum):
    """How far a hit is paid: some awards are held or stopped, all may be paid, or all were."""

    PENDING = "pending"
    RELEASED = "released"
    PAID = "paid"


class AwardStep(StrEnum):
    """A step that an award takes."""

    PAYABLE = "payable"
    HELD = "held"
    APPROVED = "approved"
    REJECTED = "rejected"
    REINSTATED = "reinstated"
    STOPPED = "stopped"
    RELEASED = "released"
    FORFEITED = "forfeited"
    REVERSED = "reversed"


class Channel(StrEnum):
    """The way by which a casino paid an award."""

    WALLET = "wallet"
    CAGE = "cage"
    CHECK = "check"
    BANK = "bank"
    ANNUITY = "annuity"


class Evidence(StrEnum):
    """The kind of evidence for an award."""

    SURVEILLANCE = "surveillance"
    CARDS_CHECKED = "cards-checked"
    TABLE_CHECKED = "table-checked"
    WITNESS = "witness"


class ForfeitedTo(StrEnum):
    """Where a forfeited award goes: back to its jackpot, or to the authority that is entitled to it."""

    METER = "meter"
    STATUTORY = "statutory"


class Pool(StrEnum):
    """A pool that people can adjust; of the meter it is the players' part."""

    METER = "meter"
    RESERVE = "reserve"
    PRIZE_FUND = "prize_fund"


class Cause(StrEnum):
    """Why a pool was adjusted."""

    EQUIPMENT_MALFUNCTION = "equipment-malfunction"
    COUNT_ERROR = "count-error"
    PROMOTIONAL_CONTRIBUTION = "promotional-contribution"
    REGULATOR_ORDER = "regulator-order"
    REVERSED_ADJUSTMENT = "reversed-adjustment"
    OTHER_DOCUMENTED = "other-documented"


class Role(StrEnum):
    """The purpose of a key, which decides what it may do."""

    TABLE = "table"
    FINANCE = "finance"
    RATES = "rates"
    OPERATOR = "operator"
    AUDITOR = "auditor"
    DISPLAY = "display"


class Language(StrEnum):
    """A language of printed rules."""

    EN = "en"
    DE = "de"


class EntryKind(StrEnum):
    """The kind of an entry of the books: what it recorded."""

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


class Movement(StrEnum):
    """Why an amount was booked on an account."""

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


class FigureKind(StrEnum):
    """The kind of a figure of an entry."""

    BETS = "bets"
    REFUNDS = "refunds"
    LATE_REFUNDS = "late_refunds"
    HANDS = "hands"
    SQUARES = "squares"
    AWARDS = "awards"
    AWARD_STEPS = "award_steps"
    PAYMENTS = "payments"
    POSTINGS = "postings"


class EventType(StrEnum):
    """The type of an event."""

    ROUND_SETTLED = "jackpot.round.settled"
    ROUND_CANCELLED = "jackpot.round.cancelled"
    ROUND_CORRECTED = "jackpot.round.corrected"
    ROUND_COMPENSATED = "jackpot.round.compensated"
    COMPENSATION_DECLINED = "jackpot.compensation.declined"
    BETS_VOIDED = "jackpot.bets.voided"
    BETTING_CLOSED = "jackpot.betting.closed"
    HIT = "jackpot.hit"
    RESET = "jackpot.reset"
    AWARD_MADE = "jackpot.award.made"
    AWARD_APPROVED = "jackpot.award.approved"
    AWARD_REJECTED = "jackpot.award.rejected"
    AWARD_REINSTATED = "jackpot.award.reinstated"
    AWARD_STOPPED = "jackpot.award.stopped"
    EVIDENCE_RECORDED = "jackpot.evidence.recorded"
    AWARD_RELEASED = "jackpot.award.released"
    AWARD_FORFEITED = "jackpot.award.forfeited"
    AWARD_PAID = "jackpot.award.paid"
    AWARD_PAYMENT_REVERSED = "jackpot.award.payment-reversed"
    AWARD_REVERSED = "jackpot.award.reversed"
    OPENED = "jackpot.opened"
    SUSPENDED = "jackpot.suspended"
    RESUMED = "jackpot.resumed"
    RETIRED = "jackpot.retired"
    RULES_CHANGED = "jackpot.rules.changed"
    TABLE_LIMITS_CHANGED = "jackpot.table-limits.changed"
    ADJUSTED = "jackpot.adjusted"
    SEED_RECOVERED = "jackpot.seed.recovered"
    PRIZE_FUND_TRUED_UP = "jackpot.prize-fund.trued-up"
    TRANSFER_RECEIVED = "jackpot.transfer.received"
    STATEMENT_SETTLED = "jackpot.statement.settled"
    RATES_PUBLISHED = "jackpot.rates.published"
    CHANGE_POLICY_CHANGED = "jackpot.change-policy.changed"
    WITHHOLDING_CHANGED = "jackpot.withholding.changed"
    CASINO_ADDED = "jackpot.casino.added"
    CASINO_CLAIMS_CHANGED = "jackpot.casino-claims.changed"
    TABLE_ADDED = "jackpot.table.added"
