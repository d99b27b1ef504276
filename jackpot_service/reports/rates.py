"""The rate sheet in force."""

from dataclasses import dataclass
from datetime import datetime

from jackpot_service.db import Session
from jackpot_service.domain.currencies import CURRENCIES
from jackpot_service.domain.money import ONE, NoRate, Rate, RateSheet
from jackpot_service.records import pinned, references


@dataclass(frozen=True, slots=True)
class SheetInForce:
    """A rate sheet, and since when it is in force."""

    sheet: RateSheet
    effective_at: datetime


def sheet_in_force(session: Session, base: str, *, at: datetime) -> SheetInForce:
    """
    Read the sheet of a base currency in force at an instant: latest effective time, then highest number.

    Raises: NoRate if there is none.
    """
    found = references.sheet_in_force(session, base, at=at)
    if found is None:
        message = f"No rate sheet of {base} is in force."
        raise NoRate(message, currency=base)
    number, effective_at = found
    return SheetInForce(pinned.sheet(session, base, number), effective_at)


def sheet_to_show(session: Session, base: str, number: int | None) -> RateSheet:
    """A sheet by its number; for None, number 0 with the base currency alone, in which amounts can be shown."""
    if number is None:
        return RateSheet(base, 0, {base: Rate(base, ONE, CURRENCIES[base].exponent)})
    return pinned.sheet(session, base, number)
