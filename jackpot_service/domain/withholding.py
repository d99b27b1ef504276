"""
Withholding rules: from which amount a casino reports an award to its authority, and which part of it is kept for tax.

A casino has one rule for each currency, in versions. An award stands under the version that was in force when its round
was opened. So the due amount stays the same for ever, and is derived whenever somebody asks. The law's forms are not
ours.

Source: domain decision 28; docs/decisions/withholding.md.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, NamedTuple

from jackpot_service.domain.errors import Conflict, Refused
from jackpot_service.domain.facts import Facts, instant
from jackpot_service.domain.money import ZERO, has_decimals, plain
from jackpot_service.domain.shapes import LARGEST_MINOR

HUNDRED: Final = Decimal(100)
PERCENT_DECIMALS: Final = 4
LARGEST_MULTIPLE: Final = 10**6
PARTS: Final = 100 * 10**PERCENT_DECIMALS
"""So many of the smallest parts that a percentage can state are a whole."""


class BadWithholding(Refused, code="withholding-invalid", title="Invalid withholding rule"):
    """The amounts or the percentage of a withholding rule contradict one another, or are none."""


class WithholdingTooLarge(Conflict, code="withholding-too-large", title="More than is due would be withheld"):
    """The payments of an award withhold together no more than its rule makes due."""


@dataclass(frozen=True, slots=True)
class WithholdingRule:
    """
    The awards in a currency that a casino reports, and the part that it withholds. Amounts are whole minor units of it.

    An award counts if it is at least `least_multiple` times its bet's stake; None stands for every award. One that
    counts is reportable from `report_at_minor` on, and from `withhold_at_minor` on `percent` per cent of all of it is
    withheld; both are None where nothing is.

    Raises: BadWithholding.
    """

    currency: str
    in_force_from: datetime
    report_at_minor: int
    withhold_at_minor: int | None = None
    percent: Decimal | None = None
    least_multiple: int | None = None

    def __post_init__(self) -> None:
        if (self.withhold_at_minor is None) is not (self.percent is None):
            message = (
                "The amount from which a part is withheld and the percent are stated together, or neither of them."
            )
            raise BadWithholding(message)
        if not 0 < self.report_at_minor <= (self.withhold_at_minor or LARGEST_MINOR) <= LARGEST_MINOR:
            message = "The amount to report at is above 0, and the amount to withhold at is not below it."
            raise BadWithholding(message)
        if self.percent is not None and not (
            self.percent.is_finite() and ZERO < self.percent < HUNDRED and has_decimals(self.percent, PERCENT_DECIMALS)
        ):
            message = (
                f"The percent is above 0, below 100, with at most {PERCENT_DECIMALS} decimals, not {self.percent}."
            )
            raise BadWithholding(message)
        if self.least_multiple is not None and not 0 < self.least_multiple <= LARGEST_MULTIPLE:
            message = f"The least multiple is a whole number from 1 to {LARGEST_MULTIPLE}, not {self.least_multiple}."
            raise BadWithholding(message)


class VersionedRule(NamedTuple):
    """A withholding rule of a casino, and which version of those in its currency it is: 1, 2 and so on."""

    version: int
    rule: WithholdingRule


class Withholding(NamedTuple):
    """Whether an award is reportable, and how much of it is to be withheld, in whole minor units of its currency."""

    reportable: bool
    due_minor: int


def in_force(versions: Iterable[VersionedRule], *, opened_at: datetime) -> WithholdingRule | None:
    """
    Find the rule for the awards of a round that was opened at an instant: the latest version that had come into force.

    A later version takes the place of those before it, also of one that would come into force after it. None if no
    version had come into force.
    """
    come = [version for version in versions if version.rule.in_force_from <= opened_at]
    return max(come, key=lambda version: version.version).rule if come else None


def withholding_of(rule: WithholdingRule, *, amount_minor: int, stake_minor: int) -> Withholding:
    """
    Say what a rule makes of an award, whose amount and whose bet's stake are whole minor units of the rule's currency.

    The due amount is rounded down, so that the player never bears more than the law's percentage of the award.
    """
    counts = amount_minor >= (rule.least_multiple or 0) * stake_minor
    due_minor = 0
    if counts and rule.percent is not None and amount_minor >= (rule.withhold_at_minor or 0):
        due_minor = amount_minor * int(rule.percent * 10**PERCENT_DECIMALS) // PARTS
    return Withholding(counts and amount_minor >= rule.report_at_minor, due_minor)


def require_due(more_minor: int, *, withheld_minor: int, due_minor: int, currency: str) -> None:
    """Raises: WithholdingTooLarge if a payment would withhold more than is still due of its award."""
    if withheld_minor + more_minor > due_minor:
        message = (
            f"{due_minor} {currency} minor units of the award are due for withholding, and {withheld_minor} of them "
            f"were withheld: not {more_minor} more."
        )
        raise WithholdingTooLarge(message, due_minor=due_minor, withheld_minor=withheld_minor, currency=currency)


def facts_of(casino_id: str, version: int, rule: WithholdingRule) -> Facts:
    """Write a version of a casino's rule as its act shows it."""
    return {
        "casino_id": casino_id,
        "currency": rule.currency,
        "version": version,
        "from": instant(rule.in_force_from),
        "least_multiple": rule.least_multiple,
        "report_at_minor": rule.report_at_minor,
        "withhold_at_minor": rule.withhold_at_minor,
        "percent": None if rule.percent is None else plain(rule.percent),
    }
