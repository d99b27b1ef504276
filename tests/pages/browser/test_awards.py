"""Awards in a browser: held, released, paid in parts, printed; by keyboard, without scripts, on narrow windows."""

from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from jackpot_service.domain.principals import Principal, Role
from tests.pages.browser.screens import Screens, violations
from tests.support.awarded import award_of, decide, furnish, path_of, pay, record_surveillance, stop, win
from tests.support.world import World

pytestmark = [pytest.mark.browser, pytest.mark.long]

LONG = "w" * 64
QUERIES = ("", "?state=any", "?state=paid", "?state=lost", "?casino_id=none")
ROUNDS = ("payable", "held", "stopped", "paid", LONG)


@pytest.fixture
def awarded(world: World) -> World:
    """Awards in many states, of names as long as they may be, with long words of people."""
    furnish(world)
    rule = {"casino_id": "c1", "currency": "EUR", "report_at_minor": 1, "withhold_at_minor": 1, "percent": "24"}
    world.change("casino-withholding", rule, request_id="rule")
    world.change("casino-claims", {"casino_id": "c1", "claim_days": 7}, request_id="claims")
    world.clock.advance(timedelta(minutes=1))
    for round_id in ("stopped", "paid", LONG):
        win(world, round_id)
    stop(world, "stopped")
    pay(world, "paid", LONG, 100)
    pay(world, "paid", "the rest")
    return world


