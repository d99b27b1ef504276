"""Reports in a browser: from a figure to its entry, by keyboard, without scripts, on every width, on paper, by axe."""

import pytest
from playwright.sync_api import expect

from jackpot_service.domain.principals import Role
from tests.pages.browser.screens import Screens, violations
from tests.support.bets import bet
from tests.support.hands import FLUSH, ROYAL_FLUSH, hand
from tests.support.world import World

pytestmark = [pytest.mark.browser, pytest.mark.long]

SCHEMES = ("light", "dark")
WIDTHS = (1440, 1024, 390, 320)
LONG = "w" * 64

PAGES = (
    "/reports",
    "/reports/trial-balance",
    "/reports/contributions?by=casino,day",
    "/reports/rounds",
    "/reports/rounds?section=bets",
    "/reports/hits?exact=true",
    "/reports/casino-statement",
    "/reports/trial-balance?from=2126-01-01&jackpot_id=%22",
    "/accounts/j1/pool:meter",
    f"/accounts/j1/casino:{LONG}",
    "/entries/j1/0/1",
    "/entries/j1/0/2",
    "/entries/-/0/1",
    "/statements",
    f"/statements/{LONG}",
    "/statements/c1?from=x",
    "/closed-periods",
    "/exports",
)


@pytest.fixture
def played(world: World) -> World:
    """A hit, a casino with names as long as they may be, and exports in two states."""
    world.open(base_amount="987654321.123456", stripes=1)
    world.add_casino(LONG)
    world.add_table(LONG, jackpot_id="j1", casino_id=LONG)
    world.bet(bet("a"), bet("b", hand="2", currency="SEK", stake_minor=1000))
    world.settle(hand("1", ROYAL_FLUSH), hand("2", FLUSH))
    world.bet(bet(LONG, player_id=LONG, hand=LONG), round_id=LONG, table_id=LONG)
    for number in range(2):
        parameters = {"name": "trial-balance", "format": "csv"}
        world.ask_job(parameters, kind="report", request_id=f"e{number}").ok(201)
    assert world.runner().run_next()
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
    page = screens.signed_in(played.key(Role.FINANCE), viewport={"width": width, "height": 800})
    for path in PAGES:
        if path != "/entries/-/0/1":
            page.goto(path)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path


@pytest.mark.parametrize("has_scripts", [True, False])
def test_a_figure_leads_to_its_account_and_on_to_an_entry(screens: Screens, played: World, has_scripts: bool) -> None:  # noqa: FBT001  a parameter
    page = screens.signed_in(played.key(Role.FINANCE), java_script_enabled=has_scripts)
    page.get_by_role("link", name="Reports").click()
    page.get_by_role("link", name="Trial balance").click()
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="pool:reserve")).first
    row.get_by_role("link").last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Account pool:reserve")
    page.get_by_role("table").last.get_by_role("link").first.click()
    expect(page.get_by_text("Both sides in EUR")).to_be_visible()
    expect(page.get_by_text("the hash is right")).to_be_visible()
    page.get_by_role("link", name="The one before").click()
    expect(page).to_have_url(f"{screens.address}/entries/j1/0/3")


def test_a_report_is_asked_and_downloaded_by_keyboard(screens: Screens, played: World) -> None:
    page = screens.signed_in(played.key(Role.FINANCE))
    page.goto("/reports/contributions")
    page.get_by_label("Jackpot", exact=True).focus()
    page.keyboard.type("j1")
    page.get_by_label("day", exact=True).focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{screens.address}/reports/contributions?jackpot_id=j1&by=day")
    link = page.get_by_role("link", name="Workbook (XLSX)")
    link.focus()
    with page.expect_download() as downloading:
        page.keyboard.press("Enter")
    assert downloading.value.suggested_filename.startswith("contributions-")
    assert downloading.value.suggested_filename.endswith(".xlsx")


def test_an_export_is_watched_until_its_file_is_there(screens: Screens, played: World) -> None:
    page = screens.signed_in(played.key(Role.AUDITOR))
    page.goto("/exports")
    expect(page.get_by_role("link", name="Download")).to_have_count(1)
    assert played.runner().run_next()
    expect(page.get_by_role("link", name="Download")).to_have_count(2)
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download").first.click()
    assert downloading.value.suggested_filename.startswith("trial-balance-")


def test_a_report_fits_the_width_of_its_paper(screens: Screens, played: World) -> None:
    page = screens.signed_in(played.key(Role.FINANCE), viewport={"width": 1123 - 91, "height": 794})
    page.emulate_media(media="print")
    for path in ("/reports/trial-balance", f"/statements/{LONG}"):
        page.goto(path)
        assert page.locator("nav").first.is_hidden()
        assert page.evaluate("document.documentElement.scrollWidth") <= 1123 - 91, path
        assert page.get_by_text("Basis of this report").is_visible()
