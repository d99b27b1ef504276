"""Forms of change requests in a browser: maker and checker, the card picker, by keyboard, without scripts, in time."""

from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from jackpot_service.domain.principals import Role
from tests.pages.browser.screens import Screens, violations
from tests.support import every_kind
from tests.support.bets import bet
from tests.support.filled_forms import FILLED
from tests.support.hands import NOTHING, STRAIGHT
from tests.support.people import asker_of
from tests.support.world import World

pytestmark = [pytest.mark.browser, pytest.mark.long]

LONG = "w" * 64

PAGES = (
    "/changes/new",
    "/changes/new/adjustment",
    "/changes/new/round-correction",
    "/jackpots/j1",
    "/jackpots/j1/suspension",
    "/exceptions?kind=prize-denied",
    "/tables/T1/rounds/denied",
)

WITH_ERRORS = ("adjustment", "change-policy", "round-correction")
"""Kinds whose forms have between them every sort of field."""


@pytest.fixture
def played(world: World) -> World:
    every_kind.played(world)
    world.bet(bet(LONG, player_id=LONG), round_id=LONG)
    world.cancel(round_id=LONG)
    return world


def ann_in(screens: Screens, world: World, **options: object) -> Page:
    return screens.signed_in(world.person("Ann", Role.OPERATOR), **options)


def every_page(kind: str) -> str:
    return f"/changes/new/{kind}?{FILLED[kind].query}"


def fill_adjustment(page: Page, amount: str = "12.50") -> None:
    page.get_by_label("Pool", exact=True).select_option("reserve")
    page.get_by_label("Difference").fill(amount)
    page.get_by_label("Cause").select_option("count-error")
    page.get_by_label("Document").fill("memo 1")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_either_scheme(screens: Screens, played: World, scheme: str) -> None:
    screens.expected = {422}
    ann = ann_in(screens, played, color_scheme=scheme)
    fay = screens.signed_in(played.person("Fay", Role.FINANCE), color_scheme=scheme)
    for path in PAGES:
        ann.goto(path)
        assert violations(ann) == [], path
    for kind in FILLED:
        page = ann if asker_of(kind).role is Role.OPERATOR else fay
        page.goto(every_page(kind))
        assert violations(page) == [], kind
        if kind in WITH_ERRORS:
            page.get_by_role("button", name="Ask for it").click()  # Without a reason.
            expect(page.locator("#reason-error")).to_be_visible()
            assert violations(page) == [], kind


@pytest.mark.parametrize("width", [1440, 390, 320])
def test_nothing_is_wider_than_the_window(screens: Screens, played: World, width: int) -> None:
    ann = ann_in(screens, played, viewport={"width": width, "height": 800})
    fay = screens.signed_in(played.person("Fay", Role.FINANCE), viewport={"width": width, "height": 800})
    for path in (*PAGES, f"/changes/new/compensation?table=T1&round={LONG}"):
        ann.goto(path)
        assert ann.evaluate("document.documentElement.scrollWidth") <= width, path
    for kind in FILLED:
        page = ann if asker_of(kind).role is Role.OPERATOR else fay
        page.goto(every_page(kind))
        for summary in page.locator("summary").all():
            summary.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, kind


def test_a_maker_fills_in_a_form_and_a_checker_approves(screens: Screens, played: World) -> None:
    ann = ann_in(screens, played)
    ann.goto("/jackpots/j1")
    ann.get_by_role("link", name="Correct a pool").click()
    fill_adjustment(ann)
    ann.get_by_label("Reason").fill("the count of Monday was wrong")
    ann.get_by_role("button", name="What would it do?").click()
    expect(ann.get_by_role("row", name="pools · reserve")).to_contain_text("EUR")
    expect(ann.get_by_text("nothing was asked for yet")).to_be_visible()
    expect(ann.get_by_label("Difference")).to_have_value("12.50")
    ann.get_by_role("button", name="Ask for it").click()
    expect(ann.get_by_text("It waits for somebody else.")).to_be_visible()

    bob = screens.signed_in(played.person("Bob", Role.FINANCE))
    bob.goto("/changes")
    bob.get_by_role("link", name="adjustment").click()
    expect(bob.get_by_text("the count of Monday was wrong")).to_be_visible()
    bob.get_by_role("button", name="Approve").click()
    expect(bob.get_by_text("approved by Bob")).to_be_visible()
    ann.reload()
    expect(ann.get_by_text("approved by Bob")).to_be_visible()


