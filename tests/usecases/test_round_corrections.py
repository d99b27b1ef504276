"""What a correction of a round is refused for, and against which state it is made."""

from typing import Any, Final

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.correcting import ask, awards, correct, pay, payload, reject
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, STRAIGHT, THREE_OF_A_KIND, dead, hand
from tests.support.house import House
from tests.usecases.test_suspension import put


def settled(house: House) -> None:
    """A round that is settled by three of a kind; the jackpot has two tables."""
    house.open(base_amount="1000", tables=("T1", "T2"))
    house.bet(bet("a"))
    house.settle(hand("1", THREE_OF_A_KIND))
    for name in ("Ann", "Bob"):
        house.person(name, Role.OPERATOR)


def test_nothing_is_corrected_until_another_person_approves(house: House) -> None:
    settled(house)
    before = house.books.pools("j1")

    asked = ask(house, hand("1", STRAIGHT)).ok(201)
    assert (asked["subject"], asked["jackpot_id"], asked["state"]) == ("round T1/r1", "j1", "pending")
    house.approve(by="Ann").problem(403, "same-person")

    assert house.books.pools("j1") == before
    assert house.round()["corrections"] == []


def test_a_dry_run_shows_the_correction_and_does_nothing(house: House) -> None:
    settled(house)
    before = house.books.counts()
    asked = payload(hand("1", STRAIGHT))

    shown = house.ask("round-correction", asked, query="?dry_run=true").ok()

    assert awards(shown["effect"]) == [("a", "straight", 1000)]
    assert house.books.counts() == before


def test_the_same_request_and_the_same_approval_again_change_nothing(house: House) -> None:
    settled(house)
    correct(house, hand("1", STRAIGHT))
    before = house.books.counts()

    ask(house, hand("1", STRAIGHT)).ok(200)
    house.approve().ok(200)
    ask(house, hand("1", FLUSH)).problem(409, "request-conflict")

    assert house.books.counts() == before


def test_a_round_that_is_not_there_or_not_settled_is_not_corrected(house: House) -> None:
    settled(house)
    house.bet(bet("b"), round_id="open")
    house.bet(bet("c"), round_id="cancelled")
    house.cancel(round_id="cancelled")
    before = house.books.counts()

    ask(house, hand("1"), round_id="never").problem(404, "round-unknown")
    ask(house, hand("1"), table_id="T9").problem(404, "round-unknown")
    ask(house, hand("1"), round_id="open").problem(409, "round-not-settled")
    ask(house, hand("1"), round_id="cancelled").problem(409, "round-not-settled")
    other = {**payload(hand("1")), "jackpot_id": "j9"}
    house.ask("round-correction", other).problem(404, "round-unknown")

    assert house.books.counts() == before


def test_a_result_that_could_not_have_settled_the_round_does_not_correct_it(house: House) -> None:
    settled(house)
    before = house.books.counts()

    house.ask("round-correction", payload(hand("1", STRAIGHT), bet_count=2)).problem(409, "bet-count-mismatch")
    ask(house, hand("2", STRAIGHT)).problem(422, "hand-missing")
    ask(house, hand("1", STRAIGHT[:4])).problem(422, "hands-invalid")
    ask(house, hand("1", STRAIGHT), hand("2", STRAIGHT)).problem(422, "card-repeated")
    ask(house, hand("1", STRAIGHT), hand("1", FLUSH)).problem(422, "hands-invalid")

    assert house.books.counts() == before


def test_the_result_in_force_corrects_nothing(house: House) -> None:
    settled(house)
    ask(house, hand("1", THREE_OF_A_KIND[::-1])).problem(409, "nothing-to-correct")

    correct(house, hand("1", STRAIGHT))
    ask(house, hand("1", STRAIGHT), request_id="q2").problem(409, "nothing-to-correct")
    assert ask(house, hand("1", THREE_OF_A_KIND), request_id="q3").status == 201


