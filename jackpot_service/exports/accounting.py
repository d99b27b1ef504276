"""
A jackpot's journal in the formats of plain-text accounting: what each of them writes for an entry.

Nothing in a format depends on a clock, and each of its functions writes whole lines.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Final, Protocol

from jackpot_service.domain.facts import instant
from jackpot_service.domain.money import plain
from jackpot_service.exports.account_names import name_of
from jackpot_service.ledger.replay import Line
from jackpot_service.records.rounds import RoundName


@dataclass(frozen=True, slots=True)
class ExportedEntry:
    """An entry as it leaves the ledger: its place, kind, round and postings."""

    book: str
    stripe_no: int
    seq: int
    kind: str
    principal: str
    booked_at: datetime
    digest: bytes
    round: RoundName | None
    lines: tuple[Line, ...]

    @property
    def order(self) -> tuple[datetime, int, int]:
        """The entry's place among all entries of its book."""
        return self.booked_at, self.stripe_no, self.seq

    @property
    def booked(self) -> str:
        """The booking time, to the microsecond."""
        return instant(self.booked_at) or ""

    @property
    def round_words(self) -> str:
        """The table and the id of the entry's round; no id holds the character between them."""
        return "" if self.round is None else f"{self.round.table_id}/{self.round.round_id}"

    @property
    def words(self) -> str:
        """The entry's kind and round, in words."""
        return self.kind if self.round is None else f"{self.kind} of round {self.round_words}"


@dataclass(frozen=True, slots=True)
class Heading:
    """The content of a journal's first lines: its jackpot, the base currency, the positions of its stripes."""

    jackpot_id: str
    base: str
    positions: Sequence[int]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The description of the text; each format makes comments of it."""
        return (
            f"The journal of jackpot {self.jackpot_id}, base currency {self.base}.",
            f"Every entry up to these positions of its stripes, from 0: {' '.join(map(str, self.positions))}.",
            "In the order of booking time, stripe, seq; an entry that moved no money has no postings.",
            "A debit is positive and a credit negative: assets and expenses above zero, liabilities and income below.",
            "Amounts are exact: every entry sums to zero in every currency, to the last of 18 decimals.",
        )


class Declare(Protocol):
    """Writes the declaration of a name, by the day on which it is first used."""

    def __call__(self, name: str, *, on: date) -> str:
        """Return whole lines."""


@dataclass(frozen=True, slots=True)
class Form:
    """A format of plain-text accounting, as functions that each write whole lines."""

    name: str
    suffix: str
    heading: Callable[[Heading], str]
    currency: Declare
    account: Declare
    entry_lines: Callable[[ExportedEntry], Iterator[str]]

    def entry(self, entry: ExportedEntry, declared: "Declared") -> str:
        """Write an entry, after the declarations of names that it is the first to use; they join `declared`."""
        day = entry.booked_at.date()
        currencies = sorted({line[1] for line in entry.lines} - declared.currencies)
        accounts = sorted({line[0] for line in entry.lines} - declared.accounts)
        declared.currencies.update(currencies)
        declared.accounts.update(accounts)
        declarations = [
            *(self.currency(name, on=day) for name in currencies),
            *(self.account(name, on=day) for name in accounts),
        ]
        return "".join(declarations) + "\n".join(["", *self.entry_lines(entry), ""])


@dataclass(slots=True)
class Declared:
    """The currencies and accounts that a text has declared so far."""

    currencies: set[str] = field(default_factory=set)
    accounts: set[str] = field(default_factory=set)


def _debited(amount: Decimal) -> str:
    """Write an amount of the ledger, where a balance is what is owed to the account's owner, as accountants sign it."""
    return plain(-amount)


# beancount (3). The tolerance of zero makes `bean-check` hold every transaction to a sum of exactly zero; by default it
# would forgive half a unit of the last decimal. Nothing is left out for it to fill in. It adds up with 28 digits, so
# balances of ten digits before the point are exact with all their 18 decimals.

