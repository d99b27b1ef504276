"""
How soon each page shows something, in Chromium on this machine: its first paint, over the books of a month.

A page is opened anew each time, by somebody who is signed in and has its style sheets. Without a Chromium nothing is
measured, and the log says so.
"""

import os
import shutil
import statistics
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from playwright.sync_api import Browser, Page, sync_playwright
from sqlalchemy import URL

from bench import house, servers
from bench.figures import Figure
from bench.servers import Server
from bench.site import Site
from bench.targets import FIRST_PAINT_MS
from bench.wire import HOST

NAME: Final = "reports"
"""The measurement that this is a part of."""

RUNS: Final = 3

_CASINO: Final = house.CASINOS[0]
_TABLE: Final = next(iter(house.CASINO_OF))

PAGES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "finance": (
            "/account",
            f"/accounts/{house.JACKPOT}/pool:reserve",
            "/awards",
            "/awards?state=payable",
            "/changes",
            "/closed-periods",
            f"/entries/{house.JACKPOT}/3/1000",
            "/exceptions",
            "/exports",
            f"/finance?jackpot={house.JACKPOT}",
            "/floor",
            f"/floor/{_CASINO}",
            "/jackpots",
            f"/jackpots/{house.JACKPOT}",
            f"/jackpots/{house.JACKPOT}/hits",
            f"/jackpots/{house.JACKPOT}/rules",
            "/proof",
            "/rates",
            "/reports",
            "/reports/trial-balance",
            "/rounds",
            "/rounds?state=open",
            f"/rounds?table_id={_TABLE}",
            "/statements",
            f"/statements/{_CASINO}",
        ),
        "auditor": ("/audit", f"/jackpots/{house.JACKPOT}/history"),
        "operator": ("/health", "/set-up/casinos", "/set-up/jackpots", "/set-up/keys", "/set-up/tables"),
    }
)
"""The pages that are opened, by who may open them."""

# A paint is reported a moment after it; the policy of the pages refuses what would wait for it by a text.
_PAINTED: Final = "new Promise(done => new PerformanceObserver(done).observe({type: 'paint', buffered: true}))"
_FIRST_PAINT: Final = "performance.getEntriesByType('paint')[0].startTime"


def measure(site: Site, books: URL, *, millions: int) -> Iterator[Figure]:
    """Open every page of a service over these books. Raises: ServerFailed; RuntimeError for a page that is refused."""
    chromium = shutil.which("chromium")
    if chromium is None:
        site.log(f"{NAME}: no first paint, there is no Chromium here, so no page is opened")
        return
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # It does not work for root.
    with servers.serving(books, site.directory / "paint.log") as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--disable-gpu", *sandbox])
        for role, paths in PAGES.items():
            page = _signed_in(browser, server, servers.add_key(books, role))
            for path in paths:
                site.log(f"{NAME}: first paint of {path} over {millions} million bets")
                median = statistics.median([_opened(page, path) for _ in range(1 + RUNS)][1:])
                yield Figure(NAME, f"first paint of {path}", median, "ms", {"millions": millions}, FIRST_PAINT_MS)
        browser.close()


def _signed_in(browser: Browser, server: Server, key: str) -> Page:
    page = browser.new_context(base_url=f"http://{HOST}:{server.port}").new_page()
    page.goto("/sign-in")
    page.get_by_label("Key").fill(key)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(lambda url: "/sign-in" not in url)
    return page


def _opened(page: Page, path: str) -> float:
    answer = page.goto(path, wait_until="commit")
    if answer is None or not answer.ok:
        message = f"{path} was answered by {answer and answer.status}."
        raise RuntimeError(message)
    page.evaluate(_PAINTED)
    painted_ms: float = page.evaluate(_FIRST_PAINT)
    page.wait_for_load_state("networkidle")  # Parts of a page that load by themselves take no time of the next.
    return painted_ms
