"""The kinds of jobs, as the mechanism of jobs sees them."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

import sqlalchemy

from jackpot_service.database.reads import Reads
from jackpot_service.domain.errors import Forbidden
from jackpot_service.domain.principals import Principal, Role

A = TypeVar("A")

Json = Mapping[str, Any]


class JobForbidden(Forbidden, code="job-forbidden"):
    """The caller may create jobs, but not this one."""


@dataclass(frozen=True, slots=True)
class Requester:
    """The principal and time of a request for a job; rounds open for longer than `longest_open` are exceptions."""

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
    The next part of a file, and the position after which the file goes on.

    The same parameters and position must lead to the same bytes, of which there may be none: then it only shows how
    much is done. A kind that cannot go on from the middle of its file gives the position None. Taken up again, it
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

    `read` turns parameters into a request, and raises BadPayload (or another refusal) for invalid ones. `require`
    raises JobForbidden if a principal may not make the request. `settle` completes it with the present state, and
    refuses unknown names; it may fix instants, which stay fixed even if the job is not done. `pieces` makes the file of
    settled parameters, from its beginning or after a position; it opens the sessions that it needs, and may take any
    time for a piece.

    `roles` are those that create and cancel such a job, None for all that create jobs. Of a kind that `is_alone` one
    job is under way at a time; it may take an hour, so it has a runner of its own.
    """

    name: str
    read: Callable[[Json], A]
    require: Callable[[Principal, A], None]
    settle: Callable[[sqlalchemy.Engine, A, Requester], Settled]
    pieces: Callable[[Reads, Json, Json | None], Generator[Piece, None, None]]
    roles: frozenset[Role] | None = None
    is_alone: bool = False

    def require_role(self, principal: Principal) -> None:
        """Raises: JobForbidden for a principal of a role that neither creates nor cancels such jobs."""
        if self.roles is not None and principal.role not in self.roles:
            message = f"A key of role {principal.role} neither creates nor cancels a {self.name}."
            raise JobForbidden(message)
