"""Noting the awards that nobody claimed: each is an exception once, for finance to look into."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.claims import facts_of_unclaimed
from jackpot_service.domain.currencies import written
from jackpot_service.domain.exceptions import AWARD_UNCLAIMED
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal
from jackpot_service.records import awards, exceptions
from jackpot_service.records.award_filters import AwardFilters, Position
from jackpot_service.records.awards import AwardRecord
from jackpot_service.records.exceptions import ExceptionRecord

AT_A_TIME: Final = 100
"""Of so many awards exceptions are kept in one transaction: until its commit no other exception is kept."""


@dataclass(frozen=True, slots=True)
class Noted:
    """How many awards are unclaimed, how many of them were noted now, and where to go on; None at the end."""

    unclaimed: int
    new: int
    after: Position | None


def note_unclaimed(session: Session, principal: Principal, *, now: datetime, after: Position | None) -> Noted:
    """Keep an exception of each of the next awards that are unclaimed; one that was kept before stays as it is."""
    filters = AwardFilters(AwardState.UNCLAIMED, after=after)
    unclaimed = awards.latest(session, SYSTEM_OPERATOR, filters, limit=AT_A_TIME, now=now)
    new = sum(exceptions.keep(session, [_exception(award, principal, now)]) for award in unclaimed)
    return Noted(len(unclaimed), new, unclaimed[-1].position if len(unclaimed) == AT_A_TIME else None)


def _exception(record: AwardRecord, principal: Principal, now: datetime) -> ExceptionRecord:
    award = record.award
    stated = facts_of_unclaimed(
        award_id=award.award_id,
        bet_id=award.bet_id,
        unpaid_minor=award.unpaid_minor,
        currency=award.currency,
        until=record.claimable_until,
    )
    return ExceptionRecord(
        kind=AWARD_UNCLAIMED,
        table_id=record.table_id,
        round_id=record.round_id,
        principal=principal.name,
        noticed_at=now,
        content=[award.award_id],
        request=stated,
        detail=f"Nobody claimed award {award.award_id} until {stated['claimable_until']}: "
        f"{written(award.unpaid_minor, award.currency)} is unpaid.",
    )
