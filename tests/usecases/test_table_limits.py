"""Limits of single tables: never looser than the jackpot's, and in force for the next bet."""

from typing import Any

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.fixtures import books_verify
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, hand
from tests.support.world import CYBER, World
from tests.usecases.test_stripes import spread

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]


@pytest.fixture
def opened(world: World) -> World:
    """Stakes of EUR 1.00 to 100.00, at two tables of one casino and one of another."""
    world.open(base_amount="1000", settings={"least_stake": "1"}, tables=("T1", "T2"))
    world.add_casino("c2")
    world.add_table("T3", jackpot_id="j1", casino_id="c2")
    return world


def limit(world: World, request_id: str, *, table_id: str = "T1", jackpot_id: str = "j1", **limits: str) -> Body:
    payload = {"jackpot_id": jackpot_id, "table_id": table_id, **limits}
    return world.change("table-limits", payload, request_id=request_id)


def test_what_was_taken_before_a_table_was_tightened_stands_and_wins(opened: World) -> None:
    opened.bet(bet("a", stake_minor=5000))
    limit(opened, "q1", largest_stake="20")
    opened.bet(bet("b", hand="2", stake_minor=2000))
    limit(opened, "q2", largest_stake="10")

    (award,) = opened.settle(hand("1", FLUSH), hand("2", NOTHING))["awards"]

    assert award["amount_minor"] == 25 * 5000
    assert [entry["limits"] for entry in opened.round()["entries"]] == [
        None,
        {"token": None, "least_stake": None, "largest_stake": "20"},
        None,
    ]


def test_a_token_of_a_table_is_its_only_stake_in_the_base_currency(opened: World) -> None:
    limit(opened, "q1", token="5")

    for stake_minor in (499, 501, 1000):
        problem = opened.post_bets(bet(stake_minor=stake_minor)).problem(422, "stake-out-of-range")
        assert problem["detail"] == "This table takes exactly its token of 5 EUR on a hand."
    opened.post_bets(bet(currency="GBP", stake_minor=500)).problem(422, "currency-not-accepted")
    opened.bet(bet(stake_minor=500))


def test_bounds_of_a_table_hold_in_every_currency(opened: World) -> None:
    """A pound is worth EUR 1.17."""
    limit(opened, "q1", least_stake="2", largest_stake="20")

    for stake_minor in (170, 1710):
        opened.post_bets(bet(currency="GBP", stake_minor=stake_minor)).problem(422, "stake-out-of-range")
    opened.bet(bet("a", currency="GBP", stake_minor=171), bet("b", hand="2", currency="GBP", stake_minor=1709))


@pytest.mark.parametrize(
    ("limits", "bound"),
    [
        ({"largest_stake": "100.01"}, "largest_stake"),
        ({"least_stake": "0.99"}, "least_stake"),
        ({"token": "0.50"}, "least_stake"),
        ({"token": "101"}, "largest_stake"),
        ({"least_stake": "101"}, "largest_stake"),
        ({"largest_stake": "0.5"}, "least_stake"),
    ],
)
def test_a_table_is_never_looser_than_its_jackpot(opened: World, limits: dict[str, str], bound: str) -> None:
    payload = {"jackpot_id": "j1", "table_id": "T1", **limits}

    assert bound in opened.ask("table-limits", payload).problem(422, "table-limits-looser")
    assert opened.get("/v1/jackpots/j1/table-limits").ok()["tables"] == []


def test_where_a_token_is_the_jackpots_stake_no_table_takes_another(world: World) -> None:
    world.open(CYBER)

    payload = {"jackpot_id": "j1", "table_id": "T1", "token": "2"}
    world.ask("table-limits", payload).problem(422, "table-limits-looser")


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"token": "0"},
        {"token": "-1"},
        {"least_stake": "1000000000000000"},
        {"largest_stake": "1.00001"},
        {"token": "5", "least_stake": "2"},
        {"least_stake": "3", "largest_stake": "2"},
        {"token": "5.001"},
    ],
)
def test_limits_that_no_stake_can_keep_are_refused(opened: World, limits: dict[str, str]) -> None:
    payload: dict[str, Any] = {"jackpot_id": "j1", "table_id": "T1", **limits}
    opened.ask("table-limits", payload).problem(422, "table-limits-invalid")


