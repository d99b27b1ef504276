"""
The part that the data of events has in common.

`act` is None for a key that does not see who acted, and where no person did.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EventAct:
    """The principal who acted and why; the act's place in the audit trail, and the change request it carried out."""

    seq: int
    principal: str
    reason: str | None
    request_id: str | None
    decides: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActData:
    """The data of an event of an act."""

    act: EventAct | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundIds:
    """The ids of a round."""

    jackpot_id: str
    table_id: str
    round_id: str
    casino_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundActData(RoundIds):
    """The data of an event of an act about a round."""

    act: EventAct | None = None
