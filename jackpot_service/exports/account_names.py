"""
The names of accounts in plain-text accounting, in beancount and hledger alike, and the accounts of such names.

A component of such a name begins with a capital or a digit and has only letters, digits and hyphens. Our ids have dots,
colons and underscores too, and may begin with any of them. Every text has a component of its own:

    `riga`      `Riga`         A small letter at the beginning is written large.
    `Riga`      `X-iRiga`      A text that begins with no small letter or digit stands as it is, after `X-i`.
    `1.a_b:c`   `1-da-ub-cc`   `.` is `-d`, `_` is `-u`, `:` is `-c`, `-` is `--`.
    `é`         `X-i-x0000e9`  Any other character is `-x` and its number, in six hexadecimal digits.
"""

import re
from typing import Final

from jackpot_service.domain import accounts
from jackpot_service.domain.shapes import CURRENCY

FIXED: Final = {
    accounts.METER_PLAYERS: "Liabilities:Meter:Players",
    accounts.METER_HOUSE: "Liabilities:Meter:House",
    accounts.RESERVE: "Liabilities:Reserve",
    accounts.PRIZE_FUND: "Liabilities:PrizeFund",
    accounts.AWARDS_HELD: "Liabilities:HeldAwards",
    accounts.HOUSE_MARGIN: "Income:House:Margin",
    accounts.HOUSE_SEED: "Expenses:House:Seed",
    accounts.HOUSE_ADJUSTMENTS: "Expenses:House:Adjustments",
}
"""The accounts that every jackpot has."""

OF_CURRENCIES: Final = {"bank:": "Assets:Bank:", "fx:": "Equity:Exchange:"}
"""The beginnings of accounts that end with a currency, which is a component as it is."""

OF_IDS: Final = {
    accounts.CASINO: "Assets:Casino:",
    accounts.WITHHELD: "Liabilities:Withheld:",
    accounts.STATUTORY: "Liabilities:Statutory:",
    "transfer:": "Equity:Transfer:",
}
"""The beginnings of accounts that end with an id."""

OTHERS: Final = "Equity:Other:"
"""The beginning of the name of an account that is not in this module; the rest is the whole of the account."""

_AS_IT_IS: Final = "X-i"
_LETTERS_OF: Final = {"-": "--", ".": "-d", "_": "-u", ":": "-c"}
_SIGNS_OF: Final = {letters: sign for sign, letters in _LETTERS_OF.items()}
_PLAIN: Final = re.compile(r"[A-Za-z0-9]")
_SMALL_OR_DIGIT: Final = re.compile(r"[a-z0-9]")
_WRITTEN: Final = re.compile(r"-x(?P<number>[0-9a-f]{6})|(?P<letters>-[-duc])|(?P<plain>[A-Za-z0-9])")
_ACCOUNTS_OF: Final = {name: account for account, name in FIXED.items()}


def name_of(account: str) -> str:
    """Write an account's name: another for every account."""
    if account in FIXED:
        return FIXED[accounts.Account(account)]
    kind, colon, rest = account.partition(":")
    beginning = kind + colon
    if beginning in OF_CURRENCIES and CURRENCY.fullmatch(rest):
        return OF_CURRENCIES[beginning] + rest
    if beginning in OF_IDS:
        return OF_IDS[beginning] + component_of(rest)
    return OTHERS + component_of(account)


def account_of(name: str) -> str:
    """Read the account that a name stands for. Raises: ValueError for a name that no account has."""
    if name in _ACCOUNTS_OF:
        return _ACCOUNTS_OF[name]
    for beginning, written in OF_CURRENCIES.items():
        if name.startswith(written):
            return beginning + name.removeprefix(written)
    for beginning, written in OF_IDS.items():
        if name.startswith(written):
            return beginning + text_of(name.removeprefix(written))
    return text_of(name.removeprefix(OTHERS))


def component_of(text: str) -> str:
    """Write any text as a component of an account's name."""
    if not _SMALL_OR_DIGIT.match(text):
        return _AS_IT_IS + "".join(map(_written, text))
    return text[0].upper() + "".join(map(_written, text[1:]))


def text_of(component: str) -> str:
    """Read the text that a component was made of. Raises: ValueError for a component of none."""
    if component.startswith(_AS_IT_IS):
        return _read(component.removeprefix(_AS_IT_IS))
    return component[:1].lower() + _read(component[1:])


def _written(sign: str) -> str:
    return sign if _PLAIN.fullmatch(sign) else _LETTERS_OF.get(sign) or f"-x{ord(sign):06x}"


def _read(component: str) -> str:
    signs, end = [], 0
    for escape in _WRITTEN.finditer(component):
        if escape.start() != end:
            break
        end = escape.end()
        signs.append(escape["plain"] or _SIGNS_OF.get(escape["letters"]) or chr(int(escape["number"], 16)))
    if end != len(component):
        message = f"{component} is no component of an account's name."
        raise ValueError(message)
    return "".join(signs)
