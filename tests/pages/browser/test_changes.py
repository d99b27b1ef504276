"""Changes in a browser: one asks and another decides; seen by axe in both schemes, and on narrow windows."""

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from jackpot_service.domain.principals import Role
from tests.pages.browser.screens import Screens, violations
from tests.support import every_kind
from tests.support.bets import bet
from tests.support.every_kind import PAYLOADS
from tests.support.world import World

pytestmark = [pytest.mark.browser, pytest.mark.long]

UNUSUAL = {"base": "EUR", "rates": {"GBP": "2.34"}}
PAGES = (
    "/changes",
    "/changes?tab=decided",
    "/changes/q-adjustment",
    "/changes/q-adjustment/emergency",
    "/changes/q-rules",
    "/changes/q-round-correction",
    "/changes/done",
    "/exceptions",
    "/exceptions?kind=nothing",
    "/exceptions?acknowledged=any",
)
LONG = "w" * 64


@pytest.fixture
def requested(world: World) -> World:
    """Changes that wait, one that was done, exceptions with names as long as they may be; and emergencies are on."""
    every_kind.played(world)
    world.change("seed-recovery", {"jackpot_id": "j1", "amount": "2"}, request_id="done")
    for kind in ("rules", "round-correction", "adjustment"):
        world.ask(kind, PAYLOADS[kind], request_id=f"q-{kind}", reason="w" * 500).ok(201)
    world.ask("rate-sheet", UNUSUAL, request_id="unusual", by="Rita", role=Role.RATES).ok(201)
    world.switch_emergency()
    for round_id in ("late-1", LONG):
        world.cancel(round_id=round_id)
        world.post_bets(bet(LONG, player_id=LONG), round_id=round_id).problem(409, "round-cancelled")
    return world


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_either_scheme(screens: Screens, requested: World, scheme: str) -> None:
    screens.expected = {422}
    ann = screens.signed_in(requested.person("Ann", Role.OPERATOR), color_scheme=scheme)
    bob = screens.signed_in(requested.person("Bob", Role.FINANCE), color_scheme=scheme)
    for page, path in [(ann, path) for path in PAGES] + [(bob, "/changes"), (bob, "/changes/q-adjustment")]:
        page.goto(path)
        assert violations(page) == [], path


@pytest.mark.parametrize("width", [1440, 390, 320])
def test_nothing_is_wider_than_the_window(screens: Screens, requested: World, width: int) -> None:
    screens.expected = {422}
    ann = screens.signed_in(requested.person("Ann", Role.OPERATOR), viewport={"width": width, "height": 800})
    bob = screens.signed_in(requested.person("Bob", Role.FINANCE), viewport={"width": width, "height": 800})
    for page, path in [(ann, path) for path in PAGES] + [(bob, "/changes"), (bob, "/changes/q-adjustment")]:
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_one_asks_and_another_approves(screens: Screens, requested: World) -> None:
    ann = screens.signed_in(requested.person("Ann", Role.OPERATOR))
    ann.goto("/changes/q-adjustment")
    expect(ann.get_by_text("It waits for somebody else.")).to_be_visible()
    expect(ann.get_by_role("button", name="Approve")).to_have_count(0)

    bob = screens.signed_in(requested.person("Bob", Role.FINANCE))
    bob.goto("/changes")
    bob.get_by_role("link", name="adjustment").click()
    expect(bob.get_by_role("row", name="pools · reserve")).to_contain_text("EUR")
    bob.get_by_label("Remark").fill("the memo says so")
    bob.get_by_role("button", name="Approve").press("Enter")
    expect(bob.get_by_text("the memo says so")).to_be_visible()

    ann.reload()
    expect(ann.get_by_text("approved by Bob")).to_be_visible()


def test_a_wrong_figure_is_shown_where_it_was_typed(screens: Screens, requested: World) -> None:
    screens.expected = {422}
    rolf = screens.signed_in(requested.person("Rolf", Role.RATES))
    rolf.goto("/changes/unusual")
    rolf.get_by_label("GBP").fill("2.43")
    rolf.get_by_role("button", name="Approve").click()
    expect(rolf.get_by_label("GBP")).to_have_value("2.43")
    expect(rolf.get_by_role("alert")).to_contain_text("another figure than the request's")
    assert violations(rolf) == []
    rolf.get_by_label("GBP").fill("2.34")
    rolf.get_by_role("button", name="Approve").click()
    expect(rolf.get_by_text("approved by Rolf")).to_be_visible()


def test_a_form_is_as_it_was_after_a_key_was_shown_again(screens: Screens, requested: World) -> None:
    key = requested.person("Bob", Role.FINANCE)
    bob = screens.signed_in(key)
    bob.goto("/changes/q-adjustment")
    requested.clock.advance(timedelta(minutes=16))
    bob.get_by_label("Remark").fill("the memo says so")
    bob.get_by_role("button", name="Approve").click()
    expect(bob.get_by_role("heading", name="Show your key again")).to_be_visible()
    bob.get_by_label("Key").fill(key)
    bob.get_by_role("button", name="Go on").click()
    expect(bob.get_by_label("Remark")).to_have_value("the memo says so")
    bob.get_by_role("button", name="Approve").click()
    expect(bob.get_by_text("approved by Bob")).to_be_visible()


def test_exceptions_are_chosen_and_acknowledged_with_one_reason(screens: Screens, requested: World) -> None:
    ann = screens.signed_in(requested.person("Ann", Role.OPERATOR))
    ann.goto("/exceptions")
    ann.get_by_role("navigation", name="Kinds of exceptions").get_by_role("link", name="late bet").click()
    ann.wait_for_url("**/exceptions?kind=late-bet")
    boxes = ann.get_by_role("checkbox", name="late bet")
    expect(boxes).to_have_count(2)
    for box in boxes.all():
        box.check()
    ann.get_by_label("Reason").fill("the clock of the table was wrong")
    ann.get_by_role("button", name="Acknowledge").click()
    expect(ann.get_by_text("2 acknowledged.")).to_be_visible()
    ann.get_by_label("State").select_option("acknowledged")
    ann.get_by_role("button", name="Search").click()
    expect(ann.get_by_text("the clock of the table was wrong")).to_have_count(2)
