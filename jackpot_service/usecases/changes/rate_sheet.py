"""
A change of rates: a new sheet of a base currency, whole, or with some rates put over the sheet before it.

The sheet before it is the one that is in force, as things stand, from the instant on from which the new one shall be;
see docs/decisions/rate-changes.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated, ClassVar

from marshmallow import fields

from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts
from jackpot_service.domain.change_policy import RATES_ALONE
from jackpot_service.domain.currencies import UnknownCurrency
from jackpot_service.domain.errors import FieldError
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.rates import DEFAULT_BAND, Rates, RateSource, rates_after, stated_rates, to_confirm
from jackpot_service.domain.shapes import CURRENCY
from jackpot_service.records import immutable, rate_sheets
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.kinds import Applied, Conditions, Kind, Plan
from jackpot_service.usecases.fields import Amount, CurrencyCode, Day, Instant, ListOf, ObjectOf, Sha256, Text, Truth
from jackpot_service.usecases.payloads import Payload, bad_field
from jackpot_service.usecases.publish_rates import BadRate, PublishRates, next_sheet, publish_rates, sheet_at

MOST_CURRENCIES = 300
"""More than there are."""


class SourcePayload(Payload):
    """The document that the rates were taken from."""

    makes = RateSource

    name = Text(required=True)
    day = Day(required=True, data_key="date")
    sha256 = Sha256(required=True)


@dataclass(frozen=True, slots=True)
class Sheet:
    """The result of a change of rates: the rates, when they come into force, and their source."""

    base: str
    rates: Rates
    effective_at: datetime
    source: RateSource | None


@dataclass(frozen=True)
class ChangeRates(Kind):
    """
    A base currency gets a new sheet.

    `rates` are base units per one unit; `removed_currencies` go, or with `replace_all` all others do. `effective_at` is
    when it comes into force: if the payload leaves that to its booking, None until `completed`. `band` is how far a
    rate may lie from the one before it and be believed.
    """

    name = "rate-sheet"
    about = "rate sheet {0.base}"
    acts: ClassVar = {EntryKind.RATES_PUBLISHED: "jackpot.rates.published"}
    policy = RATES_ALONE
    needs_unretired = False

    base: Annotated[str, CurrencyCode()]
    rates: Annotated[
        Rates,
        ObjectOf(Amount(), load_default=dict, metadata={"description": "Base units per one unit, by currency."}),
    ]
    removed_currencies: Annotated[tuple[str, ...], ListOf(CurrencyCode(), most=MOST_CURRENCIES, load_default=())]
    replace_all: Annotated[bool, Truth(load_default=False, metadata={"description": "Removes currencies not stated."})]
    effective_at: Annotated[datetime | None, Instant(metadata={"description": "Without it: from the approval on."})] = (
        None
    )
    source: Annotated[RateSource | None, fields.Nested(SourcePayload())] = None
    band: Decimal = DEFAULT_BAND

    @property
    def in_force_from(self) -> datetime:
        """When it comes into force. Raises: LookupError before it was completed."""
        if self.effective_at is None:
            message = "A change of rates is completed before it is looked at."
            raise LookupError(message)
        return self.effective_at

    def require_sense(self) -> None:
        """Raises: BadPayload."""
        rates, removed_currencies = self.rates, self.removed_currencies
        if not all(CURRENCY.fullmatch(code) for code in rates):
            raise bad_field("rates", "names something that is not a currency's three capital letters")
        if not rates and (self.replace_all or not removed_currencies):
            raise bad_field("rates", "must hold at least one rate")
        if self.replace_all and removed_currencies:
            message = "cannot be stated with replace_all, which removes all that is not stated"
            raise bad_field("removed_currencies", message)
        for place, code in enumerate(removed_currencies):
            if code in rates or code in removed_currencies[:place]:
                raise bad_field(f"removed_currencies/{place}", f"names {code}, of which something else is said as well")

    def completed(self, conditions: Conditions) -> "ChangeRates":
        """Fill in when it comes into force: without it, when booked. Raises: BadPayload for a time in the past."""
        effective_at = self.effective_at or conditions.booked_at
        if effective_at < conditions.booked_at:
            raise bad_field("effective_at", "lies in the past")
        return replace(self, effective_at=effective_at, band=conditions.rate_band)

    @property
    def left_to_booking(self) -> Facts:
        """When it comes into force, unless that was stated."""
        return {"effective_at": None} if self.effective_at is None else {}

    def version(self, session: Session) -> str:
        """Name the number of the sheet before; 0 if there is none."""
        head = rate_sheets.in_force(session, self.base, at=self.in_force_from)
        return "0" if head is None else str(head.number)

    def to_confirm(self, session: Session) -> Mapping[str, str]:
        """Find the rates that are hard to believe."""
        return to_confirm(_before(session, self), self.rates, band=self.band)

    def decide(self, before: Rates) -> Sheet:
        """Put the request over the rates before. Raises: BadPayload for a currency that is not there to be removed."""
        for place, code in enumerate(self.removed_currencies):
            if code not in before:
                raise bad_field(f"removed_currencies/{place}", f"names {code}, of which the sheet before has no rate")
        rates = rates_after(
            before, rates=self.rates, removed_currencies=self.removed_currencies, replace_all=self.replace_all
        )
        return Sheet(self.base, rates, self.in_force_from, self.source)

    def plan(self, session: Session, act: Act) -> Plan:
        """Decide the sheet. Raises: as `apply`."""
        return self._planned(session, act, next_sheet)

    def apply(self, session: Session, act: Act) -> Applied:
        """Put the sheet in force. Raises: BadPayload; UnknownCurrency; BadRate."""
        done = self._planned(session, act, publish_rates)
        return Applied(done.before, done.after)

    def _planned(self, session: Session, act: Act, make: Callable[[Session, PublishRates], RateSheet]) -> Plan:
        new = self.decide(_before(session, self))
        shown_before = sheet_at(session, self.base, at=new.effective_at)
        try:
            sheet = make(session, PublishRates(act, new.base, new.rates, new.effective_at, new.source))
        except (BadRate, UnknownCurrency) as error:
            raise _pointed(error, self) from None
        after = facts.facts_of_sheet(
            sheet, effective_at=new.effective_at, source=facts.facts_of_rate_source(new.source)
        )
        return Plan(shown_before, after)

    def shown_after(self, session: Session, after: Facts) -> Facts:
        """Add `until`, when a sheet takes its place that was known by then; None if there was none."""
        effective_at = datetime.fromisoformat(after["effective_at"])
        following = rate_sheets.next_after(session, self.base, at=effective_at, below=after["number"])
        return {**after, "until": None if following is None else facts.instant(following.effective_at)}


def _before(session: Session, request: ChangeRates) -> Rates:
    head = rate_sheets.in_force(session, request.base, at=request.in_force_from)
    return {} if head is None else stated_rates(immutable.sheet(session, request.base, head.number))


def _pointed(error: BadRate | UnknownCurrency, request: ChangeRates) -> BadRate | UnknownCurrency:
    """Point to what is wrong: a currency of the sheet before that is no money any more has to be removed."""
    code = error.facts.get("currency")
    field = f"rates/{code}" if code in request.rates else "base" if code == request.base else "removed_currencies"
    field_error = FieldError(f"/payload/{field}", error.code, error.detail)
    return type(error)(error.detail, field_errors=(field_error,), **error.facts)
