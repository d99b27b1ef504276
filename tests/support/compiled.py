"""
What is compiled anew for every engine and every application is compiled once a process: nearly every test has its own.

SQLAlchemy would compile each statement again, half of what a proof of small books takes. It shares what engines of one
dialect object do, so here all dialects are told to be one. Werkzeug would compile a program for each route that writes
its URLs, nearly all of what it takes to start the application.
"""

from typing import Any, ClassVar

import sqlalchemy
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from werkzeug.routing import Rule


class SharedDialect(PGDialect_psycopg):
    """The dialect that it is made from, equal to every other of its kind."""

    supports_statement_cache = True
    _compiled: ClassVar[dict[Any, Any]] = {}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    @classmethod
    def engine_created(cls, engine: sqlalchemy.Engine) -> None:
        engine.update_execution_options(compiled_cache=cls._compiled)


def share() -> None:
    """Share what is compiled from now on."""
    registry.register("postgresql.psycopg", __name__, SharedDialect.__name__)
    _share_writers_of_urls()


def _share_writers_of_urls() -> None:
    compile_writer, compiled = Rule._compile_builder, {}

    def compile_once(rule: Rule, append_unknown: bool = True) -> Any:  # noqa: FBT001, FBT002  as werkzeug has it
        key = rule.rule, str(rule.defaults), append_unknown
        if key not in compiled:
            compiled[key] = compile_writer(rule, append_unknown)
        return compiled[key]

    Rule._compile_builder = compile_once  # type: ignore[assignment, method-assign]
