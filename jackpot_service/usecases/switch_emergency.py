"""Switching emergency approvals on or off: an act, and a row that only the owner of the database may write."""

from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.records import emergency_switches
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act


def switch_emergency(session: Session, act: Act, *, is_on: bool) -> bool:
    """Let one person alone approve an own request, or end that. Returns whether that was not so already."""
    acts.lock(session)
    was_on = emergency_switches.is_on(session)
    if was_on is is_on:
        return False
    seq = acts.post(
        session,
        act,
        EntryKind.EMERGENCY_SWITCHED,
        subject="emergency approvals",
        before=facts.of_emergency_switch(is_on=was_on),
        after=facts.of_emergency_switch(is_on=is_on),
    )
    emergency_switches.add(session, is_on=is_on, entry_seq=seq)
    return True
