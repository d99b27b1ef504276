"""Whose rows a question is about, in SQL: a casino's, a table's, or everybody's, of whom neither is named."""

from collections.abc import Mapping
from typing import Final

from jackpot_service.reports.finance.frame import Asked

EVERYBODY: Final[Mapping[str, str | None]] = {"casino_id": None, "table_id": None}
"""The parameters of a question about everybody."""

_OF_THOSE_ASKED: Final = """
    (CAST(:casino_id AS text) IS NULL OR {row}casino_id = :casino_id)
    AND (CAST(:table_id AS text) IS NULL OR {row}table_id = :table_id)
"""


def of_those_asked(row: str) -> str:
    """WHERE this: a row (its name and a dot, or nothing) that tells its casino and table is of those asked about."""
    return _OF_THOSE_ASKED.format(row=row)


def parameters(asked: Asked) -> Mapping[str, str | None]:
    """The parameters of a question about those whom a report was asked about."""
    return {"casino_id": asked.casino_id, "table_id": asked.table_id}
