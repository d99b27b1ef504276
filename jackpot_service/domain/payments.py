"""
Payments of awards: a casino's statements that it paid an award to its player, in one or several parts.

The parts are never more than the award together. A wrong one is reversed by two people, and then recorded anew. No
money moves in the books, except what is withheld: the award itself credited the casino.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from jackpot_service.domain.currencies import written
from jackpot_service.domain.errors import Conflict, FieldError, NotFound, Refused
from jackpot_service.domain.facts import Facts, instant


class Channel(StrEnum):
    """The way in which a player was paid."""

    WALLET = "wallet"
    CAGE = "cage"
    CHECK = "check"
    BANK = "bank"
    ANNUITY = "annuity"


@dataclass(frozen=True, slots=True)
class Payment:
    """
    A payment of an award, whole or in part, in minor units of the award's currency.

    `reference` is the casino's own, and names one payment of an award for ever. `payer` is who handed the money over.
    `withheld_minor` is the part of it that the casino kept for its authority.
    """

    amount_minor: int
    reference: str
    paid_at: datetime | None = None
    channel: Channel | None = None
    payer: str | None = None
    withheld_minor: int = 0

    @property
    def reversal(self) -> "Payment":
        """The same below zero: what takes it back."""
        return replace(self, amount_minor=-self.amount_minor, withheld_minor=-self.withheld_minor)

    @property
    def facts(self) -> Facts:
        """The payment as its act shows it."""
        return {
            "amount_minor": self.amount_minor,
            "withheld_minor": self.withheld_minor,
            "reference": self.reference,
            "paid_at": instant(self.paid_at),
            "channel": None if self.channel is None else self.channel.value,
            "payer": self.payer,
        }


class WithheldTooMuch(Refused, code="payment-withheld", title="More is withheld than is paid"):
    """No more is withheld of a payment than the payment itself."""


class PaymentTooLarge(Conflict, code="payment-too-large", title="The payment is larger than what is unpaid"):
    """The payments of an award are never more than the award."""


class PaymentReferenceTaken(Conflict, code="payment-reference-taken", title="The reference names another payment"):
    """The award has another payment under this reference, or had a payment under it that was reversed."""


class WrongPaymentCurrency(Refused, code="payment-currency", title="The award is in another currency"):
    """A payment is stated in the award's currency."""


class UnknownPayment(NotFound, code="payment-unknown", title="Unknown payment"):
    """The award has no payment under this reference."""


class PaymentReversed(Conflict, code="payment-reversed", title="The payment was reversed before"):
    """A payment is reversed once."""


def require_currency(stated: str | None, *, currency: str) -> None:
    """Raises: WrongPaymentCurrency if a currency is stated that is not the award's."""
    if stated is not None and stated != currency:
        message = f"The award is in {currency}, not in {stated}."
        error = FieldError("/currency", WrongPaymentCurrency.code, message)
        raise WrongPaymentCurrency(message, field_errors=(error,), currency=currency)


def require_part(withheld_minor: int, *, amount_minor: int) -> None:
    """Raises: WithheldTooMuch."""
    if withheld_minor > amount_minor:
        message = f"{withheld_minor} minor units cannot be withheld of a payment of {amount_minor}."
        error = FieldError("/withheld_minor", WithheldTooMuch.code, message)
        raise WithheldTooMuch(message, field_errors=(error,), amount_minor=amount_minor)


def require_room(amount_minor: int, *, unpaid_minor: int, currency: str) -> None:
    """Raises: PaymentTooLarge."""
    if amount_minor > unpaid_minor:
        unpaid, paid = written(unpaid_minor, currency), written(amount_minor, currency)
        message = f"Of the award {unpaid} is unpaid, which is less than {paid}."
        raise PaymentTooLarge(message, unpaid_minor=unpaid_minor, currency=currency)


def require_new_reference(reference: str, taken: Iterable[str]) -> None:
    """Raises: PaymentReferenceTaken."""
    if reference in taken:
        message = f"The award has another payment under the reference {reference}, or had one that was reversed."
        raise PaymentReferenceTaken(message, reference=reference)
