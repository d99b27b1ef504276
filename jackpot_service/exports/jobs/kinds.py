"""What the mechanism of jobs has to know of a kind of job."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

import sqlalchemy

from jackpot_service.domain.errors import Forbidden
from jackpot_service.domain.principals import Principal

A = TypeVar("A")

Json = Mapping[str, Any]


class JobForbidden(Forbidden):
    """The caller may ask for jobs, and not for this one."""

    code = "job-forbidden"


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks for a job, when, and for how long rounds may be open in his house before they are exceptions."""

    principal: Principal
    now: datetime
    longest_open: timedelta


@dataclass(frozen=True, slots=True)
class Settled:
    """
    A job as it will be done, whenever that is: its parameters in full, how much there is to do, and its file.

    `total` is None where nobody knows before it is begun.
    """

    parameters: Json
    total: int | None
    file_name: str
    media_type: str


@dataclass(frozen=True, slots=True)
class Piece:
    """
    The next part of a file, and what must be kept to go on after it.

    The same parameters and position must lead to the same bytes, of which there may be none: then it only tells how
    much is done. A kind that cannot go on from the middle of its file gives the position None: taken up again, it
    begins at the beginning, and what it had written is thrown away. `total` is how much there is to do, where `Settled`
    did not know it and the kind does by now.
    """

    content: bytes
    position: Json | None
    done: int
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Kind(Generic[A]):
    """
    A kind of job, as functions of the mechanism's steps.

    `read` turns what was asked into a value and raises BadPayload (or another refusal) for what cannot be. `require`
    raises JobForbidden if somebody may not ask for it. `settle` puts in what the asking leaves to the moment, and
    refuses what is not there; it may fix instants, which are fixed even if nothing comes of the job. `pieces` makes the
    file of settled parameters, from its beginning or after a position; it opens the sessions that it needs, and may
    take as long as it likes for a piece.
    """

    name: str
    read: Callable[[Json], A]
    require: Callable[[Principal, A], None]
    settle: Callable[[sqlalchemy.Engine, A, Asker], Settled]
    pieces: Callable[[sqlalchemy.Engine, Json, Json | None], Generator[Piece, None, None]]
