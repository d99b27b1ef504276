"""Putting a rate sheet in force: all rates of a base currency at once, under the next number."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from jackpot_service.database.transactions import Session
from jackpot_service.domain import currencies, facts
from jackpot_service.domain.errors import Conflict, Refused
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import ONE, ZERO, Rate, RateSheet, has_decimals, plain
from jackpot_service.domain.rates import RateSource
from jackpot_service.records import immutable, rate_sheets
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act

RATE_DECIMALS = 10
RATE_BOUND = Decimal(10**10)
LEAST_MINOR_VALUE = Decimal("1e-9")
"""The least that a minor unit may be worth: an award from a meter of nine billion still fits 64 bits."""


class BadRate(Refused, code="rate-invalid", title="Invalid rate"):
    """The rate is not positive, not finite, too precise, or for the base currency itself."""


class SheetExists(Conflict, code="sheet-exists", title="The base currency already has a rate sheet"):
    """One operator may publish the first sheet of a base currency; every later one is a change, which takes two."""


class ExponentChanged(Conflict, code="exponent-changed", title="The currency had another exponent"):
    """
    The currency's minor units were others in earlier sheets.

    Sums of minor units by day would mix both. A currency that is redenominated gets another code.
    """


@dataclass(frozen=True, slots=True)
class PublishRates:
    """
    A whole sheet: base units per one unit of each currency, the base itself not among them.

    `source` is the document that they were taken from, if there is one.
    """

    act: Act
    base: str
    rates: Mapping[str, Decimal]
    effective_at: datetime
    source: RateSource | None = None


def publish_first_sheet(session: Session, command: PublishRates) -> bool:
    """
    Put the first sheet of a base currency in force; return whether it was done now, rather than by this request before.

    Raises: SheetExists; UnknownCurrency; BadRate; RequestConflict.
    """
    acts.lock(session)
    content = {"base": command.base, "rates": {code: plain(rate) for code, rate in sorted(command.rates.items())}}
    if acts.is_replay(session, command.act, EntryKind.RATES_PUBLISHED, content):
        return False
    if rate_sheets.last_number(session, command.base):
        message = f"{command.base} has a rate sheet; ask for a change of it, which another person approves."
        raise SheetExists(message, base=command.base)
    publish_rates(session, command, request=acts.request_of(command.act, content))
    return True


def publish_rates(session: Session, command: PublishRates, *, request: Facts | None = None) -> RateSheet:
    """
    Put a sheet in force from its effective time; rounds already seen keep the sheet of their opening.

    For the first sheet and for an approved change: the caller has seen to it that it may be. `request` is what makes a
    repeated request the same.

    Raises: UnknownCurrency; BadRate; ExponentChanged.
    """
    acts.lock(session)
    sheet = next_sheet(session, command)
    source = facts.facts_of_rate_source(command.source)
    seq = acts.record(
        session,
        command.act,
        EntryKind.RATES_PUBLISHED,
        subject=f"rate sheet {sheet.base} {sheet.number}",
        before=sheet_at(session, command.base, at=command.effective_at),
        after=facts.facts_of_sheet(sheet, effective_at=command.effective_at, source=source),
        request=request,
    )
    rate_sheets.add(session, sheet, effective_at=command.effective_at, source=source, entry_seq=seq)
    return sheet


def next_sheet(session: Session, command: PublishRates) -> RateSheet:
    """Make the sheet that would come into force now. Raises: UnknownCurrency; BadRate; ExponentChanged."""
    rates = sheet_rates(command.base, command.rates, effective_at=command.effective_at)
    _require_same_exponents(rates, rate_sheets.exponents(session, command.base))
    return RateSheet(command.base, rate_sheets.last_number(session, command.base) + 1, rates)


def sheet_rates(base: str, rates: Mapping[str, Decimal], *, effective_at: datetime) -> dict[str, Rate]:
    """Make the rates of a sheet, that of the base itself among them. Raises: UnknownCurrency; BadRate."""
    own = currencies.tender(base, on=effective_at.date())
    made = {base: Rate(base, ONE, own.exponent)}
    for code, rate in rates.items():
        _require_rate(base, code, rate)
        currency = currencies.tender(code, on=effective_at.date())
        made[code] = Rate(code, rate, currency.exponent)
        _require_minor_value(made[code])
    return made


def _require_same_exponents(rates: Mapping[str, Rate], earlier: Mapping[str, int]) -> None:
    for code, rate in rates.items():
        if earlier.get(code, rate.exponent) != rate.exponent:
            message = (
                f"Earlier sheets divide {code} by 10^{earlier[code]}, not 10^{rate.exponent}: it needs another code."
            )
            raise ExponentChanged(message, currency=code)


def sheet_at(session: Session, base: str, *, at: datetime) -> Facts | None:
    """Show the sheet that is in force at an instant, as things stand: the one before another of that time."""
    head = rate_sheets.in_force(session, base, at=at)
    if head is None:
        return None
    sheet = immutable.sheet(session, base, head.number)
    return facts.facts_of_sheet(sheet, effective_at=head.effective_at, source=head.source)


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
