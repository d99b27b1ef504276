"""
The check of the service's login, once when a command starts: it may do what `database_rights` lists, and no more.

It reads the catalog and writes nothing, so it works on a replica too. A thief of the service's login has only these
rights, whatever SQL they send: there is no other role that the login could take.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import sqlalchemy
from sqlalchemy import text

from jackpot_service.database.tables import ATTRIBUTES, RIGHTS, ROLE, Right

MEND: Final = "run: jackpot db upgrade"

_LONGEST_LIST: Final = 5

_WHO = text("SELECT session_user AS login, current_user AS role")

_ROLE = text(
    """
    SELECT rolsuper, rolcreatedb, rolcreaterole, rolinherit, rolreplication, rolbypassrls
    FROM pg_roles
    WHERE rolname = :role
    """
)

_MEMBERSHIPS = text(
    """
    SELECT roleid::regrole::text
    FROM pg_auth_members
    WHERE member = (SELECT oid FROM pg_roles WHERE rolname = :role)
    ORDER BY 1
    """
)

# A login for which triggers are switched off passes every wall that is one; only a superuser can have switched it.
_TRIGGERS_OFF = text(
    """
    SELECT concat(
        CASE WHEN setrole = 0 THEN 'ALTER ROLE ALL' ELSE 'ALTER ROLE ' || setrole::regrole END,
        CASE WHEN setdatabase = 0 THEN '' ELSE ' IN DATABASE ' || quote_ident(current_database()) END,
        ' RESET session_replication_role'
    )
    FROM pg_db_role_setting CROSS JOIN LATERAL unnest(setconfig) AS setting
    WHERE setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = :role))
      AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
      AND setting LIKE 'session\\_replication\\_role=%' AND setting <> 'session_replication_role=origin'
    ORDER BY 1
    """
)

# `o` is an owner's dependency, `a` that of a list of rights; `_RIGHTS` asks for relations, schemas and databases.
_OWNED = text(
    """
    SELECT pg_describe_object(classid, objid, objsubid)
    FROM pg_shdepend
    WHERE refclassid = 'pg_authid'::regclass AND refobjid = (SELECT oid FROM pg_roles WHERE rolname = :role)
      AND deptype = 'o' AND dbid IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    ORDER BY 1
    """
)

_NAMED = text(
    """
    SELECT pg_describe_object(classid, objid, 0)
    FROM pg_shdepend
    WHERE refclassid = 'pg_authid'::regclass AND refobjid = (SELECT oid FROM pg_roles WHERE rolname = :role)
      AND deptype = 'a' AND dbid IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
      AND classid NOT IN ('pg_class'::regclass, 'pg_namespace'::regclass, 'pg_database'::regclass)
    ORDER BY 1
    """
)

# Parameters come as no object that depends on a role, if everybody was given them.
_PARAMETERS = text(
    """
    SELECT parname
    FROM pg_parameter_acl CROSS JOIN LATERAL aclexplode(paracl) AS acl
    WHERE acl.grantee = 0
    ORDER BY 1
    """
)

# A function that runs by its owner's rights; those of extensions are theirs to answer for.
_DEFINERS = text(
    """
    SELECT proc.oid::regprocedure::text
    FROM pg_proc AS proc
    JOIN pg_namespace AS space ON space.oid = proc.pronamespace
                              AND space.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
    WHERE proc.prosecdef AND has_function_privilege(:role, proc.oid, 'EXECUTE')
      AND NOT EXISTS (
          SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = proc.oid AND deptype = 'e'
      )
    ORDER BY 1
    """
)

# The rights of everybody are the login's too. PostgreSQL's own objects, and those of extensions, are open to everybody
# in part; a right on them that names the login is one more.
_RIGHTS = text(
    """
    WITH grantee AS (
        SELECT oid, oid = 0 AS is_public FROM pg_roles WHERE rolname = :role UNION ALL SELECT 0, true
    ), relation AS (
        SELECT class.oid, class.relacl,
               CASE WHEN space.nspname = 'public' THEN relname ELSE space.nspname || '.' || relname END AS name,
               space.nspname IN ('pg_catalog', 'information_schema', 'pg_toast') OR EXISTS (
                   SELECT FROM pg_depend
                   WHERE classid = 'pg_class'::regclass AND objid = class.oid AND deptype = 'e'
               ) AS is_foreign
        FROM pg_class AS class
        JOIN pg_namespace AS space ON space.oid = class.relnamespace
    )
    SELECT 'TABLE' AS kind, relation.name, acl.privilege_type AS privilege, '' AS column, acl.is_grantable, is_public
    FROM relation
    CROSS JOIN LATERAL aclexplode(relation.relacl) AS acl
    JOIN grantee ON grantee.oid = acl.grantee
    WHERE NOT (is_public AND is_foreign)
    UNION ALL
    SELECT 'TABLE', relation.name, acl.privilege_type, attname, acl.is_grantable, is_public
    FROM pg_attribute AS attribute
    JOIN relation ON relation.oid = attribute.attrelid
    CROSS JOIN LATERAL aclexplode(attribute.attacl) AS acl
    JOIN grantee ON grantee.oid = acl.grantee
    WHERE NOT (is_public AND is_foreign) AND NOT attisdropped
    UNION ALL
    SELECT 'SCHEMA', nspname, acl.privilege_type, '', acl.is_grantable, is_public
    FROM pg_namespace
    CROSS JOIN LATERAL aclexplode(nspacl) AS acl
    JOIN grantee ON grantee.oid = acl.grantee
    WHERE acl.privilege_type = 'CREATE' OR nspname = 'public'
    UNION ALL
    SELECT 'DATABASE', 'current', acl.privilege_type, '', acl.is_grantable, is_public
    FROM pg_database
    CROSS JOIN LATERAL aclexplode(coalesce(datacl, acldefault('d', datdba))) AS acl
    JOIN grantee ON grantee.oid = acl.grantee
    WHERE datname = current_database()
    """
)

_RELATIONS = text("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace")
_COLUMNS = text(
    """
    SELECT relname || '.' || attname
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped
    """
)


class LoginTooStrong(Exception):
    """The login could do more than the service may; the message is one line, with how to mend it."""


@dataclass(frozen=True, slots=True)
class Excess:
    """Something that the login could do and the service may not; and what ends that."""

    what: str
    mend: str


@dataclass(frozen=True, slots=True)
class HeldRights:
    """The rights that the login has in a database, by its own name and as everybody."""

    own: frozenset[Right]
    everybodys: frozenset[Right]

    @property
    def excess(self) -> Sequence[Right]:
        """Those that the table of rights does not list."""
        return sorted(
            right for right in self.own | self.everybodys if right not in RIGHTS and right.on_whole_table not in RIGHTS
        )


def require_own_login(session: sqlalchemy.Connection) -> None:
    """Require that a session is the service's own login. Raises: LoginTooStrong."""
    login, role = session.execute(_WHO).one()
    if (login, role) != (ROLE, ROLE):
        message = f"the service logs in as {login}, and may as {ROLE} alone: name {ROLE} in JACKPOT_DATABASE_URL"
        raise LoginTooStrong(message)


