"""Lists: pages that miss nothing and repeat nothing, cursors that only a page gives, periods half open."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import pytest

from jackpot_service.api.jackpots import HitsQuerySchema
from jackpot_service.api.round_records import RoundQuerySchema
from jackpot_service.domain.closed_periods import Period
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.records import checkpoints
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.close_period import ClosePeriod, close_period
from tests.support import people
from tests.support.bets import bet
from tests.support.cursors import forged
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

ROUNDS = "/v1/tables/T1/rounds"


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000", tables=("T1", "T2"))
    return world


def round_ids(world: World, query: str = "") -> list[str]:
    return [round_["round_id"] for round_ in world.get(f"{ROUNDS}{query}").ok()["items"]]


def test_rounds_are_listed_newest_first_and_only_those_of_the_table(opened: World) -> None:
    for number in range(3):
        opened.bet(bet(), round_id=f"r{number}")
        opened.bet(bet(), round_id=f"other-{number}", table_id="T2")

    listed = opened.get(ROUNDS).ok()

    assert [round_["round_id"] for round_ in listed["items"]] == ["r2", "r1", "r0"]
    assert listed["next"] is None
    assert opened.get(f"{ROUNDS}/r1").ok()["round"] == listed["items"][1]


def test_a_table_that_has_played_nothing_has_an_empty_list(opened: World) -> None:
    assert opened.get(ROUNDS).ok() == {"items": [], "next": None}


def test_pages_together_are_the_list(opened: World, subtests: pytest.Subtests) -> None:
    for number in range(7):
        opened.bet(bet(), round_id=f"r{number}")

    for limit in (1, 2, 3, 7, 8):
        with subtests.test(f"{limit} a page"):
            pages, cursor = [], ""
            while True:
                page = opened.get(f"{ROUNDS}?limit={limit}{cursor}").ok()
                pages.append([round_["round_id"] for round_ in page["items"]])
                if page["next"] is None:
                    break
                cursor = f"&after={page['next']}"

            assert [round_id for page in pages for round_id in page] == [f"r{number}" for number in range(6, -1, -1)]
            assert all(len(page) == limit for page in pages[:-1])
            assert 0 < len(pages[-1]) <= limit


def test_what_is_opened_between_two_pages_is_neither_repeated_nor_shifted(opened: World) -> None:
    for number in range(4):
        opened.bet(bet(), round_id=f"r{number}")
    first = opened.get(f"{ROUNDS}?limit=2").ok()

    opened.bet(bet(), round_id="new")
    second = opened.get(f"{ROUNDS}?limit=2&after={first['next']}").ok()

    assert [round_["round_id"] for round_ in second["items"]] == ["r1", "r0"]
    assert second["next"] is None


def test_a_tampered_cursor_is_refused_and_a_forged_one_shows_nothing_of_others(opened: World) -> None:
    for number in range(3):
        opened.bet(bet(), round_id=f"r{number}")
        opened.bet(bet(), round_id=f"other-{number}", table_id="T2")
    cursor = opened.get(f"{ROUNDS}?limit=1").ok()["next"]
    other = opened.get("/v1/tables/T2/rounds?limit=1").ok()["next"]

    for tampered in (cursor[1:], cursor + "0" * 16, cursor.upper(), "z" + cursor[1:], f"{cursor}'--", f"{cursor}%00"):
        opened.get(f"{ROUNDS}?after={tampered}").problem(422, "validation", "?after")
    opened.get(f"{ROUNDS}?after={other}").problem(422, "validation", "?after")
    foreign, last, before_all = (
        forged(opened, ROUNDS, RoundQuerySchema, place)
        for place in (other.partition("~")[0], "k1", "k7fffffffffffffff")
    )
    assert set(round_ids(opened, f"?after={foreign}")) <= {"r0", "r1", "r2"}
    assert round_ids(opened, f"?after={last}") == []
    assert round_ids(opened, f"?after={before_all}") == ["r2", "r1", "r0"]


def test_a_period_includes_its_beginning_and_not_its_end(opened: World) -> None:
    for number in range(4):
        opened.bet(bet(), round_id=f"r{number}")
    at = [opened.round(f"r{number}")["opened_at"] for number in range(4)]

    assert round_ids(opened, f"?from={at[1]}&to={at[3]}") == ["r2", "r1"]
    assert round_ids(opened, f"?from={at[3]}") == ["r3"]
    assert round_ids(opened, f"?to={at[0]}") == []
    assert round_ids(opened, f"?from={at[2]}&to={at[2]}") == []
    assert round_ids(opened, f"?from={at[3]}&to={at[1]}") == []
    assert round_ids(opened, f"?from={at[0]}&limit=1") == ["r3"]
    assert round_ids(opened, "?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z") == ["r3", "r2", "r1", "r0"]


def test_a_time_may_be_told_in_any_zone(opened: World) -> None:
    opened.bet(bet(), round_id="early")
    opened.clock.advance(timedelta(hours=1))
    opened.bet(bet(), round_id="late")
    half_past_nine_in_athens = "2026-11-20T11:30:00%2B02:00"

    assert round_ids(opened, f"?from={half_past_nine_in_athens}") == ["late"]
    assert round_ids(opened, f"?to={half_past_nine_in_athens}") == ["early"]


def test_a_listed_round_shows_the_cycle_it_ended_in(opened: World) -> None:
    opened.bet(bet(), round_id="cancelled")
    opened.cancel(round_id="cancelled")
    opened.bet(bet(), round_id="hit")
    opened.bet(bet(), round_id="open")
    opened.settle(hand("1", ROYAL_FLUSH), round_id="hit")

    listed = {round_["round_id"]: round_ for round_ in opened.get(ROUNDS).ok()["items"]}

    assert {round_id: (round_["state"], round_["cycle"]) for round_id, round_ in listed.items()} == {
        "cancelled": ("cancelled", 1),
        "hit": ("settled", 1),
        "open": ("open", 2),
    }


# Other lists that grow for as long as the service is used: how each is begun and added to, and what tells its items.


def hit(world: World, number: int) -> str:
    world.bet(bet(), round_id=f"r{number}")
    world.settle(hand("1", ROYAL_FLUSH), round_id=f"r{number}")
    return f"r{number}"


def closed_period(world: World, number: int) -> str:
    """Close a moment after the books began, of which nothing is told but that it is closed."""
    last, begun_at = world.transact(checkpoints.last_period), world.transact(checkpoints.books_begun_at)
    assert begun_at is not None
    end = begun_at + (number + 1) * timedelta(milliseconds=1)
    act = Act(Principal("Fay", Role.FINANCE), world.clock(), request_id=f"p{number}", reason="it is over")
    period = Period(None if last is None else last.period.end, end)
    world.transact(lambda session: close_period(session, ClosePeriod(people.enrol(session, act), period, {})))
    return str(instant(end))


def jackpot(world: World, number: int) -> str:
    world.open(jackpot_id=f"j{number}", tables=())
    return f"j{number}"


@dataclass(frozen=True, slots=True)
class Growing:
    """A list: its path, what adds an item to it, the item's member that tells which it is, and its order."""

    path: str
    add: Callable[[World, int], str]
    told_by: str
    is_latest_first: bool = True

    def filled(self, world: World, count: int) -> list[str]:
        """Add so many, and tell them in the order of the list."""
        return sorted((self.add(world, number) for number in range(1, count + 1)), reverse=self.is_latest_first)

    def page(self, world: World, query: str) -> tuple[list[str], str | None]:
        page = world.get(f"{self.path}?{query}").ok()
        assert page.keys() == {"items", "next"}
        return [item[self.told_by] for item in page["items"]], page["next"]


