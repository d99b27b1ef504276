"""
Lists that are as long as the books, through a cursor of the database.

While somebody works with one page of rows, the database makes the next: neither waits for the other's processor.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import text

from jackpot_service.database.pipelines import Row
from jackpot_service.database.transactions import Session, pipelined

PAGE: Final = 500
"""How many rows of a list are in memory at a time, and as many more under way from the database."""

_NUMBERS: Final = count()


@contextmanager
def planned(session: Session, *, joins_by_hash: bool) -> Iterator[None]:
    """
    Have statements of the block planned as usual, or have them join by hashes wherever they can.

    PostgreSQL joins row by row what seems to be few. Where thousands are met, that takes their number squared. A part
    that has to look up rows by keys of another (LATERAL with OFFSET or LIMIT) still does.
    """
    if not joins_by_hash:
        yield
        return
    session.execute(text("SET LOCAL enable_nestloop = off"))
    yield
    session.execute(text("SET LOCAL enable_nestloop = on"))  # After an error the transaction ends, and this with it.


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
    `joins_by_hash` is as for `planned`. Raises: KeyError if the statement has no such column.
    """
    cursor = f"list_{next(_NUMBERS)}"  # A list that was left in its midst keeps its cursor until the transaction ends.
    with planned(session, joins_by_hash=joins_by_hash):
        session.execute(text(f"DECLARE {cursor} NO SCROLL CURSOR FOR {statement}"), parameters)
    fetch = f"FETCH FORWARD {PAGE} FROM {cursor}"
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
