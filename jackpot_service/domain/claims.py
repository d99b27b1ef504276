"""
Claims: for how long an award can be claimed at a casino, and where its unpaid rest goes if nobody claims it.

Two people set it for a casino, in versions. The period of an award begins with its last step. An award whose period is
over is unclaimed. It can still be paid, until two people forfeit it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from jackpot_service.domain import posting_rules
from jackpot_service.domain.awards import TO_PAY, AwardState
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.facts import Facts, instant
from jackpot_service.domain.held_awards import MadeAward
from jackpot_service.domain.journal import Postings
from jackpot_service.domain.money import RateSheet, plain

MOST_DAYS: Final = 36_500
"""A hundred years: more than any law gives a player."""

HOURS_OF_DAY: Final = 24
"""A day of a claim period, whatever the clock on the wall does."""


class ForfeitedTo(StrEnum):
    """Where the unpaid rest of a forfeited award goes: back to the jackpot, or to `statutory:<casino>`."""

    METER = "meter"
    STATUTORY = "statutory"


@dataclass(frozen=True, slots=True)
class CasinoClaims:
    """
    A version of a casino's claims; without `claim_days` none becomes unclaimed.

    A day has 24 hours.
    """

    version: int
    claim_days: int | None = None
    forfeited_to: ForfeitedTo = ForfeitedTo.STATUTORY

    def facts_of(self, casino_id: str) -> Facts:
        """The version as acts record it."""
        return {
            "casino_id": casino_id,
            "version": self.version,
            "claim_days": self.claim_days,
            "forfeited_to": self.forfeited_to.value,
        }


ClaimPeriods = Mapping[str, int | None]
"""The `claim_days` of casinos, by their ids; None of one where awards do not become unclaimed."""

NEVER_SET: Final = CasinoClaims(0)
"""The claims in force at a casino for which nobody set any."""


class AwardClaimable(Conflict, code="award-claimable", title="The award can still be claimed"):
    """The period in which the award can be claimed is not over, or its casino sets none."""


def claimable_until(state: AwardState, *, last_step_at: datetime, claim_days: int | None) -> datetime | None:
    """Return the last instant at which an award can be claimed; None if there is none, or nothing is to be paid."""
    if claim_days is None or state not in TO_PAY:
        return None
    return last_step_at + timedelta(hours=claim_days * HOURS_OF_DAY)


def is_unclaimed(until: datetime | None, *, now: datetime) -> bool:
    """Whether the period in which an award can be claimed is over."""
    return until is not None and now > until


def require_unclaimed(until: datetime | None, *, now: datetime, award_id: str) -> None:
    """Raises: AwardClaimable."""
    if not is_unclaimed(until, now=now):
        message = f"Award {award_id} can be claimed {'for ever' if until is None else f'until {instant(until)}'}."
        raise AwardClaimable(message, award_id=award_id, claimable_until=instant(until))


def forfeiture(rest: MadeAward, to: ForfeitedTo, *, casino_id: str, sheet: RateSheet) -> Postings:
    """
    Take the unpaid rest of an award from its casino's account, at its exact cost.

    To the meter it goes as players' money, even if the house paid the award: players had won it. An award that the
    prize fund paid goes back there. A meter that was won since gets it all the same, as with a rejected award.
    """
    return posting_rules.for_forfeiture(
        rest.amount_minor,
        rest.currency,
        returned_to=posting_rules.returned_to(rest.funded_by) if to is ForfeitedTo.METER else None,
        casino_id=casino_id,
        sheet=sheet,
    )


def facts_of_unclaimed(
    *, award_id: str, bet_id: str, unpaid_minor: int, currency: str, until: datetime | None
) -> Facts:
    """The unclaimed award as its exception states it."""
    return {
        "award_id": award_id,
        "bet_id": bet_id,
        "unpaid_minor": unpaid_minor,
        "currency": currency,
        "claimable_until": instant(until),
    }


def facts_of_forfeiture(rest: MadeAward, claims: CasinoClaims, *, until: datetime | None) -> Facts:
    """The rest of an award that was forfeited, when it became unclaimed, and the version that said where it goes."""
    return {
        "amount_minor": rest.amount_minor,
        "cost": plain(rest.cost),
        "to": claims.forfeited_to.value,
        "claims_version": claims.version,
        "claimable_until": instant(until),
    }
