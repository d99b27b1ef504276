"""The checker finds each kind of violation, and nothing where nothing is wrong."""

from dataclasses import replace
from typing import Any

import pytest

from tests.chaos import building as build
from tests.chaos.audit import audit, unknown
from tests.chaos.books import BookedRound, Books
from tests.chaos.building import BET, BETS, CANCELLATION, OTHER, RESULT, VOIDS, answered, books_of, unanswered
from tests.chaos.calls import Attempt, Call, Content, Hand, Kind
from tests.chaos.violations import Fact

BETS_DONE = answered(BETS, build.ACCEPTED, status=201)
RESULT_DONE = answered(RESULT, build.SETTLEMENT, status=201)
VOIDS_DONE = answered(VOIDS, {"voided": ["b2"], "unknown": []})
REFUNDS = [{"bet_id": "b1", "amount_minor": 100}, {"bet_id": "b2", "amount_minor": 250}]
CLOSED = answered(build.CLOSING, status=201)
CANCELLED = answered(CANCELLATION, {"refunds": REFUNDS}, status=201)
LATE = Content(Kind.BETS, build.NAME, bets=(BET._replace(bet_id="late"),))


def facts(calls: list[Call], there: Books | BookedRound, **options: bool) -> set[Fact]:
    books = books_of(there) if isinstance(there, BookedRound) else there
    return {violation.fact for violation in audit(calls, books, **options)}


def test_what_was_acknowledged_and_is_there_is_no_violation() -> None:
    assert facts([BETS_DONE, RESULT_DONE], build.settled()) == set()
    assert facts([BETS_DONE, VOIDS_DONE], build.booked(voids={"b2": False})) == set()
    assert facts([BETS_DONE, CANCELLED], build.booked(state="cancelled", reason="misdeal")) == set()


def test_a_round_that_is_not_there_is_lost() -> None:
    assert facts([BETS_DONE], books_of()) == {Fact.LOST}


def test_a_bet_that_is_not_there_is_lost() -> None:
    assert facts([BETS_DONE], build.booked(bets={"b1": BET})) == {Fact.LOST}


def test_a_bet_that_the_answer_calls_void_must_have_been_void_before_it_came() -> None:
    content = Content(Kind.BETS, build.NAME, bets=(BET,))
    tombstone = Content(Kind.VOIDS, build.NAME, bet_ids=("b1",))
    calls = [
        answered(tombstone, {"voided": [], "unknown": ["b1"]}),
        answered(content, {"accepted": 0, "replayed": 0, "void": ["b1"]}),
    ]

    assert facts(calls, build.booked(bets={}, voids={"b1": True})) == set()
    assert Fact.LOST in facts(calls, build.booked(bets={}, voids={}))


@pytest.mark.parametrize("change", [{"stake_minor": 101}, {"player_id": "p9"}, {"hand": "3"}, {"currency": "SEK"}])
def test_a_bet_with_another_content_differs(change: dict[str, Any]) -> None:
    bets = {"b1": BET._replace(**change), "b2": OTHER}

    assert facts([BETS_DONE], build.booked(bets=bets)) == {Fact.DIFFERS}


def test_a_void_that_is_not_there_is_lost() -> None:
    assert Fact.LOST in facts([BETS_DONE, VOIDS_DONE], build.booked())


def test_a_result_that_is_not_there_is_lost() -> None:
    assert Fact.LOST in facts([BETS_DONE, RESULT_DONE], build.booked())


@pytest.mark.parametrize(
    "change", [{"bet_count": 3}, {"hands": (build.FULL_HOUSE, build.NOTHING._replace(status="forfeited"))}]
)
def test_a_result_with_another_content_differs(change: dict[str, Any]) -> None:
    assert Fact.DIFFERS in facts([BETS_DONE, RESULT_DONE], build.settled(**change))


