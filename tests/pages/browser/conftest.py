"""Pages in Debian's Chromium; the fixtures of a world, and a browser that takes nothing amiss in silence."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.pages.browser.screens import CHROMIUM, Screens, flags
from tests.support.fixtures import books_obey_their_laws, world
from tests.support.served import served
from tests.support.world import World

__all__ = ["books_obey_their_laws", "world"]

# As long as any other step of Playwright may take, for what comes in its order: a page asks some things only every 3 s.
expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """
    Start the browser of the machine for the tests of a module; nothing else is downloaded.

    While it runs an event loop does too, so that no other test of the process could begin one.
    """
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed; Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags())
        yield browser
        browser.close()


@pytest.fixture
def address(world: World) -> Iterator[str]:
    """Serve the world; its address."""
    with served(world.app) as address:
        yield address


@pytest.fixture
def screens(browser: Browser, address: str) -> Iterator[Screens]:
    """Give windows, which fail the test for any message, refusal of the policy, or request to another host."""
    screens = Screens(browser, address)
    yield screens
    screens.close()
    assert screens.complaints == []
