"""
The translations of printed rules, by gettext from the standard library.

They are read from the `.po` files of the package as they are: what translators edit is all there is. A catalog is
compiled in memory, once a process, so no compiled file can be older than its source.
"""

import json
import re
import struct
from collections.abc import Mapping
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib import resources
from io import BytesIO
from typing import Final

from jackpot_service.domain.languages import Language, Words

_MAGIC: Final = 0x950412DE
_HEAD: Final = struct.Struct("<7I")
_PLACE: Final = struct.Struct("<2I")

_LINE: Final = re.compile(r'(msgid |msgstr |)(".*")')


@cache
def words_in(language: Language) -> Words:
    """Return the words of a language; the source needs no translations."""
    return Words(language, NullTranslations() if language is Language.ENGLISH else _translations(language))


def _translations(language: Language) -> GNUTranslations:
    file = resources.files("jackpot_service") / "locale" / language / "LC_MESSAGES" / "rules.po"
    return GNUTranslations(BytesIO(compiled(messages_in(file.read_text(encoding="utf-8")))))


def messages_in(text: str) -> dict[str, str]:
    """
    Read the messages of a `.po` file and their translations; its head is that of the empty message.

    Only what these files need is read: no contexts, no plurals. Raises: ValueError for anything else, and for a message
    that stands twice.
    """
    found: list[tuple[str, list[str]]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        read = _LINE.fullmatch(line)
        if read is None or not (read[1] or found):
            message = f"Line {number} is neither a message nor its translation."
            raise ValueError(message)
        if read[1]:
            found.append((read[1].strip(), []))
        found[-1][1].append(json.loads(read[2]))  # The escapes of both formats are the same where these files use any.
    if [word for word, _ in found] != ["msgid", "msgstr"] * (len(found) // 2):
        message = "Messages and translations do not alternate."
        raise ValueError(message)
    texts = ["".join(parts) for _, parts in found]
    messages = dict(zip(texts[::2], texts[1::2], strict=True))
    if 2 * len(messages) != len(texts):
        message = "A message stands twice."
        raise ValueError(message)
    return messages


def compiled(messages: Mapping[str, str]) -> bytes:
    """Write messages and their translations in the format of `.mo` files, as gettext reads it."""
    pairs = sorted((source.encode(), translated.encode()) for source, translated in messages.items())
    texts = [*(source for source, _ in pairs), *(translated for _, translated in pairs)]
    at = _HEAD.size + _PLACE.size * len(texts)
    places = []
    for text in texts:
        places.append(_PLACE.pack(len(text), at))
        at += len(text) + 1
    head = _HEAD.pack(_MAGIC, 0, len(pairs), _HEAD.size, _HEAD.size + _PLACE.size * len(pairs), 0, 0)
    return b"".join([head, *places, *(text + b"\0" for text in texts)])
