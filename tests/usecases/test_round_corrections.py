"""What a correction of a round is refused for, and against which state it is made."""

from typing import Any, Final

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.correcting import ask, awards, correct, pay, payload, reject
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, STRAIGHT, THREE_OF_A_KIND, dead, hand
from tests.support.payouts import held_from
from tests.support.world import World
from tests.usecases.test_suspension import put

pytestmark = pytest.mark.slow


def settled(world: World) -> None:
    """A round that is settled by three of a kind; the jackpot has two tables."""
    world.open(base_amount="1000", tables=("T1", "T2"))
    world.bet(bet("a"))
    world.settle(hand("1", THREE_OF_A_KIND))
    world.person("Ann", Role.OPERATOR)
    world.person("Bob", Role.FINANCE)


def test_nothing_is_corrected_until_another_person_approves(world: World) -> None:
    settled(world)
    before = world.books.pools("j1")

    requested = ask(world, hand("1", STRAIGHT)).ok(201)
    assert (requested["subject"], requested["jackpot_id"], requested["state"]) == ("round T1/r1", "j1", "pending")
    world.approve(by="Ann").problem(403, "same-user")

    assert world.books.pools("j1") == before
    assert world.round()["corrections"] == []


def test_a_dry_run_shows_the_correction_and_does_nothing(world: World) -> None:
    settled(world)
    before = world.books.counts()
    payload_ = payload(hand("1", STRAIGHT))

    shown = world.ask("round-correction", payload_, query="?dry_run=true").ok()

    assert awards(shown["effect"]) == [("a", "straight", 1000)]
    assert world.books.counts() == before


def test_the_same_request_and_the_same_approval_again_change_nothing(world: World) -> None:
    settled(world)
    correct(world, hand("1", STRAIGHT))
    before = world.books.counts()

    ask(world, hand("1", STRAIGHT)).ok(200)
    world.approve().ok(200)
    ask(world, hand("1", FLUSH)).problem(409, "request-conflict")

    assert world.books.counts() == before


def test_a_round_that_is_not_there_or_not_settled_is_not_corrected(world: World) -> None:
    settled(world)
    world.bet(bet("b"), round_id="open")
    world.bet(bet("c"), round_id="cancelled")
    world.cancel(round_id="cancelled")
    before = world.books.counts()

    ask(world, hand("1"), round_id="never").problem(404, "round-unknown")
    ask(world, hand("1"), table_id="T9").problem(404, "round-unknown")
    ask(world, hand("1"), round_id="open").problem(409, "round-not-settled")
    ask(world, hand("1"), round_id="cancelled").problem(409, "round-not-settled")
    other = {**payload(hand("1")), "jackpot_id": "j9"}
    world.ask("round-correction", other).problem(404, "round-unknown")

    assert world.books.counts() == before


def test_a_result_that_could_not_have_settled_the_round_does_not_correct_it(world: World) -> None:
    settled(world)
    before = world.books.counts()

    world.ask("round-correction", payload(hand("1", STRAIGHT), bet_count=2)).problem(409, "bet-count-mismatch")
    hands = "/payload/result/hands"
    ask(world, hand("2", STRAIGHT)).problem(422, "hand-missing", hands)
    ask(world, hand("1", STRAIGHT[:4])).problem(422, "hands-invalid", f"{hands}/0/cards")
    ask(world, hand("1", STRAIGHT), hand("2", STRAIGHT)).problem(422, "card-repeated")
    ask(world, hand("1", STRAIGHT), hand("1", FLUSH)).problem(
        422, "hands-invalid", f"{hands}/0/hand", f"{hands}/1/hand"
    )

    assert world.books.counts() == before


def test_the_result_in_force_corrects_nothing(world: World) -> None:
    settled(world)
    ask(world, hand("1", THREE_OF_A_KIND[::-1])).problem(409, "nothing-to-correct")

    correct(world, hand("1", STRAIGHT))
    ask(world, hand("1", STRAIGHT), request_id="q2").problem(409, "nothing-to-correct")
    assert ask(world, hand("1", THREE_OF_A_KIND), request_id="q3").status == 201


def test_the_dealers_cards_alone_may_be_corrected(world: World) -> None:
    settled(world)
    before = world.books.pools("j1")

    world.change("round-correction", payload(hand("1", THREE_OF_A_KIND), dealer=["2s", "2h"]))

    assert world.books.pools("j1") == before
    assert world.round()["corrections"][0]["verdict"]["result"]["dealer"] == ["2h", "2s"]


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


def test_a_payload_that_tells_no_result_is_refused(world: World, subtests: pytest.Subtests) -> None:
    settled(world)

    for number, (result, *pointers) in enumerate(NO_RESULTS):
        with subtests.test(result=result):
            before = world.books.counts()

            payload_ = {**payload(hand("1")), "result": result}
            answer = world.ask("round-correction", payload_, request_id=f"q{number}")

            answer.problem(422, "payload-invalid", *pointers)
            assert world.books.counts() == before


