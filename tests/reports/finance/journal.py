"""What reports must come to, figured the long way: line by line over the journal."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from jackpot_service.domain.money import ZERO
from tests.support.answers import Body
from tests.support.world import World

Line = Mapping[str, Any]

Row = dict[str, Any]


def sums(
    world: World, by: Callable[[Line], Hashable], *, start: datetime | None = None, end: datetime | None = None
) -> dict[Any, Decimal]:
    """Sum the lines that were booked from `start` on and before `end`; those of key None are left out."""
    sums_by_key: defaultdict[Hashable, Decimal] = defaultdict(lambda: ZERO)
    for line in world.books.rows("SELECT * FROM postings ORDER BY jackpot_id, stripe_no, seq, line"):
        is_within = (start is None or line["booked_at"] >= start) and (end is None or line["booked_at"] < end)
        key = by(line)
        if is_within and key is not None:
            sums_by_key[key] = sums_by_key[key] + line["amount"]
    return dict(sums_by_key)


def numbers(document: Body, section: str) -> list[Row]:
    """The rows of a section, their figures as numbers."""
    (made,) = (section_ for section_ in document["sections"] if section_["name"] == section)
    figures = {column["name"] for column in made["columns"] if column["type"] in {"amount", "number", "percent"}}
    return [{name: _read(value, name in figures) for name, value in row.items()} for row in made["rows"]]


def _read(value: Any, is_figure: bool) -> Any:  # noqa: FBT001
    return Decimal(value) if is_figure and value is not None else value
