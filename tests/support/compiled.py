"""
What SQLAlchemy compiles is shared by all engines of a process.

Nearly every test makes an engine of its own, and would compile each statement anew: half of what a proof of its small
books takes. It shares what engines of one dialect object do, so here all dialects are told to be one.
"""

from typing import Any, ClassVar

import sqlalchemy
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg


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