_ESCAPED: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPED)}"'


def _beancount_heading(heading: Heading) -> str:
    options = {
        "title": f"Jackpot {heading.jackpot_id}",
        "operating_currency": heading.base,
        "tolerance_multiplier": "0",
    }
    lines = [f"option {_quoted(name)} {_quoted(value)}" for name, value in options.items()]
    return "\n".join([*(f"; {sentence}" for sentence in heading.sentences), "", *lines, ""])


def _beancount_entry(entry: ExportedEntry) -> Iterator[str]:
    yield f"{entry.booked_at.date()} * {_quoted(entry.principal)} {_quoted(entry.words)}"
    yield f"  book: {_quoted(entry.book)}"
    yield f"  stripe: {entry.stripe_no}"
    yield f"  seq: {entry.seq}"
    yield f"  kind: {_quoted(entry.kind)}"
    if entry.round is not None:
        yield f"  round: {_quoted(entry.round_words)}"
    yield f"  booked-at: {_quoted(entry.booked)}"
    yield f"  digest: {_quoted(entry.digest.hex())}"
    for account, currency, amount, movement in entry.lines:
        yield f"  {name_of(account)}  {_debited(amount)} {currency}"
        yield f"    movement: {_quoted(movement)}"


BEANCOUNT: Final = Form(
    "beancount",
    "beancount",
    _beancount_heading,
    lambda name, *, on: f"\n{on} commodity {name}\n",
    lambda name, *, on: f"\n{on} open {name_of(name)}\n  account: {_quoted(name)}\n",
    _beancount_entry,
)
"""Accounts are opened on the day of their first posting; an entry is a transaction."""


# hledger balances a transaction to the precision of its currencies, so they are declared with all 18 decimals. A text
# of its descriptions and tags ends at the first character that means something to it, and none can be escaped. Such
# characters are written as in URLs, `%` and the hexadecimal digits of their bytes.

_SPECIAL: Final = re.compile(r"[^\w ./:@+-]")
_PRECISION: Final = "1000." + "0" * 18


def _percent_encoded(text: str) -> str:
    return _SPECIAL.sub(lambda sign: "".join(f"%{byte:02X}" for byte in sign[0].encode()), text)


def _hledger_heading(heading: Heading) -> str:
    return "\n".join([*(f"; {sentence}" for sentence in heading.sentences), "", "decimal-mark .", ""])


def _hledger_entry(entry: ExportedEntry) -> Iterator[str]:
    place, kind = f"{entry.book}/{entry.stripe_no}/{entry.seq}", _percent_encoded(entry.kind)
    yield f"{entry.booked_at.date()} * ({place}) {_percent_encoded(entry.principal)} | {_percent_encoded(entry.words)}"
    yield f"    ; book:{_percent_encoded(entry.book)}, stripe:{entry.stripe_no}, seq:{entry.seq}, kind:{kind}"
    if entry.round is not None:
        yield f"    ; round:{_percent_encoded(entry.round_words)}"
    yield f"    ; booked-at:{_percent_encoded(entry.booked)}"
    yield f"    ; digest:{entry.digest.hex()}"
    for account, currency, amount, movement in entry.lines:
        yield f"    {name_of(account)}  {_debited(amount)} {currency}  ; movement:{_percent_encoded(movement)}"


HLEDGER: Final = Form(
    "hledger",
    "journal",
    _hledger_heading,
    lambda name, *, on: f"\ncommodity {_PRECISION} {name}\n",  # noqa: ARG005  hledger declares without a day
    lambda name, *, on: f"\naccount {name_of(name)}  ; account:{_percent_encoded(name)}\n",  # noqa: ARG005  as above
    _hledger_entry,
)
"""Accounts and currencies are declared before their first use, so that hledger may be strict."""


FORMS: Final[Mapping[str, Form]] = MappingProxyType({form.name: form for form in (BEANCOUNT, HLEDGER)})
