"""Who speaks to the ledger: a principal with one role, perhaps bound to a casino and to some of its tables."""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a principal is there for."""

    TABLE = "table"
    FINANCE = "finance"
    RATES = "rates"
    OPERATOR = "operator"
    AUDITOR = "auditor"


@dataclass(frozen=True, slots=True)
class Principal:
    """
    A person or a machine, as a key names it.

    A principal with a casino sees that casino only; one with tables, those tables only. Table servers are machines.
    """

    name: str
    role: Role
    casino_id: str | None = None
    table_ids: frozenset[str] = frozenset()

    def sees_casino(self, casino_id: str) -> bool:
        """Whether the casino's rounds, bets and awards are shown to it."""
        return self.casino_id is None or self.casino_id == casino_id

    def sees_table(self, table_id: str, casino_id: str) -> bool:
        """Whether a table of a casino is shown to it."""
        return self.sees_casino(casino_id) and (not self.table_ids or table_id in self.table_ids)


SYSTEM_OPERATOR = Principal("cli", Role.OPERATOR)
"""Whoever runs the command line on the machine itself: an operator, by right of being there."""
