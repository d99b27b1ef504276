"""
Names that look alike are one name, by all that Unicode says of the letters that a name may have.

`confusables.txt`, next to this file, is an extract of Unicode's table; its source and its licence are at its head.
"""

import re
import unicodedata
from collections import defaultdict
from itertools import product
from pathlib import Path

import psycopg
import pytest

from jackpot_service.domain.principals import NAME_LETTERS
from tests.support.logins import owner_conninfo

pytestmark = pytest.mark.slow

TABLE = Path(__file__).with_name("confusables.txt")

LETTERS = [chr(code) for code in range(1, 0x3000) if re.fullmatch(f"[{NAME_LETTERS}]", chr(code))]


def prototypes() -> dict[str, str]:
    """Return what the table says each letter looks like."""
    lines = (line.partition("#")[0] for line in TABLE.read_text(encoding="utf-8").splitlines())
    fields = [[field.strip() for field in line.split(";")] for line in lines if line.strip()]
    return {_text(letter): _text(replacement) for letter, replacement, _ in fields}


def _text(codes: str) -> str:
    return "".join(chr(int(code, 16)) for code in codes.split())


PROTOTYPES = prototypes()


def skeleton(name: str) -> str:
    """Return what UTS #39 compares: two names look alike exactly if this is the same of both."""
    letters = unicodedata.normalize("NFD", name)
    return unicodedata.normalize("NFD", "".join(PROTOTYPES.get(letter, letter) for letter in letters))


def alike() -> list[list[str]]:
    """List the texts of one or two letters that look alike, and not only letter by letter."""
    by_skeleton: dict[str, list[str]] = defaultdict(list)
    for letter in LETTERS:
        by_skeleton[skeleton(letter)].append(letter)
    spelled: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for count in (1, 2):
        for parts in product(by_skeleton, repeat=count):
            spelled["".join(parts)].append(parts)
    by_several = [spellings for spellings in spelled.values() if len(spellings) > 1]
    several = [
        ["".join(text) for parts in spellings for text in product(*(by_skeleton[part] for part in parts))]
        for spellings in by_several
    ]
    return [letters for letters in by_skeleton.values() if len(letters) > 1] + several


def test_the_extract_is_of_the_letters_of_names_and_no_others() -> None:
    of_names = {part for letter in LETTERS for part in unicodedata.normalize("NFD", letter)}

    assert len(PROTOTYPES) == 168
    assert PROTOTYPES.keys() <= of_names


def test_all_that_unicode_says_looks_alike_is_one_name(database_url: str) -> None:
    groups = alike()
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        texts = sorted({text for group in groups for text in group})
        looks: dict[str, str] = dict(
            owner.execute("SELECT t, name_by_look(t) FROM unnest(%s::text[]) AS t", [texts]).fetchall()
        )

    assert len(groups) > 100
    assert [group for group in groups if len({looks[text] for text in group}) > 1] == []


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("François", "Fran\N{CYRILLIC SMALL LETTER ES WITH DESCENDER}ois"),
        ("Zi\N{LATIN SMALL LETTER E WITH OGONEK}ba", "Zi\N{CYRILLIC SMALL LETTER ABKHASIAN CHE WITH DESCENDER}ba"),
        ('O"Neill', "O''Neill"),
        ('O"Neill', "O'Neill"),
        ("\N{CYRILLIC CAPITAL LETTER GHE WITH UPTURN}anna", "\N{GREEK CAPITAL LETTER GAMMA}'anna"),
    ],
)
def test_a_name_is_taken_by_one_that_looks_like_it(database_url: str, name: str, other: str) -> None:
    add = """
        INSERT INTO principals (name, role, is_automaton, department, entry_seq)
        VALUES (%s, 'operator', false, 'operator', 1)
    """
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        owner.execute(add, [name])
        with pytest.raises(psycopg.errors.UniqueViolation):
            owner.execute(add, [other])
        owner.rollback()


@pytest.mark.parametrize(("name", "other"), [("Ján", "Jan"), ("Čapek", "Capek"), ("Ґ", "Г"), ("ҫa", "ca")])
def test_letters_with_and_without_a_mark_are_two(database_url: str, name: str, other: str) -> None:
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        looks = owner.execute("SELECT name_by_look(%s), name_by_look(%s)", [name, other]).fetchone()

    assert looks is not None
    assert looks[0] != looks[1]
