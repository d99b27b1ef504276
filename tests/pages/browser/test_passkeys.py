"""Passkeys in a browser, by Chromium's virtual authenticator: they are made, sign in, and sign approvals."""

from typing import Final

import pytest
from playwright.sync_api import Page, expect

from jackpot_service.domain.principals import Role
from tests.pages.browser.screens import Screens, violations
from tests.support.bets import bet
from tests.support.every_kind import PAYLOADS
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = [pytest.mark.browser, pytest.mark.long]

PAGE: Final = "/changes/q1"


@pytest.fixture
def at_localhost(screens: Screens) -> Screens:
    """Windows at a name: an address of numbers has no passkeys."""
    screens.address = screens.address.replace("127.0.0.1", "localhost")
    screens.hosts = {screens.address}
    return screens


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000")
    world.ask("adjustment", PAYLOADS["adjustment"]).ok(201)
    return world


def plug_in(page: Page) -> None:
    """Give a window an authenticator, whose person is there and is recognised."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    session.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasResidentKey": True,
                "hasUserVerification": True,
                "isUserVerified": True,
                "automaticPresenceSimulation": True,
            }
        },
    )


def person(screens: Screens, world: World, name: str = "Bob", role: Role = Role.FINANCE, **options: object) -> Page:
    """Somebody who has signed in with a key, with an authenticator, and has added a passkey."""
    page = screens.signed_in(world.person(name, role), **options)
    plug_in(page)
    page.goto("/account")
    ask_for(page, "blue key")
    making = page.get_by_role("button", name="Make the passkey")
    expect(making).to_be_enabled()  # By the script of the page; a key that is pressed does not wait for it.
    making.press("Enter")
    expect(page.get_by_role("listitem").filter(has_text="blue key")).to_be_visible()
    return page


def ask_for(page: Page, name: str) -> None:
    """Name a passkey to add, on the page of the account."""
    page.get_by_label("Name of").fill(name)
    page.get_by_role("button", name="Add a passkey").click()


def test_a_passkey_is_made_and_signs_in(at_localhost: Screens, opened: World) -> None:
    bob = person(at_localhost, opened)
    bob.get_by_role("button", name="Sign out", exact=True).click()
    bob.get_by_role("button", name="Use a passkey").click()
    bob.wait_for_url(lambda url: "/sign-in" not in url)
    bob.goto("/account")
    expect(bob.get_by_text("Last used")).to_be_visible()


def test_the_same_authenticator_makes_no_second_passkey(at_localhost: Screens, opened: World) -> None:
    bob = person(at_localhost, opened)
    ask_for(bob, "again")
    bob.get_by_role("button", name="Use a passkey").click()
    ask_for(bob, "again")
    bob.get_by_role("button", name="Make the passkey").click()
    expect(bob.get_by_role("alert")).to_contain_text("already has a passkey of yours")
    expect(bob.get_by_role("button", name="Make the passkey")).to_be_enabled()


def test_what_is_shown_is_signed_and_approved(at_localhost: Screens, opened: World) -> None:
    bob = person(at_localhost, opened)
    bob.goto(PAGE)
    bob.get_by_label("Remark").fill("the memo says so")
    bob.get_by_role("button", name="Approve with your passkey").click()
    expect(bob.get_by_text("approved signed by Bob")).to_be_visible()
    [decision] = opened.get("/v1/change-requests/q1").ok()["decisions"]
    assert decision["reason"] == "the memo says so"
    assert decision["assertion"]["effect"]["after"]["amount"] == "1"
    assert opened.books.mismatches() == ()


def test_books_that_move_in_between_are_shown_and_nothing_counts(at_localhost: Screens, world: World) -> None:
    at_localhost.expected = {409}
    world.open(base_amount="1000")
    owe(world, "w1")
    world.ask("prize-fund-true-up", {"jackpot_id": "j1"}).ok(201)
    bob = person(at_localhost, world)
    bob.goto(PAGE)
    owe(world, "w2")
    bob.get_by_role("button", name="Approve with your passkey").click()
    expect(bob.get_by_role("alert").first).to_contain_text("The books have changed")
    assert world.get("/v1/change-requests/q1").ok()["state"] == "pending"
    bob.get_by_role("button", name="Approve with your passkey").click()
    expect(bob.get_by_text("approved signed by Bob")).to_be_visible()


def owe(world: World, round_id: str) -> None:
    world.bet(bet("w", stake_minor=1000), round_id=round_id)
    world.settle(hand("1", FLUSH), round_id=round_id)


def test_an_assertion_that_is_sent_again_is_refused(at_localhost: Screens, opened: World) -> None:
    at_localhost.expected = {422}
    opened.ask("casino-claims", PAYLOADS["casino-claims"], request_id="q2").ok(201)
    bob = person(at_localhost, opened)
    sent: list[str] = []
    bob.on("request", lambda request: sent.append(request.post_data or "") if request.method == "POST" else None)
    bob.goto(PAGE)
    bob.get_by_role("button", name="Approve with your passkey").click()
    expect(bob.get_by_text("approved signed by Bob")).to_be_visible()
    bob.goto("/changes/q2")
    answer = bob.request.post(
        "/changes/q2", data=sent[-1], headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert answer.status == 422
    assert "answers no challenge about q2" in answer.text()
    assert opened.get("/v1/change-requests/q2").ok()["state"] == "pending"


def test_a_key_that_was_shown_long_ago_is_shown_again_as_a_passkey(at_localhost: Screens, opened: World) -> None:
    bob = person(at_localhost, opened)
    bob.goto("/sign-in/again?next=/account")
    bob.get_by_role("button", name="Use a passkey").click()
    bob.wait_for_url(f"{at_localhost.address}/account")


def test_at_an_address_of_numbers_it_is_said_where_passkeys_are(screens: Screens, opened: World) -> None:
    bob = screens.signed_in(opened.person("Bob", Role.FINANCE))
    bob.goto("/account")
    ask_for(bob, "blue key")
    expect(bob.get_by_role("alert")).to_contain_text(
        "Passkeys work at the address localhost only. "
        "To use one, write localhost in place of 127.0.0.1 in the address bar."
    )
    expect(bob.get_by_role("button", name="Make the passkey", include_hidden=True)).to_be_hidden()


def test_without_scripts_it_is_said_what_is_missing(at_localhost: Screens, opened: World) -> None:
    page = at_localhost.window(java_script_enabled=False)
    page.goto("/sign-in")
    expect(page.get_by_text("To use a passkey, the browser needs JavaScript.")).to_be_visible()
    expect(page.get_by_role("button", name="Use a passkey")).to_be_disabled()
    del opened


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_either_scheme(at_localhost: Screens, opened: World, scheme: str) -> None:
    bob = person(at_localhost, opened, color_scheme=scheme)
    for path in ("/account", PAGE, "/sign-in/again"):
        bob.goto(path)
        assert violations(bob) == [], path
    bob.goto("/account")
    ask_for(bob, "red key")
    shown_again = bob.get_by_role("button", name="Use a passkey")
    expect(shown_again).to_be_visible()
    assert violations(bob) == []
    shown_again.click()
    ask_for(bob, "red key")
    expect(bob.get_by_role("button", name="Make the passkey")).to_be_visible()
    assert violations(bob) == []
    ann = at_localhost.signed_in(opened.person("Ann", Role.OPERATOR), color_scheme=scheme)
    ann.goto(f"/set-up/keys/{opened.person('Bob', Role.FINANCE).split('_')[1]}")
    assert violations(ann) == []
    ann.get_by_role("link", name="Revoke blue key").click()
    expect(ann.get_by_role("heading", name="Revoke a passkey")).to_be_visible()
    assert violations(ann) == []
    visitor = at_localhost.window(color_scheme=scheme)
    visitor.goto("/sign-in")
    assert violations(visitor) == []


@pytest.mark.parametrize("width", [1440, 390, 320])
def test_nothing_is_wider_than_the_window(at_localhost: Screens, opened: World, width: int) -> None:
    bob = person(at_localhost, opened, viewport={"width": width, "height": 800})
    for path in ("/account", PAGE, "/sign-in/again"):
        bob.goto(path)
        assert bob.evaluate("document.documentElement.scrollWidth") <= width, path