GROWING: Final = {
    "hits": Growing("/v1/jackpots/j1/hits", hit, "round_id"),
    "closed periods": Growing("/v1/closed-periods", closed_period, "to"),
    "jackpots": Growing("/v1/jackpots", jackpot, "jackpot_id", is_latest_first=False),
}


@pytest.fixture(params=list(GROWING))
def growing(request: pytest.FixtureRequest) -> Growing:
    return GROWING[request.param]


@pytest.fixture
def begun(world: World, growing: Growing) -> World:
    """A house in which the list is empty."""
    if growing.add is hit:
        world.open(base_amount="1000")
    return world


def test_an_empty_list_is_one_page(begun: World, growing: Growing) -> None:
    assert begun.get(growing.path).ok() == {"items": [], "next": None}


def test_pages_together_are_the_whole_list(begun: World, growing: Growing, subtests: pytest.Subtests) -> None:
    all_of_them = growing.filled(begun, 5)

    for limit in (1, 2, 5, 6, 200):
        with subtests.test(f"{limit} a page"):
            items, after = growing.page(begun, f"limit={limit}")
            pages = [items]
            while after is not None and len(pages) < len(all_of_them):
                items, after = growing.page(begun, f"limit={limit}&after={after}")
                pages.append(items)

            assert after is None
            assert [item for page in pages for item in page] == all_of_them
            assert all(len(page) == limit for page in pages[:-1])
            assert 0 < len(pages[-1]) <= limit


