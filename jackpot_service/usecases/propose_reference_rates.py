"""Proposing a central bank's reference rates: a change request for another person, never a sheet in force."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.money import plain
from jackpot_service.domain.rates import DEFAULT_BAND, RateSource, ReferenceRates
from jackpot_service.records import changes, immutable, rate_sheets
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act, RequestConflict
from jackpot_service.usecases.changes.rate_sheet import ChangeRates
from jackpot_service.usecases.changes.requests import ChangeRequested, RequestChange, request_change


class NotYetDated(Refused, code="document-dated-ahead", title="The document's day lies ahead"):
    """The document is of a day that has not come."""


class NothingToPropose(Refused, code="nothing-to-propose", title="The document quotes none of the currencies"):
    """The document quotes none of the currencies that are wanted."""


@dataclass(frozen=True, slots=True)
class ProposeReferenceRates:
    """
    Reference rates to be proposed for a base currency, and the document that they stand in.

    The act carries the request id, which names source and day, so that a document is proposed once. Of the currencies
    those of the sheet in force are taken. A currency that players may not bet in yet is taken only if `all_currencies`
    says so, since a sheet opens every currency that it holds to bets.
    """

    act: Act
    base: str
    rates: ReferenceRates
    source: RateSource
    all_currencies: bool = False
    rate_band: Decimal = DEFAULT_BAND


@dataclass(frozen=True, slots=True)
class Proposed:
    """The change request; `kept` are the currencies in force that the document does not quote: their rates stay."""

    request: ChangeRequested
    kept: tuple[str, ...]


def propose_reference_rates(session: Session, command: ProposeReferenceRates) -> Proposed:
    """
    Request a change of rates to those of a document; the same document again changes nothing, by any principal.

    Raises: NotYetDated; NotQuoted for the base currency; NothingToPropose; RequestConflict if its request id stands
    for another document; whatever the change is refused by.
    """
    if command.rates.day > command.act.now.date():
        message = f"The document is of {command.rates.day}; today is {command.act.now.date()}."
        raise NotYetDated(message)
    acts.lock(session)
    in_force = _in_force(session, command)
    unquoted = tuple(sorted(in_force - command.rates.currencies))
    known = _known(session, command)
    if known is not None:
        return Proposed(known, unquoted)
    payload: Facts = {
        "base": command.base,
        "rates": _rates(command, in_force),
        "source": facts.facts_of_rate_source(command.source),
    }
    request = RequestChange(command.act, ChangeRates.name, payload, rate_band=command.rate_band)
    return Proposed(request_change(session, request), unquoted)


def _in_force(session: Session, command: ProposeReferenceRates) -> frozenset[str]:
    head = rate_sheets.in_force(session, command.base, at=acts.booking_time(session, command.act))
    if head is None:
        return frozenset()
    return frozenset(immutable.sheet(session, command.base, head.number).rates) - {command.base}


def _known(session: Session, command: ProposeReferenceRates) -> ChangeRequested | None:
    """
    Find what was asked for under the request id, for this very document and with its figures.

    Raises: RequestConflict: somebody may have asked for others by hand, and named the document.
    """
    recorded = changes.find(session, command.act.request_id or "")
    if recorded is None:
        return None
    source = facts.facts_of_rate_source(command.source)
    stated = {"base": command.base, "rates": _quoted(command, recorded.payload.get("rates", {})), "source": source}
    if recorded.payload != stated:
        message = f"Change request {recorded.request_id} stands for something else; ask under an id of your own."
        raise RequestConflict(message, request_id=recorded.request_id)
    return ChangeRequested(recorded, None, is_replay=True)


def _quoted(command: ProposeReferenceRates, currencies: Iterable[str]) -> dict[str, str]:
    """The document's rates of currencies, without those that it does not quote."""
    known = command.rates.currencies.intersection(currencies)
    return {code: plain(command.rates.base_per_unit(code, base=command.base)) for code in sorted(known)}


def _rates(command: ProposeReferenceRates, in_force: frozenset[str]) -> dict[str, str]:
    expected = command.rates.currencies if command.all_currencies else command.rates.currencies & in_force
    rates = _quoted(command, expected - {command.base})
    if not rates:
        message = f"No sheet of {command.base} in force has a currency that the document of {command.rates.day} quotes."
        raise NothingToPropose(message)
    return rates
