"""A change of rates to those of a central bank's document, for another person to approve; never a sheet in force."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from jackpot_service.cli.service_api import Item, Refusal, Service, ServiceError, at
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.money import plain
from jackpot_service.domain.rates import RateSource, ReferenceRates


class NotYetDated(Refused, code="document-dated-ahead", title="The document's day lies ahead"):
    """The document is of a day that has not come."""


class NothingToPropose(Refused, code="nothing-to-propose", title="The document quotes none of the currencies"):
    """The document quotes none of the currencies that are wanted."""


NOT_THERE: Final = frozenset({"change-unknown", "no-rate"})
"""The codes of what need not be there: a change request of the document before, a sheet in force."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """
    A payload of a change of rates, and the id that it is requested under.

    `known` is the change request of the same document, where there is one already. `kept` are the currencies in force
    that the document does not quote: their rates stay.
    """

    request_id: str
    payload: Item
    known: Item | None
    unquoted: tuple[str, ...]


def proposal(
    service: Service,
    base: str,
    quoted: ReferenceRates,
    source: RateSource,
    *,
    all_currencies: bool,
    request_id: str | None,
) -> Proposal:
    """
    Make the change of a base currency's rates that a document asks for; the same document again asks for nothing new.

    Of the currencies those of the sheet in force are taken. Another one is taken only if `all_currencies` says so,
    since a sheet opens every currency that it holds to bets.

    Raises: NotYetDated; NotQuoted for the base currency; NothingToPropose; ServiceError, also if the id stands for
    another document.
    """
    today = datetime.now(UTC).date()
    if quoted.day > today:
        message = f"The document is of {quoted.day}; today is {today}."
        raise NotYetDated(message)
    own_id = request_id or f"{source.name}-{base}-{quoted.day}"
    in_force = _in_force(service, base)
    unquoted = tuple(sorted(in_force - quoted.currencies))
    stated = {"name": source.name, "date": source.day.isoformat(), "sha256": source.sha256}
    known = _read_if_there(service, at("change-requests", own_id))
    if known is not None:
        rates = _quoted(quoted, base, known["payload"].get("rates", {}))
        if known["payload"] != {"base": base, "rates": rates, "source": stated}:
            message = (
                f"request-conflict: change request {own_id} stands for something else; ask under an id of your own"
            )
            raise ServiceError(message)
        return Proposal(own_id, known["payload"], known, unquoted)
    expected = quoted.currencies if all_currencies else quoted.currencies & in_force
    rates = _quoted(quoted, base, expected - {base})
    if not rates:
        message = f"No sheet of {base} in force has a currency that the document of {quoted.day} quotes."
        raise NothingToPropose(message)
    return Proposal(own_id, {"base": base, "rates": rates, "source": stated}, None, unquoted)


def _in_force(service: Service, base: str) -> frozenset[str]:
    sheet = _read_if_there(service, at("rates"), base=base)
    return frozenset() if sheet is None else frozenset(rate["currency"] for rate in sheet["rates"]) - {base}


def _read_if_there(service: Service, path: str, **query: str) -> Item | None:
    """Read something that may not be there. Raises: ServiceError for all else."""
    try:
        return service.get(path, **query)
    except Refusal as refusal:
        if refusal.code not in NOT_THERE:
            raise
        return None


def _quoted(quoted: ReferenceRates, base: str, currencies: Iterable[str]) -> dict[str, str]:
    """Return the document's rates of currencies, without those that it does not quote."""
    known = quoted.currencies.intersection(currencies)
    return {code: plain(quoted.base_per_unit(code, base=base)) for code in sorted(known)}
