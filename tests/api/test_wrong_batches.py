"""A refused batch names all that is wrong with every bet, by the loop and by Flask alike. Issue 25, demand 2."""

import time
from typing import Any

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.hands import NOTHING, hand
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow

AHEAD = "2126-01-01T00:00:00Z"


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000")
    world.bet(bet("known"))
    return world


@pytest.fixture(params=["the loop", "Flask"], autouse=True)
def _way(request: pytest.FixtureRequest, world: World) -> None:
    if request.param == "Flask":
        world.app.asgi._calls = ()


SUSPENSION = {"request_id": "s1", "reason": "the display shows another meter"}


def errors_of(problem: Body) -> list[tuple[str, str]]:
    return [(error["pointer"], error["code"]) for error in problem["errors"]]


def post(world: World, *bets: Any, table_id: str = "T1") -> Answer:
    return world.send("POST", table_id, "r1/bets", {"bets": list(bets)})


def test_all_that_is_wrong_with_every_bet_is_named_by_the_code_that_comes_first(opened: World) -> None:
    before = opened.books.counts_but_exceptions()

    problem = post(
        opened,
        bet("fine"),
        bet("twice", hand="2"),
        bet("twice", hand="3", stake_minor=10_001),
        bet("known", stake_minor=1),
        bet("ahead", occurred_at=AHEAD, currency="XXX", player_id="p4"),
        bet("no-rate", currency="CHF", player_id="p5"),
        bet("dear", currency="GBP", stake_minor=9_999, player_id="player-of-known"),
    ).problem(422, "duplicate-bet")

    assert errors_of(problem) == [
        ("/bets/1/bet_id", "duplicate-bet"),
        ("/bets/2/bet_id", "duplicate-bet"),
        ("/bets/2/stake_minor", "stake-out-of-range"),
        ("/bets/3", "bet-conflict"),
        ("/bets/4/currency", "unknown-currency"),
        ("/bets/4/occurred_at", "occurred-in-future"),
        ("/bets/5/currency", "no-rate"),
        ("/bets/6/hand", "hand-limit"),
        ("/bets/6/stake_minor", "stake-out-of-range"),
    ]
    assert problem["bet_ids"] == ["twice"]
    alone = post(opened, bet("twice", hand="2"), bet("twice", hand="3")).problem(422, "duplicate-bet")
    assert problem["detail"] == alone["detail"]
    assert opened.books.counts_but_exceptions() == before


def test_a_batch_that_was_mended_by_what_it_was_answered_is_taken(opened: World) -> None:
    wrong = [bet("a", stake_minor=10_001), bet("b", currency="CHF"), bet("c", player_id="player-of-known")]
    problem = post(opened, *wrong, bet("fine")).problem(422, "no-rate")

    places = {int(error["pointer"].split("/")[2]) for error in problem["errors"]}

    assert places == {0, 1, 2}
    assert post(opened, bet("fine")).ok(201)["accepted"] == 1


def test_errors_of_one_code_are_one_problem_of_that_code(opened: World) -> None:
    problem = post(opened, *(bet(f"b{place}", stake_minor=10_001) for place in range(12))).problem(
        422, "stake-out-of-range", *(f"/bets/{place}/stake_minor" for place in range(12))
    )

    assert problem["detail"] == "The largest stake is worth 100 EUR."


def test_every_hand_too_many_is_named(opened: World) -> None:
    bets = [bet(f"b{hand}", player_id="p", hand=hand) for hand in ("1", "2", "3")]

    post(opened, *bets, bet("again", player_id="p")).problem(
        422, "hand-limit", "/bets/1/hand", "/bets/2/hand", "/bets/3/hand"
    )


def test_currencies_without_a_rate_are_all_named(opened: World) -> None:
    problem = post(opened, bet("a", currency="PLN"), bet("b", currency="XXX"), bet("c", currency="CHF")).problem(
        422, "no-rate"
    )

    assert errors_of(problem) == [
        ("/bets/0/currency", "no-rate"),
        ("/bets/1/currency", "unknown-currency"),
        ("/bets/2/currency", "no-rate"),
    ]


def test_a_token_in_another_currency_does_not_hide_a_token_of_another_size(world: World) -> None:
    world.open(CYBER, base_amount="1000")

    problem = post(world, bet("a", currency="GBP"), bet("b", stake_minor=101)).problem(422, "currency-not-accepted")

    assert errors_of(problem) == [
        ("/bets/0/currency", "currency-not-accepted"),
        ("/bets/1/stake_minor", "stake-out-of-range"),
    ]


