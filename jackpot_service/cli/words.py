"""
The words that options take, as the service knows them.

A light table, so that a command begins at once: the modules that own the words bring half of the domain with them. A
test compares each with its owner.
"""

from typing import Final

ACT_KINDS: Final = (
    "adjustment",
    "award_forfeited",
    "award_paid",
    "award_stopped",
    "awards_approved",
    "awards_reinstated",
    "awards_rejected",
    "awards_released",
    "books_sealed",
    "casino_added",
    "casino_claims_changed",
    "change_approved",
    "change_policy_changed",
    "change_rejected",
    "change_requested",
    "compensation",
    "compensation_declined",
    "emergency_switched",
    "evidence_recorded",
    "exception_acknowledged",
    "jackpot_opened",
    "jackpot_resumed",
    "jackpot_retired",
    "jackpot_suspended",
    "key_created",
    "key_revoked",
    "passkey_registered",
    "passkey_revoked",
    "payment_reversed",
    "period_closed",
    "principal_added",
    "prize_fund_trued_up",
    "rates_published",
    "round_corrected",
    "rules_changed",
    "seed_recovered",
    "slip_printed",
    "statement_settled",
    "stripes_added",
    "table_added",
    "table_limits_changed",
    "withholding_changed",
)
AWARD_STATES: Final = (
    "payable",
    "held",
    "rejected",
    "stopped",
    "part-paid",
    "paid",
    "unclaimed",
    "forfeited",
    "reversed",
)
CHANGE_STATES: Final = ("pending", "approved", "rejected", "expired")
CHANNELS: Final = ("wallet", "cage", "check", "bank", "annuity")
EVIDENCE: Final = ("surveillance", "cards-checked", "table-checked", "witness")
EXCEPTION_KINDS: Final = (
    "award-unclaimed",
    "bet-conflict",
    "bet-count-mismatch",
    "cancellation-conflict",
    "closing-conflict",
    "closing-required",
    "currency-not-accepted",
    "dated-before-bet",
    "emergency-approval",
    "game-number-conflict",
    "hand-limit",
    "jackpot-suspended",
    "late-bet",
    "late-void",
    "no-rate",
    "occurred-in-future",
    "prize-denied",
    "result-conflict",
    "round-cancelled",
    "round-open",
    "round-settled",
    "stake-out-of-range",
)
GAMES: Final = ("caribbean-stud", "casino-holdem-2-hand")
GROUPINGS: Final = ("jackpot", "casino", "table", "currency", "day", "month", "cycle")
JOB_KINDS: Final = ("journal", "report", "verification")
JOB_STATES: Final = ("queued", "running", "done", "failed", "cancelled")
JOURNAL_FORMS: Final = ("beancount", "hledger")
MOVEMENTS: Final = (
    "contribution",
    "reversal",
    "award",
    "overflow",
    "refill",
    "seed",
    "fill",
    "adjustment",
    "recovery",
    "true_up",
    "transfer",
    "release",
    "return",
    "compensation",
    "correction",
    "forfeiture",
    "payment",
    "withholding",
)
REPORTS: Final = (
    "meters",
    "liability",
    "pool-movements",
    "contributions",
    "hits",
    "casino-statement",
    "casino-balances",
    "trial-balance",
    "reconciliation",
    "rtp",
    "rtp-by-day",
    "fx",
    "exceptions",
    "awards",
    "payables",
    "rounds",
    "finance-summary",
    "postings",
)
ROLES: Final = ("table", "finance", "rates", "operator", "auditor", "display")
ROLES_OF_PEOPLE: Final = ("finance", "rates", "operator", "auditor")
ROUND_STATES: Final = ("open", "closed", "settled", "cancelled")
RULEBOOKS: Final = ("live-caribbean-stud", "cyber-caribbean-stud", "seneca-caribbean-stud")
SETTINGS: Final = (
    "reset_amount",
    "limit",
    "least_stake",
    "largest_stake",
    "token",
    "largest_stake.CUR",
    "policy",
    "split.meter",
    "split.reserve",
    "split.prize_fund",
    "hands_per_player",
    "prizes.straight_flush",
    "prizes.four_of_a_kind",
    "prizes.full_house",
    "prizes.flush",
    "prizes.straight",
    "prizes.three_of_a_kind",
    "close_required",
    "displayed",
    "dead_hand",
    "payout_tiers",
)
PAYOUT_TIERS: Final = "payout_tiers"
"""The setting whose value is a list."""
