"""The translations of printed rules, by gettext from the standard library; `make translations` compiles them."""

from functools import cache
from gettext import NullTranslations, translation
from pathlib import Path
from typing import Final

from jackpot_service.domain.languages import Language, Words

DOMAIN: Final = "rules"
LOCALE: Final = Path(__file__).parent / "locale"
"""A folder a language: its messages as translators edit them (`.po`), and as gettext reads them (`.mo`)."""


@cache
def words_in(language: Language) -> Words:
    """Return the words of a language; the source needs no translations."""
    is_source = language is Language.ENGLISH
    return Words(language, NullTranslations() if is_source else translation(DOMAIN, LOCALE, [language]))
