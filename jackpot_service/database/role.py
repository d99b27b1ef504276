"""
Making the service's login, its rights and the database's settings, by the owner's login: after every migration anew.

Roles belong to a cluster and are in no dump of a database, so a dump that was restored elsewhere gets them here. Only
what is not as it should be is changed: a second run writes nothing.
"""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
import sqlalchemy
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from jackpot_service.database import login
from jackpot_service.database.tables import ATTRIBUTES, RIGHTS, ROLE, SEARCH_PATH, Right
from jackpot_service.domain.errors import Forbidden, Unavailable

ATTEMPTS: Final = 20
"""How often a change of the role is tried while other databases of the cluster make it too."""

_LONGEST_PAUSE_S: Final = 0.1

_PAGES: Final = 10
"""As many the planner itself supposes of a table that nobody has looked through; a smaller one is not worth it."""

_CREATE: Final = f"CREATE ROLE {ROLE} LOGIN {' '.join(f'NO{word}' for word in ATTRIBUTES.values())}"

_ROLE = text("SELECT rolcanlogin FROM pg_roles WHERE rolname = :role")

# Memberships by which somebody could become the service. From PostgreSQL 16 on, who has made a role may administer it,
# and no more: such a membership can neither be set nor inherited, and stays.
_MEMBERS = text(
    """
    SELECT quote_ident(pg_get_userbyid(member)), quote_ident(pg_get_userbyid(grantor))
    FROM pg_auth_members AS membership
    CROSS JOIN (SELECT oid, rolsuper, rolcreaterole FROM pg_roles WHERE rolname = current_user) AS me
    WHERE roleid = (SELECT oid FROM pg_roles WHERE rolname = :role)
      AND (grantor = me.oid OR me.rolsuper
           OR me.rolcreaterole AND current_setting('server_version_num')::integer < 160000)
      AND (coalesce((to_jsonb(membership) ->> 'set_option')::boolean, true)
           OR coalesce((to_jsonb(membership) ->> 'inherit_option')::boolean, true))
    """
)

_ONE_BY_ONE = text("SELECT pg_advisory_xact_lock(hashtext('jackpot: the rights of the service'))")

_OWN_TABLES = text(
    """
    SELECT relname
    FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND pg_has_role(current_user, relowner, 'USAGE')
    """
)

# A restore without rights leaves every function open to everybody. Triggers run theirs without such a right.
_OPEN_TRIGGERS = text(
    """
    SELECT oid::regprocedure::text
    FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace AND prosecdef AND prorettype = 'trigger'::regtype
      AND pg_has_role(current_user, proowner, 'USAGE') AND has_function_privilege(:role, oid, 'EXECUTE')
    ORDER BY 1
    """
)

_SEARCH_PATH = text(
    """
    SELECT true
    FROM pg_db_role_setting
    WHERE setrole = 0 AND setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND :setting = ANY (setconfig)
    """
)

# How many rows a table has is no sign: a restore makes indexes last, and to make one counts them.
# MAINTAIN is a privilege from PostgreSQL 17 on. A replica is analysed on its primary.
_WITHOUT_STATISTICS = text(
    """
    SELECT relname,
           NOT pg_is_in_recovery() AND (
               pg_has_role(current_user, relowner, 'USAGE')
               OR CASE WHEN current_setting('server_version_num')::integer >= 170000
                       THEN has_table_privilege(oid, 'MAINTAIN') ELSE false END) AS may
    FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
      AND NOT EXISTS (SELECT FROM pg_stats WHERE schemaname = 'public' AND tablename = relname)
      AND has_table_privilege(oid, 'SELECT')  -- Others, as the service of a partition, see none.
      AND pg_relation_size(oid) > :pages * current_setting('block_size')::bigint
    ORDER BY relname
    """
)


class RightsNotMade(Forbidden, code="rights-not-made", title="The service's rights cannot be made"):
    """The owner's login may not do what the database needs."""


class RoleInUse(Unavailable, code="role-in-use", title="The service's role is being changed"):
    """Others change the service's role all the time."""


def make_role(engine: sqlalchemy.Engine) -> bool:
    """
    Make the service's role, or make it again what it should be; returns whether it was missing.

    Other databases of the cluster may make it at the same time. It has no password yet: see `set_password`.

    Raises: RightsNotMade; RoleInUse.
    """
    for number in range(1, ATTEMPTS + 1):
        try:
            with engine.begin() as session:
                return _make_role(session)
        except DBAPIError as error:
            if not _is_lost_race(error):
                raise
        time.sleep(random.uniform(0, _LONGEST_PAUSE_S * number / ATTEMPTS))  # noqa: S311  spreads attempts
    message = f"The role {ROLE} is being changed by others; try again."
    raise RoleInUse(message)


def make_rights(engine: sqlalchemy.Engine) -> None:
    """
    Grant what the table of rights lists, take away what it does not, and fix the database's search path.

    The database must be migrated to this version. Raises: RightsNotMade if the owner's login may not, or does not own
    all that it must.
    """
    with engine.begin() as session:
        session.execute(_ONE_BY_ONE)
        _revoke(session)
        for right in sorted(login.present(session, RIGHTS - login.rights(session).own)):
            _run(session, f"GRANT {_on(session, right)} TO {ROLE}")
        _fix_search_path(session)
        _require_made(session)


