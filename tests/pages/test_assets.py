"""What pages load: kept for ever under one address, locked, and of nobody else's host."""

import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from jackpot_service.api import browsing
from jackpot_service.pages import assets
from tests.support.world import World

VENDOR = assets.STATIC / "vendor"
PAGES = assets.STATIC.parent
SHIPPED = (VENDOR, browsing.VIEWER / "vendor")


def packages_in(folder: Path) -> list[dict[str, Any]]:
    packages: list[dict[str, Any]] = json.loads((folder / "LOCK.json").read_text())
    return packages


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.parent.name)
def test_what_is_vendored_is_what_is_locked(folder: Path) -> None:
    files = {path.name: path for path in folder.iterdir() if path.name != "LOCK.json"}
    locked = {file["name"]: file["sha256"] for package in packages_in(folder) for file in package["files"]}
    assert {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()} == locked


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.parent.name)
def test_every_package_comes_with_its_licence(folder: Path) -> None:
    for package in packages_in(folder):
        assert any(file["name"].endswith(".LICENSE") for file in package["files"]), package["package"]
        assert package["integrity"].startswith("sha512-")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ledger.css", "frame.js", "icon.svg", "vendor/htmx.min.js", "vendor/inter.woff2"])
def test_a_file_is_kept_for_ever_and_compressed_for_those_who_take_that(world: World, name: str) -> None:
    client = world.app.test_client()
    content = (assets.STATIC / name).read_bytes()
    address = assets.address_of(name)

    plain = client.get(address)
    packed = client.get(address, headers={"Accept-Encoding": "br, gzip;q=0.5"})
    refused = client.get(address, headers={"Accept-Encoding": "gzip;q=0"})

    assert plain.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert plain.data == refused.data == content
    if name.endswith(".woff2"):
        assert "Content-Encoding" not in packed.headers
    else:
        assert packed.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(packed.data) == content
        assert packed.headers["Vary"] == "Accept-Encoding"


@pytest.mark.slow
def test_the_notice_names_every_package_and_its_licence() -> None:
    notice = (VENDOR.parents[3] / "NOTICE").read_text(encoding="utf-8")
    packages = [package for folder in SHIPPED for package in packages_in(folder)]
    lines = [f"- {package['package']} {package['version']}, {package['licence']}: " for package in packages]
    assert [line for line in lines if line not in notice] == []
    assert notice.count("\n- ") == len(lines)


@pytest.mark.parametrize("name", ["vendor/LOCK.json", "vendor/htmx.LICENSE", "../frame.py", "no.js", "%2e%2e/frame.py"])
def test_nothing_else_is_served(world: World, name: str) -> None:
    client = world.app.test_client()
    assert client.get(f"/assets/{assets.current_tag()}/{name}").status_code == 404


@pytest.mark.slow
def test_a_page_of_another_version_gets_the_files_of_this_one_for_now(world: World) -> None:
    """Two services are upgraded one after the other, and a proxy asks either."""
    answer = world.app.test_client().get("/assets/0123456789abcdef/ledger.css")
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    assert answer.data == (assets.STATIC / "ledger.css").read_bytes()


def test_every_file_that_a_page_or_a_style_names_is_there() -> None:
    for template in (PAGES / "templates").rglob("*.html"):
        for name in re.findall(r"asset\('([^']+)'\)", template.read_text()):
            assert assets.address_of(name), template
    for sheet in assets.STATIC.glob("*.css"):
        for name in re.findall(r'url\("([^"]+)"\)', sheet.read_text()):
            assert (assets.STATIC / name).is_file(), sheet


def test_nothing_that_pages_load_names_another_host() -> None:
    files: list[Path] = [*PAGES.rglob("*.html"), *assets.STATIC.glob("*.*")]
    for file in files:
        hosts = re.findall(r"https?://([a-z0-9.-]+)", file.read_text())
        assert set(hosts) <= {"www.w3.org"}, file  # The name of SVG's namespace, from which nothing is loaded.
