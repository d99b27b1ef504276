"""Kinds of job for tests: the journal in pieces so small that there is time between them, and something done then."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from typing import Any

from jackpot_service.database.reads import Reads
from jackpot_service.exports.jobs.journal import journal
from jackpot_service.exports.jobs.kinds import Json, Kind, Piece

SMALL = 2000
"""Bytes of a piece: some five entries."""

Kinds = Mapping[str, Kind[Any]]


def small() -> Kinds:
    """The journal in small pieces."""
    return {"journal": journal(piece_bytes=SMALL)}


def interrupted(after: int, act: Callable[[], object]) -> Kinds:
    """The journal in small pieces; when so many of an attempt are written, something happens before the next."""
    kind = journal(piece_bytes=SMALL)

    def pieces(reads: Reads, parameters: Json, position: Json | None) -> Generator[Piece, None, None]:
        for number, piece in enumerate(kind.pieces(reads, parameters, position)):
            if number == after:
                act()
            yield piece

    return {"journal": replace(kind, pieces=pieces)}


def without_position(kinds: Kinds) -> Kinds:
    """The same, as a kind that cannot go on from the middle of its file."""
    kind = kinds["journal"]

    def pieces(reads: Reads, parameters: Json, position: Json | None) -> Generator[Piece, None, None]:
        assert position is None
        for piece in kind.pieces(reads, parameters, None):
            yield replace(piece, position=None)

    return {"journal": replace(kind, pieces=pieces)}


def raising(error: BaseException) -> Callable[[], None]:
    """Something that goes wrong."""

    def act() -> None:
        raise error

    return act