def test_the_order_of_cards_is_no_difference() -> None:
    turned = build.FULL_HOUSE._replace(cards=tuple(reversed(build.FULL_HOUSE.cards)))

    assert facts([BETS_DONE, RESULT_DONE], build.settled(hands=(build.NOTHING, turned))) == set()


def test_a_cancellation_that_is_not_there_is_lost() -> None:
    assert Fact.LOST in facts([BETS_DONE, CANCELLED], build.booked())


def test_a_cancellation_for_another_reason_differs() -> None:
    assert Fact.DIFFERS in facts([BETS_DONE, CANCELLED], build.booked(state="cancelled", reason="other"))


def test_a_closing_that_is_there_is_no_violation() -> None:
    again = answered(build.CLOSING, status=200)
    refused = answered(replace(build.CLOSING, bet_count=3), {"code": "closing-conflict"}, status=409)
    refused = replace(refused, must_refuse="closing-conflict")

    assert facts([BETS_DONE, CLOSED, again, refused, RESULT_DONE], build.settled(closed_with=2)) == set()


@pytest.mark.parametrize("ended", [{"state": "closed"}, {"state": "open"}, {"state": "cancelled", "reason": "misdeal"}])
def test_a_closing_that_is_not_there_is_lost(ended: dict[str, Any]) -> None:
    ending = [CANCELLED] if ended["state"] == "cancelled" else []

    assert facts([BETS_DONE, CLOSED, *ending], build.booked(**ended)) == {Fact.LOST}
    assert facts([BETS_DONE, CLOSED, RESULT_DONE], build.settled()) == {Fact.LOST}


def test_a_closing_with_another_count_differs_also_without_an_answer() -> None:
    assert facts([BETS_DONE, CLOSED], build.booked(closed_with=1)) == {Fact.DIFFERS}
    assert facts([BETS_DONE, unanswered(build.CLOSING)], build.booked(closed_with=1)) == {Fact.DIFFERS}
    assert facts([BETS_DONE, unanswered(build.CLOSING)], build.booked(closed_with=2)) == set()
    assert facts([BETS_DONE, unanswered(build.CLOSING)], build.booked()) == set()


def test_a_closing_that_nobody_sent_or_that_was_refused_must_not_be_there() -> None:
    refused = answered(build.CLOSING, {"code": "closing-conflict"}, status=409, must_refuse="closing-conflict")

    assert facts([BETS_DONE], build.booked(closed_with=2)) == {Fact.NEVER_SENT}
    assert facts([BETS_DONE, refused], build.booked(closed_with=2)) == {Fact.NEVER_SENT}


def test_a_bet_that_was_booked_after_the_closing_is_found() -> None:
    assert facts([BETS_DONE, CLOSED], build.booked(closed_with=2, late=("b2",))) == {Fact.BOOKED_LATE}


def test_a_void_after_the_closing_has_its_reason() -> None:
    late = answered(build.LATE_VOIDS, {"voided": ["b2"], "unknown": []})
    books = {"voids": {"b2": False}, "closed_with": 2}

    assert facts([BETS_DONE, CLOSED, late], build.booked(**books, reasons={"b2": build.LATE_VOIDS.reason})) == set()
    assert facts([BETS_DONE, CLOSED, late], build.booked(**books, reasons={"b2": "another"})) == {Fact.DIFFERS}
    assert facts([BETS_DONE, CLOSED, late], build.booked(**books)) == {Fact.DIFFERS}


def test_a_call_without_an_answer_is_there_wholly_or_not_at_all() -> None:
    assert facts([unanswered(BETS)], build.booked()) == set()
    assert facts([unanswered(BETS)], books_of()) == set()
    assert facts([unanswered(BETS)], build.booked(bets={"b1": BET})) == {Fact.TORN}
    assert facts([unanswered(BETS)], build.booked(bets={"b1": BET, "b2": BET._replace(bet_id="b2")})) == {Fact.DIFFERS}


