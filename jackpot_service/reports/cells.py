"""A cell as text, the same in every format: exact, without exponent, times in UTC."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal

from jackpot_service.domain.money import plain
from jackpot_service.ledger.instants import Positions
from jackpot_service.reports.documents import Document, Value


def as_text(value: Value) -> str:
    """Write a value; nothing is the empty text."""
    match value:
        case None:
            return ""
        case Decimal():
            return plain(value)
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case _:
            return str(value)


def head_of(document: Document) -> list[tuple[str, str]]:
    """Write a report's head as names and texts, in the order in which people read it."""
    return [
        ("report", document.name),
        ("title", document.title),
        ("from", as_text(document.start) or "the beginning"),
        ("to", as_text(document.end) or "all that was booked"),
        *document.scope.items(),
        ("made at", as_text(document.made_at)),
        ("version", document.version),
        *_closed(document),
        *_positions("opening position", document.opening_positions),
        *_positions("position", document.positions),
    ]


def _positions(name: str, positions: Mapping[str, Positions]) -> list[tuple[str, str]]:
    return [(f"{name} of {book}", ".".join(map(str, seqs))) for book, seqs in sorted(positions.items())]


def _closed(document: Document) -> list[tuple[str, str]]:
    if document.kept is None:
        return []
    if document.content_sha256 is not None:
        return [("closed as", document.content_sha256)]
    then, now = document.kept.report_version, document.report_version
    return [("closed in", f"version {then} of the report, whose version is {now} now: no hash of this was kept")]
