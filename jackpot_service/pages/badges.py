"""Badges of the navigation: how much waits for who is signed in."""

from jackpot_service.api.request_context import look, now
from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Principal
from jackpot_service.records import change_inbox, change_policies


def changes_waiting(person: Principal) -> int:
    """Count the change requests that somebody may decide; who can decide none costs no question."""
    if not person.may_approve:
        return 0

    def count(session: Session) -> int:
        return change_inbox.count_waiting_for(session, person, change_policies.in_force(session), at=now())

    return look(count)
