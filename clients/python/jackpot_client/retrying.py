"""Sends one request until it is answered: the very same bytes each time, waiting ever longer, up to a deadline."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

import httpx

from jackpot_client.errors import NoAnswer

_NOTHING_WAS_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_LARGEST_ANSWER_BYTES: Final = 64 * 1024 * 1024
_RANDOM: Final = secrets.SystemRandom()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as it goes over the wire, every time."""

    method: str
    path: str
    body: bytes | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer, and how many earlier sendings may have had an effect without saying so."""

    status: int
    headers: httpx.Headers
    body: bytes
    earlier_attempts_unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """A request is about to be sent again: for logs and counters."""

    request: str
    attempt: int
    reason: str
    delay_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Sends requests, thread-safe; the times are seconds."""

    http: httpx.Client
    timeout: float
    deadline: float
    first_backoff: float
    largest_backoff: float
    sleep: Callable[[float], None]
    clock: Callable[[], float]
    on_retry: Callable[[Retry], None]

    def send(self, request: Request) -> Answer:
        """
        Return the first answer that is one: any status but 429 and 5xx.

        A timeout, a broken connection and every 5xx leave open what happened; the ids make it safe to ask again.

        Raises: NoAnswer once the deadline has passed, or would while waiting.
        """
        give_up_at = self.clock() + self.deadline
        attempts = unknown = 0
        while True:
            attempts += 1
            outcome = self._attempt(request, unknown, seconds_left=give_up_at - self.clock())
            if isinstance(outcome, Answer):
                return outcome
            unknown += outcome.may_have_had_effect
            delay = self._delay(attempts, outcome)
            if self.clock() + delay >= give_up_at:
                raise NoAnswer(
                    f"{request.method} {request.path} got no answer in {attempts} attempts within "
                    f"{self.deadline:g} s (last: {outcome.reason})",
                    attempts=attempts,
                ) from outcome.cause
            name = f"{request.method} {request.path}"
            self.on_retry(Retry(request=name, attempt=attempts + 1, reason=outcome.reason, delay_seconds=delay))
            self.sleep(delay)

    def _attempt(self, request: Request, unknown: int, *, seconds_left: float) -> "Answer | _Failure":
        try:
            answer = self._exchange(request, unknown, seconds=max(0.001, min(self.timeout, seconds_left)))
        except _NOTHING_WAS_SENT as error:
            return _Failure(f"{type(error).__name__}: {error}", may_have_had_effect=False, cause=error)
        except (httpx.TransportError, httpx.DecodingError) as error:
            return _Failure(f"{type(error).__name__}: {error}", may_have_had_effect=True, cause=error)
        if answer.status != HTTPStatus.TOO_MANY_REQUESTS and answer.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return answer
        return _Failure(
            f"status {answer.status}",
            may_have_had_effect=answer.status != HTTPStatus.TOO_MANY_REQUESTS,
            retry_after=_retry_after(answer.headers),
        )

    def _exchange(self, request: Request, unknown: int, *, seconds: float) -> Answer:
        """Send once. httpx limits each read only, so an answer that trickles or never ends is cut off here."""
        ends_at = self.clock() + seconds
        body = bytearray()
        must_end = False
        with self.http.stream(
            request.method,
            request.path,
            content=request.body,
            params=request.params or None,
            headers=request.headers,
            timeout=seconds,
        ) as response:
            for chunk in response.iter_bytes():
                if must_end:
                    raise httpx.ReadTimeout("the answer does not end", request=response.request)
                body += chunk
                must_end = self.clock() > ends_at or len(body) > _LARGEST_ANSWER_BYTES
        return Answer(
            status=response.status_code, headers=response.headers, body=bytes(body), earlier_attempts_unknown=unknown
        )

    def _delay(self, attempts: int, failure: "_Failure") -> float:
        """Full jitter over a doubling wait, after whatever the service asked for, so that a herd does not return."""
        backoff = min(self.largest_backoff, self.first_backoff * 2.0 ** min(attempts - 1, 30))
        return failure.retry_after + _RANDOM.uniform(0, backoff)


@dataclass(frozen=True, slots=True)
class _Failure:
    reason: str
    may_have_had_effect: bool
    retry_after: float = 0.0
    cause: Exception | None = None


def _retry_after(headers: httpx.Headers) -> float:
    """Return the wait the service asks for in seconds: a number or a date; 0 for none and for nonsense."""
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    aware = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
