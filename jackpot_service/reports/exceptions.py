"""Exceptions as people see them: the latest first, a casino's people those of their casino."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from jackpot_service.database.transactions import Session
from jackpot_service.domain.exceptions import NotedException
from jackpot_service.domain.principals import Principal
from jackpot_service.records import noted_exceptions
from jackpot_service.records.noted_exceptions import Wanted


def latest_exceptions(
    session: Session,
    principal: Principal,
    wanted: Wanted,
    *,
    opened_before: datetime,
    limit: int,
    before: str | None = None,
) -> Sequence[NotedException]:
    """List the exceptions that a principal may see; `opened_before` says which open rounds are among them."""
    if principal.casino_id is not None:
        if wanted.casino_id not in {None, principal.casino_id}:
            return ()
        wanted = replace(wanted, casino_id=principal.casino_id)
    return noted_exceptions.latest(session, wanted, opened_before=opened_before, limit=limit, before=before)
