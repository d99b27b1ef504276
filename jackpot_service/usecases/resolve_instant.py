"""Resolving an instant that a report asks about: from then on, what it stands for is fixed."""

from datetime import datetime

from sqlalchemy import text

from jackpot_service.db import Session
from jackpot_service.domain.errors import Conflict, Refused
from jackpot_service.ledger import instants
from jackpot_service.ledger.instants import Positions

_IS_REPLICA = text("SELECT pg_is_in_recovery()")


class InstantAhead(Refused):
    """An instant that has not come: what will be booked before it is not known."""

    code = "instant-ahead"
    title = "The instant lies ahead"


class InstantNotResolved(Conflict):
    """A replica cannot keep the books from changing before an instant: only on the primary it can be fixed."""

    code = "instant-not-resolved"
    title = "The instant was not resolved on the primary"


def resolve_instant(session: Session, book: str, instant: datetime, *, now: datetime) -> Positions:
    """
    Give the positions of a book's stripes at an instant, the same for ever; the book must exist.

    The first time it locks all stripes for a moment, unless something was booked after the instant on each of them. A
    replica tells what was resolved on the primary, and what nobody need resolve, since it is over on every stripe.

    Raises: InstantAhead; InstantNotResolved.
    """
    found = instants.stored(session, book, instant)
    if found is not None:
        return found
    end_before(session, book, instant, now=now)
    positions = instants.before(session, book, instant)
    return positions if _is_replica(session) else instants.store(session, book, instant, positions)


def end_before(session: Session, book: str, instant: datetime, *, now: datetime) -> None:
    """
    See to it that nothing is booked before an instant any more; where the books stood then, nobody keeps.

    It locks all stripes for a moment, unless something was booked after the instant on each of them.

    Raises: as `resolve_instant`.
    """
    if not instants.is_over(session, book, instant):
        _require_possible(instant, now=now, is_replica=_is_replica(session))
        instants.close(session, book, instant)


def require_come(instant: datetime, *, now: datetime) -> None:
    """Raises: InstantAhead."""
    if instant > now:
        message = f"{instant.isoformat()} has not come yet."
        raise InstantAhead(message)


def _is_replica(session: Session) -> bool:
    return bool(session.scalar(_IS_REPLICA))


def _require_possible(instant: datetime, *, now: datetime, is_replica: bool) -> None:
    require_come(instant, now=now)
    if is_replica:
        message = f"Ask the primary about {instant.isoformat()} first; a replica then answers the same."
        raise InstantNotResolved(message)
