"""A change of rates to those of a central bank's document, for another person to approve; never a sheet in force."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain import change_policy, facts
from jackpot_service.domain.changes import Change
from jackpot_service.domain.errors import FieldError, Refused
from jackpot_service.domain.money import plain
from jackpot_service.domain.rates import DEFAULT_BAND, NotQuoted, RateSource, ReferenceRates
from jackpot_service.records import changes, immutable, rate_sheets
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act, RequestConflict
from jackpot_service.usecases.changes.rate_sheet import ChangeRates
from jackpot_service.usecases.changes.requests import ChangeRequested, RequestChange, policy_of, request_change
from jackpot_service.usecases.ecb_documents import NAME, POINTER, read_document

KIND: Final = ChangeRates.name


class NotYetDated(Refused, code="document-dated-ahead", title="The document's day lies ahead"):
    """The document is of a day that has not come."""


class NothingToPropose(Refused, code="nothing-to-propose", title="The document quotes none of the currencies"):
    """The document quotes none of the currencies that are wanted."""


@dataclass(frozen=True, slots=True)
class ImportRates:
    """
    A document of reference rates, to request the change of a base currency's rates that it asks for.

    Of the currencies those of the sheet in force are taken. Another one is taken only if `all_currencies` says so,
    since a sheet opens every currency that it holds to bets. Without a request id in the act it is ecb-BASE-DAY, and
    without a reason the document is the reason.
    """

    act: Act
    base: str
    document: bytes
    all_currencies: bool = False
    rate_band: Decimal = DEFAULT_BAND


@dataclass(frozen=True, slots=True)
class RatesImported:
    """
    The change request of a document, and the currencies in force that it does not quote: their rates stay.

    It is a replay if the same document was brought before, by anybody. `expected` are the currencies that this call
    asks for, which may be others.
    """

    requested: ChangeRequested
    unquoted: tuple[str, ...]
    expected: frozenset[str]

    @property
    def is_as_expected(self) -> bool:
        """Whether the change request is about the currencies that this call asks for."""
        return self.expected == frozenset(self.requested.change.payload["rates"])


def import_rates(session: Session, command: ImportRates) -> RatesImported:
    """
    Request the change of rates that a document asks for; the same document again asks for nothing new.

    Raises: KindForbidden; BadDocument; NotYetDated; NotQuoted for the base currency; NothingToPropose; RequestConflict,
    also if the id stands for another document; and as `request_change`.
    """
    asker = command.act.principal
    change_policy.require_of_house(asker, kind=KIND)
    change_policy.require_asker(policy_of(session, KIND), asker, kind=KIND)
    quoted = read_document(command.document)
    _require_dated(quoted, today=command.act.now.astimezone(UTC).date())
    source = RateSource(NAME, quoted.day, hashlib.sha256(command.document).hexdigest())
    acts.lock(session)
    in_force = _in_force(session, command.base, at=acts.booking_time(session, command.act))
    unquoted = tuple(sorted(in_force - quoted.currencies))
    request_id = command.act.request_id or f"{source.name}-{command.base}-{quoted.day}"
    expected = (quoted.currencies if command.all_currencies else quoted.currencies & in_force) - {command.base}
    stored = changes.find(session, request_id)
    if stored is not None:
        _require_same(stored, command.base, quoted, source)
        return RatesImported(ChangeRequested(stored, None, is_replay=True), unquoted, expected)
    rates = _quoted(quoted, command.base, expected)
    if not rates:
        message = f"No sheet of {command.base} in force has a currency that the document of {quoted.day} quotes."
        raise NothingToPropose(message, field_errors=(FieldError(POINTER, NothingToPropose.code, message),))
    act = replace(
        command.act, request_id=request_id, reason=command.act.reason or f"ECB reference rates of {quoted.day}"
    )
    payload = _payload(command.base, rates, source)
    requested = request_change(session, RequestChange(act, KIND, payload, rate_band=command.rate_band))
    return RatesImported(requested, unquoted, expected)


def _require_dated(quoted: ReferenceRates, *, today: date) -> None:
    if quoted.day > today:
        message = f"The document is of {quoted.day}; today is {today}."
        raise NotYetDated(message, field_errors=(FieldError(POINTER, NotYetDated.code, message),))


def _in_force(session: Session, base: str, *, at: datetime) -> frozenset[str]:
    """Return the currencies of the sheet in force, without the base currency; none if there is no sheet."""
    head = rate_sheets.in_force(session, base, at=at)
    return frozenset() if head is None else frozenset(immutable.sheet(session, base, head.number).rates) - {base}


def _require_same(stored: Change, base: str, quoted: ReferenceRates, source: RateSource) -> None:
    """Hold that a change request is the one of this very document, however many currencies it took of it."""
    rates = _quoted(quoted, base, stored.payload.get("rates", {}))
    if stored.kind != KIND or dict(stored.payload) != _payload(base, rates, source):
        message = f"Change request {stored.request_id} stands for something else; ask under an id of your own."
        raise RequestConflict(message, request_id=stored.request_id)


def _quoted(quoted: ReferenceRates, base: str, currencies: Iterable[str]) -> dict[str, str]:
    """Return the document's rates of currencies, without those that it does not quote."""
    known = quoted.currencies.intersection(currencies)
    try:
        return {code: plain(quoted.base_per_unit(code, base=base)) for code in sorted(known)}
    except NotQuoted as error:
        error.field_errors = (FieldError("/base", error.code, error.detail),)
        raise


def _payload(base: str, rates: Mapping[str, str], source: RateSource) -> dict[str, Any]:
    return {"base": base, "rates": dict(rates), "source": facts.facts_of_rate_source(source)}
