"""
A change of rates: a new sheet of a base currency, whole, or with some rates put over the sheet before it.

The sheet before it is the one that is in force, as things stand, from the instant on from which the new one shall be;
see docs/decisions/rate-changes.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts, rate_changes
from jackpot_service.domain.changes import ChangeKind
from jackpot_service.domain.currencies import UnknownCurrency
from jackpot_service.domain.errors import Flaw
from jackpot_service.domain.rate_changes import DEFAULT_BAND, RateSource
from jackpot_service.domain.shapes import CURRENCY
from jackpot_service.records import pinned, rate_sheets
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.kinds import Applied, Conditions, Kind, Subject
from jackpot_service.usecases.changes.payloads import Payload, currency_of, decimal_of, flawed
from jackpot_service.usecases.publish_rates import BadRate, PublishRates, publish_rates, sheet_at

RATES = 'rates as plain decimal numbers in strings, such as "1.17", by currency'


@dataclass(frozen=True, slots=True)
class RateChange:
    """
    A new sheet. `rates` are base units per one unit; currencies in `leaves` leave, or with `is_whole` all others do.

    `effective_at` is when it comes into force: if the payload leaves that to its booking, None until `complete`.
    `band` is how far a rate may lie from the one before it and be believed.
    """

    base: str
    rates: Mapping[str, Decimal]
    leaves: tuple[str, ...]
    is_whole: bool
    effective_at: datetime | None
    source: RateSource | None
    band: Decimal = DEFAULT_BAND

    @property
    def in_force_from(self) -> datetime:
        """When it comes into force. Raises: LookupError before it was completed."""
        if self.effective_at is None:
            message = "A change of rates is completed before it is looked at."
            raise LookupError(message)
        return self.effective_at


def read(values: Mapping[str, Any]) -> RateChange:
    """
    Read `{"base", "rates"?, "leaves"?, "whole"?, "effective_at"?, "source"?}`.

    Raises: BadPayload, also if it changes nothing, or says two things of one currency.
    """
    payload = Payload(values)
    change = RateChange(
        base=payload.currency("base"),
        rates=payload.mapping("rates", decimal_of, what=RATES) if payload.has("rates") else {},
        leaves=payload.items("leaves", currency_of, what="currencies") if payload.has("leaves") else (),
        is_whole=payload.has("whole") and payload.flag("whole"),
        effective_at=payload.instant("effective_at") if payload.has("effective_at") else None,
        source=_source(payload.nested("source")) if payload.has("source") else None,
    )
    payload.end()
    _require_sense(change)
    return change


def _source(payload: Payload) -> RateSource:
    source = RateSource(payload.text("name"), payload.day("date"), payload.sha256("sha256"))
    payload.end()
    return source


def _require_sense(change: RateChange) -> None:
    if not all(CURRENCY.fullmatch(code) for code in change.rates):
        raise flawed("rates", "names something that is not a currency's three capital letters")
    if not change.rates and (change.is_whole or not change.leaves):
        raise flawed("rates", "must hold at least one rate")
    if change.is_whole and change.leaves:
        raise flawed("leaves", "has no place beside a whole sheet, from which whatever it does not state leaves")
    for place, code in enumerate(change.leaves):
        if code in change.rates or code in change.leaves[:place]:
            raise flawed(f"leaves/{place}", f"names {code}, of which something else is said as well")


def complete(change: RateChange, conditions: Conditions) -> RateChange:
    """Put in when it comes into force, if that is when it is booked. Raises: BadPayload for a time that has passed."""
    effective_at = change.effective_at or conditions.booked_at
    if effective_at < conditions.booked_at:
        raise flawed("effective_at", f"lies in the past: it is {facts.instant(conditions.booked_at)}")
    return replace(change, effective_at=effective_at, band=conditions.rate_band)


def apply(session: Session, act: Act, change: RateChange) -> Applied:
    """
    Put the sheet in force. Its `until` is when a later sheet takes its place, None as long as there is none.

    Raises: BadPayload for a currency that is not there to leave; UnknownCurrency; BadRate.
    """
    before = _before(session, change)
    for place, code in enumerate(change.leaves):
        if code not in before:
            raise flawed(f"leaves/{place}", f"names {code}, of which the sheet before has no rate")
    shown_before = sheet_at(session, change.base, at=change.in_force_from)
    rates = rate_changes.rates_after(before, rates=change.rates, leaves=change.leaves, is_whole=change.is_whole)
    command = PublishRates(act, change.base, rates, change.in_force_from, change.source)
    try:
        sheet = publish_rates(session, command)
    except (BadRate, UnknownCurrency) as error:
        raise _pointed(error, change) from None
    source = facts.of_rate_source(change.source)
    after = facts.of_sheet(sheet, effective_at=change.in_force_from, source=source)
    following = rate_sheets.next_after(session, change.base, at=change.in_force_from)
    until = None if following is None else facts.instant(following.effective_at)
    return Applied(shown_before, {**after, "until": until})


def _before(session: Session, change: RateChange) -> dict[str, Decimal]:
    found = rate_sheets.in_force(session, change.base, at=change.in_force_from)
    return {} if found is None else rate_changes.stated_rates(pinned.sheet(session, change.base, found.number))


def _version(session: Session, change: RateChange) -> str:
    """The number of the sheet before; 0 if there is none."""
    found = rate_sheets.in_force(session, change.base, at=change.in_force_from)
    return "0" if found is None else str(found.number)


def _to_confirm(session: Session, change: RateChange) -> Mapping[str, str]:
    return rate_changes.to_confirm(_before(session, change), change.rates, band=change.band)


def _pointed(error: BadRate | UnknownCurrency, change: RateChange) -> BadRate | UnknownCurrency:
    """Point to what is wrong: a currency of the sheet before that is no money any more has to leave."""
    code = error.facts.get("currency")
    field = f"rates/{code}" if code in change.rates else "base" if code == change.base else "leaves"
    flaw = Flaw(f"/payload/{field}", error.code, error.detail)
    return type(error)(error.detail, flaws=(flaw,), **error.facts)


KIND = Kind(
    name=ChangeKind.RATE_SHEET,
    read=read,
    subject=lambda change: Subject(f"rate sheet {change.base}"),
    version=_version,
    apply=apply,
    to_confirm=_to_confirm,
    complete=complete,
)