def test_stakes_above_and_below_and_those_of_the_table_are_all_named(world: World) -> None:
    world.open(base_amount="1000", settings={"least_stake": "0.50"})
    limits = {"jackpot_id": "j1", "table_id": "T1", "largest_stake": "90"}
    world.ask("table-limits", limits, request_id="limits", by="Olaf").ok(201)
    world.approve("limits", by="Oona").ok()

    problem = post(
        world, bet("dear", stake_minor=10_001), bet("cheap", stake_minor=49), bet("here", stake_minor=9_001)
    ).problem(422, "stake-out-of-range")

    errors = [(error["pointer"], error["detail"].partition(" is worth")[0]) for error in problem["errors"]]
    assert errors == [
        ("/bets/0/stake_minor", "The largest stake"),
        ("/bets/0/stake_minor", "The largest stake of this table"),
        ("/bets/1/stake_minor", "The least stake"),
        ("/bets/2/stake_minor", "The largest stake of this table"),
    ]


def test_a_conflict_is_a_conflict_though_other_bets_are_wrong_too(opened: World) -> None:
    problem = post(opened, bet("a", currency="CHF"), bet("known", stake_minor=7)).problem(409, "bet-conflict")

    assert errors_of(problem) == [("/bets/0/currency", "no-rate"), ("/bets/1", "bet-conflict")]


def test_of_a_round_that_is_over_only_the_identity_of_bets_is_looked_at(opened: World) -> None:
    opened.settle(hand("1", NOTHING))

    problem = post(opened, bet("a", currency="CHF"), bet("known", stake_minor=7)).problem(409, "bet-conflict")
    late = post(opened, bet("a", currency="CHF")).problem(409, "round-settled")

    assert errors_of(problem) == [("/bets/1", "bet-conflict")]
    assert "errors" not in late


SHAPES: list[tuple[str, dict[str, Any] | Any]] = [
    ("/bets/0/stake_minor", bet("a") | {"stake_minor": 0}),
    ("/bets/0/currency", bet("a") | {"currency": "euro"}),
    ("/bets/0/hand", bet("a") | {"hand": ""}),
    ("/bets/0/a~1b~0c", bet("a") | {"a/b~c": 1}),
    ("/bets/0", 7),
]


@pytest.mark.parametrize(("pointer", "wrong"), SHAPES, ids=[pointer for pointer, _ in SHAPES])
def test_a_bet_of_the_wrong_shape_does_not_hide_what_the_others_mean(
    opened: World, pointer: str, wrong: object
) -> None:
    problem = post(
        opened, wrong, bet("b", currency="CHF"), bet("known", stake_minor=3), bet("d", stake_minor=10_001)
    ).problem(422, "validation")

    assert errors_of(problem) == [
        (pointer, "validation"),
        ("/bets/1/currency", "no-rate"),
        ("/bets/2", "bet-conflict"),
        ("/bets/3/stake_minor", "stake-out-of-range"),
    ]
    assert kinds(opened) == []


def without(name: str, **stated: Any) -> dict[str, Any]:
    return {member: value for member, value in bet("a", **stated).items() if member != name}


PARTS: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    ("hand", bet("a", hand="", currency="CHF"), [("currency", "no-rate")]),
    ("hand", bet("a", hand=7, stake_minor=10_001), [("stake_minor", "stake-out-of-range")]),
    ("hand", bet("a", hand="", player_id="player-of-known"), [("hand", "hand-limit")]),
    ("currency", bet("a", currency=None, player_id="player-of-known"), [("hand", "hand-limit")]),
    ("currency", without("currency", stake_minor=10**9), []),
    ("stake_minor", bet("a", stake_minor="1.00", currency="XXX"), [("currency", "unknown-currency")]),
    ("stake_minor", without("stake_minor", occurred_at=AHEAD), [("occurred_at", "occurred-in-future")]),
    ("player_id", bet("a", player_id="", stake_minor=10_001), [("stake_minor", "stake-out-of-range")]),
    ("occurred_at", bet("a", occurred_at="soon", currency="CHF"), [("currency", "no-rate")]),
    ("bet_id", without("bet_id", currency="CHF", player_id="player-of-known"), []),
    ("hnad", without("hand", hnad="2", currency="CHF"), [("currency", "no-rate")]),
]


