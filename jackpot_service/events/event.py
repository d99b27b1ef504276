"""What an event is: something that an entry of the books says, told as a CloudEvent."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from jackpot_service.domain.facts import instant

Data = Mapping[str, Any]


class EventType(StrEnum):
    """What happened. The names are part of the contract; a consumer passes over those that it does not know."""

    ROUND_SETTLED = "jackpot.round.settled"
    ROUND_CANCELLED = "jackpot.round.cancelled"
    ROUND_CORRECTED = "jackpot.round.corrected"
    ROUND_COMPENSATED = "jackpot.round.compensated"
    BETS_VOIDED = "jackpot.bets.voided"
    HIT = "jackpot.hit"
    RESET = "jackpot.reset"
    AWARD_MADE = "jackpot.award.made"
    AWARD_APPROVED = "jackpot.award.approved"
    AWARD_REJECTED = "jackpot.award.rejected"
    AWARD_REINSTATED = "jackpot.award.reinstated"
    AWARD_PAID = "jackpot.award.paid"
    AWARD_REVERSED = "jackpot.award.reversed"
    OPENED = "jackpot.opened"
    SUSPENDED = "jackpot.suspended"
    RESUMED = "jackpot.resumed"
    RETIRED = "jackpot.retired"
    RULES_CHANGED = "jackpot.rules.changed"
    ADJUSTED = "jackpot.adjusted"
    SEED_RECOVERED = "jackpot.seed.recovered"
    PRIZE_FUND_TRUED_UP = "jackpot.prize-fund.trued-up"
    TRANSFER_RECEIVED = "jackpot.transfer.received"
    STATEMENT_SETTLED = "jackpot.statement.settled"
    RATES_PUBLISHED = "jackpot.rates.published"
    CASINO_ADDED = "jackpot.casino.added"
    TABLE_ADDED = "jackpot.table.added"


PUBLIC = frozenset({EventType.HIT, EventType.RESET})
"""Told to every key, whoever's table it was: they name no player."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands in the books, and when it was booked."""

    book: str
    stripe_no: int
    seq: int
    booked_at: datetime


@dataclass(frozen=True, slots=True)
class Draft:
    """An event that has no place yet: its type, what it is about, what it says. `act` is for the house alone."""

    type: EventType
    subject: str
    data: Data
    act: Data | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """The event of a number among those of its entry, which count from 1."""

    place: Place
    number: int
    draft: Draft

    @property
    def id(self) -> str:
        """The same wherever and whenever it is told, so that a consumer can drop doubles."""
        return f"{self.place.book}/{self.place.stripe_no}/{self.place.seq}/{self.number}"


def as_cloud_event(event: Event, *, with_people: bool) -> dict[str, Any]:
    """Write an event by CloudEvents 1.0, in its JSON form; who acted and why only if asked for."""
    draft = event.draft
    people = {"act": draft.act} if with_people and draft.act is not None else {}
    return {
        "specversion": "1.0",
        "id": event.id,
        "source": f"urn:jackpot:book:{event.place.book}",
        "type": draft.type.value,
        "subject": draft.subject,
        "time": instant(event.place.booked_at),
        "datacontenttype": "application/json",
        "data": {**draft.data, **people},
    }
