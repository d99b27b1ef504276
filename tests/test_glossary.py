"""The glossary names what exists: each term once, in order, with a symbol, a table or a column where it lives."""

import re
from importlib import import_module
from pathlib import Path
from typing import Final

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
        assert symbol_exists(place), f"{term}: there is no {place}"
        return
    table, _, column = place.partition(".")
    assert table in Base.metadata.tables, f"{term}: there is no table {table}"
    assert not column or column in Base.metadata.tables[table].columns, f"{term}: there is no column {place}"


def symbol_exists(path: str) -> bool:
    """Whether a path is a module, or an attribute of one."""
    try:
        import_module(path)
    except ModuleNotFoundError:
        module, _, name = path.rpartition(".")
        return hasattr(import_module(module), name)
    return True
