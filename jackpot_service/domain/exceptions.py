"""Exceptions: what somebody has to look into, though the books are right. Each can be acknowledged, once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from jackpot_service.domain.principals import Principal

ROUND_OPEN = "round-open"
"""The kind of a round that has been open for too long. It is an exception for as long as it is open."""

EMERGENCY_APPROVAL = "emergency-approval"
"""The kind of a change that one person approved alone."""

PRIZE_DENIED = "prize-denied"
"""The kind of a bet that did not count when its round ended, though its hand would have won."""

LATE_VOID = "late-void"
"""The kind of bets that were made void after their round's betting was closed."""

AWARD_UNCLAIMED = "award-unclaimed"
"""The kind of an award that nobody claimed while its casino's claim period ran."""

EXCEPTION_ID = re.compile(r"[0-9a-f]{15}-[0-9a-f]{16}")
"""When it happened, in microseconds since 1970, and a digest of what it is; so ids are ordered by time."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Resolution(StrEnum):
    """How an exception was closed: by one person who looked into it, or by two who decided about a denied prize."""

    ACKNOWLEDGED = "acknowledged"
    COMPENSATED = "compensated"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """
    How an exception was closed, when, by which principal, and what came of it.

    Where two people decided, `principal` approved it; the reason is the approver's, or else the maker's.
    """

    principal: str
    reason: str
    acknowledged_at: datetime
    resolution: Resolution


@dataclass(frozen=True, slots=True)
class NotedException:
    """
    An exception: a refusal, a late void, a denied prize, an unclaimed award, an open round, or an emergency approval.

    Of a refused call the kind is the problem's code.

    `noticed_at` is when the call was answered or the change approved, or since when the round is open. `facts` are what
    the call asked, what the round holds, or what was approved; `detail` says it in a sentence. `count` is how many
    refusals a line stands for that counts those of a table in an hour; of all others 1. `granted` is what was granted
    for a denied prize, by currency in minor units, less what was taken back; None of all others.
    """

    exception_id: str
    kind: str
    noticed_at: datetime
    jackpot_id: str | None
    casino_id: str | None
    table_id: str | None
    round_id: str | None
    principal: str | None
    detail: str
    facts: Mapping[str, Any]
    count: int
    granted: Mapping[str, int] | None
    acknowledgement: Acknowledgement | None

    def is_shown_to(self, principal: Principal) -> bool:
        """Whether somebody may see it: of a casino's people only those whom it happened to."""
        return principal.casino_id is None or principal.casino_id == self.casino_id


def first_id_at(instant: datetime) -> str:
    """The smallest id that an exception of this instant, or of a later one, can have."""
    return f"{max(0, (instant - _EPOCH) // timedelta(microseconds=1)):015x}"
