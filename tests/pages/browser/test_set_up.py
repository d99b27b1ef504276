"""Set-up in a browser: by keyboard, without scripts, on a phone; and a key that a loaded page never shows again."""

import pytest
from playwright.sync_api import expect

from jackpot_service.domain.principals import Principal, Role
from tests.pages.browser.screens import Screens, violations
from tests.support.world import World

pytestmark = [pytest.mark.browser, pytest.mark.long]

LONG = "W" * 64

PAGES = (
    *("/set-up/casinos", "/set-up/casinos/new", "/set-up/tables", "/set-up/tables/new"),
    *("/set-up/jackpots", "/set-up/jackpots/new", f"/set-up/jackpots/{LONG}/stripes"),
    *("/set-up/keys", "/set-up/keys/new"),
)


@pytest.fixture
def named(world: World) -> World:
    """Names as long as they may be, and a key of somebody whose name is."""
    world.add_casino(LONG)
    world.open(jackpot_id=LONG, tables=())
    world.add_table("X" * 64, jackpot_id=LONG, casino_id=LONG)
    world.key_of(Principal("W" * 100, Role.TABLE, LONG, frozenset({"X" * 64})))
    return world


def key_page(world: World, name: str) -> str:
    return f"/set-up/keys/{world.key_of(Principal(name, Role.TABLE, LONG, frozenset({'X' * 64}))).split('_')[1]}"


def test_a_key_is_made_copied_and_gone_when_the_page_is_loaded_again(screens: Screens, world: World) -> None:
    page = screens.signed_in(world.person("Ann", Role.OPERATOR))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/set-up/keys")
    page.get_by_role("link", name="Make a key").click()
    page.get_by_label("Name").fill("server of Riga")
    page.get_by_label("Role").select_option("table")
    page.get_by_label("Casino").select_option("c1")
    page.get_by_label("Reason").fill("a new server")
    page.get_by_role("button", name="Make the key").click()

    key = page.get_by_label("Key of server of Riga").input_value()
    page.get_by_role("button", name="Copy the key").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == key
    assert world.get("/v1/me", key=key).ok()["principal"] == "server of Riga"

    page.reload()
    expect(page.get_by_role("heading", name="This key was shown before")).to_be_visible()
    assert key not in page.content()
    page.go_back()
    assert key not in page.content()


def test_a_wrong_form_leads_to_its_first_wrong_field(screens: Screens, world: World) -> None:
    screens.expected = {422}
    page = screens.signed_in(world.person("Ann", Role.OPERATOR))
    page.goto("/set-up/casinos/new")
    page.get_by_label("Id").fill("riga")
    page.get_by_label("Name").fill("Casino Riga")
    page.get_by_label("Time zone").fill("Europe/Atlantis")
    page.get_by_label("Reason").fill("a start")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Time zone")).to_be_focused()
    expect(page.get_by_label("Time zone")).to_have_accessible_description(
        "As the IANA names it, such as Europe/Riga. "
        "There is no time zone Europe/Atlantis; name one as the IANA does, such as Europe/Riga."
    )
    expect(page.get_by_label("Name")).to_have_value("Casino Riga")
    assert violations(page) == []
    page.get_by_label("Time zone").fill("Europe/Riga")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="riga was added.")).to_be_visible()


def test_the_keyboard_alone_is_enough(screens: Screens, world: World) -> None:
    page = screens.signed_in(world.person("Ann", Role.OPERATOR))
    page.goto("/set-up/casinos/new")
    page.get_by_label("Id").focus()
    for text in ("riga", "Casino Riga", None):
        if text is not None:
            page.keyboard.type(text)
        page.keyboard.press("Tab")
    expect(page.get_by_label("Gaming days start at")).to_be_focused()
    page.get_by_label("Reason").focus()
    page.keyboard.type("a start")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Add the casino")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="riga was added.")).to_be_visible()


def test_it_works_without_scripts(screens: Screens, world: World) -> None:
    page = screens.signed_in(world.person("Ann", Role.OPERATOR), java_script_enabled=False)
    page.goto("/set-up/keys/new")
    page.get_by_label("Name").fill("the inspector")
    page.get_by_label("Role").select_option("auditor")
    page.get_by_label("Reason").fill("inspection")
    page.get_by_role("button", name="Make the key").click()
    assert page.get_by_label("Key of the inspector").input_value().startswith("jk_")
    expect(page.get_by_role("button", name="Copy the key")).to_be_hidden()
    page.get_by_role("link", name="Its page").click()
    page.get_by_role("link", name="Revoke the key").click()
    page.get_by_label("Reason").fill("it is over")
    page.get_by_role("button", name="Revoke the key").click()
    expect(page.get_by_text("revoked", exact=True)).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_either_scheme(screens: Screens, named: World, scheme: str) -> None:
    page = screens.signed_in(named.person("Ann", Role.OPERATOR), color_scheme=scheme)
    key = key_page(named, "W" * 100)
    for path in (*PAGES, key, f"{key}/revocation", f"{key}/sign-out"):
        page.goto(path)
        assert (path, violations(page)) == (path, [])
    page.goto("/set-up/keys/new")
    page.get_by_label("Name").fill("the inspector")
    page.get_by_label("Role").select_option("auditor")
    page.get_by_label("Reason").fill("inspection")
    page.get_by_role("button", name="Make the key").click()
    expect(page.get_by_label("Key of the inspector")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768), (390, 844), (320, 640)])
def test_nothing_is_wider_than_the_window(screens: Screens, named: World, width: int, height: int) -> None:
    page = screens.signed_in(named.person("Ann", Role.OPERATOR), viewport={"width": width, "height": height})
    for path in (*PAGES, key_page(named, "W" * 100), f"{key_page(named, 'W' * 100)}/revocation"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
