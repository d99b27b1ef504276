"""Rounds of all tables: those that wait for their end, and those with some bet; each key finds those of its own."""

from datetime import timedelta
from typing import Any, Final

import psycopg
import pytest

from jackpot_service.api.round_search import RoundSearchQuerySchema
from jackpot_service.domain.principals import Role
from tests.support.bets import bet
from tests.support.cursors import forged
from tests.support.fixtures import books_verify
from tests.support.hands import FLUSH, NOTHING, hand
from tests.support.logins import owner_conninfo
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]

ROUNDS: Final = "/v1/rounds"


@pytest.fixture
def opened(world: World) -> World:
    """Two jackpots, and two casinos at the first one; a player may bet on three hands."""
    world.open(base_amount="1000", settings={"hands_per_player": "3"}, tables=("T1", "T4"))
    world.open(jackpot_id="j2", base_amount="1000", tables=("T2",))
    world.add_casino("c2")
    world.add_table("T3", jackpot_id="j1", casino_id="c2")
    return world


@pytest.fixture
def played(opened: World) -> World:
    """Six rounds, a minute apart: two wait for bets, one for its result, and three are over."""
    for number, table_id in enumerate(("T1", "T1", "T2", "T3", "T4", "T1"), 1):
        opened.clock.advance(timedelta(minutes=1))
        opened.bet(bet(f"b{number}"), bet("each", player_id="pat", hand="2"), round_id=f"r{number}", table_id=table_id)
    opened.put_closing(round_id="r1").ok(201)
    opened.settle(hand("1", NOTHING), hand("2", FLUSH), round_id="r2")
    opened.cancel(round_id="r3", table_id="T2")
    opened.cancel(round_id="r6")
    return opened


def rounds_listed(world: World, query: str = "", **more: Any) -> list[str]:
    listed = world.get(f"{ROUNDS}?{query}", **more).ok()
    assert listed["next"] is None
    return [item["round_id"] for item in listed["items"]]


def test_a_round_is_shown_with_its_terms_and_its_live_bets(opened: World) -> None:
    opened.bet(bet("b1", currency="GBP"), bet("b2", hand="2"))
    opened.void("b2")
    record = opened.round()

    (item,) = opened.get(ROUNDS).ok()["items"]

    assert item == {
        "jackpot_id": "j1",
        "casino_id": "c1",
        "table_id": "T1",
        "round_id": "r1",
        "state": "open",
        "opened_at": record["opened_at"],
        "game_number": None,
        "rules_version": 1,
        "rate_sheet": 1,
        "bet_count": 1,
        "total_stake_base": "1.17",
    }


ASKED: Final[tuple[tuple[str, list[str]], ...]] = (
    ("", ["r6", "r5", "r4", "r3", "r2", "r1"]),
    ("ended=false", ["r5", "r4", "r1"]),
    ("ended=true", ["r6", "r3", "r2"]),
    ("state=open", ["r5", "r4"]),
    ("state=closed", ["r1"]),
    ("state=settled", ["r2"]),
    ("state=cancelled", ["r6", "r3"]),
    ("state=open&ended=false", ["r5", "r4"]),
    ("state=open&ended=true", []),
    ("table_id=T1", ["r6", "r2", "r1"]),
    ("table_id=T1&ended=false", ["r1"]),
    ("table_id=T1&state=cancelled", ["r6"]),
    ("table_id=T9", []),
    ("casino_id=c2", ["r4"]),
    ("casino_id=c1&ended=false", ["r5", "r1"]),
    ("casino_id=c2&table_id=T1", []),
    ("jackpot_id=j2", ["r3"]),
    ("jackpot_id=j1&ended=false", ["r5", "r4", "r1"]),
    ("jackpot_id=j9", []),
    ("bet_id=b2", ["r2"]),
    ("bet_id=b5", ["r5"]),
    ("bet_id=b5&ended=false", ["r5"]),
    ("bet_id=b2&ended=false", []),
    ("bet_id=each&table_id=T1", ["r6", "r2", "r1"]),
    ("bet_id=each&casino_id=c1&ended=true", ["r6", "r3", "r2"]),
    ("bet_id=each&jackpot_id=j2", ["r3"]),
    ("bet_id=b9", []),
    ("player_id=pat", ["r6", "r5", "r4", "r3", "r2", "r1"]),
    ("player_id=pat&ended=false&table_id=T1", ["r1"]),
    ("player_id=pat&state=cancelled", ["r6", "r3"]),
    ("player_id=player-of-b4", ["r4"]),
    ("player_id=pat&bet_id=each&table_id=T4", ["r5"]),
    ("player_id=pat&bet_id=b4", []),
    ("player_id=pat&bet_id=b5&ended=false", []),
    ("player_id=nobody", []),
)
"""What is asked for, and the rounds that are found, the latest first."""


