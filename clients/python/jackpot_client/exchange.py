"""One call until it is answered: the very same bytes each time, waiting ever longer, up to a deadline."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, TypeVar, cast

from jackpot_client.calls.call import Call
from jackpot_client.errors import NoAnswer, NotSent, OutcomeUnknown, Problem, ProtocolError, Refusal
from jackpot_client.etags import ETags
from jackpot_client.problems import (
    is_definite,
    may_have_had_effect,
    problem_in,
    problem_perhaps_in,
    retry_after,
)
from jackpot_client.reading import read
from jackpot_client.steps import Failed, Pause, Received, Request, Steps, send

T = TypeVar("T")

_RANDOM: Final = secrets.SystemRandom()
_MOST_DOUBLINGS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """A request is about to be sent again: for logs and counters."""

    request: str
    attempt: int
    reason: str
    delay_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How long a call may take and how it is repeated; the times are seconds."""

    timeout: float
    deadline: float
    first_backoff: float
    largest_backoff: float
    clock: Callable[[], float]
    on_retry: Callable[[Retry], None]

    def delay(self, attempts: int, *, asked_for: float = 0.0, spread: float = 0.0) -> float:
        """
        Return how long to wait before another attempt.

        It is any time up to a doubling wait (or up to `spread`, if that is more), after the wait that the service
        asked for. So a crowd that was cut off at once does not return at once.
        """
        backoff = min(self.largest_backoff, self.first_backoff * 2.0 ** min(attempts - 1, _MOST_DOUBLINGS))
        return asked_for + _RANDOM.uniform(0, max(backoff, spread))


@dataclass(slots=True)
class _Attempts:
    """The attempts so far: their number, those whose effect is unknown, and the last failure."""

    number: int = 0
    unknown: int = 0
    reason: str = ""
    cause: Exception | None = None
    problem: Problem | None = None


def exchange(call: Call[T], policy: Policy, etags: ETags) -> Steps[T]:
    """
    Return the answer to a call: the first one that is definite.

    A timeout, a broken connection and most of 5xx leave open what happened; the ids make it safe to ask again.

    Raises: Refusal, ProtocolError; NoAnswer once the deadline has passed, or would while waiting: of a call that
    writes it is NotSent or OutcomeUnknown.
    """
    stored = etags.stored(call.request) if call.is_revalidated else None
    request = call.request if stored is None else stored.asked_for(call.request)
    answer, unknown = yield from _answered(call, request, policy)
    if stored is not None and answer.status == HTTPStatus.NOT_MODIFIED:
        return cast("T", stored.value)
    if answer.status not in {HTTPStatus.OK, HTTPStatus.CREATED}:
        raise refusal(request, answer, unknown)
    value = call.read(read(answer.body))
    if call.is_revalidated:
        etags.keep(call.request, answer.headers.get("ETag"), value)
    return value


def _answered(call: Call[T], request: Request, policy: Policy) -> Steps[tuple[Received, int]]:
    """Send until there is a definite answer; return it with the number of attempts whose effect is unknown."""
    give_up_at = policy.clock() + policy.deadline + call.waits_seconds
    attempts = _Attempts()
    while True:
        attempts.number += 1
        left = give_up_at - policy.clock()
        seconds = max(0.001, min(policy.timeout + call.waits_seconds, left))
        outcome = yield from send(request, seconds=seconds, is_waiting=call.waits_seconds > 0)
        asked_for = 0.0
        if isinstance(outcome, Failed):
            attempts.unknown += outcome.was_sent
            attempts.reason, attempts.cause = outcome.reason, outcome.cause
        else:
            problem = problem_perhaps_in(outcome) if outcome.status >= HTTPStatus.BAD_REQUEST else None
            if is_definite(outcome, problem):
                return outcome, attempts.unknown
            attempts.unknown += may_have_had_effect(outcome, problem)
            attempts.problem, attempts.cause = problem, None
            attempts.reason = f"status {outcome.status}" if problem is None else f"status {problem}"
            asked_for = retry_after(outcome.headers)
        delay = policy.delay(attempts.number, asked_for=asked_for)
        if policy.clock() + delay >= give_up_at:
            raise _given_up(call, policy, attempts) from attempts.cause
        policy.on_retry(
            Retry(request=request.name, attempt=attempts.number + 1, reason=attempts.reason, delay_seconds=delay)
        )
        yield Pause(delay)


def _given_up(call: Call[T], policy: Policy, attempts: _Attempts) -> NoAnswer:
    made = f"{attempts.number} attempt{'s' * (attempts.number != 1)}"
    no_answer = f"{call.request.name} got no answer in {made} within {policy.deadline:g} s (last: {attempts.reason})"
    if not attempts.unknown:
        return NotSent(f"{no_answer}; nothing can have been booked", attempts=attempts.number, problem=attempts.problem)
    if call.ids is None:
        return NoAnswer(no_answer, attempts=attempts.number, problem=attempts.problem)
    return OutcomeUnknown(no_answer, attempts=attempts.number, ids=call.ids, problem=attempts.problem)


def refusal(request: Request, answer: Received, unknown: int) -> Exception:
    """Return the error of an answer that is no success."""
    if answer.status < HTTPStatus.BAD_REQUEST:
        return ProtocolError(f"status {answer.status} in answer to {request.name}, which nobody asked for")
    problem = problem_in(answer)
    if problem.code == "not-found":
        return ProtocolError(
            f"the service knows no {request.name}: it is of a version that this client was not made for, or its "
            f"address has a path in front ({problem.detail})"
        )
    return Refusal(problem, earlier_attempts_unknown=unknown)
