"""A change of rates: a new sheet of a base currency, whole or with some rates put in place of those in force."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from jackpot_service.db import Session
from jackpot_service.domain import facts
from jackpot_service.domain.changes import ChangeKind
from jackpot_service.domain.errors import Flaw
from jackpot_service.domain.money import plain
from jackpot_service.domain.principals import Role
from jackpot_service.records import pinned, references
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.kinds import Applied, BadPayload, Kind, Subject
from jackpot_service.usecases.changes.payloads import Payload, decimal_of
from jackpot_service.usecases.publish_rates import PublishRates, publish_rates

BAND = Decimal("0.10")
"""How far a rate may lie from the one in force before an approver has to repeat it."""


@dataclass(frozen=True, slots=True)
class RateChange:
    """
    A new sheet. `rates` are base units per one unit; with `is_whole`, currencies not among them leave.

    `effective_at` is when it comes into force; None for when it is approved.
    """

    base: str
    rates: Mapping[str, Decimal]
    is_whole: bool
    effective_at: datetime | None


def read(values: Mapping[str, Any]) -> RateChange:
    """Read `{"base", "rates": {currency: rate}, "whole": "yes"|"no", "effective_at"?}`. Raises: BadPayload."""
    payload = Payload(values)
    change = RateChange(
        base=payload.currency("base"),
        rates=payload.mapping("rates", decimal_of, what="rates as decimal strings, by currency"),
        is_whole=payload.has("whole") and payload.one_of("whole", "yes", "no") == "yes",
        effective_at=payload.instant("effective_at") if payload.has("effective_at") else None,
    )
    payload.end()
    return change


def apply(session: Session, act: Act, change: RateChange) -> Applied:
    """Put the sheet in force. Raises: BadPayload for a time that has passed; UnknownCurrency; BadRate."""
    if change.effective_at is not None and change.effective_at < act.now:
        message = f"A sheet cannot come into force in the past, at {change.effective_at}."
        raise BadPayload(message, flaws=(Flaw("/payload/effective_at", BadPayload.code, "lies in the past"),))
    effective_at = change.effective_at or act.now
    last = references.last_sheet_number(session, change.base)
    rates = _rates(session, change, last)
    sheet = publish_rates(session, PublishRates(act, change.base, rates, effective_at))
    return Applied(before={"number": last}, after=facts.of_sheet(sheet, effective_at=effective_at))


def _rates(session: Session, change: RateChange, last: int) -> dict[str, Decimal]:
    if change.is_whole or not last:
        return dict(change.rates)
    kept = pinned.sheet(session, change.base, last).rates
    return {code: rate.base_per_unit for code, rate in kept.items() if code != change.base} | dict(change.rates)


def to_confirm(session: Session, change: RateChange) -> dict[str, str]:
    """The rates that lie outside the band around those in force, and those that were not there."""
    last = references.last_sheet_number(session, change.base)
    if not last:
        return {}
    before = pinned.sheet(session, change.base, last).rates
    return {
        code: plain(rate)
        for code, rate in sorted(change.rates.items())
        if code not in before or abs(rate - before[code].base_per_unit) > before[code].base_per_unit * BAND
    }


KIND = Kind(
    name=ChangeKind.RATE_SHEET,
    roles=frozenset({Role.RATES}),
    read=read,
    subject=lambda change: Subject(f"rate sheet {change.base}"),
    version=lambda session, change: str(references.last_sheet_number(session, change.base)),
    apply=apply,
    to_confirm=to_confirm,
)
