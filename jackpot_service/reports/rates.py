"""Rate sheets: the one in force, any other, and how a currency's rate came to be what it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from jackpot_service.database.transactions import Session
from jackpot_service.domain.currencies import CURRENCIES
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.money import ONE, NoRate, Rate, RateSheet
from jackpot_service.records import immutable, rate_sheets
from jackpot_service.records.rate_sheets import SheetHead

T = TypeVar("T")


class UnknownSheet(NotFound, code="rate-sheet-unknown", title="Unknown rate sheet"):
    """No sheet of this number."""


@dataclass(frozen=True, slots=True)
class SheetShown:
    """A rate sheet: since when, or from when, it is in force, where its rates come from, and the rates."""

    head: SheetHead
    sheet: RateSheet


@dataclass(frozen=True, slots=True)
class RateThen:
    """The rate of a currency in a sheet; None where the sheet has none."""

    head: SheetHead
    rate: Rate | None


def sheet_in_force(session: Session, base: str, *, at: datetime) -> SheetShown:
    """
    Read the sheet of a base currency in force at an instant: latest effective time, then highest number.

    Raises: NoRate if there is none.
    """
    head = rate_sheets.in_force(session, base, at=at)
    if head is None:
        message = f"No rate sheet of {base} is in force."
        raise NoRate(message, currency=base)
    return SheetShown(head, immutable.sheet(session, base, head.number))


def sheet_of_number(session: Session, base: str, number: int) -> SheetShown:
    """Read a sheet by its number, whether it is in force or not. Raises: UnknownSheet."""
    head = rate_sheets.find(session, base, number)
    if head is None:
        message = f"{base} has no rate sheet {number}."
        raise UnknownSheet(message, base=base, number=number)
    return SheetShown(head, immutable.sheet(session, base, number))


def sheet_to_show(session: Session, base: str, number: int | None) -> RateSheet:
    """A sheet by its number; for None, number 0 with the base currency alone, in which amounts can be shown."""
    if number is None:
        return RateSheet(base, 0, {base: Rate(base, ONE, CURRENCIES[base].exponent)})
    return immutable.sheet(session, base, number)


def latest_sheets(session: Session, base: str, *, limit: int, before: int | None) -> Sequence[SheetHead]:
    """List the sheets of a base currency, the latest first: those below a number."""
    return rate_sheets.latest(session, base, limit=limit, before=before)


def history(session: Session, base: str, currency: str, *, limit: int, before: int | None) -> Sequence[RateThen]:
    """List the sheets of a base currency as `latest_sheets`, each with its rate of one currency."""
    heads = rate_sheets.history(session, base, currency, limit=limit, before=before)
    return [RateThen(head, rate) for head, rate in heads]
