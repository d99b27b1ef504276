"""Windows of a browser in front of a service, which note whatever a person would not see but should know."""

import os
import shutil
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

CHROMIUM: Final = shutil.which("chromium")

AXE: Final = (Path(__file__).parent / "vendor/axe.min.js").read_text(encoding="utf-8")

RULES: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

AUTOFOCUS_BLOCKED: Final = "Autofocus processing was blocked because a document already has a focused element."
"""What a browser notes where a test types before the page is painted: it leaves the focus there, as it should."""


def flags() -> list[str]:
    """The flags of a browser on a machine without a screen; its sandbox does not work for root."""
    return ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]


class Screens:
    """Opens windows of a browser at an address, and notes what is amiss in any of them."""

    def __init__(self, browser: Browser, address: str) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.address = address
        self.complaints: list[str] = []
        self.expected: set[int] = set()
        """The statuses of answers that a test brings about on purpose: a browser logs each of them."""
        self.hosts: set[str] = {address}
        """The addresses that may be asked: that of the service."""

    def window(self, **options: Any) -> Page:
        """Open a window of somebody else, with cookies of its own; see `Browser.new_context`."""
        context = self._browser.new_context(base_url=self.address, **options)
        self._contexts.append(context)
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.complaints.append(f"error: {error.error}"))
        context.on("request", self._see)
        return context.new_page()

    def signed_in(self, key: str, **options: Any) -> Page:
        """Open a window of somebody who has signed in with a key."""
        page = self.window(**options)
        page.goto("/sign-in")
        page.get_by_label("Key").fill(key)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(lambda url: "/sign-in" not in url)
        return page

    def close(self) -> None:
        """Close all windows."""
        for context in self._contexts:
            context.close()

    def _hear(self, message: ConsoleMessage) -> None:
        is_expected = any(f"status of {status} " in message.text for status in self.expected)
        if not is_expected and message.text != AUTOFOCUS_BLOCKED:
            self.complaints.append(f"{message.type}: {message.text} at {message.location}")

    def _see(self, request: Request) -> None:
        if not request.url.startswith((*(f"{host}/" for host in self.hosts), "data:", "blob:")):
            self.complaints.append(f"a request to {request.url}")


def violations(page: Page) -> list[str]:
    """
    Return what axe finds on a page, once it has its style and scripts: what a click led to is seen before it has them.

    The policy of the page does not hold for what a test evaluates.
    """
    page.wait_for_load_state()
    page.evaluate(AXE)
    results = page.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)
    return [
        f"{violation['id']}: {node['html'][:120]} {node['failureSummary']}"
        for violation in results["violations"]
        for node in violation["nodes"]
    ]
