"""
Names: which letters a principal's name may have, and that names in another case, or that look alike, are one name.

Facts about letters that look alike: Unicode Security Mechanisms (UTS #39), confusables.txt, version 17.0.0 of
2025-07-22. They are restricted to the letters that a name may have and to what one letter can be taken for. Added are
small letters that are drawn as small capitals, and i, since I and l look alike in many typefaces. The two functions are
made from that table here: written out, they are four lines of some two hundred letters each.
"""

import unicodedata
from collections.abc import Iterable, Sequence

from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

compatible_from: str = "0002"

LETTERS = " -~À-ÖØ-öø-ıĴ-ľŁ-ňŊ-žƠơƯưȘ-țḀ-ẕẞẠ-ỹΆΈ-ΊΌΎ-ΡΣ-ώЀ-џҊ-ӿ"
"""The letters of a name: ASCII, and the precomposed letters of Latin, Greek and Cyrillic."""

ALIKE = """
'`" 3ЗзӠ 6б aΑαАа bΒВвЬь cСс eΕЕеҽ hΗНнһ jЈј kĸΚκКк l1Ii|ıΙιІіӀӏ mΜМм nΝ o0ΟοσОо pþΡρРр rг sЅѕ tΤτТт uυ vν wш xΧχХх
yΥγУуҮү zΖ ßẞβ đĐÐ ħЋћ ŋη æӔӕ ΓГ ΠπПп φΦФф θΘӨө єεЄ лΛЛ ҷҶӋӌ \u0306\u030c \u0326\u0327
"""  # noqa: RUF001  these are the letters
"""Each word is letters that look alike; the first stands for all."""

SEQUENCES = (
    *(("æ", "ae"), ("œ", "oe"), ("ы", "bl"), ("Ю", "lo"), ("Ґ", "Γ'"), ("ґ", "r'"), ("rn", "m")),
    *(("ҫ", "c\u0326"), ("ҿ", "e\u0328"), ("ӈ", "h\u0326"), ("ӊ", "h\u0326")),
)
"""Letters that look like two others, or like one with its mark, or two like one, after those above."""

APOSTROPHE, APOSTROPHES = "'", "'+"
"""A quotation mark looks like two apostrophes, and is taken for one above: any number of them is one."""

NOT_AS_SMALL = "ЮҐ"
"""Letters that look like others only where they are capitals."""


def _bases() -> list[str]:
    """List the letters of names without their marks, and the marks."""
    letters: set[str] = set()
    for first, last in _ranges(LETTERS):
        for code in range(ord(first), ord(last) + 1):
            letters.update(unicodedata.normalize("NFD", chr(code)))
    return sorted(letters)


def _ranges(letters: str) -> Iterable[tuple[str, str]]:
    place = 0
    while place < len(letters):
        is_range = letters[place + 1 : place + 2] == "-"
        yield letters[place], letters[place + 2] if is_range else letters[place]
        place += 3 if is_range else 1


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _translated(change: dict[str, str]) -> str:
    """Write an expression that takes a name apart into letters and marks, and changes each."""
    pairs = [(letter, change[letter]) for letter in _bases() if change.get(letter, letter) != letter]
    old, new = ("".join(side) for side in zip(*pairs, strict=True))
    return f"translate(normalize(name, NFD), {_quoted(old)}, {_quoted(new)})"


def _in_one_case() -> str:
    folded = {letter: letter.casefold() for letter in _bases()}
    expression = _translated({letter: other for letter, other in folded.items() if len(other) == 1})
    return f"replace(replace({expression}, 'ß', 'ss'), 'ẞ', 'ss')"


def _by_look() -> str:
    alike = {letter: word[0] for word in ALIKE.split() for letter in word}
    small = {letter: letter.lower() for letter in _bases() if letter not in NOT_AS_SMALL}
    expression = _translated(small | alike)
    for letters, replacement in SEQUENCES:
        expression = f"replace({expression}, {_quoted(letters)}, {_quoted(replacement)})"
    return f"regexp_replace({expression}, {_quoted(APOSTROPHES)}, {_quoted(APOSTROPHE)}, 'g')"


def _function(name: str, expression: str) -> str:
    return (
        f"CREATE FUNCTION {name}(name text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE "
        f"AS $$ SELECT {expression} $$"
    )


LAWS = f"""
ALTER TABLE principals ADD CONSTRAINT ck_principals_name CHECK (name ~ '^[{LETTERS}]+$');
CREATE UNIQUE INDEX uq_principals_name_in_one_case ON principals (name_in_one_case(name));
CREATE UNIQUE INDEX uq_principals_name_by_look ON principals (name_by_look(name));
"""

DROPS = """
DROP INDEX uq_principals_name_by_look;
DROP INDEX uq_principals_name_in_one_case;
ALTER TABLE principals DROP CONSTRAINT ck_principals_name;
DROP FUNCTION name_by_look(text);
DROP FUNCTION name_in_one_case(text);
"""


def upgrade() -> None:
    """Make the two functions, and let unique indexes hold names against each other."""
    op.execute(_function("name_in_one_case", _in_one_case()))
    op.execute(_function("name_by_look", _by_look()))
    op.execute(LAWS)


def downgrade() -> None:
    """Let every name in."""
    op.execute(DROPS)
