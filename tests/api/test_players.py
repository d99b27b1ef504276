"""A player's bets and awards: all of them and each once, the latest first, and to each key those of its casino."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import psycopg
import pytest

from jackpot_service.api.awards import AwardsQuerySchema
from jackpot_service.api.players import PlayersBetsQuerySchema
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Role
from tests.support.bets import bet
from tests.support.cursors import forged
from tests.support.fixtures import books_verify
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, hand
from tests.support.logins import owner_conninfo
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]

BETS: Final = "/v1/players/pat/bets"


@pytest.fixture
def opened(world: World) -> World:
    """Two jackpots, and two casinos at the first one; a player may bet on three hands."""
    world.open(base_amount="1000", settings={"hands_per_player": "3"}, tables=("T1",))
    world.open(jackpot_id="j2", base_amount="1000", settings={"hands_per_player": "3"}, tables=("T2",))
    world.add_casino("c2")
    world.add_table("T3", jackpot_id="j1", casino_id="c2")
    return world


def by_pat(bet_id: str = "b1", **stated: Any) -> dict[str, Any]:
    return bet(bet_id, player_id="pat", **stated)


def ids(listed: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(item["round"]["round_id"], item["bet_id"]) for item in listed["items"]]


def test_a_bet_is_shown_as_it_was_sent_with_its_round_and_its_times(opened: World) -> None:
    opened.bet(by_pat(hand="3", currency="GBP", stake_minor=250), bet("b2"))

    (item,) = opened.get(BETS).ok()["items"]
    record = opened.round()
    (entry,) = record["entries"]
    (booked, _) = record["bets"]

    assert item == {
        **{name: value for name, value in booked.items() if name != "contribution"},
        "received_at": entry["received_at"],
        "booked_at": entry["booked_at"],
        "round": {
            "jackpot_id": "j1",
            "casino_id": "c1",
            "table_id": "T1",
            "round_id": "r1",
            "state": "open",
            "opened_at": record["opened_at"],
            "game_number": None,
        },
    }
    assert (item["player_id"], item["hand"], item["currency"], item["stake_minor"]) == ("pat", "3", "GBP", 250)


def test_bets_of_all_jackpots_are_listed_and_those_of_the_latest_rounds_come_first(opened: World) -> None:
    for round_id, table_id in (("r1", "T1"), ("r2", "T2"), ("r3", "T3")):
        opened.bet(by_pat("b1"), by_pat("b2", hand="2"), bet("b3", hand="3"), round_id=round_id, table_id=table_id)

    assert ids(opened.get(BETS).ok()) == [(f"r{number}", f"b{bet_}") for number in (3, 2, 1) for bet_ in (2, 1)]
    assert ids(opened.get(f"{BETS}?jackpot_id=j2").ok()) == [("r2", "b2"), ("r2", "b1")]
    assert ids(opened.get(f"{BETS}?casino_id=c2").ok()) == [("r3", "b2"), ("r3", "b1")]


def test_a_void_bet_is_shown_as_such_and_the_state_of_its_round_as_it_is(opened: World) -> None:
    opened.bet(by_pat("b1"), by_pat("b2", hand="2"))
    opened.void("b1")
    opened.settle(hand("2", NOTHING))

    items = opened.get(BETS).ok()["items"]

    assert [(item["bet_id"], item["is_void"], item["round"]["state"]) for item in items] == [
        ("b2", False, "settled"),
        ("b1", True, "settled"),
    ]


def test_a_void_that_came_before_its_bet_shows_no_bet(opened: World) -> None:
    opened.void("b1")
    opened.post_bets(by_pat("b1")).ok(200)

    assert opened.get(BETS).ok() == {"items": [], "next": None}


def test_a_player_without_bets_has_an_empty_list(opened: World) -> None:
    opened.bet(bet())

    assert opened.get(BETS).ok() == {"items": [], "next": None}
    assert opened.get("/v1/awards?player_id=pat").ok() == {"items": [], "next": None}


def test_a_key_of_a_casino_sees_what_the_player_did_there_and_nothing_else(opened: World) -> None:
    for table_id in ("T1", "T3"):
        opened.bet(by_pat(), round_id=f"at-{table_id}", table_id=table_id)
        opened.settle(hand("1", FLUSH), round_id=f"at-{table_id}", table_id=table_id)

    for casino_id, seen in (("c1", ["at-T1"]), ("c2", ["at-T3"])):
        key = opened.key(Role.FINANCE, casino_id=casino_id)
        bets = opened.get(BETS, key=key).ok()
        awards = opened.get("/v1/awards?player_id=pat", key=key).ok()
        assert [round_id for round_id, _ in ids(bets)] == seen
        assert [award["round_id"] for award in awards["items"]] == seen
    foreign = opened.get(f"{BETS}?casino_id=c1", key=opened.key(Role.FINANCE, casino_id="c2")).ok()
    assert foreign == {"items": [], "next": None}


def test_finance_operators_and_auditors_see_a_players_bets_and_no_other_role_does(opened: World) -> None:
    seen = {role for role in Role if opened.get(BETS, role=role).status == 200}

    assert seen == {Role.FINANCE, Role.OPERATOR, Role.AUDITOR}
    for role in set(Role) - seen:
        opened.get(BETS, role=role).problem(403, "role-forbidden")


def test_pages_together_are_the_list_while_bets_come_in(opened: World, subtests: pytest.Subtests) -> None:
    for number in range(3):
        opened.bet(*(by_pat(f"b{bet_}", hand=str(bet_)) for bet_ in range(1, 4)), round_id=f"r{number}")
        opened.clock.advance(timedelta(days=number * 3))
    before = ids(opened.get(BETS).ok())
    assert len(before) == 9

    for limit in (1, 2, 4, 9):
        with subtests.test(f"{limit} a page"):
            listed, query = [], f"?limit={limit}"
            while True:
                page = opened.get(f"{BETS}{query}").ok()
                listed += ids(page)
                assert len(page["items"]) <= limit
                if page["next"] is None:
                    break
                query = f"?limit={limit}&after={page['next']}"
                opened.bet(by_pat(), round_id=f"new-{limit}-{len(listed)}")

            old = [row for row in listed if not row[0].startswith("new")]
            assert old == before
            assert len(set(listed)) == len(listed)


def test_a_bet_of_years_ago_is_found(opened: World) -> None:
    opened.bet(by_pat())
    opened.clock.advance(timedelta(days=2000))

    assert ids(opened.get(BETS).ok()) == [("r1", "b1")]


def test_a_period_is_of_the_rounds_openings_and_half_open(opened: World) -> None:
    edges = []
    for number in range(3):
        opened.clock.advance(timedelta(days=1))
        edges.append(instant(opened.clock.at))
        opened.bet(by_pat(), round_id=f"r{number}")

    assert ids(opened.get(f"{BETS}?from={edges[1]}&to={edges[2]}").ok()) == [("r1", "b1")]
    assert [round_id for round_id, _ in ids(opened.get(f"{BETS}?from={edges[1]}").ok())] == ["r2", "r1"]
    assert [round_id for round_id, _ in ids(opened.get(f"{BETS}?to={edges[1]}").ok())] == ["r0"]
    ahead = instant(opened.clock() + timedelta(days=400))
    assert ids(opened.get(f"{BETS}?from={ahead}").ok()) == []


@pytest.mark.parametrize(
    ("path", "member"),
    [
        (f"{BETS}?limit=0", "limit"),
        (f"{BETS}?limit=201", "limit"),
        (f"{BETS}?after=k1", "after"),
        (f"{BETS}?after=k1.%20", "after"),
        (f"{BETS}?casino_id=%20", "casino_id"),
        (f"{BETS}?from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z", "to"),
        (f"{BETS}?player_id=pat", "player_id"),
        ("/v1/awards?player_id=a%20b", "player_id"),
    ],
)
def test_a_wrong_query_is_refused_by_the_name_of_what_is_wrong(opened: World, path: str, member: str) -> None:
    opened.get(path).problem(422, "validation", f"?{member}")


def test_the_last_place_that_a_cursor_can_name_is_before_all(opened: World) -> None:
    opened.bet(by_pat())
    opened.settle(hand("1", FLUSH))

    for path, schema in ((f"{BETS}?", PlayersBetsQuerySchema), ("/v1/awards?player_id=pat&", AwardsQuerySchema)):
        before_all = forged(opened, path, schema, "k7fffffffffffffff.z")
        assert len(opened.get(f"{path}after={before_all}").ok()["items"]) == 1


def test_what_is_no_id_is_refused_in_a_path_as_in_a_query(opened: World) -> None:
    in_path = opened.get("/v1/players/a%20b/bets").problem(422, "validation", "?player_id")
    in_query = opened.get("/v1/awards?player_id=a%20b").problem(422, "validation", "?player_id")

    assert in_path["errors"] == in_query["errors"]


def test_awards_are_listed_of_one_player_in_pages_and_in_the_lists_other_bounds(opened: World) -> None:
    for number in range(3):
        opened.bet(by_pat("b1"), bet("b2", hand="2"), round_id=f"r{number}")
        opened.settle(hand("1", FLUSH), hand("2", FOUR_OF_A_KIND), round_id=f"r{number}")
        opened.clock.advance(timedelta(days=number * 3))
    path = "/v1/awards?player_id=pat"

    listed = opened.get(path).ok()["items"]
    first = opened.get(f"{path}&limit=2").ok()
    second = opened.get(f"{path}&limit=2&after={first['next']}").ok()

    assert [(award["round_id"], award["bet_id"]) for award in listed] == [("r2", "b1"), ("r1", "b1"), ("r0", "b1")]
    assert first["items"] + second["items"] == listed
    assert second["next"] is None
    assert opened.get(f"{path}&state=payable&jackpot_id=j1&casino_id=c1").ok()["items"] == listed
    for other in ("state=held", "jackpot_id=j2", "casino_id=c2"):
        assert opened.get(f"{path}&{other}").ok()["items"] == []


def test_a_history_that_takes_too_long_says_so(database_url: str) -> None:
    world = World(database_url, lock_timeout_ms=50)
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        owner.execute("LOCK TABLE bets IN ACCESS EXCLUSIVE MODE")
        for path in (BETS, "/v1/awards?player_id=pat"):
            problem = world.get(path).problem(503, "history-took-too-long")
            assert problem["retryable"] is True
    world.close()
