"""
The schema's revisions: bringing a database to one of them with the service's rights, and whether we work on its own.

A version works on the schema that it was made with, and on a newer one as long as that says so. Each revision states
the oldest one whose services go on working (`compatible_from`). See docs/decisions/schema.md.
"""

import difflib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

import alembic.command
import psycopg
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.config import Config as AlembicConfig
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError

from jackpot_service.database import role
from jackpot_service.database.connections import create_owners_engine
from jackpot_service.database.models import Base, ChangePolicyRow
from jackpot_service.domain.change_policy import KindPolicy
from jackpot_service.domain.errors import Refused, Unavailable

_PLACES: Final = Path(__file__).resolve().parents[1:3]

SCRIPTS = next(place / "migrations" for place in _PLACES if (place / "migrations" / "env.py").is_file())
"""The revisions: a wheel has them in the package, a checkout next to the package."""

CATALOGUE = SCRIPTS / "catalogue.txt"
"""The result of the revisions: each column, constraint, index, trigger, view and function of a migrated database."""

NEWEST: Final = "head"

VERSIONS: Final = "schema_versions"
"""The table in which each revision says with which older ones it is compatible; migrations/env.py writes it."""

ATTEMPTS: Final = 60
PAUSE_S: Final = 0.5
"""A revision that does not get its locks at once steps aside, so that no call waits long behind it, and tries again."""

MIGRATION_LOCK_TIMEOUT_MS: Final = 300
"""
A migration that cannot get its lock gives up, and is tried again. Calls that come later wait behind it meanwhile, and
must not wait for as long as the service lets a call wait (`JACKPOT_LOCK_TIMEOUT_MS`).
"""

LOCK_TIMEOUT_MS: Final = 5_000
"""The time after which making rights gives up, rather than queue others behind itself."""


class SchemaInUse(Unavailable, code="schema-in-use", title="The schema is in use"):
    """Others hold what a revision must lock for longer than we wait; the database is at the revision before."""


class SchemaTooNew(Refused, code="schema-too-new", title="The schema is newer than the service"):
    """The database is at the schema of a newer version, on which this one cannot work."""


class NoSuchRevision(Refused, code="no-such-revision", title="Unknown revision"):
    """There is no revision of this name."""


class SchemaState(StrEnum):
    """How a database's schema stands to this version."""

    CURRENT = "current"
    NEWER = "newer"
    """Of a later version, which says that this one goes on working."""
    BEHIND = "behind"
    TOO_NEW = "too-new"

    @property
    def is_workable(self) -> bool:
        """Whether this version works on it."""
        return self in {SchemaState.CURRENT, SchemaState.NEWER}


def upgrade(url: str, revision: str = NEWEST, *, attempts: int = ATTEMPTS) -> bool:
    """
    Migrate a database up to a revision, by its owner's login; does nothing if it is there already, or further.

    The service's role is made first, so that a login that may not make it has changed nothing. At the newest revision
    the role gets its rights, which no revision grants: a database that was restored from a dump into another cluster is
    complete again. Rights on a newer schema are left to the version that made it. Returns whether the role was new.

    Raises: SchemaInUse; SchemaTooNew; NoSuchRevision; RightsNotMade; RoleInUse.
    """
    engine = create_owners_engine(url, lock_timeout_ms=LOCK_TIMEOUT_MS)
    is_of_later = _require_not_too_new(engine) is SchemaState.NEWER and revision == NEWEST
    is_new = role.make_role(engine)
    if is_of_later:
        return is_new
    with role.refusal_explained():
        _migrate(url, revision, attempts=attempts)
    if revision == NEWEST:
        role.make_rights(engine)
        role.analyse(engine)
    return is_new


def _migrate(url: str, revision: str, *, attempts: int) -> None:
    """Apply the revisions; one that does not get its locks is tried again. Raises: SchemaInUse; NoSuchRevision."""
    for number in range(1, attempts + 1):
        try:
            alembic.command.upgrade(_configuration(url), revision)
        except CommandError as error:
            raise NoSuchRevision(str(error)) from error
        except DBAPIError as error:
            if not isinstance(error.orig, psycopg.errors.LockNotAvailable | psycopg.errors.DeadlockDetected):
                raise
            if number == attempts:
                message = "Others hold what has to be locked, such as a report or `jackpot verify`. Try again later."
                raise SchemaInUse(message) from error
            time.sleep(PAUSE_S)
        else:
            return


def downgrade(url: str, revision: str) -> None:
    """Migrate a database down to a revision; `base` leaves it empty."""
    alembic.command.downgrade(_configuration(url), revision)


def is_current(engine: sqlalchemy.Engine) -> bool:
    """Return whether this version works on the database's schema: its own, or a newer one that says so."""
    return state(engine).is_workable


def state(engine: sqlalchemy.Engine) -> SchemaState:
    """Return how the database's schema stands to this version."""
    known = _known(SCRIPTS)
    with engine.connect() as connection:
        revision = MigrationContext.configure(connection).get_current_revision()
        if revision == known.head:
            return SchemaState.CURRENT
        if revision is None or revision in known.revisions:
            return SchemaState.BEHIND
        later = _compatible_from(connection)
    of_later = {since for revision, since in later.items() if revision not in known.revisions}
    return SchemaState.NEWER if revision in later and of_later <= known.revisions else SchemaState.TOO_NEW


