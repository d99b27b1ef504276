"""The walls around names, which the schema builds: no principal's name looks like another's."""

from typing import Any

import psycopg
import pytest
from psycopg import errors

from jackpot_service.domain.principals import NAME_LETTERS, BadPrincipal, require_legible
from tests.database.four_eyes import ADD_PRINCIPAL, application, world

pytestmark = pytest.mark.long

__all__ = ["application", "world"]


@pytest.mark.parametrize(
    "name",
    [
        "ANN",
        "\N{CYRILLIC CAPITAL LETTER A}nn",
        "\N{GREEK CAPITAL LETTER ALPHA}nn",
        "OIga",
        "0tto",
        "\N{GREEK CAPITAL LETTER OMICRON}tto",
        "\N{CYRILLIC SMALL LETTER ES}l\N{CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I}",
        "CLI",
        "R\N{CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I}ta",
    ],
)
def test_a_name_that_looks_like_another_is_refused(application: psycopg.Connection[Any], name: str) -> None:
    with pytest.raises(errors.UniqueViolation):
        application.execute(ADD_PRINCIPAL, [name])


@pytest.mark.parametrize(
    "name",
    [
        "\N{FULLWIDTH LATIN CAPITAL LETTER A}nn B",
        "\N{CHEROKEE LETTER GO}lf",
        "Ann\u200b",
        "e\u0301ve",
        "\N{CJK UNIFIED IDEOGRAPH-7530}\N{CJK UNIFIED IDEOGRAPH-4E2D}",
        "Ann\n",
        "",
    ],
)
def test_a_name_in_letters_that_are_not_compared_is_refused(application: psycopg.Connection[Any], name: str) -> None:
    with pytest.raises(errors.CheckViolation, match="ck_principals_name"):
        application.execute(ADD_PRINCIPAL, [name])


def test_the_database_takes_the_letters_that_the_code_takes(application: psycopg.Connection[Any]) -> None:
    """Of all letters that there are; a surrogate and NUL are no text."""
    codes = [code for code in range(1, 0x110000) if not 0xD800 <= code <= 0xDFFF]
    question = f"SELECT chr(c) FROM unnest(%s::int[]) AS c WHERE chr(c) ~ '^[{NAME_LETTERS}]+$'"  # noqa: S608  ours
    letters = {letter for (letter,) in application.execute(question, [codes])}

    assert letters == {chr(code) for code in codes if _is_legible(chr(code))}
    assert {
        "A",
        " ",
        "é",
        "\N{LATIN SMALL LETTER SHARP S}",
        "\N{GREEK CAPITAL LETTER OMEGA}",
        "\N{CYRILLIC SMALL LETTER YA}",
        "\N{LATIN SMALL LETTER O WITH HORN AND DOT BELOW}",
    } <= letters
    assert (
        not {
            "\N{MULTIPLICATION SIGN}",
            "\N{DIVISION SIGN}",
            "\N{LATIN SMALL LETTER LONG S}",
            "\N{LATIN SMALL LIGATURE IJ}",
            "\u0301",
            "\N{CHEROKEE LETTER GO}",
        }
        & letters
    )


def _is_legible(name: str) -> bool:
    try:
        require_legible(name)
    except BadPrincipal:
        return False
    return True
