"""The floor: casinos and their tables, with the rounds that wait and when each table was last heard."""

from datetime import timedelta

import pytest

from jackpot_service.domain.principals import Role
from tests.support.bets import bet
from tests.support.drivers import round_trips
from tests.support.hands import NOTHING, ROYAL_FLUSH, hand
from tests.support.page_text import content_of, links_of
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

WATCHERS = (Role.FINANCE, Role.OPERATOR, Role.AUDITOR)


@pytest.fixture
def floor(world: World) -> World:
    """Two casinos; at c1 a table that plays, one that is idle and one without a jackpot."""
    world.open(base_amount="1000", tables=("T1", "T2"))
    world.add_table("T9")
    world.add_casino("c2", zone="Europe/Riga", day_starts="06:00")
    world.add_table("T3", jackpot_id="j1", casino_id="c2")
    return world


def shown(visitor: Visitor, path: str) -> str:
    answer = visitor.open(path)
    assert answer.status == 200, answer.text
    return content_of(answer.text)


@pytest.mark.parametrize("role", WATCHERS)
def test_the_house_sees_all_casinos_with_their_open_rounds(floor: World, role: Role) -> None:
    floor.bet(bet("a"))
    answer = Visitor(floor).sign_in(role).open("/floor")
    page = content_of(answer.text)
    assert "Casino c1 c1 · UTC Tables 2 Open rounds 1 The oldest" in page
    assert "Casino c2 c2 · Europe/Riga Tables 1 Open rounds 0 The oldest none" in page
    assert {"/floor/c1", "/floor/c2"} <= links_of(answer.text)


def test_a_casino_shows_each_table_with_its_round_result_and_age(floor: World) -> None:
    floor.bet(bet("a"), round_id="r0")
    floor.settle(hand("1", ROYAL_FLUSH), round_id="r0")
    floor.clock.advance(timedelta(minutes=3))
    floor.bet(bet("b"), bet("c"), round_id="r1")
    floor.clock.advance(timedelta(minutes=2))

    answer = Visitor(floor).sign_in().open("/floor/c1")
    page = content_of(answer.text)

    t1, _, rest = page.partition("T2")
    assert "T1 playing caribbean stud · jackpot j1 2 min open · 2 bets r1" in t1
    assert "settled 5 min ago jackpot won" in t1
    assert "Last heard 2 min ago" in t1
    assert "idle caribbean stud · jackpot j1 No open round. Last result none yet Last heard never" in rest
    assert "T9 no jackpot" in rest
    assert "T3" not in page
    assert {"/tables/T1/rounds/r1", "/tables/T1/rounds/r0"} <= links_of(answer.text)


def test_a_round_that_waits_for_a_quarter_of_an_hour_is_late(floor: World) -> None:
    floor.bet(bet("a"))
    visitor = Visitor(floor).sign_in()
    floor.clock.advance(timedelta(minutes=14))
    assert "late" not in shown(visitor, "/floor/c1").split()
    floor.clock.advance(timedelta(minutes=2))
    assert "late" in shown(visitor, "/floor/c1").split()
    assert "late" in shown(visitor, "/floor").split()


def test_more_open_rounds_of_a_table_than_are_shown_are_counted(floor: World) -> None:
    for number in range(5):
        floor.bet(bet(f"b{number}"), round_id=f"r{number}")
    answer = Visitor(floor).sign_in().open("/floor/c1")
    assert "2 more that wait" in content_of(answer.text)
    assert "/rounds?table_id=T1&state=waiting" in links_of(answer.text)


@pytest.mark.parametrize("path", ["/floor", "/floor/c1"])
def test_more_tables_and_casinos_take_no_more_round_trips(floor: World, path: str) -> None:
    floor.bet(bet("a"))
    visitor = Visitor(floor).sign_in()
    visitor.open(path)
    few = round_trips(floor, lambda: visitor.open(path))
    for number in range(4, 9):
        floor.add_casino(f"c{number}")
        floor.add_table(f"T{number}0", jackpot_id="j1")
        floor.add_table(f"T{number}1", jackpot_id="j1", casino_id=f"c{number}")
    visitor.open(path)
    assert 0 < round_trips(floor, lambda: visitor.open(path)) <= few


def test_a_cancelled_round_is_a_last_result_too(floor: World) -> None:
    floor.bet(bet("a"))
    floor.cancel()
    floor.bet(bet("b"), round_id="r2")
    floor.settle(hand("1", NOTHING), round_id="r2")
    assert "settled" in shown(Visitor(floor).sign_in(), "/floor/c1")
    floor.bet(bet("c"), round_id="r3")
    floor.cancel(round_id="r3")
    assert "cancelled" in shown(Visitor(floor).sign_in(), "/floor/c1")


def test_finance_of_a_casino_sees_its_own_tables_at_once_and_no_others(floor: World) -> None:
    floor.bet(bet("a"))
    visitor = Visitor(floor).sign_in(key=floor.key(Role.FINANCE, casino_id="c2"))
    page = shown(visitor, "/floor")
    assert "Casino c2" in page
    assert "gaming days start at 06:00 in Europe/Riga" in page
    assert "T3" in page
    assert "T1" not in page
    assert visitor.open("/floor/c2").status == 200
    assert visitor.open("/floor/c1").status == 404
    assert "/floor" not in links_of(visitor.open("/floor").text.partition("<main")[2])


@pytest.mark.parametrize("path", ["/floor/c9", "/floor/%3Cscript%3E"])
def test_a_casino_that_is_not_there_is_answered_by_a_page(floor: World, path: str) -> None:
    answer = Visitor(floor).sign_in().open(path)
    assert (answer.status, answer.media_type) == (404, "text/html")


@pytest.mark.parametrize("path", ["/floor", "/floor/c1"])
def test_the_people_of_rates_see_no_floor(floor: World, path: str) -> None:
    assert Visitor(floor).sign_in(Role.RATES).open(path).status == 404


def test_a_place_in_the_list_that_is_none_shows_its_beginning(floor: World) -> None:
    visitor = Visitor(floor).sign_in()
    assert "Casino c1" in shown(visitor, "/floor?after=%3Cscript%3E")
    assert "T1" in shown(visitor, "/floor/c1?after=%22")


def test_an_empty_floor_says_what_will_be_here(world: World) -> None:
    visitor = Visitor(world).sign_in()
    assert "No tables yet." in shown(visitor, "/floor/c1")