def test_a_table_of_another_jackpot_or_of_none_is_unknown(opened: World) -> None:
    opened.open(jackpot_id="j2", tables=("T9",))
    for table_id in ("T9", "none"):
        payload = {"jackpot_id": "j1", "table_id": table_id, "largest_stake": "20"}
        opened.ask("table-limits", payload).problem(404, "table-unknown")


def test_one_person_alone_limits_no_table(opened: World) -> None:
    payload = {"jackpot_id": "j1", "table_id": "T1", "largest_stake": "20"}
    opened.ask("table-limits", payload).ok(201)
    opened.approve(by="Ann").problem(403, "same-user")

    opened.bet(bet(stake_minor=10_000))


def test_limits_are_taken_away_by_a_change_that_states_none(opened: World) -> None:
    limit(opened, "q1", largest_stake="20")
    limit(opened, "q2", table_id="T2", token="5")
    limit(opened, "q3")

    opened.bet(bet(stake_minor=10_000))
    assert opened.round()["entries"][0]["limits"] is None
    opened.post_bets(bet(stake_minor=10_000), table_id="T2").problem(422, "stake-out-of-range")


def test_the_limits_in_force_are_listed_to_each_key_for_its_tables(opened: World) -> None:
    assert opened.get("/v1/jackpots/j1/table-limits").ok() == {"jackpot_id": "j1", "currency": "EUR", "tables": []}
    limit(opened, "q1", largest_stake="50")
    limit(opened, "q2", table_id="T3", token="5")
    limit(opened, "q3", largest_stake="20")

    first = {"table_id": "T1", "version": 3, "limits": {"token": None, "least_stake": None, "largest_stake": "20"}}
    two = {"table_id": "T3", "version": 2, "limits": {"token": "5", "least_stake": None, "largest_stake": None}}
    path = "/v1/jackpots/j1/table-limits"
    assert opened.get(path).ok()["tables"] == [first, two]
    assert opened.get(path, key=opened.key(Role.TABLE)).ok()["tables"] == [first]
    assert opened.get(path, key=opened.key(Role.FINANCE, casino_id="c2")).ok()["tables"] == [two]
    opened.get("/v1/jackpots/none/table-limits").problem(404, "jackpot-unknown")


def test_a_stripe_that_is_added_later_keeps_the_limits(opened: World) -> None:
    limit(opened, "q1", largest_stake="20")
    spread(opened, 8)

    for number in range(20):
        opened.bet(bet(stake_minor=2000), round_id=f"r{number}")


def test_a_tighter_jackpot_binds_a_table_whose_own_limits_are_wider(opened: World) -> None:
    limit(opened, "q1", largest_stake="80")
    opened.change("rules", {"jackpot_id": "j1", "settings": {"largest_stake": "50"}}, request_id="q2")
    opened.bet(bet(), round_id="hit")
    opened.settle(hand("1", ROYAL_FLUSH), round_id="hit")

    opened.post_bets(bet(stake_minor=5001), round_id="new").problem(422, "stake-out-of-range")
    opened.bet(bet(stake_minor=5000), round_id="new")


def test_the_events_of_limits_are_seen_by_keys_of_the_table_and_its_casino(opened: World) -> None:
    keys = {
        "house": opened.key(Role.AUDITOR),
        "casino": opened.key(Role.FINANCE, casino_id="c2"),
        "table": opened.key(Role.TABLE, casino_id="c2", table_ids=("T3",)),
        "other table": opened.key(Role.TABLE, casino_id="c1", table_ids=("T2",)),
        "other casino": opened.key(Role.FINANCE, casino_id="c1"),
    }
    limit(opened, "q1", table_id="T3", token="5")

    by_reader = {
        name: [
            event["data"]["limits"]
            for event in opened.get("/v1/events", key=key).ok()["items"]
            if "limits" in event["data"]
        ]
        for name, key in keys.items()
    }

    seen = [{"version": 1, "document": {"token": "5"}}]
    assert by_reader == {"house": seen, "casino": seen, "table": seen, "other table": [], "other casino": []}
