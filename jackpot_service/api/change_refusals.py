"""The codes that change requests may be refused with: by their mechanism, and by the kinds of change themselves."""

from typing import Final

OF_KINDS: Final = (
    "above-limit",
    "amount-invalid",
    "award-claimable",
    "award-forfeited",
    "award-part-paid",
    "award-state",
    "award-stopped",
    "award-unknown",
    "below-zero",
    "bet-awarded",
    "bet-compensated",
    "bet-count-mismatch",
    "bet-unknown",
    "card-repeated",
    "casino-unknown",
    "compensation-not-granted",
    "denied-prize-decided",
    "denied-prize-unknown",
    "evidence-missing",
    "exponent-changed",
    "hand-missing",
    "hands-invalid",
    "insufficient-funds",
    "jackpot-in-play",
    "jackpot-retired",
    "jackpot-unknown",
    "no-rate",
    "nothing-held",
    "nothing-rejected",
    "nothing-stopped",
    "nothing-to-correct",
    "payload-invalid",
    "payment-reversed",
    "payment-unknown",
    "rate-invalid",
    "round-corrected",
    "round-not-cancelled",
    "round-not-settled",
    "round-unknown",
    "rules-invalid",
    "seed-committed",
    "setting-unknown",
    "statement-settled",
    "table-limits-invalid",
    "table-limits-looser",
    "table-unknown",
    "target-closed",
    "target-invalid",
    "unknown-currency",
    "withholding-invalid",
)
"""A change is tried when it is requested, so both a request and an approval meet these."""

OF_REQUESTS: Final = ("change-stale", "request-conflict", *OF_KINDS)

OF_REJECTIONS: Final = (
    "change-decided",
    "change-expired",
    "change-unknown",
    "same-department",
    "same-role",
    "same-user",
    "user-approval-required",
)

OF_APPROVAL_OPTIONS: Final = (
    "change-stale",
    "emergency-off",
    "passkey-required",
    *OF_REJECTIONS,
    *OF_KINDS,
)

OF_APPROVALS: Final = (
    "assertion-invalid",
    "change-stale",
    "confirmation-required",
    "effect-moved",
    "emergency-off",
    "key-maker",
    "passkey-required",
    *OF_REJECTIONS,
    *OF_KINDS,
)
