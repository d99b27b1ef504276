"""
The journal as beancount (3) reads it: accounts opened on the day of their first posting, an entry a transaction.

The tolerance of zero makes `bean-check` hold every transaction to a sum of exactly zero; by default it would forgive
half a unit of the last decimal. Nothing is left out for it to fill in. It adds up with 28 digits, so balances of ten
digits before the point are exact with all their 18 decimals.
"""

from collections.abc import Iterator
from datetime import date
from typing import Final

from jackpot_service.domain.money import plain
from jackpot_service.exports.entries import ExportedEntry
from jackpot_service.exports.forms import Form, Heading, booked, explanation, round_words, words
from jackpot_service.exports.names import name_of

_ESCAPED: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def _heading(heading: Heading) -> str:
    lines = [
        *(f"; {sentence}" for sentence in explanation(heading)),
        "",
        f"option {_text('title')} {_text(f'Jackpot {heading.jackpot_id}')}",
        f"option {_text('operating_currency')} {_text(heading.base)}",
        f"option {_text('tolerance_multiplier')} {_text('0')}",
    ]
    return "\n".join([*lines, ""])


def _currency(name: str, *, on: date) -> str:
    return f"\n{on} commodity {name}\n"


def _account(name: str, *, on: date) -> str:
    return f"\n{on} open {name_of(name)}\n  account: {_text(name)}\n"


def _entry(entry: ExportedEntry) -> str:
    return "\n".join(["", *_lines(entry), ""])


def _lines(entry: ExportedEntry) -> Iterator[str]:
    yield f"{entry.booked_at.date()} * {_text(entry.principal)} {_text(words(entry))}"
    yield f"  book: {_text(entry.book)}"
    yield f"  stripe: {entry.stripe_no}"
    yield f"  seq: {entry.seq}"
    yield f"  kind: {_text(entry.kind)}"
    if entry.round is not None:
        yield f"  round: {_text(round_words(entry))}"
    yield f"  booked-at: {_text(booked(entry))}"
    yield f"  digest: {_text(entry.digest.hex())}"
    for account, currency, amount, movement in entry.lines:
        yield f"  {name_of(account)}  {plain(amount)} {currency}"
        yield f"    movement: {_text(movement)}"


def _text(text: str) -> str:
    return f'"{text.translate(_ESCAPED)}"'


BEANCOUNT: Final = Form("beancount", "beancount", _heading, _currency, _account, _entry)
