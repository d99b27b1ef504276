"""Holds answers against the contract, against each other, and against the books and the rules."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tests.chaos import paytable
from tests.chaos.books import BookedRound
from tests.chaos.calls import BROKEN, TOO_MANY_REQUESTS, UNAVAILABLE, Attempt, Call, Content, Kind
from tests.chaos.violations import Fact, Violation

JACKPOTS: Mapping[str, paytable.Rulebook] = {
    "live-1": paytable.LIVE,
    "live-2": paytable.LIVE,
    "cyber": paytable.CYBER,
}
"""The jackpots of the campaign, by the rulebook that each was opened from."""


def statuses(call: Call) -> Iterator[Violation]:
    """Look at how a call was answered: by the contract's statuses, and refused only where it had to be."""
    for attempt in call.attempts:
        if attempt.status >= 500 and attempt.status != UNAVAILABLE:
            yield Violation(Fact.UNKNOWN_STATUS, call.content.path, str(attempt.status))
        elif attempt.is_acknowledged and call.must_refuse:
            yield Violation(Fact.WRONGLY_ACCEPTED, call.content.path, call.must_refuse)
        elif attempt.is_refused and _code(attempt) != call.must_refuse:
            yield Violation(Fact.WRONGLY_REFUSED, call.content.path, f"{attempt.status} {_code(attempt)}")
        elif attempt.status not in {BROKEN, TOO_MANY_REQUESTS} and not isinstance(attempt.answer, Mapping):
            yield Violation(Fact.UNKNOWN_STATUS, call.content.path, f"{attempt.status} without a document")


def consistent(content: Content, calls: Sequence[Call]) -> Iterator[Violation]:
    """Look whether a call that was made again had the same answer, and its effect once."""
    answers = [acknowledgement.answer or {} for call in calls for acknowledgement in call.acknowledgements]
    if content.kind is Kind.BETS:
        accepted = [answer.get("accepted", 0) for answer in answers]
        if sum(accepted) > len(content.bets):
            yield Violation(Fact.BOOKED_TWICE, content.path, f"{accepted} of {len(content.bets)} bets")
        for answer in answers:
            if answer.get("accepted", 0) + answer.get("replayed", 0) + len(answer.get("void", ())) != len(content.bets):
                yield Violation(Fact.ANSWER_WRONG, content.path, "accepted, replayed and void are not all")
    elif any(answer != answers[0] for answer in answers):
        yield Violation(Fact.ANSWERS_DIFFER, content.path)


def answers(content: Content, calls: Sequence[Call], booked: BookedRound) -> Iterator[Violation]:
    """Look whether what was answered is what is in the books."""
    for call in calls:
        for attempt in call.acknowledgements:
            answer = attempt.answer or {}
            if not _is_booked(content, answer, booked):
                yield Violation(Fact.ANSWER_WRONG, content.path)


def _is_booked(content: Content, answer: Mapping[str, Any], booked: BookedRound) -> bool:
    match content.kind:
        case Kind.VOIDS:
            bets = set(content.bet_ids) & booked.bets.keys()
            return set(answer.get("voided", ())) == bets and set(answer.get("unknown", ())) == {*content.bet_ids} - bets
        case Kind.RESULT:
            settlement = answer.get("settlement", {})
            awards = {
                (award["bet_id"], award["tier"]): (award["amount_minor"], award["currency"])
                for award in settlement.get("awards", ())
            }
            dead = {hand.hand for hand in booked.hands if hand.status == paytable.DEAD}
            refunded = {bet.bet_id: bet.stake_minor for bet in booked.live if bet.hand in dead}
            there = {key: (award.amount_minor, award.currency) for key, award in booked.awards.items()}
            return awards == there and _refunds(settlement) == refunded
        case Kind.CANCELLATION:
            return _refunds(answer) == {bet.bet_id: bet.stake_minor for bet in booked.live}
        case Kind.BETS:
            return set(answer.get("void", ())) <= booked.voids.keys()
        case Kind.CLOSING:
            return True  # It says nothing but how the round stood.


def awards(booked: BookedRound) -> Iterator[Violation]:
    """Figure a settled round's awards from its bets, its cards and the meter, and compare."""
    book = JACKPOTS[booked.jackpot_id]
    meter = Fraction(booked.meter_before or 0)
    expected = paytable.awards(book, booked.live, booked.hands, meter=meter)
    there = {key: award.amount_minor for key, award in booked.awards.items()}
    if expected != there:
        place = f"{booked.name.table_id}/{booked.name.round_id}"
        differing = sorted(dict(expected).items() ^ there.items())[:4]
        yield Violation(Fact.AWARDS_WRONG, place, f"{differing} of {len(expected)} due and {len(there)} booked")


def _refunds(answer: Mapping[str, Any]) -> dict[str, int]:
    return {refund["bet_id"]: refund["amount_minor"] for refund in answer.get("refunds", ())}


def _code(attempt: Attempt) -> str:
    return str((attempt.answer or {}).get("code", "")) if isinstance(attempt.answer, Mapping) else ""
