"""What one side of a reconciliation says of an account, and how that is kept."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from jackpot_service.domain.accounts import Account
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import plain, total


class Side(StrEnum):
    """
    Where a sum comes from.

    The turnover is the value of stakes of which an account gets a part under a rules version (negative: gives it back);
    the documents are amounts, and so is the journal.
    """

    TURNOVER = "turnover"
    DOCUMENTS = "documents"
    JOURNAL = "journal"


@dataclass(frozen=True, slots=True)
class Sum:
    """What one side says of an account, in a currency, for a movement; `version` is of the rounds' rules, if any."""

    side: Side
    version: int | None
    account: Account
    currency: str
    movement: Movement
    amount: Decimal


def added_up(found: Iterable[Sum]) -> list[Sum]:
    """Sum the amounts of each key, in the order of the keys."""
    amounts = defaultdict[tuple[Side, int | None, Account, str, Movement], list[Decimal]](list)
    for one in found:
        amounts[one.side, one.version, one.account, one.currency, one.movement].append(one.amount)
    in_order = sorted(amounts, key=lambda key: (key[0], key[1] or 0, *key[2:]))
    return [Sum(*key, total(amounts[key])) for key in in_order]


def as_json(one: Sum) -> dict[str, Any]:
    """A sum as it is kept."""
    return {
        "side": one.side.value,
        "version": one.version,
        "account": one.account,
        "currency": one.currency,
        "movement": one.movement.value,
        "amount": plain(one.amount),
    }


def of_json(told: Mapping[str, Any]) -> Sum:
    """A sum that was kept. Raises: LookupError, ValueError, ArithmeticError for what no sum is."""
    return Sum(
        side=Side(told["side"]),
        version=told["version"],
        account=Account(told["account"]),
        currency=told["currency"],
        movement=Movement(told["movement"]),
        amount=Decimal(told["amount"]),
    )
