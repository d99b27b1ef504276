"""Publishing a rate sheet: all rates of a base currency at once, under the next number."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from jackpot_service.db import Session
from jackpot_service.domain import currencies, facts
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import ONE, ZERO, Rate, RateSheet, has_decimals
from jackpot_service.records import references as records
from jackpot_service.usecases import references
from jackpot_service.usecases.references import Act

RATE_DECIMALS = 10
RATE_BOUND = Decimal(10**10)
LEAST_MINOR_VALUE = Decimal("1e-9")
"""The least that a minor unit may be worth: an award from a meter of nine billion still fits 64 bits."""


class BadRate(Refused):
    """A rate that cannot be: not positive, not finite, too precise, or for the base currency itself."""

    code = "rate-invalid"
    title = "The rate cannot be"


@dataclass(frozen=True, slots=True)
class PublishRates:
    """A whole sheet: base units per one unit of each currency, the base itself not among them."""

    act: Act
    base: str
    rates: Mapping[str, Decimal]
    effective_at: datetime


def publish_rates(session: Session, command: PublishRates) -> RateSheet:
    """
    Put a sheet in force from its effective time; rounds already seen keep the sheet they were pinned to.

    Raises: UnknownCurrency; BadRate.
    """
    base = currencies.tender(command.base, on=command.effective_at.date())
    rates = {base.code: Rate(base.code, ONE, base.exponent)}
    for code, rate in command.rates.items():
        _require_rate(command.base, code, rate)
        currency = currencies.tender(code, on=command.effective_at.date())
        rates[code] = Rate(code, rate, currency.exponent)
        _require_minor_value(rates[code])
    references.lock(session)
    number = records.last_sheet_number(session, command.base) + 1
    sheet = RateSheet(command.base, number, rates)
    recorded = facts.of_sheet(sheet, effective_at=command.effective_at)
    seq = references.post(session, command.act, EntryKind.RATES_PUBLISHED, recorded)
    records.add_sheet(session, sheet, effective_at=command.effective_at, entry_seq=seq)
    return sheet


def _require_rate(base: str, code: str, rate: Decimal) -> None:
    if code == base:
        message = f"{base} is the base currency; its rate is 1 and is not stated."
        raise BadRate(message, currency=code)
    if not rate.is_finite() or not ZERO < rate < RATE_BOUND:
        message = f"The rate of {code} must be positive and below 10^10, not {rate}."
        raise BadRate(message, currency=code)
    if not has_decimals(rate, RATE_DECIMALS):
        message = f"The rate of {code} may have at most {RATE_DECIMALS} decimals."
        raise BadRate(message, currency=code)


def _require_minor_value(rate: Rate) -> None:
    if rate.base_value(1) < LEAST_MINOR_VALUE:
        message = f"A minor unit of {rate.currency} would be worth less than {LEAST_MINOR_VALUE:f} base units."
        raise BadRate(message, currency=rate.currency)
