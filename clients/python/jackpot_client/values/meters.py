"""Answers about jackpots and their meters, for displays. `amount_minor` is rounded down, `amount_exact` is exact."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from jackpot_client.values.words import HitPayment, JackpotState


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """
    The progressive amount on offer: `amount` to show, `amount_exact` in the jackpot's base currency.

    `overflow` is kept off the offer by a limit. `version` is only compared: it changes with every entry.
    """

    jackpot_id: str
    cycle: int
    currency: str
    amount_minor: int
    amount: str
    amount_exact: Decimal
    overflow: Decimal
    last_movement_at: datetime
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidMeter(Meter):
    """A meter with the rate that it is shown by, and how far the last hit is paid; None if nothing of it is to be."""

    rate: Decimal
    rate_sheet: int | None
    payment: HitPayment | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeterAmount:
    """The meter in one of the currencies that were asked for."""

    currency: str
    amount_minor: int
    amount: str
    rate: Decimal
    rate_sheet: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMeter(PaidMeter):
    """A meter in the first currency that was asked for, and in each of them."""

    amounts: tuple[MeterAmount, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Jackpot:
    """A jackpot as it stands; the prize fund may be negative."""

    jackpot_id: str
    rulebook: str
    currency: str
    state: JackpotState | str
    is_accepting: bool
    rules_version: int
    meter: PaidMeter
    reserve: Decimal
    prize_fund: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedAmount:
    """The meter in a currency with so many decimals, in whole minor units, rounded down."""

    currency: str
    exponent: int
    amount_minor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LastHit:
    """The last hit: the meter's payment in the base currency, and the royal flush, the ace first."""

    cycle: int
    hit_at: datetime
    casino_id: str
    casino: str
    currency: str
    exponent: int
    amount_minor: int
    cards: tuple[str, ...]
    winners: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedFrame:
    """A jackpot as a display shows it; a later `cycle` than before means that the jackpot was hit."""

    jackpot_id: str
    state: JackpotState | str
    cycle: int
    rate_sheet: int | None
    amounts: tuple[FeedAmount, ...]
    last_hit: LastHit | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedState:
    """
    The last frame, for a display to show now, and whether it is stale.

    A stale one may be wrong: for some time there was no word from the service. A display then shows that it is.
    """

    frame: FeedFrame
    is_stale: bool
