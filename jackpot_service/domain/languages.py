"""The languages that rules are printed in: whose texts, and how numbers and times are written."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from gettext import NullTranslations
from typing import Final

from jackpot_service.domain.money import Rate, from_minor, plain


class Language(StrEnum):
    """A language, by its code of ISO 639. English is the source of all messages."""

    ENGLISH = "en"
    GERMAN = "de"


_MARKS: Final = {Language.ENGLISH: str.maketrans({}), Language.GERMAN: str.maketrans({",": ".", ".": ","})}
"""The marks of each language for the English ones of thousands and decimals."""


def message(text: str) -> str:
    """Mark a text that stands in a table as one that is translated where it is used."""
    return text


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a language: messages in English, with named places, become its texts."""

    language: Language
    translations: NullTranslations

    def say(self, message_: str, /, **values: str | int) -> str:
        """Write a message in this language, with its places filled."""
        return self.translations.gettext(message_).format(**values)

    def number(self, number: Decimal | int) -> str:
        """Write an exact number with marks of thousands and without trailing zeros: 649,740 or 649.740."""
        return self._marked(f"{Decimal(plain(Decimal(number))):,f}")

    def per_cent(self, part: Decimal) -> str:
        """Write a part as per cent of a whole: 81.84 % or 81,84 %."""
        return f"{self.number(part * Decimal(100))} %"

    def scaled(self, digits: int, decimals: int) -> str:
        """Write a number of so many decimals, such as minor units of a currency, with all of them."""
        return self._marked(f"{from_minor(digits, decimals):,f}")

    def money(self, amount_minor: int, rate: Rate) -> str:
        """Write an amount in minor units of a rate's currency, with all its decimals: 1,001.35 EUR."""
        return f"{self.scaled(amount_minor, rate.exponent)} {rate.currency}"

    def moment(self, moment: datetime) -> str:
        """Write a time to the second, in UTC and alike in every language."""
        return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"

    def _marked(self, number: str) -> str:
        return number.translate(_MARKS[self.language])
