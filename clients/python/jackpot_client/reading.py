"""Reads the service's JSON without lenience: what is missing, of another type or a float for money is an error."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, NoReturn

from jackpot_client.errors import ProtocolError

_DECIMAL: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Fields:
    """The members of one JSON object, each read as the type the contract gives it. Methods raise: ProtocolError."""

    content: Mapping[str, Any]
    where: str = ""

    def raw(self, name: str) -> object:
        """Return a member as it came, which may be null but not absent."""
        try:
            return self.content[name]
        except KeyError:
            raise ProtocolError(f"the answer lacks {self.where}/{name}") from None

    def text(self, name: str) -> str:
        """Return a string."""
        value = self.raw(name)
        return value if isinstance(value, str) else self._refuse(name, "a string")

    def text_or_none(self, name: str) -> str | None:
        """Return a string, or None for null."""
        return None if self.raw(name) is None else self.text(name)

    def whole(self, name: str) -> int:
        """Return an integer; true, 1.0 and "1" are none."""
        value = self.raw(name)
        return value if type(value) is int else self._refuse(name, "an integer")

    def whole_or_none(self, name: str) -> int | None:
        """Return an integer, or None for null."""
        return None if self.raw(name) is None else self.whole(name)

    def label(self, name: str) -> int | str:
        """Return a number or word that is only compared, never figured with."""
        return self.text(name) if isinstance(self.raw(name), str) else self.whole(name)

    def decimal(self, name: str) -> Decimal:
        """Return an exact amount from its decimal string; a JSON number is none, however it looks."""
        value = self.text(name)
        return Decimal(value) if _DECIMAL.fullmatch(value) else self._refuse(name, "a decimal string")

    def decimal_or_none(self, name: str) -> Decimal | None:
        """Return an exact amount, or None for null."""
        return None if self.raw(name) is None else self.decimal(name)

    def instant(self, name: str) -> datetime:
        """Return a time with its offset."""
        try:
            value = datetime.fromisoformat(self.text(name))
        except ValueError:
            return self._refuse(name, "an RFC 3339 time")
        return value if value.tzinfo is not None else self._refuse(name, "a time with its offset")

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of strings."""
        values = self._list(name)
        return tuple(values) if all(isinstance(value, str) for value in values) else self._refuse(name, "strings")

    def section(self, name: str) -> "Fields":
        """Return an object's members."""
        value = self.raw(name)
        return Fields(value, f"{self.where}/{name}") if isinstance(value, dict) else self._refuse(name, "an object")

    def sections(self, name: str) -> tuple["Fields", ...]:
        """Return a list of objects."""
        values = self._list(name)
        if not all(isinstance(value, dict) for value in values):
            self._refuse(name, "objects")
        return tuple(Fields(value, f"{self.where}/{name}/{at}") for at, value in enumerate(values))

    def _list(self, name: str) -> list[Any]:
        value = self.raw(name)
        return value if isinstance(value, list) else self._refuse(name, "a list")

    def _refuse(self, name: str, expected: str) -> NoReturn:
        raise ProtocolError(f"{self.where}/{name} is not {expected}: {self.raw(name)!r:.100}")


def read(body: bytes) -> Fields:
    """
    Read an answer that must be one JSON object.

    Numbers with a point become Decimal, never float; a field ending in `_minor` must be a whole number (or null).

    Raises: ProtocolError if it is anything else, or says a thing twice.
    """
    try:
        value = json.loads(body, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the answer is not JSON of this service ({error}): {body[:100]!r}") from error
    if not isinstance(value, dict):
        raise ProtocolError(f"the answer is not a JSON object: {body[:100]!r}")
    return Fields(value)


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(members)
    if len(content) != len(members):
        raise ValueError("a member stands twice in one object")
    for name, value in members:
        if name.endswith("_minor") and value is not None and type(value) is not int:
            raise ValueError(f"{name} is not whole minor units")
    return content


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")
