"""
Placing the tables on several machines, with Citus: each as `database/tables.py` says, all in one transaction.

It is done once, by the owner's login, on the machine that the service connects to, while no service runs. Done again
it places nothing; it removes rows that an earlier version left on this machine. See docs/scaling.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from types import MappingProxyType
from typing import Final

import sqlalchemy
from sqlalchemy import func, select, text

from jackpot_service.database import role
from jackpot_service.database.connections import create_owners_engine
from jackpot_service.database.tables import ROLE, TABLES, Placement
from jackpot_service.domain.errors import Refused
from jackpot_service.schema import migrate

COLUMN: Final = "jackpot_id"

FIRST: Final = "stripes"
"""The distributed table with which all others stand together."""

LAWS_OF_ONE_MACHINE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "require_actor": "acts",
        "require_deciders": "exception_acknowledgements",
        "require_no_key_maker": "change_decisions",
        "require_own_passkey": "passkeys",
        "require_payer": "payments",
        "require_revoker": "passkey_revocations",
    }
)
"""
Triggers, each with its table, that look at rows of another machine, and are therefore dropped.

The service asks the same before it writes, and the proof afterwards.
"""

_CITUS: Final = text("SELECT extversion FROM pg_extension WHERE extname = 'citus'")

_IS_COORDINATOR: Final = text("SELECT citus_is_coordinator()")

_TAKING: Final = text("SELECT count(*) FROM pg_dist_node WHERE shouldhaveshards AND isactive AND noderole = 'primary'")

_REFUSING_TRIGGERS: Final = text(
    """
    SELECT node.nodename || ':' || node.nodeport
    FROM run_command_on_all_nodes('SHOW citus.enable_unsafe_triggers') AS answer
    JOIN pg_dist_node AS node USING (nodeid)
    WHERE answer.result IS DISTINCT FROM 'on'
    ORDER BY 1
    """
)

_SERVICES: Final = text("SELECT count(*) FROM pg_stat_activity WHERE usename = :role AND datname = current_database()")

_PLACES: Final = text(
    """
    SELECT table_name::text, citus_table_type, distribution_column,
           colocation_id = (SELECT colocation_id FROM citus_tables WHERE table_name::text = :first)
    FROM citus_tables
    """
)

_REFERENCES: Final = text(
    """
    SELECT conrelid::regclass::text, confrelid::regclass::text
    FROM pg_constraint
    WHERE contype = 'f' AND conparentid = 0 AND conrelid <> confrelid
    """
)

# A table's type stays that of the rows on this machine when the table is distributed. So these are made anew.
_FUNCTIONS_OF_ROWS: Final = text(
    """
    SELECT p.oid::regprocedure::text, pg_get_functiondef(p.oid)
    FROM pg_proc AS p
    WHERE p.pronamespace = 'public'::regnamespace AND EXISTS (
        SELECT FROM pg_class AS k
        WHERE k.relnamespace = p.pronamespace AND k.relkind IN ('r', 'p')
          AND (k.reltype = p.prorettype OR k.reltype = ANY (p.proargtypes::oid[]))
    )
    ORDER BY p.oid
    """
)

# Rows that are there already are copied, not written: on each machine, as this one sends its settings on.
_WITHOUT_TRIGGERS: Final = (
    "SET LOCAL citus.propagate_set_commands = 'local'",
    "SET LOCAL session_replication_role = replica",
)

_LEFT: Final = text(
    """
    SELECT DISTINCT name
    FROM pg_class, LATERAL (SELECT coalesce(pg_partition_root(oid), oid)::regclass::text AS name) AS root
    WHERE relkind = 'r' AND pg_relation_size(oid) > 0 AND name = ANY (:placed)
    """
)

_REMOVE_LEFT: Final = text("SELECT truncate_local_data_after_distributing_table(:name)")

_THIS_DATABASE: Final = text("SELECT quote_ident(current_database())")

_TRIGGERS: Final = text("SELECT tgname, tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal")


class NotDistributable(Refused, code="not-distributable", title="The tables cannot be distributed"):
    """Something has to be changed before the tables are placed on several machines; the attempt changed nothing."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a table's rows stand; `is_new` if they were placed just now."""

    table: str
    placement: Placement
    is_new: bool


def distribute(url: str) -> Sequence[Placed]:
    """
    Place each table as it is to stand, with the rows that it has; returns all of them.

    Rows that were left on this machine are removed, and the service is answered in English from now on.

    Raises: NotDistributable; SchemaTooNew; RightsNotMade.
    """
    engine = create_owners_engine(url, lock_timeout_ms=migrate.LOCK_TIMEOUT_MS)
    if migrate.state(engine) is not migrate.SchemaState.CURRENT:
        message = "The schema is not of this version. Run: jackpot db upgrade"
        raise NotDistributable(message)
    with role.refusal_explained(), engine.begin() as session:
        _require_citus(session)
        missing = _missing(session)
        if missing:
            _require_idle(session)
            _place(session, missing)
        left = _left(session)
        if left:
            _require_idle(session)
            _remove(session, left)
        _have_errors_in_english(session)
    role.make_rights(engine)  # Citus makes views anew, without rights.
    return [Placed(name, table.placement, name in missing) for name, table in sorted(TABLES.items())]


