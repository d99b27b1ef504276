"""How long calls took: the longest answer, those that hung, and when every table server was acknowledged again."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tests.chaos.calls import BROKEN, TOO_MANY_REQUESTS, UNAVAILABLE, Attempt, Call
from tests.chaos.violations import Fact, Violation

REQUEST_TIMEOUT_S = 5.0
"""`JACKPOT_REQUEST_TIMEOUT_S`, as the campaign sets it."""

LONGEST_ANSWER_S = REQUEST_TIMEOUT_S + 1.0


@dataclass(frozen=True, slots=True)
class Figures:
    """Calls in figures; what is counted below `refused` are attempts."""

    calls: int
    acknowledged: int
    unknown: int
    refused: int
    refused_for_now: int
    """By 503 or 429."""
    broken: int
    longest_s: float
    hung: int


def figures(calls: Iterable[Call], *, since_s: float, until_s: float, killed_s: Mapping[str, float]) -> Figures:
    """
    Sum up the calls that were in progress between two times, by what became of them.

    `killed_s` says when table servers were killed: an attempt without an end was in progress until then.
    """
    chosen, attempts = list[Call](), list[Attempt]()
    for call in calls:
        gone_s = killed_s.get(call.server, math.inf)
        during = [
            attempt
            for attempt in call.attempts
            if attempt.sent_s <= until_s and (gone_s if attempt.ended_s is None else attempt.ended_s) >= since_s
        ]
        attempts += during
        if during:
            chosen.append(call)
    return Figures(
        calls=len(chosen),
        acknowledged=sum(call.is_acknowledged for call in chosen),
        unknown=sum(call.is_unknown for call in chosen),
        refused=sum(call.is_refused for call in chosen),
        refused_for_now=sum(attempt.status in {TOO_MANY_REQUESTS, UNAVAILABLE} for attempt in attempts),
        broken=sum(
            attempt.status == BROKEN and attempt.is_sent and attempt.ended_s is not None for attempt in attempts
        ),
        longest_s=max((attempt.took_s for attempt in attempts if attempt.status != BROKEN), default=0.0),
        hung=sum(attempt.took_s > LONGEST_ANSWER_S for attempt in attempts),
    )


def hung(calls: Iterable[Call]) -> Iterator[Violation]:
    """Name the attempts that were waited for too long."""
    for call in calls:
        for attempt in call.attempts:
            if attempt.took_s > LONGEST_ANSWER_S:
                ended = f"status {attempt.status}" if attempt.status else attempt.why
                yield Violation(Fact.HUNG, call.content.path, f"{attempt.took_s:.1f} s, then {ended}")


def recovered_s(calls: Iterable[Call], servers: Collection[str], *, since_s: float) -> float | None:
    """Return the time at which each table server was acknowledged something sent since; None if not all were yet."""
    first: dict[str, float] = {}
    for call in calls:
        for attempt in call.acknowledgements:
            if attempt.sent_s >= since_s and attempt.ended_s is not None:
                first[call.server] = min(first.get(call.server, attempt.ended_s), attempt.ended_s)
    if not set(servers) <= first.keys():
        return None
    return max((first[server] for server in servers), default=since_s)
