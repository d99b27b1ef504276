"""The game number of a round: said by the table, shown to players, and what customer service looks for."""

from datetime import timedelta
from typing import Any, Final

import pytest

from jackpot_service.domain.principals import Role
from tests.support.bets import bet
from tests.support.fixtures import books_verify
from tests.support.hands import FLUSH, NOTHING, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]

NUMBER: Final = "21:10:10"
"""The example of the Live rulebook: when the round began, in GMT."""


@pytest.fixture
def opened(world: World) -> World:
    """Two jackpots, and two casinos at the first one."""
    world.open(base_amount="1000", tables=("T1",))
    world.open(jackpot_id="j2", base_amount="1000", tables=("T2",))
    world.add_casino("c2")
    world.add_table("T3", jackpot_id="j1", casino_id="c2")
    return world


def listed(world: World, query: str = "", **more: Any) -> list[str]:
    items = world.get(f"/v1/rounds?game_number={NUMBER}{query}", **more).ok()["items"]
    return [item["round_id"] for item in items]


def kinds(world: World) -> list[str]:
    return [item["kind"] for item in world.get("/v1/exceptions").ok()["items"]]


def test_the_game_number_that_the_bets_say_is_shown_in_every_record_of_the_round(opened: World) -> None:
    answer = opened.post_bets(bet(player_id="pat"), game_number=NUMBER).ok(201)

    assert answer["round"]["game_number"] == NUMBER
    assert opened.round()["round"]["game_number"] == NUMBER
    (played,) = opened.get("/v1/players/pat/bets").ok()["items"]
    assert played["round"]["game_number"] == NUMBER
    sections = opened.get("/v1/reports/rounds?jackpot_id=j1").ok()["sections"]
    assert [row["game_number"] for section in sections if section["name"] == "rounds" for row in section["rows"]] == [
        NUMBER
    ]


def test_a_later_batch_or_the_result_may_be_the_first_that_says_it(opened: World) -> None:
    opened.bet(bet())
    opened.post_bets(bet("b2", hand="2"), game_number=NUMBER).ok(201)
    assert opened.round()["round"]["game_number"] == NUMBER

    opened.bet(bet(), round_id="r2")
    answer = opened.put_result(hand("1", NOTHING), round_id="r2", game_number=NUMBER).ok(201)
    assert answer["round"]["game_number"] == NUMBER

    assert listed(opened) == ["r2", "r1"]


def test_a_round_without_any_has_none(opened: World) -> None:
    opened.bet(bet())

    assert opened.round()["round"]["game_number"] is None
    assert listed(opened) == []


def test_a_repeated_call_may_say_it_again(opened: World) -> None:
    opened.post_bets(bet(), game_number=NUMBER).ok(201)
    opened.post_bets(bet(), game_number=NUMBER).ok(200)
    opened.post_bets(bet("b2", hand="2"), game_number=NUMBER).ok(201)
    for status in (201, 200):
        opened.put_result(hand("1", NOTHING), hand("2", FLUSH), bet_count=2, game_number=NUMBER).ok(status)


def test_another_game_number_is_refused_and_finance_sees_it(opened: World) -> None:
    opened.post_bets(bet(), game_number=NUMBER).ok(201)

    for refused in (
        opened.post_bets(bet(), game_number="21:11:40"),
        opened.post_bets(bet("b2", hand="2"), game_number="21:11:40"),
        opened.put_result(hand("1", NOTHING), game_number="21:11:40"),
    ):
        problem = refused.problem(409, "game-number-conflict")
        assert (problem["table_id"], problem["round_id"], problem["game_number"]) == ("T1", "r1", NUMBER)

    assert opened.round()["round"]["bet_count"] == 1
    assert set(kinds(opened)) == {"game-number-conflict"}


def test_a_repeated_call_that_books_nothing_adds_no_game_number(opened: World) -> None:
    opened.bet(bet())

    assert opened.post_bets(bet(), game_number=NUMBER).ok(200)["round"]["game_number"] is None
    assert listed(opened) == []


@pytest.mark.parametrize("number", ["", "21:10:10 ", "a b", "x" * 65, 211010, ["21:10:10"]])
def test_a_game_number_is_written_as_an_id_is(opened: World, number: object) -> None:
    opened.post_bets(bet(), game_number=number).problem(422, "validation")
    opened.put_result(game_number=number).problem(422, "validation")


def test_rounds_of_a_game_number_are_found_at_all_tables_the_latest_first(opened: World) -> None:
    for round_id, table_id in (("r1", "T1"), ("r2", "T2"), ("r3", "T3"), ("r4", "T1")):
        opened.clock.advance(timedelta(minutes=1))
        opened.post_bets(bet(), round_id=round_id, table_id=table_id, game_number=NUMBER).ok(201)
    opened.post_bets(bet(), round_id="other", game_number="21:10:1").ok(201)

    assert listed(opened) == ["r4", "r3", "r2", "r1"]
    assert listed(opened, "&jackpot_id=j1") == ["r4", "r3", "r1"]
    assert listed(opened, "&table_id=T1") == ["r4", "r1"]
    assert listed(opened, "&casino_id=c2") == ["r3"]
    assert listed(opened, key=opened.key(Role.FINANCE, casino_id="c2")) == ["r3"]


def test_every_round_is_on_one_page(opened: World) -> None:
    for round_id, table_id in (("r1", "T1"), ("r2", "T2"), ("r3", "T3")):
        opened.post_bets(bet(), round_id=round_id, table_id=table_id, game_number=NUMBER).ok(201)
    page = opened.get(f"/v1/rounds?game_number={NUMBER}&limit=1").ok()
    listed = [*page["items"]]
    while page["next"] is not None:
        page = opened.get(f"/v1/rounds?game_number={NUMBER}&limit=1&after={page['next']}").ok()
        listed += page["items"]

    assert sorted(item["round_id"] for item in listed) == ["r1", "r2", "r3"]


def test_the_game_number_of_another_day_is_told_apart_by_the_period(opened: World) -> None:
    opened.post_bets(bet(), round_id="yesterday", game_number=NUMBER).ok(201)
    opened.clock.advance(timedelta(days=1))
    today = opened.clock().isoformat().replace("+00:00", "Z")
    opened.post_bets(bet(), round_id="today", game_number=NUMBER).ok(201)

    assert listed(opened) == ["today", "yesterday"]
    assert listed(opened, f"&from={today}") == ["today"]
    assert listed(opened, f"&to={today}") == ["yesterday"]