def test_an_omitted_dealer_equals_none(world: World) -> None:
    settled(world)
    assert world.ask("round-correction", payload(hand("1", STRAIGHT), dealer=[])).status == 201


def test_corrections_are_for_operators(world: World) -> None:
    settled(world)
    payload_ = payload(hand("1", STRAIGHT))
    world.ask("round-correction", payload_, by="Rita", role=Role.RATES).problem(403, "role-forbidden")


def retire(world: World) -> None:
    """Retire the jackpot into another."""
    world.open(jackpot_id="j2", tables=("T3",))
    world.change("prize-fund-true-up", {"jackpot_id": "j1"}, request_id="true-up")
    world.change("retirement", {"jackpot_id": "j1", "to": "j2"}, request_id="retirement")


def test_a_round_of_a_retired_jackpot_is_not_corrected(world: World) -> None:
    settled(world)
    ask(world, hand("1", STRAIGHT), request_id="early").ok(201)
    retire(world)
    before = world.books.counts()

    world.approve("early").problem(409, "jackpot-retired")
    ask(world, hand("1", NOTHING), request_id="late").problem(409, "jackpot-retired")

    assert world.books.counts() == before


def test_a_held_award_that_was_taken_back_keeps_no_jackpot_from_retirement(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("1")})
    world.bet(bet("a"))
    world.settle(hand("1", FLUSH))
    correct(world, hand("1", NOTHING))

    retire(world)

    assert world.get("/v1/jackpots/j1").ok()["state"] == "retired"


def test_a_round_of_a_suspended_jackpot_is_corrected(world: World) -> None:
    settled(world)
    put(world, "suspension", "s1").ok(201)

    assert awards(correct(world, hand("1", STRAIGHT))) == [("a", "straight", 1000)]


# What a correction was made against: bets do not matter, hits, payments and other corrections do.


def test_bets_between_request_and_approval_do_not_matter(world: World) -> None:
    settled(world)
    ask(world, hand("1", STRAIGHT)).ok(201)
    world.bet(bet("b"), round_id="r2")

    assert world.approve().ok()["state"] == "approved"


def _hit(world: World) -> None:
    world.bet(bet("b"), table_id="T2")
    world.settle(hand("1", ROYAL_FLUSH), table_id="T2")


def _pay(world: World) -> None:
    pay(world, "a")


def _correct(world: World) -> None:
    correct(world, hand("1", FLUSH), request_id="other")


@pytest.mark.parametrize("meanwhile", [_hit, _pay, _correct])
def test_a_correction_made_against_an_older_state_is_refused_at_its_approval(world: World, meanwhile: Any) -> None:
    settled(world)
    ask(world, hand("1", STRAIGHT)).ok(201)
    meanwhile(world)
    before = world.books.counts()

    world.approve().problem(409, "change-stale")

    assert world.books.counts() == before


def test_what_two_people_rejected_no_correction_brings_back(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("1")})
    world.bet(bet("a", hand="1"), bet("b", hand="2"))
    world.settle(hand("1", FLUSH), hand("2"))
    reject(world, "a")

    effect = correct(world, hand("1", FLUSH), dead("2"))

    assert awards(effect) == []
    assert effect["after"]["charged_to"] == {}


def test_the_awards_of_a_correction_have_ids_of_their_own(world: World) -> None:
    settled(world)
    correct(world, hand("1", STRAIGHT), request_id="q1")
    correct(world, hand("1", NOTHING), request_id="q2")
    correct(world, hand("1", STRAIGHT), request_id="q3")

    record: Body = world.round()
    ids = [
        award["award_id"] for verdict in (record["settlement"], *record["corrections"]) for award in verdict["awards"]
    ]
    assert len(set(ids)) == 3
    assert [award["state"] for correction in record["corrections"] for award in correction["awards"]] == [
        "reversed",
        "payable",
    ]


def test_a_repeated_result_of_the_table_server_stays_a_replay_of_the_first_verdict(world: World) -> None:
    settled(world)
    correct(world, hand("1", STRAIGHT))
    before = world.books.counts_but_exceptions()

    again = world.put_result(hand("1", THREE_OF_A_KIND)).ok(200)
    world.put_result(hand("1", STRAIGHT)).problem(409, "result-conflict")

    assert [(award["tier"], award["state"]) for award in again["settlement"]["awards"]] == [
        ("three_of_a_kind", "payable")
    ]
    assert world.books.counts_but_exceptions() == before


def test_a_correction_is_an_act_of_the_audit_trail(world: World) -> None:
    settled(world)
    correct(world, hand("1", STRAIGHT))

    (act,) = world.books.rows(
        "SELECT a.*, e.principal FROM acts a JOIN entries e ON e.jackpot_id = '-' AND e.seq = a.seq "
        "WHERE e.kind = 'round_corrected'"
    )
    assert (act["principal"], act["decides"], act["subject"], act["jackpot_id"]) == ("Bob", "q1", "round T1/r1", "j1")
    assert [award["tier"] for award in act["before"]["awards"]] == ["three_of_a_kind"]
    assert [award["tier"] for award in act["after"]["awards"]] == ["straight"]