def test_rounds_are_found_by_state_table_casino_jackpot_bet_and_player(
    played: World, subtests: pytest.Subtests
) -> None:
    for query, expected in ASKED:
        with subtests.test(query):
            assert rounds_listed(played, query) == expected


def test_a_void_bet_is_a_bet_of_its_round(opened: World) -> None:
    opened.bet(bet("b1", player_id="pat"))
    opened.void("b1")

    for query in ("bet_id=b1", "player_id=pat", "bet_id=b1&ended=false"):
        assert rounds_listed(opened, query) == ["r1"]


def test_a_round_is_older_than_the_time_since_its_opening(played: World) -> None:
    played.clock.advance(timedelta(hours=1))

    assert rounds_listed(played, "ended=false&older_than=3600") == ["r5", "r4", "r1"]
    assert rounds_listed(played, "ended=false&older_than=3720") == ["r4", "r1"]
    assert rounds_listed(played, "ended=false&older_than=3900") == ["r1"]
    assert rounds_listed(played, "older_than=7200") == []
    assert rounds_listed(played, "older_than=1000000000") == []
    assert rounds_listed(played, "bet_id=each&older_than=3900") == ["r1"]


def test_a_period_is_of_the_openings_and_goes_together_with_the_age(played: World) -> None:
    opened_at = {item["round_id"]: item["opened_at"] for item in played.get(ROUNDS).ok()["items"]}

    assert rounds_listed(played, f"from={opened_at['r3']}") == ["r6", "r5", "r4", "r3"]
    assert rounds_listed(played, f"from={opened_at['r1']}&to={opened_at['r3']}") == ["r2", "r1"]
    played.clock.advance(timedelta(hours=1))
    assert rounds_listed(played, f"to={opened_at['r3']}&older_than=0") == ["r2", "r1"]
    assert rounds_listed(played, f"to={opened_at['r6']}&older_than=3840") == ["r2", "r1"]


def test_each_key_finds_the_rounds_of_its_own(played: World) -> None:
    server = played.key(Role.TABLE)
    assert rounds_listed(played, "ended=false", key=server) == ["r5", "r1"]
    assert rounds_listed(played, "bet_id=b4", key=server) == []
    assert rounds_listed(played, "casino_id=c2", key=server) == []
    assert rounds_listed(played, "", key=played.key(Role.TABLE, casino_id="c2")) == ["r4"]
    assert rounds_listed(played, "player_id=pat", key=played.key(Role.FINANCE, casino_id="c2")) == ["r4"]
    key_ = played.key(Role.TABLE, table_ids=("T1",))
    assert rounds_listed(played, "", key=key_) == ["r6", "r2", "r1"]
    assert rounds_listed(played, "ended=false", key=key_) == ["r1"]
    assert rounds_listed(played, "table_id=T4", key=key_) == []
    two = played.key(Role.TABLE, table_ids=("T1", "T4"))
    assert rounds_listed(played, "ended=false", key=two) == ["r5", "r1"]
    assert rounds_listed(played, "bet_id=each&ended=true", key=two) == ["r6", "r2"]


def test_who_played_and_game_numbers_are_for_people(played: World) -> None:
    for query in ("player_id=pat", "game_number=21:10:10", "player_id=pat&table_id=T1"):
        played.get(f"{ROUNDS}?{query}", key=played.key(Role.TABLE)).problem(403, "role-forbidden")
        for role in (Role.FINANCE, Role.OPERATOR, Role.AUDITOR):
            played.get(f"{ROUNDS}?{query}", role=role).ok()
    played.get(ROUNDS, role=Role.RATES).problem(403, "role-forbidden")


@pytest.mark.parametrize("query", ["", "ended=false", "table_id=T1", "bet_id=each", "bet_id=each&ended=false"])
def test_pages_together_are_the_list_while_rounds_come_and_end(
    opened: World, query: str, subtests: pytest.Subtests
) -> None:
    for number in range(6):
        opened.bet(bet("each"), round_id=f"r{number}", table_id=("T1", "T2", "T3")[number % 3])
        opened.clock.advance(timedelta(days=number))
    before = rounds_listed(opened, query)
    assert len(before) == (2 if "table" in query else 6)

    for limit in (1, 2, 4, 6):
        with subtests.test(f"{limit} a page"):
            listed, after = [], ""
            while True:
                page = opened.get(f"{ROUNDS}?{query}&limit={limit}{after}").ok()
                listed += [item["round_id"] for item in page["items"]]
                assert len(page["items"]) <= limit
                if page["next"] is None:
                    break
                after = f"&after={page['next']}"
                opened.bet(bet("each"), round_id=f"new-{limit}-{len(listed)}")

            assert [round_id for round_id in listed if not round_id.startswith("new")] == before
            assert len(set(listed)) == len(listed)


