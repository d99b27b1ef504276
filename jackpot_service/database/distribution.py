"""
A database whose tables stand on several machines (Citus): recognised at an engine's first connection.

It plans a statement as it was sent, and must see in it which tables are read, of which jackpot. PostgreSQL puts the
bodies of functions in SQL in place of their calls when it plans. Citus has decided before that where a statement goes,
and refuses the calls. So the service writes the bodies there itself. See docs/decisions/several-machines.md.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import psycopg
import sqlalchemy

from jackpot_service.database.tables import TABLES, VIEWS

DISTRIBUTION: Final = "distribution"
"""Under which an engine's options hold what is known of the machines of its database."""

SETTINGS: Final[Mapping[str, str]] = {"plan_cache_mode": "force_custom_plan", "enable_seqscan": "on"}
"""Where a statement goes depends on its values: a plan without them would go to every machine."""

LONGEST_MEMORY: Final = 1000
"""The texts of so many statements are kept as they are written here."""

_KNOWS_PLACES: Final = "SELECT to_regclass('pg_dist_partition') IS NOT NULL"
_HAS_PLACED: Final = "SELECT EXISTS (SELECT FROM pg_dist_partition)"

_FUNCTIONS: Final = """
SELECT p.proname, p.proretset, p.prosrc,
       coalesce(ARRAY(SELECT a.name FROM unnest(p.proargnames) WITH ORDINALITY AS a (name, place)
                      WHERE a.place <= p.pronargs ORDER BY a.place), '{}'),
       ARRAY(SELECT format_type(t.type, NULL)
             FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS t (type, place) ORDER BY place),
       ARRAY(SELECT a.name FROM unnest(p.proargnames) WITH ORDINALITY AS a (name, place)
             WHERE a.place > p.pronargs ORDER BY a.place),
       ARRAY(SELECT a.attname::text
             FROM pg_attribute AS a JOIN pg_type AS t ON t.typrelid = a.attrelid
             WHERE t.oid = p.prorettype AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum)
FROM pg_proc AS p
WHERE p.pronamespace = 'public'::regnamespace AND p.prosrc <> ''
  AND p.prolang = (SELECT oid FROM pg_language WHERE lanname = 'sql')
"""

TYPES: Final = frozenset({"bigint", "bool", "boolean", "date", "int", "integer", "numeric", "text", "timestamptz"})