def _compatible_from(connection: sqlalchemy.Connection) -> Mapping[str, str]:
    """Read what each revision says; nothing, in a database of which none has said anything."""
    if not sqlalchemy.inspect(connection).has_table(VERSIONS):
        return {}
    rows = connection.execute(sqlalchemy.text("SELECT revision, compatible_from FROM schema_versions"))
    return MappingProxyType({row.revision: row.compatible_from for row in rows})


def _require_not_too_new(engine: sqlalchemy.Engine) -> SchemaState:
    """As `state`. Raises: SchemaTooNew."""
    current = state(engine)
    if current is SchemaState.TOO_NEW:
        message = "The database is at the schema of a newer version, on which this one cannot work: install that one."
        raise SchemaTooNew(message)
    return current


@dataclass(frozen=True, slots=True)
class _Known:
    """The revisions that this version knows, and the newest of them."""

    revisions: frozenset[str]
    head: str | None


@cache
def _known(scripts: Path) -> _Known:
    directory = ScriptDirectory(str(scripts))
    revisions = frozenset(script.revision for script in directory.walk_revisions())
    return _Known(revisions, directory.get_current_head())


def catalogue(url: str) -> list[str]:
    """List each column, constraint, index, trigger, view and function that a database has, a line each."""
    with create_owners_engine(url, lock_timeout_ms=LOCK_TIMEOUT_MS).connect() as connection:
        return list(connection.scalars(sqlalchemy.text(_CATALOGUE)))


def differences(url: str) -> list[str]:
    """List in what a migrated database differs from the catalogue, and in what from the tables of statements."""
    current, expected = catalogue(url), CATALOGUE.read_text(encoding="utf-8").splitlines()
    changed = [line for line in difflib.ndiff(expected, current) if line[0] in "+-"]
    named = Base.metadata.tables.keys()
    # Partitions come with the months, and indexes and constraints stand in the catalogue.
    options = {"include_object": lambda _, name, kind, *__: kind == "column" or (kind == "table" and name in named)}
    with create_owners_engine(url, lock_timeout_ms=LOCK_TIMEOUT_MS).connect() as connection:
        columns = compare_metadata(MigrationContext.configure(connection, opts=options), Base.metadata)
    return [*changed, *map(str, columns)]


# Partitions come with the months, and are what their parent is. Functions and views are known by their texts' hashes.
_CATALOGUE: Final = """
WITH relations AS (
    SELECT oid, relname, relkind, reloptions FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND NOT relispartition AND relname !~ '^alembic_version'
)
SELECT regexp_replace(line, '\\s+', ' ', 'g') COLLATE "C" AS line
FROM (
    SELECT format('column %s.%s %s%s%s%s', relname, attname, format_type(atttypid, atttypmod),
                  (SELECT ' COLLATE ' || collname FROM pg_collation c WHERE c.oid = attcollation AND collname = 'C'),
                  CASE WHEN attnotnull THEN ' NOT NULL' END, ' DEFAULT ' || pg_get_expr(adbin, adrelid)) AS line
    FROM pg_attribute a
    JOIN relations r ON r.oid = attrelid AND relkind IN ('r', 'p', 'v', 'c')
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT format('constraint %s.%s %s', relname, conname, pg_get_constraintdef(c.oid))
    FROM pg_constraint c JOIN relations r ON r.oid = conrelid WHERE contype <> 'n'
    UNION ALL
    SELECT format('index %s', pg_get_indexdef(indexrelid))
    FROM pg_index JOIN relations r ON r.oid = indrelid WHERE indexrelid NOT IN (SELECT conindid FROM pg_constraint)
    UNION ALL
    SELECT format('trigger %s %s', pg_get_triggerdef(t.oid), tgenabled)
    FROM pg_trigger t JOIN relations r ON r.oid = tgrelid WHERE NOT tgisinternal
    UNION ALL
    SELECT format('table %s %s', relname, reloptions) FROM relations WHERE relkind IN ('r', 'p')
    UNION ALL
    SELECT format('view %s %s', relname, md5(pg_get_viewdef(oid))) FROM relations WHERE relkind = 'v'
    UNION ALL
    SELECT format('function %s %s', oid::regprocedure, md5(pg_get_functiondef(oid)))
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace
) AS everything
ORDER BY 1
"""


def _configuration(url: str) -> AlembicConfig:
    configuration = AlembicConfig()
    configuration.set_main_option("script_location", str(SCRIPTS))
    configuration.attributes["engine"] = create_owners_engine(url, lock_timeout_ms=MIGRATION_LOCK_TIMEOUT_MS)
    return configuration


def add_change_policies(url: str, policies: Mapping[str, KindPolicy]) -> None:
    """
    Add version 1 of the change policy for each kind of change that has none, by the owner's login.

    On the schema of a newer version nothing is added: that version says who decides.
    """
    engine = create_owners_engine(url, lock_timeout_ms=LOCK_TIMEOUT_MS)
    rows = [{"kind": kind, "version": 1, "entry_seq": 0, **policy.facts} for kind, policy in policies.items()]
    if rows and state(engine) is SchemaState.CURRENT:
        with engine.begin() as connection:
            connection.execute(insert(ChangePolicyRow).on_conflict_do_nothing(), rows)
