"""
Resolving instants: nothing is booked before them any more, so that what they stand for is final.

Stripes that have not passed an instant are raised to it one at a time, each in a transaction of its own, which locks it
for no longer than a bet does. No row is written for it: see docs/decisions/instants.md.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

import sqlalchemy
from sqlalchemy import text

from jackpot_service.database.transactions import Session, read, transact
from jackpot_service.domain.errors import Conflict, Refused
from jackpot_service.ledger import instants

_IS_REPLICA = text("SELECT pg_is_in_recovery()")


class InstantAhead(Refused):
    """An instant that has not come: what will be booked before it is not known."""

    code = "instant-ahead"
    title = "The instant lies ahead"


class InstantNotResolved(Conflict):
    """A replica cannot keep the books from changing before an instant: only on the primary it can be fixed."""

    code = "instant-not-resolved"
    title = "The instant was not resolved on the primary"


def resolve(engine: sqlalchemy.Engine, book: str, instant: datetime, *, now: datetime) -> None:
    """
    Let nothing be booked in a book before an instant any more; the book must exist.

    Stripe 0 is raised first. A stripe that is added later is not behind stripe 0, so the list that is made after it is
    whole.

    Raises: InstantAhead, and InstantNotResolved on a replica, unless every stripe has passed the instant.
    """
    find_behind = partial(instants.behind, book=book, instant=instant)
    behind = read(engine, find_behind)
    if not behind:
        return
    read(engine, partial(_require_resolvable, instant=instant, now=now))
    if behind[0] == 0:
        _raise(engine, book, [0], instant)
        behind = read(engine, find_behind)
    if behind:
        _raise(engine, book, behind, instant)


def require_come(instant: datetime, *, now: datetime) -> None:
    """Raises: InstantAhead."""
    if instant > now:
        message = f"{instant.isoformat()} has not come yet."
        raise InstantAhead(message)


def _require_resolvable(session: Session, instant: datetime, *, now: datetime) -> None:
    require_come(instant, now=now)
    if session.scalar(_IS_REPLICA):
        message = f"Ask the primary about {instant.isoformat()} first; a replica then answers the same."
        raise InstantNotResolved(message)


def _raise(engine: sqlalchemy.Engine, book: str, stripe_nos: Sequence[int], instant: datetime) -> None:
    transact(engine, partial(instants.raise_stripes, book=book, stripe_nos=stripe_nos, instant=instant))
