"""Every message of printed rules has a translation with the same places, and nothing else is translated."""

import ast
import gettext
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from string import Formatter
from typing import Final

import jinja2
import pytest
from jinja2.ext import extract_from_ast

import jackpot_service
from jackpot_service.domain.languages import Language
from jackpot_service.translations import compiled, messages_in, words_in

PACKAGE: Final = Path(jackpot_service.__file__).parent
OTHERS: Final = [language for language in Language if language is not Language.ENGLISH]

MARKS: Final = {"say", "message"}
"""The names of the functions whose first argument is a message."""


def catalog(language: Language) -> dict[str, str]:
    file = PACKAGE / "locale" / language / "LC_MESSAGES" / "rules.po"
    found = messages_in(file.read_text(encoding="utf-8"))
    head = found.pop("")
    assert f"Language: {language}\n" in head
    assert "charset=UTF-8" in head
    return found


def messages_of_modules() -> Iterator[str]:
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
            if called in MARKS and isinstance(node.args[0].value, str):
                yield node.args[0].value


def messages_of_templates() -> Iterator[str]:
    for path in (PACKAGE / "templates").glob("*.html"):
        parsed = jinja2.Environment(autoescape=True).parse(path.read_text(encoding="utf-8"))
        for _, _, found in extract_from_ast(parsed, gettext_functions=["say"]):
            text = found[0] if isinstance(found, tuple) else found  # With places it is followed by what is no text.
            assert text is not None
            yield text


MESSAGES: Final = {*messages_of_modules(), *messages_of_templates()}


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_is_translated_and_nothing_else_is(language: Language) -> None:
    assert len(MESSAGES) > 80
    assert catalog(language).keys() == MESSAGES
    assert [source for source, translated in catalog(language).items() if not translated] == []


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_places_of_its_message(language: Language) -> None:
    assert {source: places(translated) for source, translated in catalog(language).items()} == {
        source: places(source) for source in MESSAGES
    }


@pytest.mark.parametrize("language", OTHERS)
def test_gettext_reads_what_is_compiled(language: Language) -> None:
    translations = gettext.GNUTranslations(
        BytesIO(compiled({"": "Content-Type: text/plain; charset=UTF-8\n", "a": "ä"}))
    )

    assert (translations.gettext("a"), translations.gettext("b")) == ("ä", "b")
    for source, translated in catalog(language).items():
        assert words_in(language).translations.gettext(source) == translated


def test_english_is_the_source() -> None:
    assert words_in(Language.ENGLISH).say("1 in {hands}", hands="4") == "1 in 4"
    assert words_in(Language.ENGLISH) is words_in(Language.ENGLISH)


@pytest.mark.parametrize(
    "text",
    [
        'msgid "a"\n',
        'msgstr "a"\n',
        '"a"\n',
        'msgid "a"\nmsgid "b"\n',
        'msgid "a"\nmsgstr "b"\nmsgid "a"\nmsgstr "c"\n',
        'msgctxt "a"\nmsgid "a"\nmsgstr "b"\n',
        'msgid "a"\nmsgstr[0] "b"\n',
        "msgid 'a'\nmsgstr 'b'\n",
        'msgid "\\q"\nmsgstr "b"\n',
    ],
)
def test_what_these_files_do_not_need_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        messages_in(text)


def test_a_long_message_stands_on_several_lines() -> None:
    assert messages_in('# a remark\nmsgid ""\n"one "\n"two\\n"\nmsgstr "\\"x\\""\n') == {"one two\n": '"x"'}
