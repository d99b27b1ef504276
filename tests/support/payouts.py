"""Payout tiers as tests open jackpots with them."""

from decimal import Decimal

from jackpot_service.domain.payout_tiers import Evidence, PayoutTier
from jackpot_service.domain.rulebooks import PAYOUT_TIERS
from jackpot_service.domain.settings import Setting


def held_from(amount: str, *evidence: Evidence, approvals: int = 1) -> tuple[PayoutTier, ...]:
    """One tier: awards of any prize are held that cost so much at least."""
    return (PayoutTier(Decimal(amount), approvals, evidence=evidence),)


def shipped() -> dict[str, Setting]:
    """The tiers of the published rulebooks, as a world opens a jackpot with them."""
    return {"payout_tiers": PAYOUT_TIERS}
