"""
The journal as hledger reads it: accounts and currencies declared before their first use, so that it may be strict.

hledger balances a transaction to the precision of its currencies, so they are declared with all 18 decimals. A text of
its descriptions and tags ends at the first sign that means something to it, and there is no way to escape one: such
signs are written as in URLs, `%` and the hexadecimal digits of their bytes.
"""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from jackpot_service.domain.money import plain
from jackpot_service.exports.entries import ExportedEntry
from jackpot_service.exports.forms import Form, Heading, booked, explanation, round_words, words
from jackpot_service.exports.names import name_of

_SPECIAL: Final = re.compile(r"[^\w ./:@+-]")
_PRECISION: Final = "1000." + "0" * 18


def _heading(heading: Heading) -> str:
    sentences = [f"; {sentence}" for sentence in explanation(heading)]
    return "\n".join([*sentences, "", "decimal-mark .", ""])


def _currency(name: str, *, on: date) -> str:  # noqa: ARG001  hledger declares without a day
    return f"\ncommodity {_PRECISION} {name}\n"


def _account(name: str, *, on: date) -> str:  # noqa: ARG001  hledger declares without a day
    return f"\naccount {name_of(name)}  ; account:{_text(name)}\n"


def _entry(entry: ExportedEntry) -> str:
    return "\n".join(["", *_lines(entry), ""])


def _lines(entry: ExportedEntry) -> Iterator[str]:
    place = f"{entry.book}/{entry.stripe_no}/{entry.seq}"
    yield f"{entry.booked_at.date()} * ({place}) {_text(entry.principal)} | {_text(words(entry))}"
    yield f"    ; book:{_text(entry.book)}, stripe:{entry.stripe_no}, seq:{entry.seq}, kind:{_text(entry.kind)}"
    if entry.round is not None:
        yield f"    ; round:{_text(round_words(entry))}"
    yield f"    ; booked-at:{_text(booked(entry))}"
    yield f"    ; digest:{entry.digest.hex()}"
    for account, currency, amount, movement in entry.lines:
        yield f"    {name_of(account)}  {plain(amount)} {currency}  ; movement:{_text(movement)}"


def _text(text: str) -> str:
    return _SPECIAL.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), text)


HLEDGER: Final = Form("hledger", "journal", _heading, _currency, _account, _entry)