_TOKEN: Final = re.compile(r"--[^\n]*|'(?:[^']|'')*'|\"[^\"]*\"|%\(\w+\)s|[A-Za-z_]\w*|\s+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Function:
    """
    A function in SQL that reads tables.

    `arguments` are the types of its arguments by their names; `columns` the names of the columns of a relation, empty
    of a function that returns one value.
    """

    arguments: Mapping[str, str]
    columns: Sequence[str]
    body: str


class Distribution:
    """Knows whether a database is of several machines; nothing before the first connection."""

    def __init__(self) -> None:
        self._inliner: Inliner | None = None
        self._is_known = False

    @property
    def is_distributed(self) -> bool:
        """Whether the tables stand on several machines."""
        return self._inliner is not None

    def recognise(self, connection: psycopg.Connection[Any]) -> None:
        """Look once whether the tables are distributed; if so, have every connection plan each statement anew."""
        if not self._is_known:
            self._inliner = Inliner(_functions(connection)) if _has_placed(connection) else None
            self._is_known = True
        if self.is_distributed:
            for name, value in SETTINGS.items():
                connection.execute(f"SET {name} = {value}")

    def written(self, statement: str) -> str:
        """Write a statement so that the database can plan it: on one machine, as it is."""
        return statement if self._inliner is None else self._inliner.written(statement)


class Inliner:
    """Puts the bodies of functions in place of their calls."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._functions = functions
        self.written = lru_cache(maxsize=LONGEST_MEMORY)(self._written)

    def _written(self, statement: str) -> str:
        return self._text(_TOKEN.findall(statement), {})

    def _text(self, tokens: Sequence[str], arguments: Mapping[str, str]) -> str:
        written: list[str] = []
        place = 0
        while place < len(tokens):
            token = tokens[place]
            is_member = place > 0 and tokens[place - 1] == "."
            follows = _following(tokens, place)
            if token in self._functions and not is_member and follows < len(tokens) and tokens[follows] == "(":
                values, place = _arguments(tokens, follows)
                called = self._called(token, [self._text(value, arguments) for value in values])
                written.append(self._named(token, called, tokens, place, written))
                continue
            if not token.startswith("--"):
                written.append(arguments.get(token, token) if not is_member else token)
            place += 1
        return "".join(written)

    def _called(self, name: str, values: Sequence[str]) -> str:
        function = self._functions[name]
        body = _TOKEN.findall(function.body)
        taken = _names(values).intersection(body)
        if taken:
            message = f"{name} has a meaning of its own for {', '.join(sorted(taken))}: name it otherwise at the call."
            raise ValueError(message)
        arguments = {
            argument: f"CAST({value} AS {kind})"
            for (argument, kind), value in zip(function.arguments.items(), values, strict=True)
        }
        return self._text(body, arguments).strip()

    def _named(self, name: str, body: str, tokens: Sequence[str], place: int, written: Sequence[str]) -> str:
        """As it stands in FROM, where a function sees what stands before it, or in an expression."""
        columns = self._functions[name].columns
        if not columns:
            return f"({body})"
        before = next((token.upper() for token in reversed(written) if not token.isspace()), "")
        after = next((token.upper() for token in tokens[place:] if not token.isspace()), "")
        lateral = "" if before == "LATERAL" else "LATERAL "
        alias = "" if after == "AS" else f" AS {name}"
        return f"{lateral}(SELECT * FROM ({body}) AS body ({', '.join(columns)})){alias}"  # noqa: S608  of the schema


def is_distributed(reader: sqlalchemy.Engine | sqlalchemy.Connection) -> bool:
    """Whether the tables of an engine or a session stand on several machines, as the first connection saw."""
    distribution: Distribution | None = reader.get_execution_options().get(DISTRIBUTION)
    return distribution is not None and distribution.is_distributed


def _has_placed(connection: psycopg.Connection[Any]) -> bool:
    ((is_there,),) = connection.execute(_KNOWS_PLACES).fetchall()
    return bool(is_there and connection.execute(_HAS_PLACED).fetchall()[0][0])


def _functions(connection: psycopg.Connection[Any]) -> Mapping[str, Function]:
    """Read the functions in SQL that read tables, or call another that does."""
    rows = connection.execute(_FUNCTIONS).fetchall()
    reading = {*TABLES, *VIEWS}
    functions: dict[str, Function] = {}
    count = -1
    while count < len(functions):
        count = len(functions)
        for name, is_relation, body, arguments, types, names_out, attributes in rows:
            if "%" in body:
                message = f"{name} holds a %, which the driver takes for a parameter's: write it otherwise."
                raise ValueError(message)
            if name not in functions and not reading.isdisjoint(_TOKEN.findall(body)):
                columns = (names_out or attributes) if is_relation else ()
                functions[name] = Function(dict(zip(arguments, types, strict=True)), tuple(columns), body)
                reading.add(name)
    return functions


def _names(values: Iterable[str]) -> set[str]:
    """
    The names in expressions that could mean something else elsewhere: of tables, and of columns without a table.

    A column in a query of its own is one of that query's tables.
    """
    tokens = [["", *_TOKEN.findall(value), ""] for value in values]
    return {
        token
        for value in tokens
        for before, token, after in zip(value, value[1:], value[2:], strict=False)
        if token.isidentifier() and token.islower() and token not in TYPES and before != "." and after != "("
        if after == "." or "SELECT" not in value
    }


def _following(tokens: Sequence[str], place: int) -> int:
    """The place of the next token that is no space."""
    return next((after for after in range(place + 1, len(tokens)) if not tokens[after].isspace()), len(tokens))


def _arguments(tokens: Sequence[str], opening: int) -> tuple[list[Sequence[str]], int]:
    """The arguments of a call, whose parenthesis is opened there, and the place after it is closed."""
    values: list[Sequence[str]] = []
    depth, begins = 0, opening + 1
    for place in range(opening, len(tokens)):
        depth += (tokens[place] in {"(", "["}) - (tokens[place] in {")", "]"})
        if depth == 0 or (depth == 1 and tokens[place] == ","):
            values.append(tokens[begins:place])
            begins = place + 1
        if depth == 0:
            return values, begins
    message = "A parenthesis of the statement is not closed."
    raise ValueError(message)
