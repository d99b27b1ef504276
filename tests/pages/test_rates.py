"""Rates on pages: the sheet in force, what open rounds use, the history, and any sheet with its two people."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.page_text import content_of, links_of
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

READERS = (Role.FINANCE, Role.OPERATOR, Role.RATES, Role.AUDITOR)
SOURCE = {"name": "ecb", "date": "2026-11-19", "sha256": "0" * 64}


@pytest.fixture
def published(world: World) -> World:
    """A house with three sheets of EUR, an hour apart; the second without SEK, the third from a document."""
    payloads: list[dict[str, Any]] = [
        {"removed_currencies": ["SEK"]},
        {"rates": {"GBP": "1.404"}, "source": SOURCE},
    ]
    for number, payload in enumerate(payloads):
        world.clock.advance(timedelta(hours=1))
        change(world, {"base": "EUR", **payload}, request_id=f"q{number}")
    world.clock.advance(timedelta(minutes=5))
    return world


def change(world: World, payload: Body, *, request_id: str = "q") -> None:
    """Have two people change rates; the second repeats what is unusual."""
    requested = world.ask("rate-sheet", payload, request_id=request_id, role=Role.RATES).ok(201)
    world.approve(request_id, role=Role.RATES, confirm=requested["confirm"]).ok()


def shown(visitor: Visitor, path: str = "/rates/EUR") -> str:
    answer = visitor.open(path)
    assert answer.status == 200, answer.text
    return content_of(answer.text)


def drawings(visitor: Visitor, path: str = "/rates/EUR") -> list[dict[str, Any]]:
    """What the charts of a page draw."""
    page = visitor.open(path).text
    return [json.loads(text) for text in re.findall(r"<template>(.*?)</template>", page, re.DOTALL)]


@pytest.mark.parametrize("role", READERS)
def test_the_sheet_in_force_says_its_number_age_and_source(published: World, role: Role) -> None:
    page = shown(Visitor(published).sign_in(role))
    assert "Sheet 3 in force In force since" in page
    assert ", for 5 min Source ECB , document of 19 Nov 2026" in page
    assert ("New sheet" in page) is ("ECB rates" in page) is (role is Role.RATES)


def test_one_base_is_shown_at_once_and_several_are_listed(published: World) -> None:
    visitor = Visitor(published).sign_in(Role.AUDITOR)
    answer = visitor.open("/rates")
    assert (answer.status, answer.headers["Location"]) == (303, "/rates/EUR")

    published.publish("USD", EUR="1.05")
    assert "EUR Sheet 3" in shown(visitor, "/rates")
    assert {"/rates/EUR", "/rates/USD"} <= links_of(visitor.open("/rates").text)


def test_what_is_no_base_currency_or_no_sheet_is_not_there(world: World) -> None:
    visitor = Visitor(world).sign_in(Role.AUDITOR)
    for path in ("/rates/USD", "/rates/usd", "/rates/USD/1", "/rates/EUR/9", "/rates/EUR/999999999999"):
        assert visitor.open(path).status == 404, path


def test_a_rate_says_the_last_and_its_move(published: World) -> None:
    page = shown(Visitor(published).sign_in(Role.RATES))
    assert "GBP 1.404 1.17 +20.00 % beyond the band" in page
    assert "JPY 0.0061 0.0061 none" in page


def test_a_sheet_is_amber_from_a_day_and_a_half_on(published: World) -> None:
    visitor = Visitor(published).sign_in(Role.RATES)
    published.clock.advance(timedelta(hours=35, minutes=54))
    visitor = Visitor(published).sign_in(Role.RATES)
    assert "old" not in shown(visitor)
    published.clock.advance(timedelta(minutes=1))
    assert "old: in force for 1 d 12 h" in shown(visitor)


def test_rates_that_open_rounds_use_are_counted_also_of_earlier_sheets(world: World) -> None:
    world.open()
    world.bet(bet("a"), bet("b", currency="GBP"), bet("c", currency="SEK"), round_id="first")
    payload = {"base": "EUR", "rates": {"GBP": "1.18"}, "removed_currencies": ["SEK"]}
    world.change("rate-sheet", payload, request_id="q", role=Role.RATES)
    world.bet(bet("d", currency="GBP"), round_id="second")

    page = shown(Visitor(world).sign_in(Role.AUDITOR))
    assert "EUR 1 1 1 1 by sheet 1" in page
    assert "GBP 1.18 1.17 +0.85 % 2 1 by sheet 1" in page
    assert "SEK none 0.0873 leaves 1 1 by sheet 1" in page


def test_a_sheet_that_is_approved_for_later_is_named(published: World) -> None:
    later = {"base": "EUR", "rates": {"GBP": "1.41"}, "effective_at": "2026-12-24T06:00:00Z"}
    published.change("rate-sheet", later, request_id="later", role=Role.RATES)
    visitor = Visitor(published).sign_in(Role.AUDITOR)

    assert "Comes into force sheet 4 , 24 Dec 2026, 06:00:00 UTC" in shown(visitor)
    assert "Sheet 4 EUR for one unit of each currency not yet in force" in shown(visitor, "/rates/EUR/4")
    (pounds, *_) = drawings(visitor)
    assert [mark["text"] for mark in pounds["marks"]] == ["sheet 1", "sheet 2", "sheet 3", "now", "sheet 4"]
    assert pounds["series"][0]["texts"] == ["1.17", "1.17", "1.404", "1.404", "1.41"]


# The history.


def test_the_history_is_a_step_at_each_sheet_with_the_band_around_the_one_before(published: World) -> None:
    pounds, yen = drawings(Visitor(published).sign_in(Role.FINANCE))

    assert [each["label"] for chart in (pounds, yen) for each in chart["series"]] == ["GBP", "JPY"]
    assert pounds["series"][0]["kind"] == "step"
    assert pounds["series"][0]["texts"] == ["1.17", "1.17", "1.404", "1.404"]
    assert pounds["band"]["texts"] == ["", "1.053 to 1.287", "1.053 to 1.287", "1.053 to 1.287"]
    assert [(mark["text"], mark["href"]) for mark in pounds["marks"]] == [
        ("sheet 1", "/rates/EUR/1"),
        ("sheet 2", "/rates/EUR/2"),
        ("sheet 3", "/rates/EUR/3"),
        ("now", ""),
    ]


def test_a_currency_that_left_has_a_history_with_a_gap(published: World) -> None:
    (crowns,) = drawings(Visitor(published).sign_in(Role.FINANCE), "/rates/EUR?currency=SEK")
    assert crowns["series"][0]["texts"] == ["0.0873", "", "", ""]
    assert crowns["series"][0]["drawn"] == [pytest.approx(0.0873), None, None, None]


def test_of_many_currencies_some_are_drawn_until_somebody_chooses(world: World) -> None:
    rates = {"CHF": "1.05", "DKK": "0.134", "NOK": "0.085", "PLN": "0.23", "USD": "0.95"}
    payload = {"base": "EUR", "rates": rates}
    change(world, payload)
    visitor = Visitor(world).sign_in(Role.FINANCE)

    labels = [chart["series"][0]["label"] for chart in drawings(visitor)]
    assert labels == ["CHF", "DKK", "GBP", "JPY"]
    assert [chart["series"][0]["label"] for chart in drawings(visitor, "/rates/EUR?currency=USD")] == ["USD"]
    answer = visitor.open("/rates/EUR?currency=usd")
    assert answer.status == 422
    assert "There is no such history" in content_of(answer.text)


def test_a_long_history_goes_on(world: World) -> None:
    for number in range(52):
        world.clock.advance(timedelta(hours=1))
        payload = {"base": "EUR", "rates": {"GBP": f"1.1{number:02}"}}
        world.change("rate-sheet", payload, request_id=f"q{number}", role=Role.RATES)
    visitor = Visitor(world).sign_in(Role.AUDITOR)

    page = visitor.open("/rates/EUR?currency=GBP")
    (earlier,) = (link for link in links_of(page.text) if "after=" in link)
    (latest,) = drawings(visitor, "/rates/EUR?currency=GBP")
    (before,) = drawings(visitor, earlier)
    numbers = [mark["text"] for chart in (before, latest) for mark in chart["marks"] if mark["href"]]
    assert numbers == [f"sheet {number}" for number in range(1, 54)]


# A sheet.


def test_a_sheet_names_its_two_people(published: World) -> None:
    world = published
    world.ask("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.41"}}, request_id="q", by="Rita", role=Role.RATES)
    world.approve("q", by="Ruth", role=Role.RATES)
    visitor = Visitor(world).sign_in(Role.RATES)

    page = shown(visitor, "/rates/EUR/4")
    assert "Asked by Rita" in page
    assert "Approved by Ruth" in page
    assert "GBP 1.404 1.41 +0.43 %" in page
    assert "/changes/q" in links_of(visitor.open("/rates/EUR/4").text)


def test_a_sheet_from_a_document_names_it(published: World) -> None:
    page = shown(Visitor(published).sign_in(Role.AUDITOR), "/rates/EUR/3")
    assert f"Source ECB , document of 19 Nov 2026 SHA-256 {'0' * 64}" in page
    assert "GBP 1.17 1.404 +20.00 % beyond the band" in page


def test_the_first_sheet_was_published_by_one_person(published: World) -> None:
    visitor = Visitor(published).sign_in(Role.AUDITOR)
    page = shown(visitor, "/rates/EUR/1")
    assert "alone: the first sheet of a base currency needs no second person" in page
    assert "GBP none 1.17 new" in page
    assert {"/rates/EUR/2", "/rates/EUR"} <= links_of(visitor.open("/rates/EUR/1").text)


# Who sees them.


@pytest.mark.parametrize("path", ["/rates", "/rates/EUR", "/rates/EUR/1", "/rates/EUR/new", "/rates/EUR/import"])
def test_people_of_a_casino_see_no_rates(published: World, path: str) -> None:
    cara = Visitor(published).sign_in(key=published.key_of(Principal("Cara", Role.FINANCE, "c1")))
    assert cara.open(path).status == 404
    assert "/rates" not in links_of(cara.open("/account").text)


@pytest.mark.parametrize("role", [Role.FINANCE, Role.OPERATOR, Role.AUDITOR])
def test_only_those_who_may_ask_see_the_forms(published: World, role: Role) -> None:
    visitor = Visitor(published).sign_in(role)
    assert "/rates" in links_of(visitor.open("/account").text)
    for path in ("/rates/EUR/new", "/rates/EUR/import"):
        assert visitor.open(path).status == 404
    for path in ("/rates/EUR/new", "/rates/EUR/check", "/rates/EUR/import"):
        assert visitor.submit(path, {}, page="/account").status == 404