def test_rounds_of_one_key_in_two_jackpots_are_each_on_one_page(opened: World, database_url: str) -> None:
    for table_id in ("T1", "T2"):
        opened.bet(bet(), round_id=f"at-{table_id}", table_id=table_id)
    keys = opened.books.rows("SELECT table_id, round_key FROM rounds ORDER BY table_id")
    with psycopg.connect(owner_conninfo(database_url), autocommit=True) as owner:
        set_key = "UPDATE rounds SET round_key = %(round_key)s WHERE table_id = %(table_id)s"
        owner.execute(set_key, {**keys[1], "round_key": keys[0]["round_key"]})

        for query in ("", "ended=false", "table_id=T1"):
            first = opened.get(f"{ROUNDS}?{query}&limit=1").ok()
            rest = [] if first["next"] is None else rounds_listed(opened, f"{query}&after={first['next']}")
            listed = [item["round_id"] for item in first["items"]] + rest
            assert listed == (["at-T1"] if "table" in query else ["at-T2", "at-T1"])

        owner.execute(set_key, keys[1])


def test_a_tampered_cursor_is_refused_and_a_forged_one_shows_nothing_of_others(played: World) -> None:
    cursor = played.get(f"{ROUNDS}?limit=1").ok()["next"]

    wrong = (
        cursor[1:],
        cursor.upper(),
        f"{cursor}'--",
        "k1",
        "k1.",
        "k1.a%20b",
        "k1.%00",
        "kg.j1",
        "k" + "f" * 17 + ".j1",
    )
    for tampered in wrong:
        played.get(f"{ROUNDS}?after={tampered}").problem(422, "validation", "?after")
    assert rounds_listed(played, f"after={cursor}", key=played.key(Role.FINANCE, casino_id="c2")) == ["r4"]
    before_all, last = (
        forged(played, ROUNDS, RoundSearchQuerySchema, place) for place in ("k7fffffffffffffff.zzz", "k0.a")
    )
    assert rounds_listed(played, f"after={before_all}") == ["r6", "r5", "r4", "r3", "r2", "r1"]
    assert rounds_listed(played, f"after={last}") == []


@pytest.mark.parametrize(
    ("query", "member"),
    [
        ("state=over", "state"),
        ("ended=1", "ended"),
        ("ended=", "ended"),
        ("older_than=-1", "older_than"),
        ("older_than=1.5", "older_than"),
        ("older_than=1000000001", "older_than"),
        ("bet_id=a%20b", "bet_id"),
        ("player_id=", "player_id"),
        ("limit=0", "limit"),
        ("round_id=r1", "round_id"),
        ("from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z", "to"),
    ],
)
def test_a_wrong_query_is_refused_by_the_name_of_what_is_wrong(opened: World, query: str, member: str) -> None:
    opened.get(f"{ROUNDS}?{query}").problem(422, "validation", f"?{member}")


def test_a_search_that_takes_too_long_says_so(database_url: str) -> None:
    world = World(database_url, lock_timeout_ms=50)
    world.open()
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        owner.execute("LOCK TABLE rounds, bets IN ACCESS EXCLUSIVE MODE")
        for query in ("", "ended=false", "state=cancelled", "bet_id=b1", "player_id=pat"):
            problem = world.get(f"{ROUNDS}?{query}").problem(503, "history-took-too-long")
            assert problem["retryable"] is True
    world.close()


def test_a_round_of_years_ago_is_found(opened: World) -> None:
    opened.bet(bet("b1", player_id="pat"))
    opened.clock.advance(timedelta(days=2000))

    for query in ("", "bet_id=b1", "player_id=pat", "state=open", "table_id=T1", "older_than=86400"):
        assert rounds_listed(opened, query) == ["r1"]


def test_a_table_server_that_starts_again_finds_its_open_rounds_and_whether_its_batch_was_booked(
    opened: World,
) -> None:
    server = opened.key(Role.TABLE, table_ids=("T1",))
    opened.bet(bet("lost"), round_id="r7")
    opened.bet(bet(), round_id="r8", table_id="T4")

    (waiting,) = opened.get(f"{ROUNDS}?ended=false", key=server).ok()["items"]

    assert (waiting["round_id"], waiting["bet_count"]) == ("r7", 1)
    assert rounds_listed(opened, "bet_id=lost&ended=false", key=server) == ["r7"]
    assert rounds_listed(opened, "bet_id=never&ended=false", key=server) == []
