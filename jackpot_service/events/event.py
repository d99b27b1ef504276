"""An event: something that an entry of the books says, in the form of CloudEvents."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from jackpot_service.domain.facts import instant

Data = Mapping[str, Any]


class EventType(StrEnum):
    """The type of an event. The names are part of the contract; a consumer passes over those that it does not know."""

    ROUND_SETTLED = "jackpot.round.settled"
    ROUND_CANCELLED = "jackpot.round.cancelled"
    ROUND_CORRECTED = "jackpot.round.corrected"
    ROUND_COMPENSATED = "jackpot.round.compensated"
    COMPENSATION_DECLINED = "jackpot.compensation.declined"
    BETS_VOIDED = "jackpot.bets.voided"
    BETTING_CLOSED = "jackpot.betting.closed"
    HIT = "jackpot.hit"
    RESET = "jackpot.reset"
    AWARD_MADE = "jackpot.award.made"
    AWARD_APPROVED = "jackpot.award.approved"
    AWARD_REJECTED = "jackpot.award.rejected"
    AWARD_REINSTATED = "jackpot.award.reinstated"
    AWARD_STOPPED = "jackpot.award.stopped"
    EVIDENCE_RECORDED = "jackpot.evidence.recorded"
    AWARD_RELEASED = "jackpot.award.released"
    AWARD_FORFEITED = "jackpot.award.forfeited"
    AWARD_PAID = "jackpot.award.paid"
    PAYMENT_REVERSED = "jackpot.award.payment-reversed"
    AWARD_REVERSED = "jackpot.award.reversed"
    OPENED = "jackpot.opened"
    SUSPENDED = "jackpot.suspended"
    RESUMED = "jackpot.resumed"
    RETIRED = "jackpot.retired"
    RULES_CHANGED = "jackpot.rules.changed"
    TABLE_LIMITS_CHANGED = "jackpot.table-limits.changed"
    ADJUSTED = "jackpot.adjusted"
    SEED_RECOVERED = "jackpot.seed.recovered"
    PRIZE_FUND_TRUED_UP = "jackpot.prize-fund.trued-up"
    TRANSFER_RECEIVED = "jackpot.transfer.received"
    STATEMENT_SETTLED = "jackpot.statement.settled"
    RATES_PUBLISHED = "jackpot.rates.published"
    CHANGE_POLICY_CHANGED = "jackpot.change-policy.changed"
    WITHHOLDING_CHANGED = "jackpot.withholding.changed"
    CASINO_ADDED = "jackpot.casino.added"
    CASINO_CLAIMS_CHANGED = "jackpot.casino-claims.changed"
    TABLE_ADDED = "jackpot.table.added"


PUBLIC = frozenset({EventType.HIT, EventType.RESET})
"""Every key sees them, at whichever table it was: they name no player."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands in the books, and when it was booked."""

    book: str
    stripe_no: int
    seq: int
    booked_at: datetime

    @property
    def key(self) -> tuple[str, int, int]:
        """Return book, stripe and seq."""
        return self.book, self.stripe_no, self.seq


@dataclass(frozen=True, slots=True)
class Payload:
    """The payload of an event, before it has a place: its type, its subject, its data. `act` is for the house alone."""

    type: EventType
    subject: str
    data: Data
    act: Data | None = None


class Total(NamedTuple):
    """A sum of whole minor units of a currency, and how many they were."""

    currency: str
    amount_minor: int
    number: int


def totals(items: Iterable[Total], *, counted: str) -> list[dict[str, Any]]:
    """Add up sums of money, and write one a currency; `counted` names what they are sums of."""
    sums: dict[str, tuple[int, int]] = {}
    for item in items:
        minor, count = sums.get(item.currency, (0, 0))
        sums[item.currency] = minor + item.amount_minor, count + item.number
    return [
        {"currency": currency, "amount_minor": minor, counted: count}
        for currency, (minor, count) in sorted(sums.items())
    ]


@dataclass(frozen=True, slots=True)
class Event:
    """The event of a number among those of its entry, which count from 1."""

    place: Place
    number: int
    payload: Payload

    @property
    def id(self) -> str:
        """Return the event's id: the same on every page, so that a consumer can drop doubles."""
        return f"{self.place.book}/{self.place.stripe_no}/{self.place.seq}/{self.number}"


def as_cloud_event(event: Event, *, with_people: bool) -> dict[str, Any]:
    """Write an event by CloudEvents 1.0, in its JSON form; who acted and why only if asked for."""
    payload = event.payload
    people = {"act": payload.act} if with_people and payload.act is not None else {}
    return {
        "specversion": "1.0",
        "id": event.id,
        "source": f"urn:jackpot:book:{event.place.book}",
        "type": payload.type.value,
        "subject": payload.subject,
        "time": instant(event.place.booked_at),
        "datacontenttype": "application/json",
        "data": {**payload.data, **people},
    }
