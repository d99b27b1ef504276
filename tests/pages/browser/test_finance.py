"""The finance page in a browser: panels that come by themselves, in order, and everything without scripts too."""

import re
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from playwright.sync_api import Page, Route, expect

from jackpot_service.domain.principals import Role
from jackpot_service.reports.reconciling import reconcile_next
from tests.pages.browser.screens import Screens, violations
from tests.support.bets import bet
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, hand
from tests.support.reading import past_the_service
from tests.support.world import World

pytestmark = [pytest.mark.browser, pytest.mark.long]

SCHEMES = ("light", "dark")
WIDTHS = (1440, 1024, 390, 320)
PANELS = ("figures", "held", "books", "return", "casinos", "hits")
LONG = "w" * 64


@pytest.fixture
def played(world: World) -> World:
    """A hit, bets of four days at two casinos, names as long as they may be; the days before today are reconciled."""
    world.clock.at = datetime(2026, 12, 1, 12, tzinfo=UTC)
    world.open(base_amount="987654321.123456", tables=("T1",))
    world.add_casino(LONG)
    world.add_table(LONG, jackpot_id="j1", casino_id=LONG)
    for number, table_id in enumerate(("T1", LONG, "T1", LONG)):
        round_id = f"r{number}"
        world.bet(
            bet("a", stake_minor=10_000), bet("b", hand="2", currency="SEK"), round_id=round_id, table_id=table_id
        )
        world.settle(hand("1", FLUSH), hand("2", NOTHING), round_id=round_id, table_id=table_id)
        world.clock.advance(timedelta(days=1))
    world.bet(bet("a"), round_id=LONG, table_id=LONG)
    world.settle(hand("1", ROYAL_FLUSH), round_id=LONG, table_id=LONG)
    for _ in iter(partial(reconcile_next, world.engine, now=world.clock()), None):
        pass
    return world


def settled(page: Page) -> Page:
    """The page, once each panel is there."""
    expect(page.locator(".waits")).to_have_count(0)
    return page


def opened(screens: Screens, world: World, path: str = "/finance", **options: object) -> Page:
    page = screens.signed_in(world.key(Role.FINANCE), **options)
    page.goto(path)
    return settled(page) if path.partition("?")[0] == "/finance" else page


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_in_either_scheme(screens: Screens, played: World, scheme: str) -> None:
    page = opened(screens, played, color_scheme=scheme)
    assert violations(page) == []
    for panel in PANELS:
        page.goto(f"/finance/{panel}")
        assert violations(page) == [], panel


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_where_a_figure_differs(
    screens: Screens, played: World, database_url: str, scheme: str
) -> None:
    past_the_service(database_url, "UPDATE reconciled_days SET sums = replace(sums::text, '\"100\"', '\"101\"')::jsonb")
    page = opened(screens, played, "/finance/books", color_scheme=scheme)
    assert violations(page) == []
    past_the_service(database_url, "DELETE FROM reconciled_days")


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(screens: Screens, played: World, width: int) -> None:
    page = opened(screens, played, viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for panel in PANELS:
        page.goto(f"/finance/{panel}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, panel


def test_panels_are_asked_for_one_after_another_in_their_order(screens: Screens, played: World) -> None:
    page = screens.signed_in(played.key(Role.FINANCE))
    under_way: list[str] = []
    requested: list[str] = []

    def slowly(route: Route) -> None:
        under_way.append(route.request.url)
        requested.append(re.findall(r"/finance/(\w+)\?", route.request.url)[0])
        assert len(under_way) == 1
        response = route.fetch()
        under_way.pop()
        route.fulfill(response=response)

    page.route("**/finance/*", slowly)
    page.goto("/finance")
    settled(page)
    assert requested == list(PANELS)
    expect(page.locator(".plot canvas")).to_have_count(2)


def test_the_head_is_there_while_panels_are_read_and_says_so_after_two_seconds(screens: Screens, played: World) -> None:
    page = screens.signed_in(played.key(Role.FINANCE))
    held_back: list[Route] = []
    page.route("**/finance/figures*", lambda route: held_back.append(route))  # noqa: PLW0108  playwright marks it
    animations = page.context.new_cdp_session(page)
    animations.send("Animation.enable")
    animations.send("Animation.setPlaybackRate", {"playbackRate": 0})  # The page may take two seconds to be looked at.
    with page.expect_request("**/finance/figures*"):
        page.goto("/finance")
    expect(page.get_by_role("heading", name="Finance of j1")).to_be_visible()
    still = page.locator(".figures .still")
    expect(still).to_be_hidden()
    assert still.evaluate("element => element.getAnimations().map((each) => each.effect.getTiming().delay)") == [2000]
    animations.send("Animation.setPlaybackRate", {"playbackRate": 1})
    expect(still).to_be_visible()
    heights = {name: page.locator(f".panel.{name}").bounding_box() for name in ("figures", "held")}
    held_back[0].continue_()
    settled(page)
    for name, before in heights.items():
        after = page.locator(f".panel.{name}").bounding_box()
        assert before is not None
        assert after is not None
        assert abs(after["height"] - before["height"]) <= 40, name


def test_a_panel_that_fails_says_so_by_itself_and_is_asked_for_again(screens: Screens, played: World) -> None:
    screens.expected = {500, 503}
    page = screens.signed_in(played.key(Role.FINANCE))
    fails = [True]

    def failing(route: Route) -> None:
        if fails[0]:
            route.abort()
        else:
            route.continue_()

    page.route("**/finance/held*", failing)
    page.goto("/finance")
    again = page.locator(".held").get_by_role("link", name="Try again")
    expect(again).to_be_visible()
    expect(page.locator(".hits table")).to_be_visible()
    screens.complaints.clear()
    fails[0] = False
    again.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".held .plot canvas")).to_be_visible()