@pytest.mark.parametrize(
    ("wrong", "sent", "further"), PARTS, ids=[f"{part[0]}-{place}" for place, part in enumerate(PARTS)]
)
def test_a_wrong_field_does_not_hide_what_is_true_whatever_it_would_have_said(
    opened: World, wrong: str, sent: dict[str, Any], further: list[tuple[str, str]]
) -> None:
    problem = post(opened, bet("other"), sent).problem(422, "validation")

    expected = [(f"/bets/1/{wrong}", "validation"), *((f"/bets/1/{name}", code) for name, code in further)]
    assert sorted(errors_of(problem)) == sorted(expected)
    assert kinds(opened) == []


def test_a_bet_without_an_id_is_examined_where_the_round_knows_no_bet(world: World) -> None:
    world.open(base_amount="1000")

    problem = post(world, without("bet_id", currency="CHF"), without("bet_id", stake_minor=10_001)).problem(
        422, "validation"
    )

    assert errors_of(problem) == [
        ("/bets/0/bet_id", "validation"),
        ("/bets/0/currency", "no-rate"),
        ("/bets/1/bet_id", "validation"),
        ("/bets/1/stake_minor", "stake-out-of-range"),
    ]


def test_a_wrong_field_of_a_bet_that_is_booked_may_mean_what_was_booked(opened: World) -> None:
    same = post(opened, bet("known", currency="euro")).problem(422, "validation")
    other = post(opened, bet("known", currency="euro", stake_minor=3)).problem(422, "validation")

    assert errors_of(same) == [("/bets/0/currency", "validation")]
    assert errors_of(other) == [("/bets/0", "bet-conflict"), ("/bets/0/currency", "validation")]
    assert other["errors"][0]["detail"] == "Bet known: stake_minor 100 was booked, 3 was sent."


def test_ids_that_stand_twice_and_hands_too_many_are_found_also_of_bets_of_the_wrong_shape(opened: World) -> None:
    problem = post(
        opened,
        bet("a", player_id="p", stake_minor=0),
        bet("b", player_id="p", currency=""),
        bet("a", player_id="q", currency="euro"),
        bet("c", player_id="r", hand=""),
        bet("d", player_id="r", hand="2"),
    ).problem(422, "validation")

    assert errors_of(problem) == [
        ("/bets/0/bet_id", "duplicate-bet"),
        ("/bets/0/stake_minor", "validation"),
        ("/bets/1/currency", "validation"),
        ("/bets/1/hand", "hand-limit"),
        ("/bets/2/bet_id", "duplicate-bet"),
        ("/bets/2/currency", "validation"),
        ("/bets/3/hand", "validation"),
        ("/bets/4/hand", "hand-limit"),
    ]


def test_a_wrong_hand_may_be_any_other_of_the_player(world: World) -> None:
    world.open(base_amount="1000", settings={"hands_per_player": "2"})
    wrong = [bet("w", player_id="p", hand=""), without("hand", player_id="p", hnad="2")]

    undecided = post(world, *wrong, bet("b", player_id="p", hand="1"), bet("c", player_id="p", hand="2"))
    certain = post(world, bet("b", player_id="p", hand="1"), bet("c", player_id="p", hand="2"), *wrong)

    assert errors_of(undecided.problem(422, "validation")) == [
        ("/bets/0/hand", "validation"),
        ("/bets/1/hnad", "validation"),
    ]
    assert [error for error in errors_of(certain.problem(422, "validation")) if error[1] == "hand-limit"] == [
        ("/bets/2/hand", "hand-limit"),
        ("/bets/3/hand", "hand-limit"),
    ]


def test_a_token_is_held_against_its_currency_also_of_a_bet_whose_stake_is_wrong(world: World) -> None:
    world.open(CYBER, base_amount="1000")

    problem = post(
        world,
        bet("a", currency="GBP", stake_minor=-1),
        bet("b", currency="eur", stake_minor=101),
        bet("c", hand="", stake_minor=101),
    ).problem(422, "validation")

    assert errors_of(problem) == [
        ("/bets/0/currency", "currency-not-accepted"),
        ("/bets/0/stake_minor", "validation"),
        ("/bets/1/currency", "validation"),
        ("/bets/2/hand", "validation"),
        ("/bets/2/stake_minor", "stake-out-of-range"),
    ]


