"""Exceptions as people see them: the latest first, a casino's people those of their casino."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from jackpot_service.database.transactions import Session
from jackpot_service.domain.exceptions import NotedException
from jackpot_service.domain.facts import instant, of_exception
from jackpot_service.domain.principals import Principal
from jackpot_service.records import noted_exceptions
from jackpot_service.records.noted_exceptions import Wanted


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list; `next_id` continues it, None at its end."""

    items: tuple[NotedException, ...]
    next_id: str | None


def exceptions_page(
    session: Session,
    principal: Principal,
    wanted: Wanted,
    *,
    opened_before: datetime,
    limit: int,
    before: str | None = None,
) -> Page:
    """List the exceptions that a principal may see; `opened_before` says which open rounds are among them."""
    if principal.casino_id is not None:
        if wanted.casino_id not in {None, principal.casino_id}:
            return Page((), None)
        wanted = replace(wanted, casino_id=principal.casino_id)
    found = noted_exceptions.latest(session, wanted, opened_before=opened_before, limit=limit + 1, before=before)
    items = tuple(found[:limit])
    return Page(items, items[-1].exception_id if len(found) > limit else None)


def shown(exception: NotedException) -> dict[str, Any]:
    """Write an exception as every door shows it."""
    acknowledgement = exception.acknowledgement
    return {
        "exception_id": exception.exception_id,
        **of_exception(exception),
        "acknowledgement": None
        if acknowledgement is None
        else {
            "principal": acknowledgement.principal,
            "reason": acknowledgement.reason,
            "acknowledged_at": instant(acknowledgement.acknowledged_at),
        },
    }
