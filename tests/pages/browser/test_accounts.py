"""Signing in by a company account in a browser: there and back, again before what is grave, and out."""

import re
import socket
from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.records.keys import Subject
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import add_user
from tests.pages.browser.screens import Screens, violations
from tests.support.code_flow import CLIENT, SECRET, CodeFlow
from tests.support.issuer import AUDIENCE, LocalIssuer, local_issuer
from tests.support.served import served
from tests.support.world import World

pytestmark = [pytest.mark.browser, pytest.mark.long]

ANSWERED = "/sign-in/account/answer"


@pytest.fixture
def issuer() -> Iterator[LocalIssuer]:
    with local_issuer() as issuer:
        yield issuer


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    """Take a port: the service is told its own address before it starts."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.fixture
def world(database_url: str, issuer: LocalIssuer, listening: socket.socket) -> Iterator[World]:
    """A house whose people sign in at the issuer; Ann, an operator, is one of them."""
    public = f"http://127.0.0.1:{listening.getsockname()[1]}"
    client = {"oidc_client_id": CLIENT, "oidc_client_secret": SECRET, "public_url": public}
    world = World(database_url, oidc_issuer=issuer.url, oidc_audience=AUDIENCE, **client)
    ann, known_as = Principal("Ann", Role.OPERATOR), Subject(issuer.url, "sub-ann")
    world.transact(lambda session: add_user(session, Act(SYSTEM_OPERATOR, world.clock()), ann, known_as))
    yield world
    world.close()


@pytest.fixture(autouse=True)
def flow(world: World, issuer: LocalIssuer) -> CodeFlow:
    """The sign-ins of the issuer, with Ann in front of it."""
    flow = CodeFlow(issuer, world.clock, f"{world.config.public_url}{ANSWERED}")
    flow.announce()
    return flow


@pytest.fixture
def screens(browser: Browser, world: World, listening: socket.socket, issuer: LocalIssuer) -> Iterator[Screens]:
    """Windows that may ask the issuer besides the service, and nobody else."""
    with served(world.app, listening) as address:
        screens = Screens(browser, address)
        screens.hosts.add(issuer.url)
        yield screens
        screens.close()
    assert screens.complaints == []


def signed_in(screens: Screens, path: str = "/account", **options: object) -> Page:
    page = screens.window(**options)
    page.goto(path)
    page.get_by_role("link", name="Sign in with your company account").click()
    page.wait_for_url(lambda url: "/sign-in" not in url)
    return page


@pytest.mark.parametrize("has_scripts", [True, False])
def test_a_person_signs_in_by_their_account_and_out(screens: Screens, issuer: LocalIssuer, has_scripts: bool) -> None:  # noqa: FBT001
    page = signed_in(screens, java_script_enabled=has_scripts)

    assert page.url == f"{screens.address}/account"
    expect(page.get_by_text("Account shown")).to_be_visible()
    page.get_by_role("button", name="Sign out", exact=True).click()

    leave = page.get_by_role("link", name="sign out there too")
    expect(leave).to_be_visible()
    for path in ("/end?x=1&client_id=ledger+pages", "/favicon.ico"):
        issuer.answer(path, {})
    leave.click()
    page.wait_for_url(f"{issuer.url}/end**")
    page.goto("/account")
    assert page.url.endswith("/sign-in?next=/account")


def test_a_form_that_needs_a_fresh_sign_in_comes_back_as_it_was_filled_in(screens: Screens, world: World) -> None:
    page = signed_in(screens, "/set-up/casinos/new")
    world.clock.advance(timedelta(minutes=16))
    page.get_by_label("Id").fill("riga")
    page.get_by_label("Name").fill("Casino Riga")
    page.get_by_label("Reason").fill("a new casino")
    page.get_by_role("button", name="Add the casino").click()
    page.get_by_role("link", name="Go on to your company's sign-in").click()
    page.wait_for_url("**/set-up/casinos/new")
    expect(page.get_by_label("Name")).to_have_value("Casino Riga")
    page.get_by_role("button", name="Add the casino").click()
    expect(page.get_by_role("status").filter(has_text="riga was added.")).to_be_visible()


def test_a_refusal_is_said_where_one_can_begin_again(screens: Screens, flow: CodeFlow) -> None:
    screens.expected = {422}
    flow.error = "access_denied"
    page = screens.window()
    page.goto("/sign-in?next=/account")
    page.get_by_role("link", name="Sign in with your company account").click()
    expect(page.get_by_role("alert")).to_contain_text("was refused or cancelled")
    flow.error = None
    page.get_by_role("link", name="Sign in with your company account").click()
    expect(page).to_have_url(re.compile("/account$"))


def test_the_keyboard_alone_is_enough(screens: Screens) -> None:
    page = screens.window()
    page.goto("/sign-in?next=/account")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Sign in with your company account")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/account$"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_either_scheme(screens: Screens, flow: CodeFlow, scheme: str) -> None:
    screens.expected = {422}
    page = screens.window(color_scheme=scheme, viewport={"width": 320, "height": 640})
    for path in ("/sign-in", "/sign-in?left=account"):
        page.goto(path)
        assert violations(page) == []
    flow.subject = "W" * 255
    page.get_by_role("link", name="Sign in with your company account").click()
    expect(page.get_by_role("alert")).to_contain_text("Give an operator your subject")
    assert violations(page) == []  # It has waited for the style of the page, by which the width goes.
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    flow.subject = "sub-ann"
    page.get_by_role("link", name="Sign in with your company account").click()
    page.wait_for_url(lambda url: "/sign-in" not in url)
    page.goto("/sign-in/again")
    assert violations(page) == []