def require_walls(session: sqlalchemy.Connection, held: HeldRights) -> None:
    """Require of the service's role what every version requires, whatever the tables are. Raises: LoginTooStrong."""
    _require_none(excesses(session, held))


def require_listed_rights(held: HeldRights) -> None:
    """Require that the service's role has no right on a table but those that this version lists, for its own schema."""
    _require_none(table_excesses(held))


def explained(excess: Sequence[Excess]) -> str:
    """Put what a login could do too much, and how to end it, into one line."""
    more = f"; and {len(excess) - _LONGEST_LIST} more" if len(excess) > _LONGEST_LIST else ""
    listed = "; ".join(f"{right.what} ({right.mend})" for right in excess[:_LONGEST_LIST])
    return f"the login {ROLE} could do more than the service may: {listed}{more}"


def excesses(session: sqlalchemy.Connection, held: HeldRights) -> Sequence[Excess]:
    """List what the service's role could do too much, apart from rights on tables."""
    return [*_excesses_of_role(session), *_excesses_of_objects(session), *_excesses_of_rights(held, tables=False)]


def table_excesses(held: HeldRights) -> Sequence[Excess]:
    """List the rights on tables that the service's role has and this version's table of rights does not list."""
    return list(_excesses_of_rights(held, tables=True))