def _require_citus(session: sqlalchemy.Connection) -> None:
    if session.scalar(_CITUS) is None:
        message = "This database has no Citus. On each machine: CREATE EXTENSION citus, and add the machines here."
        raise NotDistributable(message)
    if not session.scalar(_IS_COORDINATOR):
        message = "This machine is a worker. Name the coordinator, to which the service connects."
        raise NotDistributable(message)
    if not session.scalar(_TAKING):
        message = "No machine takes rows. Run: SELECT citus_add_node('worker', 5432)"
        raise NotDistributable(message)
    refusing = session.scalars(_REFUSING_TRIGGERS).all()
    if refusing:
        message = (
            f"Set citus.enable_unsafe_triggers = on in postgresql.conf of {', '.join(refusing)}: laws are triggers."
        )
        raise NotDistributable(message)


def _require_idle(session: sqlalchemy.Connection) -> None:
    if session.scalar(_SERVICES, {"role": ROLE}):
        message = (
            "A service works on this database. Stop it while tables are placed, or rows removed that were left behind: "
            "it would go on as if all stood on one machine, or wait."
        )
        raise NotDistributable(message)


def _missing(session: sqlalchemy.Connection) -> frozenset[str]:
    """Name the tables that are not placed yet. Raises: NotDistributable if one stands elsewhere."""
    stands = {
        name: (kind, column, is_with) for name, kind, column, is_with in session.execute(_PLACES, {"first": FIRST})
    }
    missing = set()
    for name, table in TABLES.items():
        kind, column, is_with = stands.get(name, ("local", None, None))
        is_right = kind == table.placement and (kind != Placement.DISTRIBUTED or (column == COLUMN and is_with))
        if not is_right and kind != Placement.LOCAL:
            message = f"{name} is to be {table.placement}, and stands otherwise: {kind} by {column}."
            raise NotDistributable(message)
        if not is_right:
            missing.add(name)
    return frozenset(missing)


def _without_triggers(session: sqlalchemy.Connection) -> None:
    for setting in _WITHOUT_TRIGGERS:
        session.exec_driver_sql(setting)


def _place(session: sqlalchemy.Connection, missing: frozenset[str]) -> None:
    _without_triggers(session)
    functions = session.execute(_FUNCTIONS_OF_ROWS).all()
    for signature, _ in functions:
        session.exec_driver_sql(f"DROP FUNCTION {signature}")
    for trigger, table in session.execute(_TRIGGERS).all():
        if LAWS_OF_ONE_MACHINE.get(trigger) == table:
            session.exec_driver_sql(f"DROP TRIGGER {trigger} ON {table}")
    for name in _in_order(session, Placement.REFERENCE):
        if name in missing:
            session.execute(text("SELECT create_reference_table(:name)"), {"name": name})
    for name in (FIRST, *(name for name in _named(Placement.DISTRIBUTED) if name != FIRST)):
        if name in missing:
            placing = text("SELECT create_distributed_table(:name, :column, colocate_with => :first)")
            first = "none" if name == FIRST else FIRST
            session.execute(placing, {"name": name, "column": COLUMN, "first": first})
    for _, definition in functions:
        session.exec_driver_sql(definition)


def _left(session: sqlalchemy.Connection) -> Sequence[str]:
    """Name the tables of which rows are left on this machine from before they were placed: nobody sees them again."""
    placed = [name for name, table in TABLES.items() if table.placement is not Placement.LOCAL]
    return session.scalars(_LEFT, {"placed": placed}).all()


def _remove(session: sqlalchemy.Connection, left: Sequence[str]) -> None:
    """
    Remove the rows that are left of tables. Citus truncates them, and with them whatever refers to them.

    Raises: NotDistributable if that would be rows of a table that stays here.
    """
    _without_triggers(session)
    before = _rows_that_stay(session)
    for name in left:
        session.execute(_REMOVE_LEFT, {"name": name})
    after = _rows_that_stay(session)
    emptied = sorted(name for name in before if before[name] != after[name])
    if emptied:
        message = (
            f"Rows of {', '.join(emptied)} refer to rows that were left behind, and would be removed with them. "
            "Let Citus know this machine first: SELECT citus_set_coordinator_host('…')"
        )
        raise NotDistributable(message)


def _rows_that_stay(session: sqlalchemy.Connection) -> Mapping[str, int]:
    """Count the rows of each table that stays on this machine."""
    counted = func.count()
    return {
        name: session.scalars(select(counted).select_from(sqlalchemy.table(name))).one()
        for name in _named(Placement.LOCAL)
    }


def _have_errors_in_english(session: sqlalchemy.Connection) -> None:
    """Have each machine answer the service in English: of rows that are copied, words alone say why they were not."""
    database = session.scalar(_THIS_DATABASE)
    session.exec_driver_sql(f"ALTER ROLE {ROLE} IN DATABASE {database} SET lc_messages = 'C'")


def _named(placement: Placement) -> Iterator[str]:
    return (name for name, table in TABLES.items() if table.placement is placement)


def _in_order(session: sqlalchemy.Connection, placement: Placement) -> Iterator[str]:
    """Name tables after those that their foreign keys lead to."""
    names = set(_named(placement))
    leads_to: dict[str, set[str]] = {name: set() for name in names}
    for table, named in session.execute(_REFERENCES):
        if {table, named} <= names:
            leads_to[table].add(named)
    yield from TopologicalSorter(leads_to).static_order()