def analyse(engine: sqlalchemy.Engine) -> tuple[str, ...]:
    """
    Have the planner know tables of which it knows nothing: those that a restore has filled just now.

    Returns the tables that this login may not analyse.
    """
    with engine.begin() as session:
        rows = session.execute(_WITHOUT_STATISTICS, {"pages": _PAGES}).all()
        for table in (table for table, may in rows if may):
            session.exec_driver_sql(f"ANALYZE (SKIP_LOCKED) {_quoted(session, table)}")
    return tuple(table for table, may in rows if not may)


def set_password(engine: sqlalchemy.Engine, password: str) -> None:
    """
    Give the service's login a password; only a verifier, made of it here, is sent, and logged if statements are.

    Raises: RightsNotMade.
    """
    with engine.begin() as session:
        connection = session.connection.driver_connection
        assert isinstance(connection, psycopg.Connection)  # noqa: S101  narrows a type; the engine is made for psycopg
        verifier = connection.pgconn.encrypt_password(password.encode(), ROLE.encode(), b"scram-sha-256").decode()
        _run(session, f"ALTER ROLE {ROLE} PASSWORD '{verifier}'", shown=f"\\password {ROLE}")


def _make_role(session: sqlalchemy.Connection) -> bool:
    may_log_in = session.scalar(_ROLE, {"role": ROLE})
    if may_log_in is None:
        _run(session, _CREATE)
        return True
    words = [*(f"NO{word}" for word in login.attributes(session)), *([] if may_log_in else ["LOGIN"])]
    if words:
        _run(session, f"ALTER ROLE {ROLE} {' '.join(words)}")
    for member, grantor in session.execute(_MEMBERS, {"role": ROLE}).all():
        _run(session, f"REVOKE {ROLE} FROM {member} GRANTED BY {grantor}")
    return False


def _revoke(session: sqlalchemy.Connection) -> None:
    """Take away every right too much on what may be the owner's; of tables, those that are."""
    own = set(session.scalars(_OWN_TABLES))
    held = login.rights(session)
    for right in held.excess:
        if right.kind == "TABLE" and right.name not in own:
            continue
        if right in held.own:
            _run(session, f"REVOKE {_on(session, right)} FROM {ROLE} CASCADE")
        if right in held.everybodys:
            _run(session, f"REVOKE {_on(session, right)} FROM PUBLIC CASCADE")
    for function in session.scalars(_OPEN_TRIGGERS, {"role": ROLE}).all():
        _run(session, f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC, {ROLE}")


def _fix_search_path(session: sqlalchemy.Connection) -> None:
    names = ", ".join(SEARCH_PATH.split(","))
    if session.scalar(_SEARCH_PATH, {"setting": f"search_path={names}"}) is None:
        _run(session, f"ALTER DATABASE {_database(session)} SET search_path = {names}")


def _require_made(session: sqlalchemy.Connection) -> None:
    """Look whether all is as it should be: what is not one's own is passed over with a warning, or in silence."""
    held = login.rights(session)
    excess = [*login.excesses(session, held), *login.table_excesses(held)]
    if excess:
        message = f"{login.explained(excess)}. The owner's login must own the database and all tables."
        raise RightsNotMade(message)
    lacking = login.lacking(session, held)
    if lacking:
        message = f"{ROLE} lacks {min(lacking)}, which the owner's login may not grant: it must own all tables."
        raise RightsNotMade(message)


@contextmanager
def refusal_explained(mend: str = "It must own the database and all tables.") -> Iterator[None]:
    """Say what mends it if the owner's login is refused something in the block. Raises: RightsNotMade."""
    try:
        yield
    except DBAPIError as error:
        if not isinstance(error.orig, psycopg.errors.InsufficientPrivilege):
            raise
        message = f"The owner's login may not ({str(error.orig).splitlines()[0]}). {mend}"
        raise RightsNotMade(message) from error


def _run(session: sqlalchemy.Connection, statement: str, *, shown: str | None = None) -> None:
    """Run a statement. Raises: RightsNotMade, with what somebody who may has to run, if the login may not."""
    with refusal_explained(f"Somebody who may has to run: {shown or statement}"):
        session.exec_driver_sql(statement)


def _is_lost_race(error: DBAPIError) -> bool:
    """Whether another has made, or is changing, the same role: the catalog says so by an internal error."""
    return isinstance(
        error.orig, psycopg.errors.DuplicateObject | psycopg.errors.UniqueViolation | psycopg.errors.InternalError_
    )


def _on(session: sqlalchemy.Connection, right: Right) -> str:
    """Write a right as GRANT and REVOKE take it."""
    privilege = f"{right.privilege} ({_quoted(session, right.column)})" if right.column else right.privilege
    name = _database(session) if right.kind == "DATABASE" else _quoted(session, right.name)
    return f"{privilege} ON {right.kind} {name}"


def _database(session: sqlalchemy.Connection) -> str:
    return _quoted(session, session.scalar(text("SELECT current_database()")) or "")


def _quoted(session: sqlalchemy.Connection, name: str) -> str:
    return session.dialect.identifier_preparer.quote_identifier(name)