def pages_of(world: World) -> list[str]:
    return [*(f"/awards{query}" for query in QUERIES), *(path_of(world, round_id) for round_id in ROUNDS)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_either_scheme(screens: Screens, awarded: World, scheme: str) -> None:
    screens.expected = {422}
    ann = screens.signed_in(awarded.person("Ann", Role.OPERATOR), color_scheme=scheme)
    carl = screens.signed_in(awarded.key_of(Principal("Carl", Role.FINANCE, "c1")), color_scheme=scheme)
    pages = pages_of(awarded)
    for page, path in [(ann, path) for path in pages] + [(carl, "/awards"), (carl, pages[-1])]:
        page.goto(path)
        assert violations(page) == [], path


@pytest.mark.parametrize("width", [1440, 390, 320])
def test_nothing_is_wider_than_the_window(screens: Screens, awarded: World, width: int) -> None:
    screens.expected = {422}
    ann = screens.signed_in(awarded.person("Ann", Role.OPERATOR), viewport={"width": width, "height": 800})
    for path in pages_of(awarded):
        ann.goto(path)
        assert ann.evaluate("document.documentElement.scrollWidth") <= width, path


def record_payment(page: Page, amount: str, reference: str) -> None:
    page.get_by_label("Amount in EUR").fill(amount)
    page.get_by_label("Reference", exact=True).fill(reference)
    page.get_by_label("Channel").select_option("cage")
    page.get_by_role("button", name="Record the payment").click()


def test_a_refused_payment_comes_back_from_the_key_filled_in(screens: Screens, awarded: World) -> None:
    screens.expected = {422}
    key = awarded.person("Ann", Role.OPERATOR)
    ann = screens.signed_in(key)
    ann.goto(path_of(awarded, "payable"))
    record_payment(ann, "12,50", "slip 9")
    expect(ann.get_by_role("alert")).to_contain_text("must be an amount in EUR")
    awarded.clock.advance(timedelta(minutes=16))
    record_payment(ann, "12.50", "slip 9")
    ann.get_by_label("Key").fill(key)
    ann.get_by_role("button", name="Go on").click()
    expect(ann.get_by_label("Reference", exact=True)).to_have_value("slip 9")
    expect(ann.get_by_label("Amount in EUR")).to_have_value("12.50")
    ann.get_by_role("button", name="Record the payment").click()
    expect(ann.get_by_text("The payment is recorded.")).to_be_visible()


@pytest.mark.parametrize("has_scripts", [True, False])
def test_a_held_award_is_released_and_paid_in_parts(screens: Screens, awarded: World, *, has_scripts: bool) -> None:
    ann = screens.signed_in(awarded.person("Ann", Role.OPERATOR), java_script_enabled=has_scripts)
    ann.goto("/awards?state=held")
    ann.get_by_role("link", name="aw_").click()
    expect(ann.get_by_text("missing")).to_be_visible()
    ann.get_by_label("Statement").fill("camera 12, 21:10")
    ann.get_by_role("button", name="Record the evidence").click()
    expect(ann.get_by_text("The evidence is recorded.")).to_be_visible()
    expect(ann.get_by_role("button", name="Record the payment")).to_have_count(0)

    decide(awarded, "approve")
    ann.reload()
    expect(ann.get_by_label("Amount in EUR")).to_have_value("250.00")
    record_payment(ann, "100.00", "slip 1")
    expect(ann.get_by_text("The payment is recorded.")).to_be_visible()
    expect(ann.get_by_role("region", name="History").get_by_text("part paid")).to_be_visible()
    record_payment(ann, "150.00", "slip 2")
    expect(ann.get_by_role("row", name="slip 2")).to_contain_text("cage")
    expect(ann.get_by_text("nothing left")).to_be_visible()
    assert award_of(awarded, "held")["state"] == "paid"


def test_a_slip_is_printed_once_and_then_as_a_duplicate(screens: Screens, awarded: World) -> None:
    ann = screens.signed_in(awarded.person("Ann", Role.OPERATOR))
    ann.goto(path_of(awarded, "payable"))
    ann.get_by_role("button", name="Print the slip").click()
    expect(ann.get_by_role("heading", name="Slip 1 of casino c1")).to_be_visible()
    expect(ann.get_by_text("DUPLICATE")).to_have_count(0)
    ann.reload()
    expect(ann.get_by_text("DUPLICATE")).to_have_count(0)
    assert ann.pdf().startswith(b"%PDF")
    ann.goto(path_of(awarded, "payable"))
    ann.get_by_role("button", name="Print a duplicate").click()
    expect(ann.get_by_text("DUPLICATE, copy 2")).to_be_visible()


def test_a_wrong_amount_is_shown_where_it_was_typed(screens: Screens, awarded: World) -> None:
    screens.expected = {422}
    ann = screens.signed_in(awarded.person("Ann", Role.OPERATOR))
    ann.goto(path_of(awarded, "payable"))
    record_payment(ann, "twelve", "slip 1")
    expect(ann.get_by_label("Amount in EUR")).to_have_value("twelve")
    expect(ann.get_by_label("Amount in EUR")).to_be_focused()
    expect(ann.get_by_role("alert")).to_contain_text("must be an amount in EUR")
    assert violations(ann) == []
    record_payment(ann, "12.00", "slip 1")
    expect(ann.get_by_text("The payment is recorded.")).to_be_visible()


def test_a_payment_is_as_it_was_typed_after_the_key_was_shown_again(screens: Screens, awarded: World) -> None:
    key = awarded.person("Ann", Role.OPERATOR)
    ann = screens.signed_in(key)
    ann.goto(path_of(awarded, "payable"))
    awarded.clock.advance(timedelta(minutes=16))
    record_payment(ann, "12.00", "slip 1")
    expect(ann.get_by_role("heading", name="Show your key again")).to_be_visible()
    ann.get_by_label("Key").fill(key)
    ann.get_by_role("button", name="Go on").click()
    expect(ann.get_by_label("Amount in EUR")).to_have_value("12.00")
    expect(ann.get_by_label("Channel")).to_have_value("cage")
    ann.get_by_role("button", name="Record the payment").click()
    expect(ann.get_by_text("The payment is recorded.")).to_be_visible()


def test_an_award_is_stopped_by_keyboard(screens: Screens, awarded: World) -> None:
    ann = screens.signed_in(awarded.person("Ann", Role.OPERATOR))
    ann.goto("/awards?state=payable")
    ann.get_by_role("link", name="aw_").first.focus()
    ann.keyboard.press("Enter")
    expect(ann.get_by_role("heading", name="Stop the payment")).to_be_visible()
    ann.get_by_label("Reason").focus()
    ann.keyboard.type("the cards are in doubt")
    ann.keyboard.press("Tab")
    ann.keyboard.press("Enter")
    expect(ann.get_by_text("The payment is stopped. Two people release it.")).to_be_visible()
    expect(ann.get_by_text("the cards are in doubt")).to_be_visible()


def test_an_award_fits_on_paper_without_its_forms(screens: Screens, awarded: World) -> None:
    record_surveillance(awarded)
    ann = screens.signed_in(awarded.person("Ann", Role.OPERATOR))
    ann.goto(path_of(awarded, "payable"))
    ann.emulate_media(media="print")
    expect(ann.get_by_role("heading", name="From the stake to the amount")).to_be_visible()
    expect(ann.get_by_role("button", name="Record the payment")).to_be_hidden()
    expect(ann.get_by_role("heading", name="Record a payment")).to_be_hidden()
