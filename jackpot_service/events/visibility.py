"""
Which events a key sees.

The house sees all of them; a casino's key what is the casino's, and that a jackpot was hit.
"""

from collections.abc import Mapping
from typing import Final

from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.usecases.changes.registry import KINDS

HOUSE_READERS: Final = frozenset({Role.FINANCE, Role.OPERATOR, Role.AUDITOR})

ROUND_KINDS: Final = frozenset({EntryKind.VOIDS, EntryKind.CLOSING, EntryKind.RESULT, EntryKind.CANCELLATION})
"""Entries of rounds that are notified. Batches of bets are not: see docs/decisions/events.md."""

CASINO_KINDS: Final = frozenset({EntryKind.AWARD_PAID, EntryKind.AWARD_STOPPED, EntryKind.EVIDENCE_RECORDED}).union(
    *(kind.acts for kind in KINDS.values() if kind.is_of_casinos)
)
"""Acts about one casino's rounds, awards and statements, which that casino's keys see, without who did them."""

HOUSE_KINDS: Final = frozenset(
    {
        EntryKind.AWARD_PAID,
        EntryKind.AWARD_STOPPED,
        EntryKind.EVIDENCE_RECORDED,
        EntryKind.JACKPOT_OPENED,
        EntryKind.JACKPOT_SUSPENDED,
        EntryKind.JACKPOT_RESUMED,
        EntryKind.CASINO_ADDED,
        EntryKind.TABLE_ADDED,
    }
).union(*(kind.acts for kind in KINDS.values()))
"""All acts that are notified. Change requests, keys, people and stripes are in the audit trail alone."""

_KINDS_OF_OTHERS: Final[Mapping[Role, frozenset[EntryKind]]] = {
    Role.TABLE: CASINO_KINDS,
    Role.FINANCE: CASINO_KINDS,
    Role.RATES: frozenset({EntryKind.RATES_PUBLISHED}),
}


def is_of_the_house(reader: Principal) -> bool:
    """Return whether a reader sees everything, and who did it."""
    return reader.role in HOUSE_READERS and reader.casino_id is None


def act_kinds(reader: Principal) -> frozenset[EntryKind]:
    """The kinds of acts that a reader sees; those of casinos only where they are about its own."""
    return HOUSE_KINDS if is_of_the_house(reader) else _KINDS_OF_OTHERS[reader.role]


def sees_round(reader: Principal, *, table_id: str, casino_id: str) -> bool:
    """Return whether a reader sees what happened in a round. Any other still sees that the round hit the jackpot."""
    return reader.role is not Role.RATES and reader.sees_table(table_id, casino_id)
