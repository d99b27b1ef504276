"""Rate sheets as they come into force: the first by one operator, every later one by two people."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from jackpot_service.database.transactions import Session
from jackpot_service.domain.changes import Outcome
from jackpot_service.domain.money import plain
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.records import rate_sheets
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.requests import DecideChange, RequestChange, decide_change, request_change
from jackpot_service.usecases.publish_rates import PublishRates, publish_first_sheet
from tests.support import people

ASKS, APPROVES = Principal("Rita", Role.RATES), Principal("Ruth", Role.RATES)


def publish(
    session: Session, base: str, rates: Mapping[str, Decimal], *, now: datetime, effective_at: datetime | None = None
) -> int:
    """Put a whole sheet in force, now or from an instant on; returns its number."""
    last = rate_sheets.last_number(session, base)
    if not last:
        publish_first_sheet(session, PublishRates(Act(SYSTEM_OPERATOR, now), base, rates, now))
        return 1
    payload: dict[str, Any] = {
        "base": base,
        "rates": {code: plain(rate) for code, rate in rates.items()},
        "replace_all": True,
    }
    if effective_at is not None:
        payload["effective_at"] = effective_at.isoformat()
    asking = people.enrol(session, Act(ASKS, now, request_id=f"sheet-{base}-{last + 1}", reason="as the market moved"))
    change = request_change(session, RequestChange(asking, "rate-sheet", payload)).change
    approving = people.enrol(session, Act(APPROVES, now, reason="checked"))
    decide_change(session, DecideChange(approving, change.request_id, Outcome.APPROVED, change.figures_due))
    return last + 1