def test_another_game_number_does_not_hide_what_is_wrong_with_bets(opened: World) -> None:
    opened.post_bets(bet("numbered"), round_id="r2", game_number="1").ok(201)

    problem = opened.post_bets(bet("a", currency="CHF"), round_id="r2", game_number="2").problem(
        409, "game-number-conflict", "", "/bets/0/currency"
    )

    assert [error["code"] for error in problem["errors"]] == ["game-number-conflict", "no-rate"]
    assert kinds(opened) == ["game-number-conflict", "no-rate"]


def test_a_batch_in_which_no_bet_has_the_right_shape_names_all(opened: World) -> None:
    problem = post(opened, *({"bet_id": f"b{place}"} for place in range(1200))).problem(422, "validation")

    assert len(problem["errors"]) == 1200 * 3
    assert problem["errors"][-1]["pointer"] == "/bets/1199/stake_minor"


def test_a_wrong_field_next_to_the_bets_is_named_too(opened: World) -> None:
    body = {"bets": [bet("a", currency="CHF")], "occurred_at": "yesterday", "extra": 1}

    problem = opened.send("POST", "T1", "r1/bets", body).problem(422, "validation")

    assert errors_of(problem) == [
        ("/bets/0/currency", "no-rate"),
        ("/extra", "validation"),
        ("/occurred_at", "validation"),
    ]


def test_where_there_is_no_such_table_the_shape_alone_is_named(opened: World) -> None:
    post(opened, bet("a", currency="CHF"), {}, table_id="T9").problem(
        422, "validation", *(f"/bets/1/{name}" for name in ("bet_id", "currency", "player_id", "stake_minor"))
    )


def test_where_the_books_do_not_answer_soon_the_shape_alone_is_named(opened: World) -> None:
    with opened.engine.begin() as other:
        other.exec_driver_sql("SELECT 1 FROM rounds WHERE round_id = 'r1' FOR UPDATE")
        began = time.monotonic()

        post(opened, bet("a", currency="CHF"), bet("b") | {"hand": ""}).problem(422, "validation", "/bets/1/hand")

        assert time.monotonic() - began < 3


def kinds(world: World) -> list[str]:
    return sorted(exception["kind"] for exception in world.books.exceptions())


def test_finance_sees_each_kind_of_refusal_that_a_batch_met(opened: World) -> None:
    post(
        opened,
        bet("a", currency="XXX"),
        bet("b", stake_minor=10_001),
        bet("c", currency="CHF"),
        bet("d", player_id="player-of-known"),
    ).problem(422, "no-rate")

    assert kinds(opened) == ["hand-limit", "no-rate", "stake-out-of-range"]
    assert opened.books.mismatches() == ()


def test_a_repeated_batch_is_one_exception_a_kind(opened: World) -> None:
    for _ in range(2):
        post(opened, bet("known", stake_minor=3), bet("b", stake_minor=10_001)).problem(409, "bet-conflict")

    assert kinds(opened) == ["bet-conflict", "stake-out-of-range"]


def test_a_suspended_jackpot_names_what_is_wrong_with_bets_and_is_seen_by_finance(opened: World) -> None:
    opened.put("/v1/jackpots/j1/suspension", SUSPENSION, key=opened.person("Ann", Role.OPERATOR)).ok(201)

    problem = post(opened, bet("a", currency="CHF")).problem(422, "no-rate", "", "/bets/0/currency")
    misshapen = post(opened, bet("a", hand="")).problem(422, "validation", "", "/bets/0/hand")

    assert problem["errors"][0] == misshapen["errors"][0]
    assert misshapen["detail"].startswith(
        "the body: Jackpot j1 takes no bets now; /bets/0/hand must be 1 to 64 letters"
    )
    assert problem["errors"][0] == {
        "pointer": "",
        "code": "jackpot-suspended",
        "detail": "Jackpot j1 takes no bets now.",
    }
    assert kinds(opened) == ["jackpot-suspended", "no-rate"]
    assert opened.books.mismatches() == ()


def test_a_suspension_alone_points_at_no_place_and_refuses_no_bet_that_is_known(opened: World) -> None:
    opened.put("/v1/jackpots/j1/suspension", SUSPENSION, key=opened.person("Ann", Role.OPERATOR)).ok(201)

    assert "errors" not in post(opened, bet("a")).problem(409, "jackpot-suspended")
    post(opened, bet("known", stake_minor=3)).problem(409, "bet-conflict", "/bets/0")
    post(opened, bet("known", currency="euro")).problem(422, "validation", "/bets/0/currency")
