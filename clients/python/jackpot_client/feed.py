"""The feed of a jackpot for a display: frame after frame, again after every break, and stale when nobody speaks."""

from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Final

from jackpot_client.calls.call import Call
from jackpot_client.errors import ProtocolError
from jackpot_client.exchange import Policy, Retry, refusal
from jackpot_client.problems import is_definite, problem_perhaps_in, retry_after
from jackpot_client.reading import read
from jackpot_client.server_sent_events import ServerSentEvents
from jackpot_client.steps import Failed, Item, Listening, Pause, Received, Request, Steps, hear, listen
from jackpot_client.values.meters import FeedFrame, FeedState

MEDIA_TYPE: Final = "text/event-stream"

STALE_AFTER_S: Final = 15.0
"""The service says something every five seconds, if only that there is nothing new."""


@dataclass(slots=True)
class _Display:
    """The frame that a display shows, and when the service was last heard."""

    frame: FeedFrame | None = None
    heard_at: float = 0.0
    is_stale: bool = False
    stream: ServerSentEvents = field(default_factory=ServerSentEvents)


def followed_feed(call: Call[FeedFrame], policy: Policy, *, stale_after: float) -> Steps[None]:
    """
    Hand out a FeedState for each frame, and for the last one again when it becomes stale and when it is not any more.

    Nothing is handed out before the first frame. It never gives up. A connection that says nothing for half of
    `stale_after` is replaced, so a frame is called stale after one and a half of it at the latest. The pauses grow
    until the service is heard: a stream that a proxy opens and ends without a word is no success.

    Raises: Refusal, ProtocolError.
    """
    request = replace(call.request, headers={**call.request.headers, "Accept": MEDIA_TYPE})
    display, attempts = _Display(), 0
    while True:
        outcome = yield from listen(request, connect_seconds=policy.timeout, silence_seconds=stale_after / 2)
        asked_for = spread = 0.0
        if isinstance(outcome, Listening):
            display.stream = ServerSentEvents()
            reason = yield from _hear(call, policy, display, stale_after)
            attempts = 0 if display.stream.has_spoken else attempts
            spread = display.stream.retry_ms / 1000
        elif isinstance(outcome, Failed):
            reason = outcome.reason
        else:
            reason = _reason(request, outcome)
            asked_for = retry_after(outcome.headers)
        attempts += 1
        delay = policy.delay(attempts, asked_for=asked_for, spread=spread)
        policy.on_retry(Retry(request=request.name, attempt=attempts + 1, reason=reason, delay_seconds=delay))
        yield from _pause(policy, display, stale_after, delay)


def _reason(request: Request, answer: Received) -> str:
    """Return why there is no stream now. Raises: Refusal, ProtocolError for an answer that ends the feed."""
    if answer.status < HTTPStatus.BAD_REQUEST:
        raise ProtocolError(
            f"status {answer.status} with {answer.media_type or 'no type'} in answer to {request.name}, not a stream"
        )
    problem = problem_perhaps_in(answer)
    if is_definite(answer, problem):
        raise refusal(request, answer, 0)
    return f"status {answer.status}" if problem is None else f"status {problem}"


def _hear(call: Call[FeedFrame], policy: Policy, display: _Display, stale_after: float) -> Steps[str]:
    """Hand out what is heard until the stream breaks, and return why it did."""
    while True:
        piece = yield from hear()
        if isinstance(piece, Failed):
            yield from _age(policy, display, stale_after)
            return piece.reason
        display.heard_at = policy.clock()
        was_stale, display.is_stale = display.is_stale, False
        frames = [call.read(read(data)) for data in display.stream.read(piece)]
        if was_stale and not frames and display.frame is not None:
            frames = [display.frame]
        for frame in frames:
            display.frame = frame
            yield Item(FeedState(frame=frame, is_stale=False))


def _age(policy: Policy, display: _Display, stale_after: float) -> Steps[None]:
    """Say once that the frame is stale, if it is."""
    if display.frame is None or display.is_stale or policy.clock() < display.heard_at + stale_after:
        return
    display.is_stale = True
    yield Item(FeedState(frame=display.frame, is_stale=True))


def _pause(policy: Policy, display: _Display, stale_after: float, seconds: float) -> Steps[None]:
    """Wait, and say on the way that the frame has become stale."""
    until = policy.clock() + seconds
    if display.frame is not None and not display.is_stale:
        yield Pause(max(0.0, min(seconds, display.heard_at + stale_after - policy.clock())))
        yield from _age(policy, display, stale_after)
    yield Pause(max(0.0, until - policy.clock()))
