"""
Take the pictures of the documentation: `make screenshots`; needs Debian's Chromium.

The demo plays its weeks before today from a seed, into a directory that is removed afterwards, and people of it look.
"""

import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Browser, Page, sync_playwright

SCREENS: Final = Path(__file__).resolve().parents[1] / "docs/screens"

SEED: Final = 2026

LONGEST_START_S: Final = 600
LONGEST_STOP_S: Final = 120

QUALITY: Final = 88
"""Of a JPEG: with the wall's texture a PNG takes a megabyte."""

CELEBRATED_S: Final = 30
"""For so long at most the wall celebrates a royal flush, of which the demo deals one at once."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as somebody sees it: the variable of whose key, or nobody's; how to come there; how large it is."""

    name: str
    person: str | None
    show: Callable[[Page], None]
    width: int = 1440
    height: int = 900
    scheme: Literal["light", "dark"] = "light"


def _show_wall(page: Page) -> None:
    page.goto("/wall/live")
    time.sleep(CELEBRATED_S)


def _show_hit(page: Page) -> None:
    """Open the round of the latest hit, by the links that a person would follow."""
    page.goto("/jackpots/live/hits")
    page.locator("main a.round").first.click()
    page.wait_for_load_state("networkidle")


def _show_finance(page: Page) -> None:
    page.goto("/finance?jackpot=live")
    page.wait_for_load_state("networkidle")


PICTURES: Final = (
    Picture("wall", None, _show_wall, width=1280, height=720, scheme="dark"),
    Picture("finance", "FIONA", _show_finance, height=1000),
    Picture("round", "FIONA", _show_hit, height=1000),
)


def main() -> int:
    """Take them all."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("Chromium is not installed; Debian: apt-get install chromium", file=sys.stderr)
        return 1
    SCREENS.mkdir(exist_ok=True)
    flags = ["--disable-gpu", "--hide-scrollbars", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with _demo() as (address, keys), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        for picture in PICTURES:
            _take(browser, address, keys, picture)
        browser.close()
    return 0


def _take(browser: Browser, address: str, keys: Mapping[str, str], picture: Picture) -> None:
    context = browser.new_context(
        base_url=address,
        viewport={"width": picture.width, "height": picture.height},
        color_scheme=picture.scheme,
        reduced_motion="reduce",
    )
    page = context.new_page()
    if picture.person is not None:
        page.goto("/sign-in")
        page.get_by_label("Key").fill(keys[picture.person])
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url(lambda url: "/sign-in" not in url)
    picture.show(page)
    file = SCREENS / f"{picture.name}.jpg"
    page.screenshot(path=file, type="jpeg", quality=QUALITY)
    context.close()
    print(f"{file.name}: {file.stat().st_size:,} bytes")


@contextmanager
def _demo() -> Iterator[tuple[str, Mapping[str, str]]]:
    """Run the demo in a directory of its own; yield its address and its people's keys."""
    with tempfile.TemporaryDirectory() as directory:
        printed = Path(directory) / "printed"
        port = _free_port()
        command = [sys.executable, "-m", "jackpot_service.cli", "run", f"--port={port}", f"--seed={SEED}"]
        environment = {**os.environ, "JACKPOT_DATA_DIR": directory}
        with (
            printed.open("wb") as out,
            subprocess.Popen(command, stdout=out, stderr=out, env=environment) as process,  # noqa: S603  our own program
        ):
            try:
                _wait_for("Ctrl-C ends all of it", printed, process)
                yield f"http://127.0.0.1:{port}", dict(_keys(Path(directory) / "demo-keys.env"))
            finally:
                process.terminate()
                process.wait(LONGEST_STOP_S)


def _wait_for(words: str, printed: Path, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + LONGEST_START_S
    while words not in printed.read_text():
        if process.poll() is not None or time.monotonic() > until:
            raise SystemExit(printed.read_text())
        time.sleep(0.2)


def _keys(file: Path) -> Iterator[tuple[str, str]]:
    for word in shlex.split(file.read_text(), comments=True):
        variable, equals, key = word.partition("=")
        if equals:
            yield variable, key


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    sys.exit(main())
