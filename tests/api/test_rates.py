"""Rate sheets to read: in force, by number, as of an instant, all of them, and what a currency was worth."""

from datetime import datetime, timedelta
from typing import Final

import pytest

from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Role
from tests.support.answers import Body
from tests.support.world import World

SOURCE = {"name": "ecb", "date": "2026-11-19", "sha256": "0" * 64}


@pytest.fixture
def published(world: World) -> World:
    """A house with four sheets of EUR, an hour apart; the third without SEK, the last from a document."""
    payloads: list[Body] = [
        {"rates": {"GBP": "1.18"}},
        {"removed_currencies": ["SEK"]},
        {"rates": {"GBP": "1.19"}, "source": SOURCE},
    ]
    for number, payload in enumerate(payloads):
        world.clock.advance(timedelta(hours=1))
        world.change("rate-sheet", {"base": "EUR", **payload}, request_id=f"q{number}", role=Role.RATES)
    return world


def sheet(world: World, query: str = "") -> Body:
    return world.get(f"/v1/rates?base=EUR{query}").ok()


def test_the_sheet_in_force_says_its_number_since_when_and_from_what(published: World) -> None:
    shown = sheet(published)

    assert (shown["base"], shown["number"], shown["source"]) == ("EUR", 4, SOURCE)
    assert [(rate["currency"], rate["rate"], rate["exponent"]) for rate in shown["rates"]] == [
        ("EUR", "1", 2),
        ("GBP", "1.19", 2),
        ("JPY", "0.0061", 0),
    ]
    assert sheet(published, f"&as_of={shown['effective_at']}") == sheet(published, "&number=4") == shown


def test_any_sheet_is_there_by_its_number(published: World) -> None:
    assert [sheet(published, f"&number={number}")["number"] for number in (1, 2, 3, 4)] == [1, 2, 3, 4]
    published.get("/v1/rates?base=EUR&number=5").problem(404, "rate-sheet-unknown")
    published.get("/v1/rates?base=USD&number=1").problem(404, "rate-sheet-unknown")


def test_an_instant_has_the_sheet_that_was_in_force_then(published: World) -> None:
    starts = [sheet(published, f"&number={number}")["effective_at"] for number in (1, 2, 3, 4)]

    assert [sheet(published, f"&as_of={start}")["number"] for start in starts] == [1, 2, 3, 4]
    just_before = instant(datetime.fromisoformat(starts[2]) - timedelta(microseconds=1))
    assert sheet(published, f"&as_of={just_before}")["number"] == 2
    published.get("/v1/rates?base=EUR&as_of=2001-01-01T00:00:00Z").problem(422, "no-rate")


WRONG: Final = (
    ("number=1&as_of=2026-11-20T09:00:00Z", "?as_of"),
    ("number=0", "?number"),
    ("number=-1", "?number"),
    ("number=1.0", "?number"),
    ("number=2147483648", "?number"),
    ("number=" + "9" * 5000, "?number"),
    ("number=%D9%A1", "?number"),
    ("as_of=2026-11-20T09:00:00", "?as_of"),
    ("as_of=now", "?as_of"),
    ("at=2026-11-20T09:00:00Z", "?at"),
)


def test_a_sheet_is_asked_for_in_one_way_and_rightly(world: World, subtests: pytest.Subtests) -> None:
    for query, pointer in WRONG:
        with subtests.test(query[:60]):
            world.get(f"/v1/rates?base=EUR&{query}").problem(422, "validation", pointer)


def test_a_currency_has_a_history_with_the_sheets_that_did_not_have_it(published: World) -> None:
    crowns = published.get("/v1/rates/history?base=EUR&currency=SEK").ok()
    pounds = published.get("/v1/rates/history?base=EUR&currency=GBP").ok()

    assert [(item["number"], item["rate"], item["exponent"]) for item in crowns["items"]] == [
        (4, None, None),
        (3, None, None),
        (2, "0.0873", 2),
        (1, "0.0873", 2),
    ]
    assert [item["rate"] for item in pounds["items"]] == ["1.19", "1.18", "1.18", "1.17"]
    assert [item["source"] for item in pounds["items"]] == [SOURCE, None, None, None]
    assert [item["effective_at"] for item in pounds["items"]] == [
        sheet(published, f"&number={number}")["effective_at"] for number in (4, 3, 2, 1)
    ]


def test_pages_together_are_the_list(published: World, subtests: pytest.Subtests) -> None:
    for limit in (1, 2, 3, 4, 5):
        for path in ("rate-sheets?base=EUR", "rates/history?base=EUR&currency=SEK"):
            with subtests.test(f"{path}, {limit} a page"):
                pages, cursor = [], ""
                while True:
                    page = published.get(f"/v1/{path}&limit={limit}{cursor}").ok()
                    pages.append([item["number"] for item in page["items"]])
                    if page["next"] is None:
                        break
                    cursor = f"&after={page['next']}"

                assert [number for page in pages for number in page] == [4, 3, 2, 1]
                assert all(len(page) == limit for page in pages[:-1])


def test_sheets_not_yet_in_force_are_listed_too(published: World) -> None:
    tomorrow = "2026-11-21T09:00:00.000000Z"
    payload = {"base": "EUR", "rates": {"GBP": "1.2"}, "effective_at": tomorrow}
    published.change("rate-sheet", payload, request_id="tomorrow", role=Role.RATES)

    first = published.get("/v1/rate-sheets?base=EUR&limit=1").ok()["items"]

    assert first == [{"base": "EUR", "number": 5, "effective_at": tomorrow, "source": None}]
    assert sheet(published)["number"] == 4


def test_a_base_without_sheets_has_empty_lists(world: World) -> None:
    nothing: Body = {"items": [], "next": None}

    assert world.get("/v1/rate-sheets?base=USD").ok() == nothing
    assert world.get("/v1/rates/history?base=USD&currency=EUR").ok() == nothing


@pytest.mark.parametrize("cursor", ["k1", "k7fffffffffffffff", "4"])
def test_a_cursor_that_no_page_gave_shows_nothing(published: World, cursor: str) -> None:
    published.get(f"/v1/rate-sheets?base=EUR&after={cursor}").problem(422, "validation", "?after")