def test_two_clicks_and_the_way_back_ask_once(screens: Screens, played: World) -> None:
    ann = ann_in(screens, played)
    ann.goto("/changes/new/adjustment?jackpot=j1")
    fill_adjustment(ann)
    ann.get_by_label("Reason").fill("as agreed")
    before = len(played.get("/v1/change-requests").ok()["items"])
    ann.get_by_role("button", name="Ask for it").dblclick()
    expect(ann.get_by_text("It waits for somebody else.")).to_be_visible()
    ann.go_back()
    expect(ann.get_by_text("You have sent this form before")).to_be_visible()
    ann.get_by_role("link", name="The request").click()
    expect(ann.get_by_text("It waits for somebody else.")).to_be_visible()
    assert len(played.get("/v1/change-requests").ok()["items"]) == before + 1


def test_the_focus_is_on_the_first_wrong_field(screens: Screens, played: World) -> None:
    screens.expected = {422}
    ann = ann_in(screens, played)
    ann.goto("/changes/new/adjustment?jackpot=j1")
    fill_adjustment(ann, amount="12,50")
    ann.get_by_role("button", name="Ask for it").click()
    expect(ann.get_by_label("Difference")).to_be_focused()
    expect(ann.get_by_label("Difference")).to_have_value("12,50")
    expect(ann.get_by_label("Difference")).to_have_attribute("aria-invalid", "true")
    fill_adjustment(ann, amount="-5000")
    ann.get_by_label("Reason").fill("as agreed")
    ann.get_by_role("button", name="Ask for it").click()
    expect(ann.get_by_role("alert")).to_be_focused()


def test_a_correction_by_keyboard_alone(screens: Screens, played: World) -> None:
    ann = ann_in(screens, played)
    ann.goto("/changes/new/round-correction?table=T1&round=lost")
    summary = ann.locator("summary").first
    summary.press("Enter")
    cards = ann.locator("[data-picker]").first
    for card in NOTHING:
        cards.locator(f"input[value='{card}']").press("Space")
    expect(summary).to_contain_text("no cards")
    for card in STRAIGHT[:4]:
        cards.locator(f"input[value='{card}']").press("Space")
    # From the jack of clubs, which is the fourth of its suit, the ten is one to the right.
    cards.locator("input[value='Jc']").focus()
    ann.keyboard.press("ArrowRight")
    ann.keyboard.press("Space")
    expect(summary).to_contain_text("10♣")
    ann.locator("#reason").focus()
    ann.keyboard.type("the camera shows a straight")
    ann.get_by_role("button", name="Ask for it").press("Enter")
    expect(ann.get_by_text("It waits for somebody else.")).to_be_visible()
    (request, *_) = played.get("/v1/change-requests").ok()["items"]
    assert sorted(request["payload"]["result"]["hands"][0]["cards"]) == sorted(STRAIGHT)


def test_the_cards_are_picked_without_scripts(screens: Screens, played: World) -> None:
    ann = ann_in(screens, played, java_script_enabled=False)
    ann.goto("/changes/new/round-correction?table=T1&round=lost")
    ann.locator("summary").first.click()
    for card in NOTHING:
        ann.locator(f"[data-picker] input[value='{card}']").first.uncheck(force=True)
    for card in STRAIGHT:
        ann.locator(f"[data-picker] input[value='{card}']").first.check(force=True)
    ann.get_by_label("Reason").fill("the camera shows a straight")
    ann.get_by_role("button", name="What would it do?").click()
    expect(ann.get_by_text("nothing was asked for yet")).to_be_visible()
    ann.get_by_role("button", name="Ask for it").click()
    expect(ann.get_by_text("It waits for somebody else.")).to_be_visible()


def test_a_card_of_another_hand_is_marked(screens: Screens, played: World) -> None:
    ann = ann_in(screens, played)
    ann.goto("/changes/new/round-correction?table=T1&round=lost")
    dealer = ann.locator("[data-picker]").nth(1)
    dealer.locator("summary").click()
    expect(dealer.locator(f"label:has(input[value='{NOTHING[0]}'])")).to_have_class("pick hearts taken")
    expect(dealer.locator("label:has(input[value='As'])")).to_have_class("pick spades")


