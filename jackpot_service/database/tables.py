"""
The tables: where each one's rows are to stand, and what the service may do to them. Rights are granted from this table.

*Rights.* The service logs in as a role of its own, which may read everything, add rows, and change or remove what is
listed here. `role` grants it so, by the owner's login; `login` refuses to start a service that could do more.

*Placements*, for when the database is spread over several machines. A jackpot's rows stand together, on the machine
that its id names. One machine answers a statement about one jackpot, if the statement names it at each of its levels.
Tests hold the schema and the service's statements to that (docs/decisions/schema.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

ROLE: Final = "jackpot_app"
"""The service's own login: member of no role, owner of nothing."""

SEARCH_PATH: Final = "public,pg_temp"
"""Where names are looked up, after PostgreSQL's own: temporary tables come last, so that none hides a table."""

ATTRIBUTES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "rolsuper": "SUPERUSER",
        "rolcreatedb": "CREATEDB",
        "rolcreaterole": "CREATEROLE",
        "rolinherit": "INHERIT",
        "rolreplication": "REPLICATION",
        "rolbypassrls": "BYPASSRLS",
    }
)
"""The attributes that the login lacks, by column of pg_roles and by word of ALTER ROLE, which takes `NO` before it."""


class Placement(StrEnum):
    """Where the rows of a table stand."""

    DISTRIBUTED = "distributed"
    """By `jackpot_id`: a column of every unique key, and of every condition that finds rows."""

    REFERENCE = "reference"
    """All of them on every machine, since statements about one jackpot join them. No bet writes them."""

    LOCAL = "local"
    """On one machine: often written, or numbered as a whole. Statements that read a jackpot's rows do without them."""


@dataclass(frozen=True, slots=True)
class Table:
    """Where a table's rows stand, and what the service may do to them besides reading: usually, add some."""

    placement: Placement
    insert: bool = True
    update: frozenset[str] = frozenset()
    delete: bool = False


def _placed(placement: Placement, *names: str) -> dict[str, Table]:
    """Tables whose rows the service writes once."""
    return dict.fromkeys(names, Table(placement))


def _changed(placement: Placement, columns: str) -> Table:
    return Table(placement, update=frozenset(columns.split()))


def _kept_row(placement: Placement, columns: str) -> Table:
    """A table of one row, which the schema begins with and the service changes."""
    return Table(placement, insert=False, update=frozenset(columns.split()))


TABLES: Final[Mapping[str, Table]] = MappingProxyType(
    {
        **_placed(
            Placement.DISTRIBUTED,
            "award_steps",
            "awards",
            "bets",
            "compensations",
            "corrections",
            "cycles",
            "entries",
            "past_days",
            "payments",
            "reconciled_days",
            "statement_settlements",
            "voids",
        ),
        **_placed(
            Placement.REFERENCE,
            "acts",
            "casino_claims",
            "casinos",
            "change_decisions",
            "change_policies",
            "change_requests",
            "exception_acknowledgements",
            "jackpots",
            "passkey_revocations",
            "passkeys",
            "principals",
            "rate_sheets",
            "rates",
            "rules_versions",
            "table_limits",
            "tables",
            "withholding_rules",
        ),
        **_placed(Placement.LOCAL, "closed_periods", "exceptions", "seals", "slip_prints", "verifications"),
        "open_awards": Table(Placement.DISTRIBUTED, insert=False),  # Triggers write it, by the rights of the owner.
        "days": _changed(Placement.DISTRIBUTED, "number minor value"),
        "rounds": _changed(Placement.DISTRIBUTED, "state steps bet_count weight replays game_number"),
        "stripes": _changed(
            Placement.DISTRIBUTED,
            "seq head meter_players meter_house reserve prize_fund accepting booked_at summed_to limits_version",
        ),
        "browser_sessions": Table(
            Placement.LOCAL, update=frozenset({"proof_passkey_id", "proved_at", "seen_at"}), delete=True
        ),
        "exception_chain": _kept_row(Placement.LOCAL, "number head"),
        "exception_counts": _changed(Placement.LOCAL, "refusals"),
        "job_chunks": Table(Placement.LOCAL, delete=True),
        "jobs": _changed(
            Placement.LOCAL,
            "state chunks size position done total attempts began_at began_with heartbeat_at ended_at error "
            "cancelled_by removed_at holder lease_until",
        ),
        "keys": _changed(Placement.LOCAL, "revoked_at last_used_at"),
        "passkey_challenges": Table(Placement.LOCAL, delete=True),
        "passkey_uses": _changed(Placement.LOCAL, "sign_count used_at"),
        # Kept by migrations, or set by the owner alone.
        "alembic_version": Table(Placement.LOCAL, insert=False),
        "emergency_switches": Table(Placement.REFERENCE, insert=False),
        "schema_versions": Table(Placement.LOCAL, insert=False),
    }
)
"""Every table, a partitioned one by itself: its partitions stand where it does."""

VIEWS: Final = (
    "award_records",
    "award_step_states",
    "cancellations",
    "carried_figures",
    "figures",
    "hands",
    "key_makers",
    "posted_figures",
    "postings",
    "results",
    "settlements",
    "verdict_days",
)


@dataclass(frozen=True, slots=True, order=True)
class Right:
    """
    One privilege on one object, in PostgreSQL's words.

    `kind`: TABLE (also a view or a sequence), SCHEMA or DATABASE. `name`: with its schema, unless that is `public`; the
    database is `current`. `column`: of a privilege on a column alone; empty otherwise.
    """

    kind: str
    name: str
    privilege: str
    column: str = ""

    def __str__(self) -> str:
        privilege = f"{self.privilege} ({self.column})" if self.column else self.privilege
        where = "the database" if self.kind == "DATABASE" else f"{self.kind.lower()} {self.name}"
        return f"{privilege} on {where}"

    @property
    def on_whole_table(self) -> "Right":
        """The same privilege on the whole table."""
        return Right(self.kind, self.name, self.privilege)


RIGHTS: Final[frozenset[Right]] = frozenset(
    {
        Right("DATABASE", "current", "CONNECT"),
        Right("SCHEMA", "public", "USAGE"),
        *(Right("TABLE", name, "SELECT") for name in (*TABLES, *VIEWS)),
        *(Right("TABLE", name, "INSERT") for name, table in TABLES.items() if table.insert),
        *(Right("TABLE", name, "DELETE") for name, table in TABLES.items() if table.delete),
        *(Right("TABLE", name, "UPDATE", column) for name, table in TABLES.items() for column in table.update),
    }
)
"""All that the service may do."""
