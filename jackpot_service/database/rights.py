"""
What the service may do in its database: the one table of rights, from which they are granted and checked.

The service logs in as a role of its own, which may read everything, add rows, and change or remove what is listed here.
`service_role` grants it so, by the owner's login; `service_login` refuses to start a service that could do more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
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
"""What the login is not, by the column of pg_roles and by the word of ALTER ROLE, which takes `NO` in front of it."""


@dataclass(frozen=True, slots=True)
class TableRights:
    """What the service may do to the rows of a table, besides reading and adding them."""

    update: frozenset[str] = frozenset()
    delete: bool = False


def _changing(columns: str) -> TableRights:
    return TableRights(update=frozenset(columns.split()))


APPENDED: Final = (
    "acts",
    "award_steps",
    "awards",
    "bets",
    "cancellations",
    "casinos",
    "change_decisions",
    "change_requests",
    "closed_periods",
    "compensations",
    "corrections",
    "cycles",
    "entries",
    "exception_acknowledgements",
    "exceptions",
    "hands",
    "jackpots",
    "principals",
    "rate_sheets",
    "rates",
    "reconciled_days",
    "results",
    "rules_versions",
    "seals",
    "settlements",
    "statement_settlements",
    "tables",
    "verifications",
    "voids",
)
"""Tables whose rows are written once."""

CHANGED: Final[Mapping[str, TableRights]] = MappingProxyType(
    {
        "days": _changing("number minor value"),
        "job_chunks": TableRights(delete=True),
        "jobs": _changing(
            "state chunks size position done total attempts began_at began_with heartbeat_at ended_at error "
            "cancelled_by removed_at holder lease_until"
        ),
        "keys": _changing("revoked_at last_used_at"),
        "rounds": _changing("state steps bet_count weight replays"),
        "stripes": _changing("seq head meter_players meter_house reserve prize_fund accepting booked_at summed_to"),
    }
)
"""Tables whose rows may be changed in these columns, or removed."""

ONLY_READ: Final = (
    "alembic_version",
    "award_records",
    "award_step_states",
    "change_deciders",
    "emergency_switches",
    "figures",
    "key_makers",
    "postings",
    "schema_versions",
    "verdict_days",
)
"""Views, what migrations keep, and what only the owner sets."""

TABLES: Final[Mapping[str, TableRights]] = MappingProxyType({**dict.fromkeys(APPENDED, TableRights()), **CHANGED})


@dataclass(frozen=True, slots=True, order=True)
class Right:
    """
    One privilege on one object, in PostgreSQL's words.

    kind: TABLE (also a view or a sequence), SCHEMA or DATABASE. name: with its schema, unless that is `public`; the
    database is `current`. column: of a privilege on a column alone; empty otherwise.
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
    def of_table(self) -> "Right":
        """The same privilege on the whole table."""
        return Right(self.kind, self.name, self.privilege)


def _of_table(table: str, rights: TableRights) -> frozenset[Right]:
    whole = ("SELECT", "INSERT", *(("DELETE",) if rights.delete else ()))
    return frozenset(
        {
            *(Right("TABLE", table, privilege) for privilege in whole),
            *(Right("TABLE", table, "UPDATE", column) for column in rights.update),
        }
    )


RIGHTS: Final[frozenset[Right]] = frozenset(
    {
        Right("DATABASE", "current", "CONNECT"),
        Right("SCHEMA", "public", "USAGE"),
        *(Right("TABLE", name, "SELECT") for name in ONLY_READ),
        *(right for table, rights in TABLES.items() for right in _of_table(table, rights)),
    }
)
"""All that the service may do."""
