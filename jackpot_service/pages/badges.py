"""Badges of the navigation: how much waits for who is signed in."""

from jackpot_service.api.request_context import look, now
from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.records import change_inbox, change_policies, open_awards


def changes_waiting(person: Principal) -> int:
    """Count the change requests that somebody may decide; who can decide none costs no question."""
    if not person.may_approve:
        return 0

    def count(session: Session) -> int:
        return change_inbox.count_waiting_for(session, person, change_policies.in_force(session), at=now())

    return look(count)


def awards_waiting(person: Principal) -> int:
    """
    Count the awards that wait for somebody: at the house those that are held, stopped or unclaimed.

    Finance of a casino waits for its players alone, and those who only look decide nothing.
    """
    if person.role not in {Role.FINANCE, Role.OPERATOR}:
        return 0

    def count(session: Session) -> int:
        decided = 0 if person.casino_id is not None else open_awards.count_waiting(session)
        unclaimed = open_awards.count_unclaimed(session, person.casino_id, now=now())
        return min(decided + unclaimed, open_awards.MOST_COUNTED)

    return look(count)
