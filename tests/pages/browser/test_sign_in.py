"""Signing in, staying and leaving, as a person does it: by mouse, by keyboard alone, without scripts, on a phone."""

import re

import pytest
from playwright.sync_api import expect

from jackpot_service.domain.principals import Principal, Role
from jackpot_service.pages.access import PEOPLE
from tests.pages.browser.screens import Screens, violations
from tests.support.world import World

pytestmark = [pytest.mark.browser, pytest.mark.long]

SCHEMES = ("light", "dark")
SIZES = ((1440, 900), (1024, 768), (390, 844), (320, 640))


@pytest.mark.parametrize("role", sorted(PEOPLE))
def test_a_person_signs_in_looks_around_and_signs_out(screens: Screens, world: World, role: Role) -> None:
    page = screens.signed_in(world.key(role))

    for link in page.get_by_role("navigation").get_by_role("link").all():
        address = link.get_attribute("href") or ""
        response = page.request.get(address)
        assert response.status == 200, address
    page.get_by_role("button", name="Sign out", exact=True).click()

    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto("/account")
    assert page.url.endswith("/sign-in?next=/account")


def test_a_wrong_key_is_said_and_the_field_is_ready_again(screens: Screens) -> None:
    screens.expected = {422}
    page = screens.window()
    page.goto("/sign-in")
    expect(page.get_by_label("Key")).to_be_focused()
    page.keyboard.type("jk_wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("This key is not valid.")
    expect(page.get_by_label("Key")).to_be_focused()
    expect(page.get_by_label("Key")).to_have_value("")


def test_the_keyboard_alone_is_enough(screens: Screens, world: World) -> None:
    page = screens.window()
    page.goto("/sign-in?next=/account")
    expect(page.get_by_label("Key")).to_be_focused()
    page.keyboard.type(world.key(Role.RATES))
    page.keyboard.press("Enter")
    page.wait_for_url(f"{screens.address}/account")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{screens.address}/account#content")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Sign out everywhere")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_it_works_without_scripts(screens: Screens, world: World) -> None:
    page = screens.signed_in(world.key(Role.OPERATOR), java_script_enabled=False)
    page.get_by_role("link", name="Account").click()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-scheme", "dark")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("path", ["/sign-in", "/account", "/sign-in/again", "/nothing-here"])
def test_axe_finds_nothing_in_either_scheme(screens: Screens, world: World, path: str, scheme: str) -> None:
    screens.expected = {404}
    if path == "/sign-in":
        page = screens.window(color_scheme=scheme)
    else:
        page = screens.signed_in(world.key(Role.FINANCE), color_scheme=scheme)
    page.goto(path)
    assert violations(page) == []


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_nothing_is_wider_than_the_window(screens: Screens, world: World, width: int, height: int) -> None:
    key = world.key_of(Principal("W" * 100, Role.FINANCE))
    page = screens.signed_in(key, viewport={"width": width, "height": height})
    for path in ("/account", "/sign-in/again"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_session_that_is_about_to_end_says_so_and_can_be_kept(screens: Screens, world: World) -> None:
    page = screens.window()
    page.clock.install()
    page.goto("/sign-in")
    page.get_by_label("Key").fill(world.key(Role.FINANCE))
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/floor")  # Its half an hour begins with this page.
    banner = page.get_by_role("status")
    expect(banner).to_be_hidden()
    page.clock.run_for("27:00")
    expect(banner).to_be_hidden()
    page.clock.run_for("01:01")
    expect(banner).to_be_visible()
    page.get_by_role("link", name="Stay signed in").click()
    expect(page).to_have_url(re.compile("/floor$"))
    expect(page.get_by_role("status")).to_be_hidden()
