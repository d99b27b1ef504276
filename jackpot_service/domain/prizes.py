"""The hands that win, and what each may be worth: a part of the meter, so many times the stake, or an amount."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from jackpot_service.domain.money import plain


class Tier(StrEnum):
    """The hands that win, best first."""

    ROYAL_FLUSH = "royal_flush"
    STRAIGHT_FLUSH = "straight_flush"
    FOUR_OF_A_KIND = "four_of_a_kind"
    FULL_HOUSE = "full_house"
    FLUSH = "flush"
    STRAIGHT = "straight"
    THREE_OF_A_KIND = "three_of_a_kind"


@dataclass(frozen=True, slots=True)
class MeterPart:
    """A prize that is a part of the meter on offer: 1 is all of it."""

    fraction: Decimal


@dataclass(frozen=True, slots=True)
class StakeMultiple:
    """A fixed prize: so many times the stake, in the player's own currency."""

    times: int


@dataclass(frozen=True, slots=True)
class FixedAmount:
    """A fixed prize: so many units of the jackpot's base currency, whatever the token is worth."""

    amount: Decimal


Prize = MeterPart | StakeMultiple | FixedAmount


def as_document(prize: Prize) -> dict[str, Any]:
    """Write a prize as a rules version holds it."""
    match prize:
        case MeterPart(fraction):
            return {"meter_part": plain(fraction)}
        case StakeMultiple(times):
            return {"stake_multiple": times}
        case FixedAmount(amount):
            return {"fixed_amount": plain(amount)}


def from_document(document: Mapping[str, Any]) -> Prize:
    """Read a prize back from `as_document`."""
    if "meter_part" in document:
        return MeterPart(Decimal(document["meter_part"]))
    if "fixed_amount" in document:
        return FixedAmount(Decimal(document["fixed_amount"]))
    return StakeMultiple(document["stake_multiple"])
