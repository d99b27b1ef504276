"""The rows of a section as JSON shows them."""

from collections.abc import Iterator

from jackpot_service.reports.cells import as_text
from jackpot_service.reports.documents import Section


def rows_of(section: Section) -> Iterator[dict[str, str | int | None]]:
    """Name each value by its column; counts are numbers, all else exact texts."""
    names = [column.name for column in section.columns]
    for row in section.rows:
        shown = [value if value is None or type(value) is int else as_text(value) for value in row]
        yield dict(zip(names, shown, strict=True))
