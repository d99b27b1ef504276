"""The glossary names what exists: each term once, in order, with a symbol, a table or a column where it lives."""

import re
from functools import reduce
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from jackpot_service.database.models import Base

PAGE: Final = (Path(__file__).resolve().parents[1] / "docs" / "glossary.md").read_text(encoding="utf-8")
ENTRIES: Final = re.findall(r"^\| ([^|`]+) \| ([^|]+) \| `([\w.]+)` \|$", PAGE, re.MULTILINE)
TERMS: Final = [term for term, _, _ in ENTRIES]


def test_every_row_is_read() -> None:
    first_table = PAGE.split("|---|---|---|\n")[1].partition("\n\n")[0]
    assert len(ENTRIES) == len(first_table.splitlines()) > 100


def test_terms_stand_in_order_and_once() -> None:
    assert sorted(set(TERMS), key=str.casefold) == TERMS


@pytest.mark.parametrize(("term", "place"), [(term, place) for term, _, place in ENTRIES])
def test_a_term_lives_where_it_says(term: str, place: str) -> None:
    if place.startswith("jackpot_service."):
        value = symbol(place)
        assert not is_room(value), f"{term}: {place} is a whole room, where a word cannot be looked up"
        return
    table, _, column = place.partition(".")
    assert table in Base.metadata.tables, f"{term}: there is no table {table}"
    assert not column or column in Base.metadata.tables[table].columns, f"{term}: there is no column {place}"


def test_what_is_not_there_and_a_whole_room_are_refused() -> None:
    with pytest.raises(AttributeError):
        symbol("jackpot_service.domain.rounds.Square")
    assert is_room(symbol("jackpot_service.records"))
    assert not is_room(symbol("jackpot_service.records.lives"))


def symbol(path: str) -> Any:
    """Find a module, or what it has by a name. Raises: AttributeError, ModuleNotFoundError."""
    names = path.split(".")
    for length in range(len(names), 0, -1):
        try:
            module = import_module(".".join(names[:length]))
        except ModuleNotFoundError:
            continue
        return reduce(getattr, names[length:], module)
    raise ModuleNotFoundError(path)


def is_room(value: Any) -> bool:
    """Whether it is a package: it has modules, and no word."""
    return isinstance(value, ModuleType) and hasattr(value, "__path__")
