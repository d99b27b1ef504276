"""Figures of entries on their way into the books: one that does not tell what it comes to is refused before."""

from collections.abc import Sequence
from typing import Final

from jackpot_service.domain.entries import REFERENCE_BOOK, Attribution, Entry
from jackpot_service.domain.errors import BooksBroken
from jackpot_service.domain.figures import FigureKind
from jackpot_service.domain.journal import EntryKind, Movement

_OF_ACTS: Final = frozenset({EntryKind.AWARD_PAID})
"""The acts that have figures in the reference book."""

_OF_EFFECTS: Final = frozenset(
    {
        EntryKind.ROUND_CORRECTED,
        EntryKind.AWARDS_APPROVED,
        EntryKind.AWARDS_REJECTED,
        EntryKind.AWARDS_REINSTATED,
    }
)
"""The acts whose entry in a jackpot's book has them. A correction may come to nothing; the others never do."""


class FiguresMissing(BooksBroken, code="figures-missing"):
    """An entry was about to be booked without what it comes to."""


def written(entry: Entry) -> list[str]:
    """
    Write an entry's figures, each as PostgreSQL writes a row.

    Raises: FiguresMissing.
    """
    _require_whole(entry)
    return [figure.written() for figure in entry.figures]


def content(attribution: Attribution, figures: Sequence[str]) -> list[str]:
    """What the digest covers: whose the figures are, and each of them as it is written."""
    return [attribution.casino_id, attribution.table_id, str(attribution.rules_version), *figures]


def _require_whole(entry: Entry) -> None:
    if entry.kind is EntryKind.BETS:
        is_whole = entry.round_step is not None and bool(entry.figures)
    elif entry.round_step is not None:
        movements = {line.movement for line in entry.postings.lines}
        kinds = {figure.kind for figure in entry.figures}
        is_whole = (Movement.REVERSAL in movements) is bool(kinds & {FigureKind.REFUNDS, FigureKind.LATE_REFUNDS}) and (
            (Movement.AWARD in movements) is (FigureKind.AWARDS in kinds)
        )
    elif entry.kind in (_OF_ACTS if entry.book == REFERENCE_BOOK else _OF_EFFECTS):
        is_whole = entry.attributed_to is not None and (bool(entry.figures) or entry.kind is EntryKind.ROUND_CORRECTED)
    else:
        is_whole = True
    if not is_whole:
        message = f"An entry of {entry.kind} states its round, or whose it is, and what it comes to by currency."
        raise FiguresMissing(message)