def test_voids_without_an_answer_are_there_wholly_or_not_at_all() -> None:
    voids = Content(Kind.VOIDS, build.NAME, bet_ids=("b1", "b2"))

    assert facts([BETS_DONE, unanswered(voids)], build.booked(voids={"b1": False})) == {Fact.TORN}
    assert facts([BETS_DONE, unanswered(voids)], build.booked(voids={"b1": False, "b2": False})) == set()


def test_a_result_without_an_answer_is_there_as_it_was_sent() -> None:
    assert facts([BETS_DONE, unanswered(RESULT)], build.settled()) == set()
    assert Fact.DIFFERS in facts([BETS_DONE, unanswered(RESULT)], build.settled(bet_count=1))


def test_what_nobody_sent_must_not_be_there() -> None:
    call = answered(Content(Kind.BETS, build.NAME, bets=(BET,)), {"accepted": 1, "replayed": 0, "void": []})

    assert facts([], build.booked()) == {Fact.NEVER_SENT}
    assert facts([call], build.booked()) == {Fact.NEVER_SENT}
    assert facts([BETS_DONE], build.booked(voids={"b1": False})) == {Fact.NEVER_SENT}
    assert facts([BETS_DONE], build.settled()) == {Fact.NEVER_SENT}
    assert facts([BETS_DONE], build.booked(state="cancelled", reason="misdeal")) == {Fact.NEVER_SENT}


def test_what_was_refused_must_not_be_there() -> None:
    refused = answered(LATE, {"code": "round-settled"}, status=409, must_refuse="round-settled")
    bets = {"b1": BET, "b2": OTHER, "late": LATE.bets[0]}

    assert facts([BETS_DONE, RESULT_DONE, refused], build.settled()) == set()
    assert Fact.NEVER_SENT in facts([BETS_DONE, RESULT_DONE, refused], build.settled(bets=bets))


def test_what_may_have_been_sent_after_the_calls_were_read_is_not_looked_for() -> None:
    assert facts([BETS_DONE], build.booked(voids={"b1": False}), knows_all_calls=False) == set()


def test_an_id_that_stands_twice_is_doubled() -> None:
    assert facts([BETS_DONE], books_of(build.booked(), doubled=("bet b1",))) == {Fact.DOUBLED}


def test_a_stripe_beyond_the_databases_clock_is_booked_in_the_future() -> None:
    assert facts([BETS_DONE], books_of(build.booked(), ahead={"live-1": "2026-12-31"})) == {Fact.AHEAD}


def test_bets_that_two_answers_call_new_were_booked_twice() -> None:
    assert facts([BETS_DONE, BETS_DONE], build.booked()) == {Fact.BOOKED_TWICE}
    assert facts([BETS_DONE, answered(BETS, build.REPLAYED)], build.booked()) == set()


def test_an_answer_whose_counts_are_not_the_batch_is_wrong() -> None:
    short = answered(BETS, {"accepted": 1, "replayed": 0, "void": []}, status=201)

    assert facts([short], build.booked()) == {Fact.ANSWER_WRONG}


def test_the_same_result_answered_in_two_ways_is_a_violation() -> None:
    other = answered(RESULT, {"settlement": {**build.SETTLEMENT["settlement"], "carried": "1"}})

    assert facts([BETS_DONE, RESULT_DONE, other], build.settled()) == {Fact.ANSWERS_DIFFER}


def test_an_answer_with_other_awards_or_refunds_than_the_books_is_wrong() -> None:
    silent = answered(RESULT, {"settlement": {"awards": [], "refunds": []}}, status=201)
    stingy = answered(CANCELLATION, {"refunds": REFUNDS[:1]}, status=201)
    void = answered(VOIDS, {"voided": [], "unknown": ["b2"]})

    assert facts([BETS_DONE, silent], build.settled()) == {Fact.ANSWER_WRONG}
    assert facts([BETS_DONE, stingy], build.booked(state="cancelled", reason="misdeal")) == {Fact.ANSWER_WRONG}
    assert facts([BETS_DONE, void], build.booked(voids={"b2": False})) == {Fact.ANSWER_WRONG}


