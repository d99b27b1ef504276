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

    A principal with a casino sees that casino only; one with tables, those tables only. Table servers are machines,
    and so is whatever was given its key as an automaton; a machine may ask for a change and never approve one.
    """

    name: str
    role: Role
    casino_id: str | None = None
    table_ids: frozenset[str] = frozenset()
    is_automaton: bool = False

    @property
    def is_machine(self) -> bool:
        """Whether nobody stands behind it who could approve something."""
        return self.is_automaton or self.role is Role.TABLE

    def sees_casino(self, casino_id: str) -> bool:
        """Whether the casino's rounds, bets and awards are shown to it."""
        return self.casino_id is None or self.casino_id == casino_id

    def sees_table(self, table_id: str, casino_id: str) -> bool:
        """Whether a table of a casino is shown to it."""
        return self.sees_casino(casino_id) and (not self.table_ids or table_id in self.table_ids)


SYSTEM_OPERATOR = Principal("cli", Role.OPERATOR, is_automaton=True)
"""Whoever runs the command line on the machine itself: an operator, by right of being there. Nobody knows who it
is, so it approves nothing: whoever approves on the command line shows a key."""
