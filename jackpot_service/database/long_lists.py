"""
Lists that are as long as the books, through a cursor of the database.

While somebody works with one page of rows, the database makes the next: neither waits for the other's processor.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import count
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import text

from jackpot_service.database.pipelines import Row
from jackpot_service.database.transactions import Session, pipelined

PAGE: Final = 500
"""How many rows of a list are in memory at a time, and as many more under way from the database."""

_NUMBERS: Final = count()


_BY_HASH: Final = (
    "SET LOCAL citus.propagate_set_commands = local",  # One machine takes it, and nothing there reads it.
    "SET LOCAL enable_nestloop = off",
    # Before version 18 PostgreSQL takes a plan with a join that is off for dear, and would compile it: six seconds.
    "SET LOCAL jit = off",
)

_AS_USUAL: Final = ("SET LOCAL enable_nestloop TO DEFAULT", "SET LOCAL jit TO DEFAULT")


@contextmanager
def joining_by_hash(session: Session) -> Iterator[None]:
    """
    Have statements of the block join by hashes wherever they can, on every machine that has the books.

    PostgreSQL compares each row with each where it expects few rows. Where there are thousands, the time grows by the
    square of their number. Look-ups by the keys of other rows (LATERAL with a LIMIT) stay. A cursor must have been
    read from in the block: a machine that has the rows makes its plan then.
    """
    for setting in _BY_HASH:
        session.exec_driver_sql(setting)
    yield
    for setting in _AS_USUAL:  # After an error the transaction ends, and its settings with it.
        session.exec_driver_sql(setting)


def rows_of(
    session: Session,
    statement: str,
    parameters: Mapping[str, Any],
    columns: Sequence[str],
    *,
    joins_by_hash: bool = False,
) -> Generator[Row, None, None]:
    """
    Read the rows of a statement with parameters as `:name`; `columns` are two or more of its columns, in their order.

    The session must be in a transaction. Between two rows nothing else may be asked of it: close the iterator before.
    `joins_by_hash` is for a statement that needs `joining_by_hash`.

    Raises: KeyError if the statement has no such column.
    """
    cursor = f"list_{next(_NUMBERS)}"  # A list that was left in its midst keeps its cursor until the transaction ends.
    fetch = f"FETCH FORWARD {PAGE} FROM {cursor}"
    with joining_by_hash(session) if joins_by_hash else nullcontext():
        session.execute(text(f"DECLARE {cursor} NO SCROLL CURSOR FOR {statement}"), parameters)
        with pipelined(session) as pipe:
            fetched = pipe.command(fetch)
    places = {name: place for place, name in enumerate(fetched.columns)}
    ordered = itemgetter(*(places[name] for name in columns))
    while len(rows := fetched.fetchall()) == PAGE:
        with pipelined(session) as pipe:
            fetched = pipe.command(fetch)
            pipe.is_all()
            yield from map(ordered, rows)
    with pipelined(session) as pipe:
        pipe.command(f"CLOSE {cursor}")
    yield from map(ordered, rows)