def test_awards_that_the_cards_do_not_give_are_wrong() -> None:
    [(key, award)] = build.AWARDS.items()
    dearer = {key: award._replace(amount_minor=5001)}
    nothing = Hand("1", "dealt", ("2s", "3h", "5d", "9s", "Jh"))

    assert Fact.AWARDS_WRONG in facts([BETS_DONE, unanswered(RESULT)], build.settled(awards=dearer))
    assert Fact.AWARDS_WRONG in facts([BETS_DONE, unanswered(RESULT)], build.settled(hands=(nothing, build.NOTHING)))


def test_a_call_that_had_to_be_refused_and_was_not_is_a_violation() -> None:
    taken = answered(LATE, {"accepted": 1}, status=201, must_refuse="round-settled")

    assert Fact.WRONGLY_ACCEPTED in facts([BETS_DONE, taken], build.booked())


def test_a_refusal_without_a_reason_is_a_violation() -> None:
    refused = answered(RESULT, {"code": "no-rate"}, status=422)

    assert facts([BETS_DONE, refused], build.booked()) == {Fact.WRONGLY_REFUSED}


@pytest.mark.parametrize("status", [500, 502])
def test_a_status_outside_the_contract_is_a_violation(status: int) -> None:
    assert facts([BETS_DONE, answered(RESULT, status=status)], build.booked()) == {Fact.UNKNOWN_STATUS}


def test_an_answer_without_a_document_is_a_violation() -> None:
    attempt = Attempt(1.0, 1.1, 503, None)

    assert facts([Call("c", "s", BETS, (attempt,))], books_of()) == {Fact.UNKNOWN_STATUS}


@pytest.mark.parametrize("status", [503, 429])
def test_an_answer_that_asks_for_patience_is_no_violation(status: int) -> None:
    assert facts([answered(BETS, status=status)], books_of()) == set()


def test_unknown_are_the_calls_of_which_no_copy_was_answered_for_good() -> None:
    refused = answered(RESULT, {"code": "x"}, status=409)

    assert [call.content for call in unknown([unanswered(BETS), RESULT_DONE])] == [BETS]
    assert unknown([unanswered(BETS), BETS_DONE, refused]) == ()
    assert unknown([answered(BETS, status=503)]) != ()
    assert unknown([answered(BETS, status=429)]) == ()


def call_of(*attempts: Attempt) -> Call:
    return Call("c1", "g1-0", BETS, attempts)


BUSY = Attempt(1.0, 1.1, 503, {"code": "busy"})
UNKNOWN = Attempt(1.0, 1.1, 503, {"code": "outcome-unknown"})
FIRST = Attempt(1.2, 1.3, 201, build.ACCEPTED)
AGAIN = Attempt(1.2, 1.3, 200, build.REPLAYED)


@pytest.mark.parametrize("code", ["busy", "clock-skew"])
def test_what_was_booked_although_nothing_was_said_to_be_written_is_a_violation(code: str) -> None:
    denied = Attempt(1.0, 1.1, 503, {"code": code})

    assert facts([call_of(denied)], build.booked()) == {Fact.DENIED_AND_DONE}
    assert facts([call_of(denied, AGAIN)], build.booked()) == {Fact.DENIED_AND_DONE}
    assert facts([call_of(denied)], books_of()) == set()
    assert facts([call_of(denied, FIRST)], build.booked()) == set()


def test_what_may_have_been_written_may_be_booked() -> None:
    assert facts([call_of(UNKNOWN)], build.booked()) == set()
    assert facts([call_of(BUSY, UNKNOWN, AGAIN)], build.booked()) == set()
    assert facts([call_of(BUSY), call_of(FIRST)], build.booked()) == set()
