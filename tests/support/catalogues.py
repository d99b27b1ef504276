"""What a migrated database says of its own tables, views and functions."""

from collections.abc import Mapping
from typing import Any, Final

import psycopg
from pglast import parse_sql

from jackpot_service.database.tables import TABLES, Placement
from tests.support.distributable import COLUMN, Catalogue, Node

PLACEMENTS: Final = {name: table.placement for name, table in TABLES.items()}

_TABLES: Final = """
SELECT relname FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'f', 'm') AND NOT relispartition
"""

_VIEWS: Final = """
SELECT c.relname, pg_get_viewdef(c.oid),
       EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = %(column)s)
FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'v'
"""

_VOLATILE: Final = "SELECT DISTINCT proname FROM pg_proc WHERE provolatile = 'v'"

# A partition's keys are its parent's, so parents alone are asked; a key of theirs that is an expression has number 0.
_UNIQUE_KEYS: Final = """
SELECT k.relname, t.relname, ARRAY(
    SELECT a.attname FROM unnest(i.indkey[:i.indnkeyatts - 1]) AS number
    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = number AND number > 0
)::text[]
FROM pg_index i
JOIN pg_class k ON k.oid = i.indexrelid
JOIN pg_class t ON t.oid = i.indrelid
WHERE t.relnamespace = 'public'::regnamespace AND (i.indisunique OR i.indisexclusion) AND NOT t.relispartition
"""

_FUNCTIONS: Final = """
SELECT p.proname, p.prosrc, coalesce(p.proargnames, '{}')
FROM pg_proc p
JOIN pg_language l ON l.oid = p.prolang
WHERE p.pronamespace = 'public'::regnamespace AND l.lanname = %(language)s
"""

_RELATIONS: Final = """
SELECT proname, array_position(proargnames, 'of_jackpot') - 1
FROM pg_proc
WHERE pronamespace = 'public'::regnamespace AND 'of_jackpot' = ANY (proargnames)
"""

_FOREIGN_KEYS: Final = """
SELECT DISTINCT t.relname, named.relname
FROM pg_constraint k
JOIN pg_class t ON t.oid = k.conrelid
JOIN pg_class named ON named.oid = k.confrelid
WHERE k.contype = 'f' AND t.relnamespace = 'public'::regnamespace AND NOT t.relispartition
"""

Connection = psycopg.Connection[Any]


def tables(connection: Connection) -> frozenset[str]:
    """The names of all tables, without partitions."""
    return frozenset(name for (name,) in connection.execute(_TABLES))


def unique_keys(connection: Connection) -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """For each index that keeps something unique: its table, and those of its keys that are plain columns."""
    return {name: (table, tuple(columns)) for name, table, columns in connection.execute(_UNIQUE_KEYS)}


def foreign_keys(connection: Connection) -> frozenset[tuple[str, str]]:
    """Each table that has a foreign key, with the table that it names."""
    return frozenset((table, named) for table, named in connection.execute(_FOREIGN_KEYS))


def functions(connection: Connection, language: str) -> Mapping[str, tuple[str, frozenset[str]]]:
    """For each function in a language, its body and the names of its arguments; `RETURN …` is no body."""
    rows = connection.execute(_FUNCTIONS, {"language": language})
    return {name: (body, frozenset(arguments)) for name, body, arguments in rows}


def views_of_jackpots(connection: Connection) -> Mapping[str, Node]:
    """The queries of the views that have a `jackpot_id`."""
    return {name: query for name, query, has_column in _views(connection) if has_column}


def catalogue(connection: Connection) -> Catalogue:
    """Return what the checker of statements must know; a view that has a `jackpot_id` is a table of a jackpot to it."""
    return Catalogue(
        placements={**PLACEMENTS, **dict.fromkeys(views_of_jackpots(connection), Placement.DISTRIBUTED)},
        views={name: query for name, query, has_column in _views(connection) if not has_column},
        volatile=frozenset(name for (name,) in connection.execute(_VOLATILE)),
        relations=dict(connection.execute(_RELATIONS).fetchall()),
    )


def _views(connection: Connection) -> list[tuple[str, Node, bool]]:
    rows = connection.execute(_VIEWS, {"column": COLUMN})
    return [(name, parse_sql(query)[0].stmt, has_column) for name, query, has_column in rows]
