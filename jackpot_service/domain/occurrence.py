"""
The times that table servers and cashiers state: none lies ahead of the ledger's clock, nor before what it follows.

A closing or a result follows the bets; a payment follows the moment when its award became payable. They are remarks
otherwise. Another clock may be two seconds off, as far as the service's own may be wrong.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.errors import Conflict, FieldError, Refused
from jackpot_service.domain.facts import instant

MOST_OFF: Final = timedelta(seconds=2)


class OccurredAhead(Refused, code="occurred-in-future", title="The time lies in the future"):
    """A call states a time that has not come."""


class DatedBeforeAward(Refused, code="dated-before-award", title="The time lies before the award"):
    """A payment states a time at which its award was not payable yet."""


class DatedBeforeBet(Conflict, code="dated-before-bet", title="The time lies before a bet"):
    """A closing or a result states a time that lies before that of a live bet."""


def require_not_ahead(occurred_at: datetime | None, *, now: datetime, field: str = "occurred_at") -> None:
    """Raises: OccurredAhead."""
    if occurred_at is not None and occurred_at - now > MOST_OFF:
        message = f"{instant(occurred_at)} lies ahead of the ledger's clock."
        error = FieldError(f"/{field}", OccurredAhead.code, message)
        raise OccurredAhead(message, field_errors=(error,))


def require_paid_between(paid_at: datetime | None, *, payable_since: datetime, now: datetime) -> None:
    """
    Require that the time of a payment has come, and that its award was payable then.

    Raises: DatedBeforeAward, OccurredAhead.
    """
    require_not_ahead(paid_at, now=now, field="paid_at")
    if paid_at is not None and payable_since - paid_at > MOST_OFF:
        message = f"{instant(paid_at)} lies before {instant(payable_since)}, when the award became payable."
        error = FieldError("/paid_at", DatedBeforeAward.code, message)
        raise DatedBeforeAward(message, field_errors=(error,))


def require_bets_not_ahead(bets: Bets, *, now: datetime) -> None:
    """Raises: OccurredAhead, naming every such bet."""
    if bets.occurred_at is None:
        return
    ahead = [
        (place, moment)
        for place, moment in zip(bets.places, bets.occurred_at, strict=True)
        if moment is not None and moment - now > MOST_OFF
    ]
    if ahead:
        message = f"Bets that lie ahead of the ledger's clock: {len(ahead)}."
        errors = tuple(
            FieldError(f"/bets/{place}/occurred_at", OccurredAhead.code, f"{instant(moment)} has not come.")
            for place, moment in ahead
        )
        raise OccurredAhead(message, field_errors=errors)


def require_not_before(bets: Iterable[Bet], occurred_at: datetime | None) -> None:
    """Require that a closing or a result came no earlier than the round's live bets. Raises: DatedBeforeBet."""
    if occurred_at is None:
        return
    later = sorted(bet.bet_id for bet in bets if bet.occurred_at is not None and bet.occurred_at > occurred_at)
    if later:
        message = f"Bets of the round that state a time after {instant(occurred_at)}: {len(later)}."
        raise DatedBeforeBet(message, bet_ids=later)
