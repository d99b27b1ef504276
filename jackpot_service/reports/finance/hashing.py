"""The hash of what a report says: the same whenever, wherever and by whichever format it is asked."""

import hashlib

import orjson

from jackpot_service.reports.cells import as_text
from jackpot_service.reports.documents import Document


def sha256_of(document: Document) -> str:
    """
    Figure the SHA-256 of a report's question, positions and rows; not of when and by which version it was made.

    It reads all rows. What is hashed are lines of JSON: one for the head, one for each section's columns, one a row.
    Strangers figure it from answers by docs/reports.md, which says the same; a change of it raises all report versions.
    """
    digest = hashlib.sha256()
    head = [
        document.name,
        as_text(document.start),
        as_text(document.end),
        sorted(document.scope.items()),
        sorted((book, list(positions)) for book, positions in document.positions.items()),
    ]
    digest.update(_line(head))
    for section in document.sections:
        digest.update(_line([section.name, *(column.name for column in section.columns)]))
        for row in section.rows:
            digest.update(_line([as_text(value) for value in row]))
    return digest.hexdigest()


def _line(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