def lacking(session: sqlalchemy.Connection, held: HeldRights) -> frozenset[Right]:
    """List the rights that the service's role lacks on what there is; a missing table is the schema's affair."""
    return present(session, RIGHTS - held.own - held.everybodys)


def present(session: sqlalchemy.Connection, listed: frozenset[Right]) -> frozenset[Right]:
    """Return those of the listed rights whose object is there."""
    names = {*session.scalars(_RELATIONS), *session.scalars(_COLUMNS)}
    return frozenset(right for right in listed if right.kind != "TABLE" or _names(right) <= names)


def rights(session: sqlalchemy.Connection) -> HeldRights:
    """Read which rights the service's role has, by its own name and as everybody; the owner may ask it too."""
    own: set[Right] = set()
    everybodys: set[Right] = set()
    for kind, name, privilege, column, is_grantable, is_public in session.execute(_RIGHTS, {"role": ROLE}):
        held = everybodys if is_public else own
        held.add(Right(kind, name, privilege, column))
        if is_grantable:
            held.add(Right(kind, name, f"GRANT OPTION FOR {privilege}", column))
    return HeldRights(frozenset(own), frozenset(everybodys))


def attributes(session: sqlalchemy.Connection) -> Sequence[str]:
    """List the attributes that the service's role has and must not have, in the words of ALTER ROLE."""
    row = session.execute(_ROLE, {"role": ROLE}).mappings().one()
    return [word for column, word in ATTRIBUTES.items() if row[column]]


def _require_none(excess: Sequence[Excess]) -> None:
    if excess:
        raise LoginTooStrong(explained(excess))


def _names(right: Right) -> set[str]:
    return {right.name, f"{right.name}.{right.column}"} if right.column else {right.name}


def _excesses_of_role(session: sqlalchemy.Connection) -> Iterator[Excess]:
    for word in attributes(session):
        yield Excess(f"it has {word}", f"ALTER ROLE {ROLE} NO{word}")
    for group in session.scalars(_MEMBERSHIPS, {"role": ROLE}):
        yield Excess(f"it is a member of {group}", f"REVOKE {group} FROM {ROLE}")
    for mend in session.scalars(_TRIGGERS_OFF, {"role": ROLE}):
        yield Excess("no trigger fires for it", mend)


def _excesses_of_objects(session: sqlalchemy.Connection) -> Iterator[Excess]:
    for described in session.scalars(_OWNED, {"role": ROLE}):
        yield Excess(f"it owns {described}", f"REASSIGN OWNED BY {ROLE} TO the owner")
    for described in session.scalars(_NAMED, {"role": ROLE}):
        yield Excess(f"it has rights on {described}", f"REVOKE them FROM {ROLE}")
    for parameter in session.scalars(_PARAMETERS):
        yield Excess(f"everybody may set {parameter}", f"REVOKE ALL ON PARAMETER {parameter} FROM PUBLIC")
    for function in session.scalars(_DEFINERS, {"role": ROLE}):
        yield Excess(f"it may run {function} by its owner's rights", "ALTER FUNCTION … SECURITY INVOKER")


def _excesses_of_rights(held: HeldRights, *, tables: bool) -> Iterator[Excess]:
    for right in held.excess:
        if (right.kind == "TABLE") is tables:
            yield Excess(f"it has {right}", MEND)