def test_what_is_added_between_two_pages_is_neither_repeated_nor_shifted(begun: World, growing: Growing) -> None:
    all_of_them = growing.filled(begun, 4)
    first, after = growing.page(begun, "limit=2")

    new = growing.add(begun, 9)
    second, last = growing.page(begun, f"limit=10&after={after}")

    assert first == all_of_them[:2]
    assert second == (all_of_them[2:] if growing.is_latest_first else [*all_of_them[2:], new])
    assert last is None


def test_hits_are_listed_the_latest_first_as_many_as_are_asked_for(opened: World) -> None:
    for number in range(4):
        hit(opened, number)

    hits = opened.get("/v1/jackpots/j1/hits?limit=3").ok()["items"]

    assert [(hit["cycle"], hit["round_id"]) for hit in hits] == [(4, "r3"), (3, "r2"), (2, "r1")]
    assert len(opened.get("/v1/jackpots/j1/hits").ok()["items"]) == 4
    assert hits[0]["hit_at"] > hits[1]["hit_at"] > hits[2]["hit_at"]


def test_the_cursor_of_another_jackpots_hits_shows_none_of_them(opened: World) -> None:
    opened.open(jackpot_id="j2", base_amount="1000", tables=("T3",))
    opened.bet(bet(), round_id="own", table_id="T3")
    opened.settle(hand("1", ROYAL_FLUSH), round_id="own", table_id="T3")
    for number in range(3):
        hit(opened, number)
    after = opened.get("/v1/jackpots/j1/hits?limit=1").ok()["next"]

    opened.get(f"/v1/jackpots/j2/hits?after={after}").problem(422, "validation", "?after")
    of_the_other = forged(opened, "/v1/jackpots/j2/hits", HitsQuerySchema, after.partition("~")[0])
    shown = opened.get(f"/v1/jackpots/j2/hits?after={of_the_other}").ok()

    assert ([item["round_id"] for item in shown["items"]], shown["next"]) == (["own"], None)
    nowhere = forged(opened, "/v1/jackpots/j9/hits", HitsQuerySchema, "k1")
    opened.get(f"/v1/jackpots/j9/hits?after={nowhere}").problem(404, "jackpot-unknown")


def test_jackpots_are_listed_by_id(opened: World) -> None:
    opened.open(jackpot_id="a-first", tables=())

    listed = opened.get("/v1/jackpots").ok()

    assert [jackpot["jackpot_id"] for jackpot in listed["items"]] == ["a-first", "j1"]
    assert opened.get("/v1/jackpots/j1").ok() == listed["items"][1]
