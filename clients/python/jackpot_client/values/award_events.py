"""The data of events about awards. Amounts in minor units are in the award's currency."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from jackpot_client.values.event_data import RoundActData
from jackpot_client.values.words import AwardState, Channel, ForfeitedTo, FundedBy, Tier


@dataclass(frozen=True, slots=True, kw_only=True)
class AwardData(RoundActData):
    """
    An award as it was made, whatever became of it; the event's type says what happened.

    `cost_base` is its cost to the pool that paid it, in `base_currency`. `correction` numbers the verdict that made it.
    """

    award_id: str
    correction: int
    bet_id: str
    player_id: str
    hand: str
    tier: Tier | str
    amount_minor: int
    currency: str
    cost_base: Decimal
    base_currency: str
    funded_by: FundedBy | str


@dataclass(frozen=True, slots=True, kw_only=True)
class AwardMadeData(AwardData):
    """One bet's prize; `state` is its first state, held or payable."""

    state: AwardState | str


@dataclass(frozen=True, slots=True, kw_only=True)
class AwardRejectedData(AwardData):
    """A held award is not paid; its money went back to these accounts."""

    returned_to: Mapping[str, Decimal]


@dataclass(frozen=True, slots=True, kw_only=True)
class AwardReinstatedData(AwardData):
    """A rejected award is payable after all; its money came from these accounts."""

    taken_from: Mapping[str, Decimal]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPayment:
    """A payment as the casino stated it; `withheld_minor` is a part of it."""

    amount_minor: int
    withheld_minor: int
    reference: str
    paid_at: datetime | None
    channel: Channel | str | None
    payer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AwardPaidData(AwardData):
    """The casino recorded that it paid an award, or a part of it."""

    payment: EventPayment


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentReversedData(AwardPaidData):
    """A payment that was recorded wrongly was reversed; `reverses` is the act that had recorded it."""

    reverses: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Forfeiture:
    """The rest of an award that was forfeited, where it went, and the version of the claims that says so."""

    amount_minor: int
    cost: Decimal
    to: ForfeitedTo | str
    claims_version: int
    claimable_until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AwardForfeitedData(AwardData):
    """The unpaid rest of an award that nobody claimed was forfeited."""

    forfeiture: Forfeiture