def test_the_dealers_cards_alone_may_be_corrected(house: House) -> None:
    settled(house)
    before = house.books.pools("j1")

    house.change("round-correction", payload(hand("1", THREE_OF_A_KIND), dealer=["2s", "2h"]))

    assert house.books.pools("j1") == before
    assert house.round()["corrections"][0]["verdict"]["result"]["dealer"] == ["2h", "2s"]


NO_RESULTS: Final[tuple[tuple[Any, *tuple[str, ...]], ...]] = (
    (None, "/payload/result"),
    ({}, "/payload/result/bet_count", "/payload/result/hands"),
    ([], "/payload/result"),
    ({"hands": [hand("1")]}, "/payload/result/bet_count"),
    ({"bet_count": True, "hands": [hand("1")]}, "/payload/result/bet_count"),
    ({"bet_count": -1, "hands": [hand("1")]}, "/payload/result/bet_count"),
    ({"bet_count": 1}, "/payload/result/hands"),
    ({"bet_count": 1, "hands": []}, "/payload/result/hands"),
    ({"bet_count": 1, "hands": [7]}, "/payload/result/hands/0"),
    ({"bet_count": 1, "hands": [{"cards": []}]}, "/payload/result/hands/0/hand"),
    ({"bet_count": 1, "hands": [{"hand": "1", "status": []}]}, "/payload/result/hands/0/status"),
    ({"bet_count": 1, "hands": [{"hand": "1", "status": "lost"}]}, "/payload/result/hands/0/status"),
    ({"bet_count": 1, "hands": [{"hand": "1", "cards": "As"}]}, "/payload/result/hands/0/cards"),
    ({"bet_count": 1, "hands": [{"hand": "1", "cards": ["1s"]}]}, "/payload/result/hands/0/cards/0"),
    ({"bet_count": 1, "hands": [{"hand": "1", "cards": [{}]}]}, "/payload/result/hands/0/cards/0"),
    ({"bet_count": 1, "hands": [{"hand": "1", "colour": "red"}]}, "/payload/result/hands/0/colour"),
    ({"bet_count": 1, "hands": [hand("1"), {"hand": "2", "cards": "As"}]}, "/payload/result/hands/1/cards"),
    ({"bet_count": 1, "hands": [dead(str(number)) for number in range(61)]}, "/payload/result/hands"),
    ({"bet_count": 1, "hands": [hand("1")], "dealer": "As"}, "/payload/result/dealer"),
    ({"bet_count": 1, "hands": [hand("1")], "dealer": ["xx"]}, "/payload/result/dealer/0"),
    ({"bet_count": 1, "hands": [hand("1")], "winner": "1"}, "/payload/result/winner"),
)


def test_a_payload_that_tells_no_result_is_refused(house: House, subtests: pytest.Subtests) -> None:
    settled(house)

    for number, (result, *pointers) in enumerate(NO_RESULTS):
        with subtests.test(result=result):
            before = house.books.counts()

            told = {**payload(hand("1")), "result": result}
            asked = house.ask("round-correction", told, request_id=f"q{number}")

            asked.problem(422, "payload-invalid", *pointers)
            assert house.books.counts() == before


def test_an_omitted_dealer_equals_none(house: House) -> None:
    settled(house)
    assert house.ask("round-correction", payload(hand("1", STRAIGHT), dealer=[])).status == 201


def test_corrections_are_for_operators(house: House) -> None:
    settled(house)
    asked = payload(hand("1", STRAIGHT))
    house.ask("round-correction", asked, by="Rita", role=Role.RATES).problem(403, "role-forbidden")


def retire(house: House) -> None:
    """Retire the jackpot into another."""
    house.open(jackpot_id="j2", tables=("T3",))
    house.change("prize-fund-true-up", {"jackpot_id": "j1"}, request_id="true-up")
    house.change("retirement", {"jackpot_id": "j1", "to": "j2"}, request_id="retirement")


def test_a_round_of_a_retired_jackpot_is_not_corrected(house: House) -> None:
    settled(house)
    ask(house, hand("1", STRAIGHT), request_id="early").ok(201)
    retire(house)
    before = house.books.counts()

    house.approve("early").problem(409, "jackpot-retired")
    ask(house, hand("1", NOTHING), request_id="late").problem(409, "jackpot-retired")

    assert house.books.counts() == before


