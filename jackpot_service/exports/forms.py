"""What a form of plain-text accounting has to know, so that a journal can be written in it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol

from jackpot_service.domain.facts import instant
from jackpot_service.exports.entries import ExportedEntry


@dataclass(frozen=True, slots=True)
class Heading:
    """What a journal's first lines tell: whose it is, in which base currency, up to which positions of its stripes."""

    jackpot_id: str
    base: str
    positions: Sequence[int]


class Declare(Protocol):
    """Writes what must be declared by the day on which it is first used."""

    def __call__(self, name: str, *, on: date) -> str:
        """Return whole lines."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form of text, as functions that each write whole lines; nothing in it depends on a clock."""

    name: str
    suffix: str
    heading: Callable[[Heading], str]
    currency: Declare
    account: Declare
    entry: Callable[[ExportedEntry], str]


@dataclass(slots=True)
class Declared:
    """The currencies and accounts that a text has declared so far."""

    currencies: set[str] = field(default_factory=set)
    accounts: set[str] = field(default_factory=set)


def explanation(heading: Heading) -> tuple[str, ...]:
    """Say in sentences what a text is; each form makes comments of them."""
    return (
        f"The journal of jackpot {heading.jackpot_id}, base currency {heading.base}.",
        f"Every entry up to these positions of its stripes, from 0: {' '.join(map(str, heading.positions))}.",
        "In the order of booking time, stripe, seq; an entry that moved no money has no postings.",
        "Signs are the ledger's: an account's balance is what the ledger owes to whomever it stands for.",
        "Amounts are exact: every entry sums to zero in every currency, to the last of 18 decimals.",
    )


def words(entry: ExportedEntry) -> str:
    """What an entry was, in words."""
    return entry.kind if entry.round is None else f"{entry.kind} of round {round_words(entry)}"


def round_words(entry: ExportedEntry) -> str:
    """The table and the id of an entry's round, between which stands what no id has in it."""
    return "" if entry.round is None else f"{entry.round.table_id}/{entry.round.round_id}"


def booked(entry: ExportedEntry) -> str:
    """When an entry was booked, to the microsecond."""
    return instant(entry.booked_at) or ""


def written(form: Form, entry: ExportedEntry, declared: Declared) -> str:
    """Write an entry, after what it is the first to use; `declared` is told of that."""
    day = entry.booked_at.date()
    parts = []
    for currency in sorted({line[1] for line in entry.lines} - declared.currencies):
        declared.currencies.add(currency)
        parts.append(form.currency(currency, on=day))
    for account in sorted({line[0] for line in entry.lines} - declared.accounts):
        declared.accounts.add(account)
        parts.append(form.account(account, on=day))
    return "".join([*parts, form.entry(entry)])
