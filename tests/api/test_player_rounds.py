"""A player's own part of a round: the bets, awards and refunds of one player, and nothing of anybody else's."""

from typing import Any, Final

import pytest

from jackpot_service.domain.principals import Role
from tests.support import correcting
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.fixtures import books_verify
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, STRAIGHT, dead, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]

ROUND: Final = "/v1/tables/T1/rounds/r1"


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000", settings={"hands_per_player": "3"})
    return world


def by(player_id: str, *bet_ids: str, first_hand: int = 1) -> list[Body]:
    """Bets of a player, each on a hand of its own, with the player's name in their ids."""
    return [
        bet(f"{player_id}-{bet_id}", player_id=player_id, hand=str(number))
        for number, bet_id in enumerate(bet_ids, first_hand)
    ]


def part(world: World, player_id: str, **more: Any) -> Body:
    return world.get(f"{ROUND}?player_id={player_id}", **more).ok()


def test_of_a_settled_round_a_player_has_the_own_bets_and_awards_with_the_rounds_figures(opened: World) -> None:
    opened.bet(*by("pat", "a", "b"), *by("sue", "a"), *by("tim", "a", first_hand=2))
    opened.settle(hand("1", ROYAL_FLUSH), hand("2", FLUSH))
    whole = opened.get(ROUND).ok()

    own = part(opened, "pat")

    assert [bet["bet_id"] for bet in own["bets"]] == ["pat-a", "pat-b"]
    assert {award["player_id"] for award in own["settlement"]["awards"]} == {"pat"}
    assert len(own["settlement"]["awards"]) < len(whole["settlement"]["awards"])
    assert {entitlement["bet_id"] for entitlement in own["settlement"]["entitlements"]} <= {"pat-a", "pat-b"}
    same = ("round", "opened_at", "hands", "dealer", "result", "rules", "rate_sheet")
    assert {name: own[name] for name in same} == {name: whole[name] for name in same}
    assert own["settlement"]["total_stake_base"] == "4"
    assert_nothing_of_others(own, "sue", "tim")


def assert_nothing_of_others(own: Body, *other_players: str) -> None:
    assert not [name for name in other_players if name in str(own)]


def test_of_the_entries_a_player_has_those_of_own_bets_and_those_of_the_whole_round(opened: World) -> None:
    for name in ("sue", "pat", "tim"):
        opened.bet(*by(name, "a", "b"))
    opened.void("pat-b", "sue-b", "tim-unknown")
    opened.void("tim-b")
    opened.put_closing().ok(201)
    opened.settle(hand("1", NOTHING), hand("2", FLUSH))

    own = part(opened, "pat")

    assert [(entry["kind"], entry["step"]) for entry in own["entries"]] == [
        ("bets", 2),
        ("voids", 4),
        ("closing", 6),
        ("result", 7),
    ]
    assert own["entries"][1]["stated"] | {"occurred_at": None} == {
        "voided": ["pat-b"],
        "tombstones": [],
        "occurred_at": None,
        "reason": None,
    }
    assert [(bet["bet_id"], bet["is_void"]) for bet in own["bets"]] == [("pat-a", False), ("pat-b", True)]
    assert own["tombstones"] == []
    assert_nothing_of_others(own, "sue", "tim")


def test_refunds_of_dead_hands_are_the_players_own(opened: World) -> None:
    opened.bet(*by("pat", "a"), *by("sue", "a"))
    opened.settle(dead("1"))

    own = part(opened, "pat")

    assert [refund["bet_id"] for refund in own["settlement"]["refunds"]] == ["pat-a"]
    assert_nothing_of_others(own, "sue")


def test_a_correction_shows_what_became_of_the_players_own_awards(opened: World) -> None:
    opened.bet(*by("pat", "a"), *by("sue", "a"))
    opened.settle(hand("1", FLUSH))
    correcting.correct(opened, hand("1", STRAIGHT), round_id="r1", request_id="corrected")

    (correction,) = part(opened, "pat")["corrections"]

    assert [(award["bet_id"], award["tier"]) for award in correction["awards"]] == [("pat-a", "straight")]
    assert [award["bet_id"] for award in correction["verdict"]["awards"]] == ["pat-a"]
    assert [item["bet_id"] for item in correction["verdict"]["reversed"]] == ["pat-a"]
    assert_nothing_of_others(part(opened, "pat"), "sue")


def test_of_a_cancelled_round_a_player_has_the_own_compensations(opened: World) -> None:
    opened.bet(*by("pat", "a"), *by("sue", "a"))
    opened.put_cancellation(hands=[hand("1", FLUSH)]).ok(201)
    for name in ("pat", "sue"):
        compensation = {
            "table_id": "T1",
            "round_id": "r1",
            "bet_id": f"{name}-a",
            "amount_minor": 2500,
            "document": "minutes",
        }
        opened.change("compensation", {"jackpot_id": "j1", "currency": "EUR", **compensation}, request_id=f"for-{name}")

    own = part(opened, "pat")

    assert [(compensation["bet_id"], compensation["amount_minor"]) for compensation in own["compensations"]] == [
        ("pat-a", 2500)
    ]
    assert own["cancellation"]["reason"] == "misdeal"
    assert_nothing_of_others(own, "sue")


def test_one_of_five_hundred_players_has_a_small_record(opened: World) -> None:
    everybody = [round_ for number in range(500) for round_ in by(f"p{number:03}", "a")]
    opened.bet(*everybody)
    opened.settle(hand("1", FLUSH))

    whole, own = opened.get(ROUND), opened.get(f"{ROUND}?player_id=p007")

    assert len(own.ok()["bets"]) == len(own.body["settlement"]["awards"]) == 1
    assert len(own.text) * 20 < len(whole.text)
    assert_nothing_of_others(own.body, *(f"p{number:03}" for number in range(500) if number != 7))


def test_a_player_without_a_bet_has_empty_lists(opened: World) -> None:
    opened.bet(*by("pat", "a"))
    opened.settle(hand("1", FLUSH))

    own = part(opened, "nobody")

    assert (own["bets"], own["settlement"]["awards"], own["settlement"]["refunds"]) == ([], [], [])
    assert [entry["kind"] for entry in own["entries"]] == ["result"]
    assert_nothing_of_others(own, "pat")


def test_a_foreign_round_is_unknown_and_a_wrong_query_is_refused(opened: World) -> None:
    opened.bet(*by("pat", "a"))
    opened.add_casino("c2")
    stranger = opened.key(Role.FINANCE, casino_id="c2")

    opened.get(f"{ROUND}?player_id=pat", key=stranger).problem(404, "table-unknown")
    opened.get("/v1/tables/T1/rounds/r9?player_id=pat").problem(404, "round-unknown")
    opened.get(f"{ROUND}?player_id=a%20b").problem(422, "validation", "?player_id")
    opened.get(f"{ROUND}?player=pat").problem(422, "validation", "?player")
    assert part(opened, "pat", key=opened.key(Role.TABLE))["bets"][0]["bet_id"] == "pat-a"
