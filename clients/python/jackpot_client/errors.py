"""The errors that a call may end with instead of an answer; each says what a table server may do next."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class FieldError:
    """
    One thing wrong with a request: where, which code, in which words.

    `pointer` is a JSON pointer into its body. A parameter of the query, or a header, has its name in `parameter`; its
    pointer is empty.
    """

    pointer: str
    code: str
    detail: str
    parameter: str | None = None

    def __str__(self) -> str:
        """Return the error in one line."""
        return f"{self.parameter or self.pointer or 'the request'}: {self.detail}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """
    A problem as the service words it (RFC 9457); a program relies on `code`, `status` and `retryable`.

    `facts` are its further members, such as `bet_count` and `bet_ids` of a `bet-count-mismatch`. Each of more than a
    hundred codes has its own, and later ones will have others, so they are the JSON as it came, with no float in it.
    `retry_after` is the wait in seconds that the service asks for, 0 for none.
    """

    status: int
    code: str
    title: str
    detail: str
    retryable: bool
    errors: tuple[FieldError, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    retry_after: float = 0.0
    request_id: str | None = None

    def __str__(self) -> str:
        """Return the problem in one line."""
        errors = "".join(f"; {error}" for error in self.errors)
        return f"{self.status} {self.code}: {self.detail}{errors}"


class ClientError(Exception):
    """Anything that a call to the service ends with instead of an answer."""


class Refusal(ClientError):
    """
    The service refused, definitely: the same request sent again is refused again, so it is not.

    With `earlier_attempts_unknown` > 0 earlier sendings of the same request got no answer. A replay is recognised
    before a round's state is looked at, but after the key: a 401, 403 or 404 then says nothing about those.
    """

    def __init__(self, problem: Problem, *, earlier_attempts_unknown: int = 0) -> None:
        super().__init__(str(problem))
        self.problem = problem
        self.earlier_attempts_unknown = earlier_attempts_unknown

    @property
    def status(self) -> int:
        """Return the status of HTTP."""
        return self.problem.status

    @property
    def code(self) -> str:
        """Return the stable code, which docs/errors.md explains."""
        return self.problem.code

    @property
    def detail(self) -> str:
        """Return the reason in words, for people."""
        return self.problem.detail

    @property
    def errors(self) -> tuple[FieldError, ...]:
        """Return each place of the request that is wrong."""
        return self.problem.errors

    @property
    def facts(self) -> Mapping[str, Any]:
        """Return the further members of the problem."""
        return self.problem.facts

    @property
    def request_id(self) -> str | None:
        """Return the id under which the service logged the request."""
        return self.problem.request_id

    @property
    def retry_after(self) -> float:
        """Return the wait in seconds that the service asks for; 0 for none."""
        return self.problem.retry_after


class NoAnswer(ClientError):
    """
    The deadline passed without an answer; of a call that only reads, so nothing was changed.

    `problem` is the last one that the service answered with, if it answered at all.
    """

    def __init__(self, detail: str, *, attempts: int, problem: Problem | None = None) -> None:
        super().__init__(detail)
        self.attempts = attempts
        self.problem = problem


class NotSent(NoAnswer):
    """
    The deadline passed, and nothing can have been booked by this call.

    No attempt got further than a connection, or the service turned each away before it did anything (429, 503
    `busy`). A call before it that ended with OutcomeUnknown stays unknown.
    """


class OutcomeUnknown(NoAnswer):
    """
    The deadline passed without an answer: what was asked may have been booked, or not.

    Never send it anew under other ids: repeat it with exactly these ids and the same content until there is an answer.
    """

    def __init__(self, detail: str, *, attempts: int, ids: "Ids", problem: Problem | None = None) -> None:
        super().__init__(
            f"{detail}; it may have been booked or not: repeat it with {ids}", attempts=attempts, problem=problem
        )
        self.table_id = ids.table_id
        self.round_id = ids.round_id
        self.bet_ids = ids.bet_ids
        self.award_id = ids.award_id
        self.request_id = ids.request_id


class ProtocolError(ClientError):
    """
    An answer came that is not the contract's: a missing member, a float for money, a proxy's page, another version.

    The request may have been booked; the same ids may be repeated once the cause is mended.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Ids:
    """The identity of a call that writes: a round and perhaps bets, or an award and a request."""

    table_id: str | None = None
    round_id: str | None = None
    bet_ids: tuple[str, ...] = ()
    award_id: str | None = None
    request_id: str | None = None

    def __str__(self) -> str:
        """Return the ids that there are, as a program would pass them."""
        named = [
            ("table_id", self.table_id),
            ("round_id", self.round_id),
            ("award_id", self.award_id),
            ("request_id", self.request_id),
            ("bet_ids", ", ".join(self.bet_ids)),
        ]
        return ", ".join(f"{name}={value}" for name, value in named if value)
