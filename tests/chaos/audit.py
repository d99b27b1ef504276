"""
Holds the calls of rounds against the books: what was acknowledged is there, exactly, and nothing that nobody sent.

A call without an acknowledgement may be there, but only wholly. All functions are pure.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from tests.chaos import outcomes
from tests.chaos.books import BookedRound, Books
from tests.chaos.calls import Call, Content, Hand, Kind, RoundName
from tests.chaos.violations import Fact, Violation


def audit(calls: Iterable[Call], books: Books, *, knows_all_calls: bool = True) -> tuple[Violation, ...]:
    """
    Compare calls with the books of their rounds.

    Set `knows_all_calls` to False where the books were read after the calls: what is there and was not yet sent then
    is not looked for.
    """
    violations = [Violation(Fact.DOUBLED, what) for what in books.doubled]
    violations += [Violation(Fact.AHEAD, jackpot_id, until) for jackpot_id, until in books.ahead.items()]
    by_round: dict[RoundName, list[Call]] = defaultdict(list)
    for call in calls:
        by_round[call.content.round].append(call)
    for booked in books.rounds.values():
        violations += [Violation(Fact.BOOKED_LATE, _text(booked.name), f"bet {bet_id}") for bet_id in booked.late]
    for name, of_round in by_round.items():
        violations += _violations_of_round(of_round, books.rounds.get(name))
        if knows_all_calls and name in books.rounds:
            violations += _never_sent(of_round, books.rounds[name])
    if knows_all_calls:
        violations += [Violation(Fact.NEVER_SENT, _text(name)) for name in books.rounds if name not in by_round]
    return tuple(violations)


def _violations_of_round(calls: Sequence[Call], booked: BookedRound | None) -> Iterator[Violation]:
    same: dict[Content, list[Call]] = defaultdict(list)
    for call in calls:
        yield from outcomes.statuses(call)
        if not call.must_refuse:
            same[call.content].append(call)
    for content, of_content in same.items():
        yield from outcomes.consistent(content, of_content)
        if any(call.is_acknowledged for call in of_content):
            yield from _there(content, of_content, booked)
        else:
            yield from _whole_or_absent(content, booked)
    yield from _denied(calls, booked)
    if booked is not None and booked.state == "settled":
        yield from outcomes.awards(booked)


def _denied(calls: Sequence[Call], booked: BookedRound | None) -> Iterator[Violation]:
    """Look for bets that were booked by a call of which the service said each time that nothing was written."""
    carried = Counter(bet.bet_id for call in calls for bet in call.content.bets)
    for call in calls:
        content = call.content
        if call.must_refuse or not content.bets or any(carried[bet.bet_id] > 1 for bet in content.bets):
            continue  # Another call may have booked them.
        before = list(takewhile(lambda attempt: not attempt.is_acknowledged, call.attempts))
        if not all(attempt.has_written_nothing for attempt in before):
            continue
        if call.is_acknowledged:
            was_done = bool((call.attempts[len(before)].answer or {}).get("replayed"))
        else:
            was_done = booked is not None and any(bet.bet_id in booked.bets for bet in content.bets)
        if was_done:
            yield Violation(Fact.DENIED_AND_DONE, content.path)


def _there(content: Content, calls: Sequence[Call], booked: BookedRound | None) -> Iterator[Violation]:
    """Look for what was acknowledged."""
    place = _text(content.round)
    if booked is None:
        yield Violation(Fact.LOST, place, f"{content.kind}: there is no such round")
        return
    match content.kind:
        case Kind.BETS:
            yield from _bets_there(content, calls, booked)
        case Kind.VOIDS:
            yield from _voids_there(content, booked)
        case Kind.CLOSING:
            yield from _closing_there(content, booked)
        case Kind.RESULT:
            yield from _result_there(content, booked)
        case Kind.CANCELLATION:
            yield from _cancellation_there(content, booked)
    yield from outcomes.answers(content, calls, booked)


def _bets_there(content: Content, calls: Sequence[Call], booked: BookedRound) -> Iterator[Violation]:
    answered_void = {
        bet_id
        for call in calls
        for acknowledgement in call.acknowledgements
        for bet_id in (acknowledgement.answer or {}).get("void", ())
    }
    for bet in content.bets:
        there = booked.bets.get(bet.bet_id)
        if there == bet:
            continue
        place = _text(content.round)
        if there is not None:
            yield Violation(Fact.DIFFERS, place, f"{bet} is booked as {there}")
        elif not (bet.bet_id in answered_void and booked.voids.get(bet.bet_id)):
            yield Violation(Fact.LOST, place, f"bet {bet.bet_id}")


def _result_there(content: Content, booked: BookedRound) -> Iterator[Violation]:
    if booked.state != "settled":
        yield Violation(Fact.LOST, _text(content.round), "the result")
    elif booked.bet_count != content.bet_count or _sorted(booked.hands) != _sorted(content.hands):
        yield Violation(Fact.DIFFERS, _text(content.round), "the result")


def _voids_there(content: Content, booked: BookedRound) -> Iterator[Violation]:
    for bet_id in content.bet_ids:
        if bet_id not in booked.voids:
            yield Violation(Fact.LOST, _text(content.round), f"the void of {bet_id}")
        elif content.reason and booked.reasons.get(bet_id) != content.reason:
            yield Violation(Fact.DIFFERS, _text(content.round), f"a void for the reason {booked.reasons.get(bet_id)!r}")


def _cancellation_there(content: Content, booked: BookedRound) -> Iterator[Violation]:
    if booked.state != "cancelled":
        yield Violation(Fact.LOST, _text(content.round), "the cancellation")
    elif booked.reason != content.reason:
        yield Violation(Fact.DIFFERS, _text(content.round), f"the reason {booked.reason!r}")


def _closing_there(content: Content, booked: BookedRound) -> Iterator[Violation]:
    if booked.closed_with is None:
        yield Violation(Fact.LOST, _text(content.round), "the closing")
    yield from _closing_differs(content, booked)


def _closing_differs(content: Content, booked: BookedRound) -> Iterator[Violation]:
    if booked.closed_with not in {None, content.bet_count}:
        yield Violation(Fact.DIFFERS, _text(content.round), f"closed with {booked.closed_with} bets")


def _whole_or_absent(content: Content, booked: BookedRound | None) -> Iterator[Violation]:
    """Look whether a call without an acknowledgement is there wholly or not at all."""
    if booked is None:
        return
    if content.kind is Kind.BETS:
        there = [bet.bet_id in booked.bets or bool(booked.voids.get(bet.bet_id)) for bet in content.bets]
        differing = [bet for bet in content.bets if booked.bets.get(bet.bet_id, bet) != bet]
        if differing:
            yield Violation(Fact.DIFFERS, _text(content.round), str(differing[0]))
        tombstones = sum(bool(booked.voids.get(bet.bet_id)) for bet in content.bets)
        if not all(there) and sum(there) > tombstones:
            yield Violation(Fact.TORN, _text(content.round), f"{sum(there)} of {len(there)} bets")
    elif content.kind is Kind.VOIDS:
        there = [bet_id in booked.voids for bet_id in content.bet_ids]
        if any(there) and not all(there):
            yield Violation(Fact.TORN, _text(content.round), "voids")
    elif content.kind is Kind.CLOSING:
        yield from _closing_differs(content, booked)
    elif content.kind is Kind.RESULT and booked.state == "settled":
        yield from _result_there(content, booked)


def _never_sent(calls: Sequence[Call], booked: BookedRound) -> Iterator[Violation]:
    """Look for what is in the books of a round and was in no call that could have put it there."""
    sent = [call.content for call in calls if not call.must_refuse and not call.is_refused]
    bets = {bet.bet_id for content in sent for bet in content.bets}
    voids = {bet_id for content in sent for bet_id in content.bet_ids}
    kinds = {content.kind for content in sent}
    place = _text(booked.name)
    for bet_id in booked.bets.keys() - bets:
        yield Violation(Fact.NEVER_SENT, place, f"bet {bet_id}")
    for bet_id in booked.voids.keys() - voids:
        yield Violation(Fact.NEVER_SENT, place, f"the void of {bet_id}")
    if booked.closed_with is not None and Kind.CLOSING not in kinds:
        yield Violation(Fact.NEVER_SENT, place, "the closing")
    if booked.state == "settled" and Kind.RESULT not in kinds:
        yield Violation(Fact.NEVER_SENT, place, "the result")
    if booked.state == "cancelled" and Kind.CANCELLATION not in kinds:
        yield Violation(Fact.NEVER_SENT, place, "the cancellation")


def unknown(calls: Iterable[Call]) -> tuple[Call, ...]:
    """Return the calls of which nobody knows whether they had their effect: no copy of them was acknowledged either."""
    by_content: Mapping[Content, list[Call]] = defaultdict(list)
    for call in calls:
        if not call.must_refuse:
            by_content[call.content].append(call)
    return tuple(
        same[0]
        for same in by_content.values()
        if any(call.is_unknown for call in same) and not any(map(_is_known, same))
    )


def _is_known(call: Call) -> bool:
    return call.is_acknowledged or call.is_refused


def _sorted(hands: Iterable[Hand]) -> list[Hand]:
    return sorted(hand._replace(cards=tuple(sorted(hand.cards))) for hand in hands)


def _text(name: RoundName) -> str:
    return f"{name.table_id}/{name.round_id}"
