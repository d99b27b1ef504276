"""Floor, rounds and jackpots in a browser: seen by axe in both schemes, on every width, without scripts, on paper."""

import re

import pytest
from playwright.sync_api import expect

from jackpot_service.domain.principals import Role
from tests.pages.browser.screens import Screens, violations
from tests.support.bets import bet
from tests.support.correcting import correct
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, STRAIGHT, dead, hand
from tests.support.world import World

pytestmark = [pytest.mark.browser, pytest.mark.long]

SCHEMES = ("light", "dark")
WIDTHS = (1440, 1024, 390, 320)
LONG = "w" * 64

ROUND = "/tables/T1/rounds/r1"
SET_UP = ("/set-up/casinos", "/set-up/tables", "/set-up/jackpots", "/set-up/keys", "/statements")
PAGES = (
    "/floor",
    "/floor/c1",
    "/rounds",
    "/rounds?table_id=%22",
    ROUND,
    "/tables/T1/rounds/corrected",
    f"/tables/{LONG}/rounds/{LONG}",
    "/jackpots",
    "/jackpots/j1",
    "/jackpots/j1/rules",
    "/jackpots/j1/hits",
    "/jackpots/j1/history",
)

SHOWN_AND_COLUMN = """cell => [
    getComputedStyle(cell, '::before').content,
    cell.closest('table').tHead.rows[0].cells[cell.cellIndex].textContent.trim(),
]"""


@pytest.fixture
def played(world: World) -> World:
    """A hit, a corrected round, one that waits, and names as long as they may be."""
    world.open(base_amount="987654321.123456", tables=("T1", LONG))
    world.bet(bet("a"), bet("b", hand="2", currency="SEK", stake_minor=1000))
    world.settle(hand("1", ROYAL_FLUSH), dead("2"))
    world.bet(bet("a"), round_id="corrected")
    world.settle(hand("1", STRAIGHT), round_id="corrected")
    correct(world, hand("1", FLUSH), round_id="corrected")
    world.bet(bet(LONG, player_id=LONG, hand=LONG), round_id=LONG, table_id=LONG)
    world.settle(hand(LONG, NOTHING), round_id=LONG, table_id=LONG)
    world.bet(bet("a"), round_id="waits")
    return world


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_in_either_scheme(screens: Screens, played: World, scheme: str) -> None:
    screens.expected = {422}
    page = screens.signed_in(played.key(Role.AUDITOR), color_scheme=scheme)
    for path in PAGES:
        page.goto(path)
        assert violations(page) == [], path


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(screens: Screens, played: World, width: int) -> None:
    screens.expected = {422}
    page = screens.signed_in(played.key(Role.AUDITOR), viewport={"width": width, "height": 800})
    for path in PAGES:
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_targets_of_the_floor_are_big_enough_for_a_finger(screens: Screens, played: World) -> None:
    page = screens.signed_in(played.key(Role.OPERATOR), viewport={"width": 820, "height": 1180})
    page.goto("/floor/c1")
    links = page.locator(".tile a").all()
    assert links
    for link in links:
        box = link.bounding_box()
        assert box is not None
        assert box["height"] >= 44, link.inner_text()


def test_a_bettors_arithmetic_opens_by_keyboard_and_without_scripts(screens: Screens, played: World) -> None:
    page = screens.signed_in(played.key(Role.FINANCE), java_script_enabled=False)
    page.goto(ROUND)
    cost = page.get_by_text("It costs").first
    expect(cost).to_be_hidden()
    page.locator("details.own summary").first.focus()
    page.keyboard.press("Enter")
    expect(cost).to_be_visible()


def test_a_round_is_printed_without_its_navigation(screens: Screens, played: World) -> None:
    page = screens.signed_in(played.key(Role.FINANCE))
    page.goto(ROUND)
    page.emulate_media(media="print")
    expect(page.get_by_role("navigation", name="Pages", exact=True)).to_be_hidden()
    expect(page.get_by_role("heading", name="How the jackpot was shared")).to_be_visible()


def test_a_round_of_twelve_bettors_fits_on_one_page_of_paper(screens: Screens, played: World) -> None:
    bets = [bet(f"b{number}", currency=("EUR", "GBP", "SEK", "JPY")[number % 4]) for number in range(12)]
    played.bet(*bets, round_id="twelve")
    played.put_result(hand("1", ROYAL_FLUSH), dealer=NOTHING, round_id="twelve").ok(201)
    page = screens.signed_in(played.key(Role.FINANCE))
    page.goto("/tables/T1/rounds/twelve")
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4", prefer_css_page_size=True))) == 1


def test_a_narrow_window_lists_the_pages_when_somebody_asks(screens: Screens, played: World) -> None:
    page = screens.signed_in(played.key(Role.OPERATOR), viewport={"width": 390, "height": 844})
    pages = page.get_by_role("navigation", name="Pages", exact=True)
    expect(pages).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    pages.get_by_role("link", name="Rounds").click()
    expect(page.get_by_role("heading", name="Rounds")).to_be_visible()
    expect(pages).to_be_hidden()


def test_without_scripts_a_narrow_window_lists_the_pages_always(screens: Screens, played: World) -> None:
    size = {"width": 390, "height": 844}
    page = screens.signed_in(played.key(Role.OPERATOR), viewport=size, java_script_enabled=False)
    expect(page.get_by_role("navigation", name="Pages", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Menu")).to_be_hidden()


def test_in_a_narrow_window_each_value_of_a_list_is_seen_with_the_name_of_its_column(
    screens: Screens, played: World
) -> None:
    page = screens.signed_in(played.key(Role.AUDITOR), viewport={"width": 390, "height": 844})
    for path in ("/rounds", ROUND, "/jackpots/j1/hits", "/awards", "/changes?tab=decided", "/rates/EUR", *SET_UP):
        page.goto(path)
        cells = page.locator("main table.stacks td[data-label]")
        assert cells.count(), path
        for cell in cells.all():
            box = cell.bounding_box()
            assert box is None or (box["x"] >= 0 and box["x"] + box["width"] <= 390), path
            shown, column = cell.evaluate(SHOWN_AND_COLUMN)
            assert shown == f'"{column}"', path
