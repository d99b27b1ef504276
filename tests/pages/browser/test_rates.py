"""Rates in a browser: a sheet typed by keyboard and figured meanwhile, charts that lead to sheets, any width."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import expect

from jackpot_service.domain.principals import Role
from tests.pages.browser.screens import Screens, violations
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.ecb import document
from tests.support.world import World

pytestmark = [pytest.mark.browser, pytest.mark.long]

PAGES = ("/rates", "/rates/EUR", "/rates/EUR?currency=GBP", "/rates/EUR/2", "/rates/EUR/1", "/rates/EUR/new")


@pytest.fixture
def published(world: World) -> World:
    """Sheets of two base currencies, and rounds that still use the first."""
    world.open()
    world.bet(bet("a"), bet("b", currency="GBP"))
    payloads: list[Body] = [{"rates": {"GBP": "1.404"}}, {"removed_currencies": ["SEK"]}]
    for number, payload in enumerate(payloads):
        world.clock.advance(timedelta(hours=5))
        change = world.ask("rate-sheet", {"base": "EUR", **payload}, request_id=f"q{number}", role=Role.RATES).ok(201)
        world.approve(f"q{number}", role=Role.RATES, confirm=change["confirm"]).ok()
    world.publish("USD", EUR="1.05")
    return world


@pytest.fixture
def file(world: World, tmp_path: Path) -> Path:
    """The document of the day."""
    path = tmp_path / "eurofxref-daily.xml"
    path.write_bytes(document(world.clock().date()))
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_either_scheme(screens: Screens, published: World, file: Path, scheme: str) -> None:
    screens.expected = {422}
    rita = screens.signed_in(published.person("Rita", Role.RATES), color_scheme=scheme)
    for path in PAGES:
        rita.goto(path)
        for details in rita.locator("summary").all():
            details.click()
        assert violations(rita) == [], path
    rita.get_by_label("In force from").fill("tomorrow")
    rita.get_by_role("button", name="Check").click()
    rita.wait_for_url("**/check")  # The script of the page before says what is wrong, too.
    expect(rita.locator("#effective_at-error")).not_to_be_empty()
    assert violations(rita) == []
    rita.goto("/rates/EUR/import")
    assert violations(rita) == []
    rita.get_by_label("eurofxref-daily.xml").set_input_files(file)
    rita.get_by_role("button", name="Show the differences").click()
    expect(rita.get_by_role("heading", name="The document of")).to_be_visible()
    assert violations(rita) == []


@pytest.mark.parametrize("width", [1440, 390, 320])
def test_nothing_is_wider_than_the_window(screens: Screens, published: World, file: Path, width: int) -> None:
    rita = screens.signed_in(published.person("Rita", Role.RATES), viewport={"width": width, "height": 800})
    for path in (*PAGES, "/rates/EUR/import"):
        rita.goto(path)
        assert rita.evaluate("document.documentElement.scrollWidth") <= width, path
    rita.get_by_label("eurofxref-daily.xml").set_input_files(file)
    rita.get_by_role("button", name="Show the differences").click()
    expect(rita.get_by_role("heading", name="The document of")).to_be_visible()
    rita.wait_for_load_state()
    assert rita.evaluate("document.documentElement.scrollWidth") <= width


def test_a_sheet_is_typed_by_keyboard_figured_and_requested(screens: Screens, published: World) -> None:
    rita = screens.signed_in(published.person("Rita", Role.RATES))
    rita.goto("/rates/EUR/new")
    rita.get_by_label("GBP", exact=True).focus()
    rita.keyboard.press("Control+A")
    rita.keyboard.type("1.7")
    expect(rita.locator("#move-GBP")).to_contain_text("+21.08")
    expect(rita.locator("#outcome")).to_contain_text("The approver must type 1 of the rates again")
    expect(rita.get_by_label("GBP", exact=True)).to_be_focused()
    expect(rita.get_by_label("GBP", exact=True)).to_have_value("1.7")
    rita.keyboard.type("00000000011")
    expect(rita.locator("#rate-GBP-error")).to_have_text("The rate of GBP may have at most 10 decimals.")
    expect(rita.locator("#move-GBP")).to_be_empty()
    rita.get_by_label("GBP", exact=True).fill("1.41")
    expect(rita.locator("#rate-GBP-error")).to_be_empty()
    rita.get_by_label("Reason").fill("as the market moved")
    rita.keyboard.press("Enter")
    expect(rita.get_by_text("It waits for somebody else.")).to_be_visible()


def test_the_other_person_approves_and_the_sheet_names_both(screens: Screens, published: World) -> None:
    rita = screens.signed_in(published.person("Rita", Role.RATES))
    rita.goto("/rates/EUR/new")
    rita.get_by_label("GBP", exact=True).fill("1.41")
    rita.get_by_label("Reason").fill("as the market moved")
    rita.get_by_role("button", name="Ask for this sheet").click()
    rita.wait_for_url(re.compile("/changes/"))

    ruth = screens.signed_in(published.person("Ruth", Role.RATES))
    ruth.goto(rita.url)
    ruth.get_by_role("button", name="Approve").click()
    expect(ruth.get_by_text("approved by Ruth")).to_be_visible()
    ruth.get_by_role("navigation", name="Pages").get_by_role("link", name="Rates").click()
    ruth.wait_for_url("**/rates")
    ruth.get_by_role("link", name="EUR").click()
    ruth.get_by_role("link", name="Sheet 4").click()
    expect(ruth.get_by_text("Asked by Rita")).to_be_visible()
    expect(ruth.get_by_text("Approved by Ruth")).to_be_visible()


def test_the_history_is_read_by_keys_and_leads_to_a_sheet(screens: Screens, published: World) -> None:
    ada = screens.signed_in(published.person("Ada", Role.AUDITOR))
    ada.goto("/rates/EUR?currency=GBP")
    ada.locator(".plot").focus()
    for key in ("Home", "ArrowRight"):
        ada.keyboard.press(key)
    expect(ada.locator(".readout")).to_contain_text("GBP 1.404 · Band of 10")
    expect(ada.locator(".readout")).to_contain_text("1.053 to 1.287 · sheet 2")
    ada.keyboard.press("Enter")
    expect(ada).to_have_url(re.compile("/rates/EUR/2$"))


def test_all_of_it_works_without_scripts(screens: Screens, published: World, file: Path) -> None:
    screens.expected = {422}
    rita = screens.signed_in(published.person("Rita", Role.RATES), java_script_enabled=False)
    rita.goto("/rates/EUR?currency=GBP")
    rita.get_by_text("The figures as a table").click()
    rita.get_by_role("link", name="sheet 2", exact=True).click()
    expect(rita.get_by_role("heading", name="Who asked and who approved")).to_be_visible()

    rita.goto("/rates/EUR/new")
    rita.get_by_label("GBP", exact=True).fill("1.7")
    rita.get_by_label("In force from").fill("2020-01-01T00:00:00Z")
    rita.get_by_role("button", name="Check").click()
    expect(rita.locator("#effective_at-error")).to_have_text("lies in the past")
    rita.get_by_label("In force from").fill("")
    rita.get_by_role("button", name="Check").click()
    expect(rita.locator("#effective_at-error")).to_be_empty()
    expect(rita.locator("#move-GBP")).to_contain_text("+21.08")

    rita.goto("/rates/EUR/import")
    rita.get_by_label("eurofxref-daily.xml").set_input_files(file)
    rita.get_by_role("button", name="Show the differences").click()
    rita.get_by_role("button", name="Ask for this change").click()
    expect(rita.get_by_text("It waits for somebody else.")).to_be_visible()
