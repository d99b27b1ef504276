"""Changes as two people make them, in one transaction: Ann asks, Bob approves, and nobody comes between."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import uuid4

from jackpot_service.database.transactions import Session
from jackpot_service.domain.changes import Outcome
from jackpot_service.domain.outcomes import Result
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.effects import ChangeEffect
from jackpot_service.usecases.changes.requests import DecideChange, RequestChange, decide_change, request_change
from tests.support import people

ASKS = Principal("Ann", Role.OPERATOR)


def change(session: Session, kind: str, payload: Mapping[str, Any], *, now: datetime) -> ChangeEffect:
    """Have a change asked for and approved; what it did. Raises: whatever it is refused by."""
    asking = people.enrol(session, Act(people.asker_of(kind), now, request_id=uuid4().hex, reason="as agreed"))
    if kind == "change-policy":  # It takes that those who are to decide have keys.
        for person in (people.asker_of(kind), people.checker_of(kind), people.checker_of("adjustment")):
            people.with_key(session, Act(person, now))
    requested = request_change(session, RequestChange(asking, kind, payload)).change
    approving = people.enrol(session, Act(people.checker_of(kind), now, reason="checked"))
    decided = decide_change(session, DecideChange(approving, requested.request_id, Outcome.APPROVED))
    assert decided.effect is not None
    return decided.effect


def correct(session: Session, jackpot_id: str, name: RoundName, result: Result, *, now: datetime) -> ChangeEffect:
    """Have a settled round corrected."""
    stated = {
        "bet_count": result.bet_count,
        "hands": [{"hand": hand.hand, "status": hand.status.value, "cards": [*hand.cards]} for hand in result.hands],
        "dealer": [*result.dealer],
    }
    payload = {"jackpot_id": jackpot_id, "table_id": name.table_id, "round_id": name.round_id, "result": stated}
    return change(session, "round-correction", payload, now=now)
