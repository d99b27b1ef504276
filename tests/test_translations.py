"""Every message of printed rules has a translation with the same places, and nothing else is translated."""

from pathlib import Path
from string import Formatter
from typing import Final

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po

from jackpot_service.domain.languages import Language
from jackpot_service.translations import DOMAIN, LOCALE, words_in

OTHERS: Final = [language for language in Language if language is not Language.ENGLISH]

MARKS: Final = {"say": None, "message": None}
"""The functions whose first argument is a message."""

MESSAGES: Final = {
    str(text)
    for _, _, text, _, _ in extract_from_dir(
        LOCALE.parent, method_map=[("**.py", "python"), ("templates/**.html", "jinja2")], keywords=MARKS
    )
}


def place(language: Language, ending: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / f"{DOMAIN}.{ending}"


def texts(catalog: Catalog) -> dict[str, str]:
    return {str(message.id): str(message.string) for message in catalog if message.id}


def edited(language: Language) -> dict[str, str]:
    with place(language, "po").open("rb") as file:
        return texts(read_po(file, locale=language, abort_invalid=True))


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_is_translated_and_nothing_else_is(language: Language) -> None:
    assert len(MESSAGES) > 80
    assert edited(language).keys() == MESSAGES
    assert [source for source, translated in edited(language).items() if not translated] == []


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_places_of_its_message(language: Language) -> None:
    assert {source: places(translated) for source, translated in edited(language).items()} == {
        source: places(source) for source in MESSAGES
    }


@pytest.mark.parametrize("language", OTHERS)
def test_what_is_compiled_is_what_was_edited(language: Language) -> None:
    """Otherwise: make translations."""
    with place(language, "mo").open("rb") as file:
        assert texts(read_mo(file)) == edited(language)
    for source, translated in edited(language).items():
        assert words_in(language).translations.gettext(source) == translated


def test_english_is_the_source() -> None:
    assert words_in(Language.ENGLISH).say("1 in {hands}", hands="4") == "1 in 4"
    assert words_in(Language.ENGLISH) is words_in(Language.ENGLISH)