def test_a_held_award_that_was_taken_back_keeps_no_jackpot_from_retirement(house: House) -> None:
    house.open(base_amount="1000", settings={"held_threshold": "1"})
    house.bet(bet("a"))
    house.settle(hand("1", FLUSH))
    correct(house, hand("1", NOTHING))

    retire(house)

    assert house.get("/v1/jackpots/j1").ok()["state"] == "retired"


def test_a_round_of_a_suspended_jackpot_is_corrected(house: House) -> None:
    settled(house)
    put(house, "suspension", "s1").ok(201)

    assert awards(correct(house, hand("1", STRAIGHT))) == [("a", "straight", 1000)]


# What a correction was made against: bets do not matter, hits, payments and other corrections do.


def test_bets_between_request_and_approval_do_not_matter(house: House) -> None:
    settled(house)
    ask(house, hand("1", STRAIGHT)).ok(201)
    house.bet(bet("b"), round_id="r2")

    assert house.approve().ok()["state"] == "approved"


def _hit(house: House) -> None:
    house.bet(bet("b"), table_id="T2")
    house.settle(hand("1", ROYAL_FLUSH), table_id="T2")


def _pay(house: House) -> None:
    pay(house, "a")


def _correct(house: House) -> None:
    correct(house, hand("1", FLUSH), request_id="other")


@pytest.mark.parametrize("meanwhile", [_hit, _pay, _correct])
def test_a_correction_made_against_an_older_state_is_refused_at_its_approval(house: House, meanwhile: Any) -> None:
    settled(house)
    ask(house, hand("1", STRAIGHT)).ok(201)
    meanwhile(house)
    before = house.books.counts()

    house.approve().problem(409, "change-stale")

    assert house.books.counts() == before


def test_what_two_people_rejected_no_correction_brings_back(house: House) -> None:
    house.open(base_amount="1000", settings={"held_threshold": "1"})
    house.bet(bet("a", hand="1"), bet("b", hand="2"))
    house.settle(hand("1", FLUSH), hand("2"))
    reject(house, "a")

    effect = correct(house, hand("1", FLUSH), dead("2"))

    assert awards(effect) == []
    assert effect["after"]["borne"] == {}


def test_the_awards_of_a_correction_have_ids_of_their_own(house: House) -> None:
    settled(house)
    correct(house, hand("1", STRAIGHT), request_id="q1")
    correct(house, hand("1", NOTHING), request_id="q2")
    correct(house, hand("1", STRAIGHT), request_id="q3")

    record: Body = house.round()
    ids = [award["award_id"] for one in (record["settlement"], *record["corrections"]) for award in one["awards"]]
    assert len(set(ids)) == 3
    assert [award["state"] for one in record["corrections"] for award in one["awards"]] == ["reversed", "payable"]


def test_a_repeated_result_of_the_table_server_stays_a_replay_of_the_first_verdict(house: House) -> None:
    settled(house)
    correct(house, hand("1", STRAIGHT))
    before = house.books.counts_but_exceptions()

    again = house.put_result(hand("1", THREE_OF_A_KIND)).ok(200)
    house.put_result(hand("1", STRAIGHT)).problem(409, "result-conflict")

    assert [(one["tier"], one["state"]) for one in again["settlement"]["awards"]] == [("three_of_a_kind", "payable")]
    assert house.books.counts_but_exceptions() == before


def test_a_correction_is_an_act_of_the_audit_trail(house: House) -> None:
    settled(house)
    correct(house, hand("1", STRAIGHT))

    (act,) = house.books.rows(
        "SELECT a.*, e.principal FROM acts a JOIN entries e ON e.jackpot_id = '-' AND e.seq = a.seq "
        "WHERE e.kind = 'round_corrected'"
    )
    assert (act["principal"], act["decides"], act["subject"], act["jackpot_id"]) == ("Bob", "q1", "round T1/r1", "j1")
    assert [award["tier"] for award in act["before"]["awards"]] == ["three_of_a_kind"]
    assert [award["tier"] for award in act["after"]["awards"]] == ["straight"]