@pytest.mark.parametrize("scripts", [True, False])
def test_a_form_that_comes_too_late_comes_back_filled_in(screens: Screens, played: World, *, scripts: bool) -> None:
    key = played.person("Ann", Role.OPERATOR)
    ann = screens.signed_in(key, java_script_enabled=scripts)
    ann.goto("/changes/new/held-awards?table=T1&round=held")
    ann.get_by_label("Decision").select_option("reject")
    ann.get_by_role("checkbox").check()
    ann.get_by_label("Reason").fill("the deck was marked")
    played.clock.advance(timedelta(minutes=31))
    ann.get_by_role("button", name="Ask for it").click()
    expect(ann.get_by_text("Your session was over when you sent the form")).to_be_visible()
    expect(ann.locator("noscript p")).to_have_count(0 if scripts else 1)
    ann.get_by_label("Key").fill(key)
    ann.get_by_role("button", name="Sign in").click()
    if not scripts:
        expect(ann.get_by_label("Reason")).to_have_value("")
        return
    expect(ann.get_by_label("Decision")).to_have_value("reject")
    expect(ann.get_by_role("checkbox")).to_be_checked()
    expect(ann.get_by_label("Reason")).to_have_value("the deck was marked")
    assert key not in ann.evaluate("JSON.stringify(sessionStorage)")
    ann.get_by_role("button", name="Ask for it").click()
    expect(ann.get_by_text("It waits for somebody else.")).to_be_visible()


def send_too_late(ann: Page, world: World) -> None:
    """Send a form when the session of its person has ended."""
    world.clock.advance(timedelta(minutes=31))
    ann.get_by_role("button", name="Ask for it").click()
    expect(ann.get_by_text("Your session was over when you sent the form")).to_be_visible()


def sign_in_again(page: Page, key: str) -> None:
    page.get_by_label("Key").fill(key)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/sign-in" not in url)


def test_a_form_that_comes_back_is_over_the_books_that_it_has_shown(screens: Screens, played: World) -> None:
    screens.expected = {409}
    ann = ann_in(screens, played)
    ann.goto("/changes/new/table-limits?table=T1")
    ann.get_by_label("Least stake").fill("2")
    ann.get_by_label("Reason").fill("as agreed")
    send_too_late(ann, played)
    played.change("table-limits", {"jackpot_id": "j1", "table_id": "T1", "largest_stake": "40"}, request_id="first")
    sign_in_again(ann, played.person("Ann", Role.OPERATOR))
    expect(ann.get_by_label("Least stake")).to_have_value("2")
    expect(ann.get_by_label("Largest stake")).to_have_value("")
    ann.get_by_role("button", name="Ask for it").click()
    expect(ann.get_by_text("has changed since you opened it")).to_be_visible()
    expect(ann.get_by_label("Largest stake")).to_have_value("40")
    expect(ann.get_by_label("Least stake")).to_have_value("2")


def test_a_form_comes_back_to_nobody_else_and_to_no_other_form(screens: Screens, played: World) -> None:
    ann = ann_in(screens, played)
    ann.goto("/changes/new/adjustment?jackpot=j1")
    fill_adjustment(ann)
    send_too_late(ann, played)
    sign_in_again(ann, played.person("Olga", Role.OPERATOR))
    expect(ann.get_by_label("Difference")).to_have_value("")

    fill_adjustment(ann)
    ann.get_by_label("Reason").fill("as agreed")
    ann.get_by_role("button", name="Ask for it").click()
    expect(ann.get_by_text("It waits for somebody else.")).to_be_visible()
    ann.wait_for_load_state()  # The text is seen before the page's script forgets what was kept.
    assert "memo 1" not in ann.evaluate("JSON.stringify(sessionStorage)")
    ann.goto("/changes/new/adjustment?jackpot=j2")
    ann.get_by_label("Reason").fill("another")
    send_too_late(ann, played)
    sign_in_again(ann, played.person("Olga", Role.OPERATOR))
    expect(ann.get_by_label("Reason")).to_have_value("another")
    expect(ann.get_by_label("Difference")).to_have_value("")


def test_a_jackpot_is_suspended_and_resumed(screens: Screens, played: World) -> None:
    ann = ann_in(screens, played)
    ann.goto("/jackpots/j1")
    ann.get_by_label("Reason").fill("the table is flooded")
    ann.get_by_role("button", name="Suspend the jackpot").click()
    expect(ann.get_by_text("The jackpot takes no bets now.")).to_be_visible()
    ann.get_by_label("Reason").fill("it is dry")
    ann.get_by_role("button", name="Resume the jackpot").click()
    expect(ann.get_by_role("button", name="Suspend the jackpot")).to_be_visible()
