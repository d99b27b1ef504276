"""
Where each table's rows are to stand once the database is spread over several machines: the one table that says so.

A jackpot's rows stand together, on the machine that its id names. A statement about one jackpot is then answered by one
machine, as long as it says at each of its levels which jackpot it is about. `tests/distribution/` holds the schema and
the service's statements to that; no extension of PostgreSQL is needed for it (docs/decisions/schema.md).
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Placement(StrEnum):
    """Where the rows of a table stand."""

    DISTRIBUTED = "distributed"
    """By `jackpot_id`: a column of every unique key, and of every condition that finds rows."""

    REFERENCE = "reference"
    """All of them on every machine, since statements about one jackpot join them. No bet writes them."""

    LOCAL = "local"
    """On one machine: often written, or numbered as a whole. What reads a jackpot's rows does without them."""


_DISTRIBUTED: Final = (
    "award_steps",
    "awards",
    "bets",
    "cancellations",
    "compensations",
    "corrections",
    "cycles",
    "days",
    "entries",
    "hands",
    "reconciled_days",
    "results",
    "rounds",
    "settlements",
    "statement_settlements",
    "stripes",
    "voids",
)

_REFERENCE: Final = (
    "acts",
    "casinos",
    "change_deciders",
    "change_decisions",
    "change_requests",
    "emergency_switches",
    "exception_acknowledgements",
    "jackpots",
    "principals",
    "rate_sheets",
    "rates",
    "rules_versions",
    "tables",
)

_LOCAL: Final = (
    "alembic_version",
    "closed_periods",
    "exceptions",
    "job_chunks",
    "jobs",
    "keys",
    "schema_versions",
    "seals",
    "verifications",
)

PLACEMENTS: Final[Mapping[str, Placement]] = MappingProxyType(
    {
        **dict.fromkeys(_DISTRIBUTED, Placement.DISTRIBUTED),
        **dict.fromkeys(_REFERENCE, Placement.REFERENCE),
        **dict.fromkeys(_LOCAL, Placement.LOCAL),
    }
)
"""Every table, a partitioned one by itself: its partitions stand where it does."""
