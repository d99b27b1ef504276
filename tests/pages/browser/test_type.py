"""The type of pages: figures are as wide as each other, and a hyphen in a word does not look like a space."""

import pytest
from playwright.sync_api import Page

from jackpot_service.domain.principals import Role
from tests.pages.browser.screens import Screens
from tests.support.bets import bet
from tests.support.hands import NOTHING, hand
from tests.support.world import World

pytestmark = [pytest.mark.browser, pytest.mark.long]

WIDTH = """
  ([selector, text]) => {
    const place = document.querySelector(selector), span = document.createElement("span");
    span.textContent = text.repeat(100);
    span.style.cssText = "position: absolute; white-space: nowrap";
    place.append(span);
    return document.fonts.ready.then(() => span.getBoundingClientRect().width);
  }
"""


def width(page: Page, selector: str, text: str) -> float:
    """How wide a hundred of a text are at a place of a page."""
    pixels: float = page.evaluate(WIDTH, [selector, text])
    return pixels


def test_a_hyphen_is_narrow_in_words_and_figures_are_tabular(screens: Screens, world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", NOTHING))
    page = screens.signed_in(world.key(Role.FINANCE))
    page.goto("/rounds")
    assert width(page, "th .round", "-") < 0.8 * width(page, "th .round", "0")
    assert width(page, "td.figure", "1") == width(page, "td.figure", "0")


def test_a_large_figure_stays_on_one_line(screens: Screens, world: World) -> None:
    world.open(base_amount="12345678.91")
    page = screens.signed_in(world.key(Role.FINANCE), viewport={"width": 1300, "height": 900})
    page.goto("/finance/figures")
    for figure in page.locator(".sums .large a").all():
        assert figure.evaluate("element => element.getClientRects().length") == 1
