"""Rates at a glance: sheets in force, several currencies in one call, and the rates that open rounds still use."""

from datetime import timedelta
from typing import Final

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.world import World

NOTHING: Final[Body] = {"items": [], "next": None}


def history(world: World, query: str = "") -> Body:
    return world.get(f"/v1/rates/histories?base=EUR{query}").ok()


def rates_of(item: Body) -> dict[str, str]:
    return {rate["currency"]: rate["rate"] for rate in item["rates"]}


@pytest.fixture
def published(world: World) -> World:
    """A house with three sheets of EUR, the last without SEK, and one of USD."""
    world.publish("USD", EUR="1.05")
    payloads: list[Body] = [{"rates": {"GBP": "1.18"}}, {"removed_currencies": ["SEK"]}]
    for number, payload in enumerate(payloads):
        world.clock.advance(timedelta(hours=1))
        world.change("rate-sheet", {"base": "EUR", **payload}, request_id=f"q{number}", role=Role.RATES)
    return world


def test_each_base_currency_has_a_sheet_in_force(published: World) -> None:
    tomorrow = {"base": "EUR", "rates": {"GBP": "1.2"}, "effective_at": "2027-11-21T09:00:00Z"}
    published.change("rate-sheet", tomorrow, request_id="later", role=Role.RATES)

    shown = published.get("/v1/rates/in-force").ok()["items"]
    assert [(head["base"], head["number"]) for head in shown] == [("EUR", 3), ("USD", 1)]
    published.get("/v1/rates/in-force?base=EUR").problem(422, "validation", "?base")


def test_several_currencies_have_one_history(published: World) -> None:
    items = history(published, "&currency=SEK,GBP")["items"]

    assert [item["number"] for item in items] == [3, 2, 1]
    assert [rates_of(item) for item in items] == [
        {"GBP": "1.18"},
        {"GBP": "1.18", "SEK": "0.0873"},
        {"GBP": "1.17", "SEK": "0.0873"},
    ]
    assert items[0]["effective_at"] == published.get("/v1/rates?base=EUR").ok()["effective_at"]


def test_without_currencies_it_is_the_whole_sheets(published: World) -> None:
    for item in history(published)["items"]:
        sheet = published.get(f"/v1/rates?base=EUR&number={item['number']}").ok()
        assert item == sheet


def test_it_is_told_page_by_page(published: World) -> None:
    first = history(published, "&currency=GBP&limit=2")
    second = history(published, f"&currency=GBP&limit=2&after={first['next']}")

    assert [item["number"] for item in first["items"] + second["items"]] == [3, 2, 1]
    assert second["next"] is None
    assert published.get("/v1/rates/histories?base=CHF").ok() == NOTHING


@pytest.mark.parametrize("currency", ["", "GBP,GBP", "GBP,", "gbp", ",".join(["GBP"] * 400)])
def test_currencies_are_named_rightly(world: World, currency: str) -> None:
    world.get(f"/v1/rates/histories?base=EUR&currency={currency}").problem(422, "validation", "?currency")


# In use.


def in_use(world: World, *, key: str) -> list[tuple[str, int, int]]:
    items = world.get("/v1/rates/use?base=EUR", key=key).ok()["items"]
    return [(item["currency"], item["rate_sheet"], item["open_rounds"]) for item in items]


@pytest.fixture
def played(world: World) -> World:
    """Open rounds of two sheets at two casinos, and one that has ended."""
    world.open()
    world.add_casino("c2")
    world.add_table("T2", jackpot_id="j1", casino_id="c2")
    world.bet(bet("a"), bet("b", currency="GBP"), bet("c", currency="GBP"), round_id="first")
    world.bet(bet("d"), round_id="over")
    world.cancel(round_id="over")
    world.change("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.18"}}, request_id="q", role=Role.RATES)
    world.bet(bet("e", currency="GBP"), round_id="second")
    world.bet(bet("f", currency="GBP"), table_id="T2", round_id="third")
    return world


def test_open_rounds_are_counted_by_the_rates_that_they_use(played: World) -> None:
    assert in_use(played, key=played.key(Role.AUDITOR)) == [("EUR", 1, 1), ("GBP", 1, 1), ("GBP", 2, 2)]
    assert played.get("/v1/rates/use?base=USD", role=Role.AUDITOR).ok() == {"items": []}


def test_people_of_a_casino_see_rounds_of_their_casino(played: World) -> None:
    assert in_use(played, key=played.key_of(Principal("Cara", Role.FINANCE, "c2"))) == [("GBP", 2, 1)]


@pytest.mark.parametrize("role", Role)
def test_open_rounds_are_for_people(played: World, role: Role) -> None:
    answer = played.get("/v1/rates/use?base=EUR", role=role)
    if role in {Role.FINANCE, Role.RATES, Role.OPERATOR, Role.AUDITOR}:
        answer.ok()
    else:
        answer.problem(403, "role-forbidden")