def test_a_busy_service_is_asked_once_more_by_itself(screens: Screens, played: World) -> None:
    screens.expected = {503}
    page = screens.signed_in(played.key(Role.FINANCE))
    answers = iter([503])

    def busy(route: Route) -> None:
        status = next(answers, None)
        if status is None:
            route.continue_()
        else:
            headers = {"Content-Type": "text/html; charset=utf-8", "Retry-After": "1"}
            route.fulfill(status=status, headers=headers, body="<div class='body'>busy</div>")

    page.route("**/finance/casinos*", busy)
    page.goto("/finance")
    expect(page.locator(".casinos table")).to_be_visible()


def test_a_page_that_a_proxy_answers_is_not_put_into_a_panel(screens: Screens, played: World) -> None:
    screens.expected = {502}
    page = screens.signed_in(played.key(Role.FINANCE))
    answer = {
        "status": 502,
        "content_type": "text/html",
        "body": "<html><body><main id='proxy'>no</main></body></html>",
    }
    page.route("**/finance/casinos*", lambda route: route.fulfill(**answer))
    page.goto("/finance")
    expect(page.locator(".casinos").get_by_role("link", name="Try again")).to_be_visible()
    assert page.locator("#proxy").count() == 0


def test_figures_and_points_are_reached_by_keyboard(screens: Screens, played: World) -> None:
    page = opened(screens, played)
    expect(page.locator(".held .plot canvas")).to_be_visible()  # It listens to keys from then on.
    page.locator(".held .plot").focus()
    page.keyboard.press("Home")
    expect(page.locator(".held .readout")).to_contain_text("1 Dec 2026")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".held .readout")).to_contain_text("2 Dec 2026")
    page.get_by_role("link", name=re.compile("EUR")).first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/finance/figures?*")
    expect(page.locator("#liability")).to_be_visible()
    page.get_by_role("link", name="All parts of this page").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/finance?*")


def test_without_scripts_each_part_is_a_page(screens: Screens, played: World) -> None:
    page = screens.signed_in(played.key(Role.FINANCE), java_script_enabled=False)
    page.goto("/finance")
    expect(page.get_by_role("heading", name="Finance of j1")).to_be_visible()
    for panel in ("What is held, by day", "Do the books agree?", "Return of the fixed prizes", "Casinos", "Last hits"):
        page.get_by_role("link", name=f"Open “{panel}”").click()
        page.wait_for_url("**/finance/*")
        expect(page.get_by_role("heading", name=panel, exact=True)).to_be_visible()
        page.get_by_role("link", name="All parts of this page").click()
    page.goto("/finance/held")
    page.get_by_text("The figures as a table").click()
    expect(page.get_by_role("cell", name=re.compile("EUR")).first).to_be_visible()


def test_other_days_and_another_instant_are_typed(screens: Screens, played: World) -> None:
    page = opened(screens, played)
    page.get_by_label("Days").fill("3")
    page.get_by_label("As of, in UTC").fill("2026-12-04T00:00:00Z")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url(lambda url: "2026-12-04" in url)
    settled(page)
    expect(page.get_by_text("2 Dec 2026 to 4 Dec 2026, as of 4 Dec 2026, 00:00:00 UTC")).to_be_visible()


def test_it_is_printed_with_its_instant_and_without_navigation(screens: Screens, played: World) -> None:
    page = opened(screens, played)
    page.emulate_media(media="print")
    expect(page.get_by_role("navigation", name="Pages", exact=True)).to_be_hidden()
    expect(page.get_by_role("link", name="Workbook")).to_be_hidden()
    expect(page.locator(".foot")).to_contain_text("as of")
    pages = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4", prefer_css_page_size=True)))
    assert pages <= 4


PAINTED = """
new Promise((done) => {
  new PerformanceObserver((list) => done(list.getEntries().length)).observe({type: "paint", buffered: true});
})
"""
"""Waits for a paint: what is visible may not be painted yet. Playwright's own waiting needs `eval`: that is refused."""


def test_the_first_paint_does_not_wait_for_reports(screens: Screens, played: World) -> None:
    page = screens.signed_in(played.key(Role.FINANCE))
    page.route("**/finance/*", lambda _: None)  # No panel is ever answered.
    page.goto("/finance", wait_until="commit")
    expect(page.get_by_role("heading", name="Finance of j1")).to_be_visible()
    assert page.evaluate(PAINTED)
    page.unroute_all(behavior="ignoreErrors")
