"""
A question about several jackpots, asked of each by itself: all in one round trip.

A machine that has a jackpot's rows answers for it alone, if each table of the statement is restricted to the jackpot.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

from jackpot_service.database.pipelines import Row
from jackpot_service.database.transactions import Session, pipelined

T = TypeVar("T")


def by_jackpot(things: Iterable[T], jackpot_of: Callable[[T], str]) -> Mapping[str, Sequence[T]]:
    """Sort things by their jackpots; those of each stay in their order."""
    of_jackpots: dict[str, list[T]] = {}
    for thing in things:
        of_jackpots.setdefault(jackpot_of(thing), []).append(thing)
    return of_jackpots


def rows_of_each(session: Session, statement: str, questions: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Read the rows that a statement with parameters as `%(name)s` returns, for the values of each jackpot."""
    with pipelined(session) as pipe:
        answers = [pipe.send(statement, question) for question in questions]
    return list(chain.from_iterable(answers))
