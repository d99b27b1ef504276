"""Calls made again when the campaign is over: the unknown ones, which then are known, and some of the others."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from tests.chaos.books import BookedRound, Books
from tests.chaos.call_log import CallReader
from tests.chaos.caller import Caller, GaveUp
from tests.chaos.calls import CREATED, OK, Attempt, Call, Kind
from tests.chaos.violations import Fact, Violation

MOST_SAMPLED = 400


def make_again(calls: Sequence[Call], caller: Caller, keys: Mapping[str, str]) -> None:
    """Make calls again, each until it is answered for good; `keys` are by table."""
    for call in calls:
        with suppress(GaveUp):  # It is noted, and a violation: the checker finds it.
            caller.call(call.content, keys[call.content.round.table_id])


def sample(calls: Sequence[Call], *, seed: int) -> tuple[Call, ...]:
    """Choose some of the acknowledged calls, by seeded chance."""
    acknowledged = [call for call in calls if call.is_acknowledged]
    return tuple(random.Random(seed).sample(acknowledged, min(MOST_SAMPLED, len(acknowledged))))


def judged(reader: CallReader, caller_name: str, before: Books) -> Iterator[Violation]:
    """Compare what replays of bets and of closings say was new with what was not in the books before them."""
    for call in reader.calls():
        if call.server != caller_name:
            continue
        booked = before.rounds.get(call.content.round)
        for attempt in call.acknowledgements[:1]:
            if call.content.kind is Kind.BETS:
                yield from _bets(call, attempt, booked)
            elif call.content.kind is Kind.CLOSING:
                yield from _closing(call, attempt, booked)


def _bets(call: Call, attempt: Attempt, booked: BookedRound | None) -> Iterator[Violation]:
    known = {*booked.bets, *booked.voids} if booked else set[str]()
    new = sum(bet.bet_id not in known for bet in call.content.bets)
    accepted = (attempt.answer or {}).get("accepted")
    if accepted != new:
        yield Violation(Fact.ANSWER_WRONG, call.content.path, f"{accepted} accepted, {new} were new")


def _closing(call: Call, attempt: Attempt, booked: BookedRound | None) -> Iterator[Violation]:
    expected = CREATED if booked is None or booked.closed_with is None else OK
    if attempt.status != expected:
        yield Violation(Fact.ANSWER_WRONG, call.content.path, f"{attempt.status}, not {expected}")
