"""Audit trail, proof and health in a browser; and seals that the browser itself checks."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from jackpot_service import signing
from jackpot_service.domain import seals
from jackpot_service.domain.principals import Role
from jackpot_service.pages.assets import STATIC
from jackpot_service.usecases.seal_books import SealBooks, seal_books
from tests.exports.jobs.test_verification import after, interrupted
from tests.pages.browser.screens import Screens, violations
from tests.support import everything
from tests.support.bets import bet
from tests.support.hands import NOTHING, hand
from tests.support.reading import past_the_service
from tests.support.world import World

pytestmark = [pytest.mark.browser, pytest.mark.long]

SCHEMES = ("light", "dark")
WIDTHS = (1440, 1024, 390, 320)
LONG = "w" * 64
KEY: Final = signing.new_key()

MOST_BYTES: Final = 13_000
"""Of scripts of our own on a page."""

PAGES = (
    "/audit",
    "/audit?kind=nothing",
    "/audit?principal=nobody",
    "/audit/{adjusted}",
    "/audit/1",
    "/jackpots/j1/history",
    f"/tables/{LONG}/rounds/{LONG}",
    "/proof",
    "/health",
)


@pytest.fixture
def played(world: World) -> World:
    """A change that two people made, names as long as they may be, two seals, a closed period, and a proof."""
    world.open(base_amount="987654321.123456", tables=("T1", LONG))
    adjustment = {"jackpot_id": "j1", "account": "reserve", "amount": "1", "document": LONG, "cause": "count-error"}
    world.change("adjustment", adjustment)
    body = {"request_id": LONG, "reason": "w" * 500}
    world.put("/v1/jackpots/j1/suspension", body, key=world.person("W" * 100, Role.OPERATOR)).ok(201)
    world.put("/v1/jackpots/j1/resumption", {**body, "request_id": "r"}, key=world.person("Otto", Role.OPERATOR)).ok(
        201
    )
    world.bet(bet("a"), round_id=LONG, table_id=LONG)
    world.settle(hand("1", NOTHING), round_id=LONG, table_id=LONG)
    for _ in range(2):
        world.transact(lambda session: seal_books(session, SealBooks(world.act(), KEY, "1.2")))
    everything.close_a_period(world.engine, world.clock())
    world.ask_job({"from": "zero"}, kind="verification", request_id="first").ok(201)
    world.runner().run_next()
    return world


def paths(world: World) -> Iterator[str]:
    (adjusted,) = world.get("/v1/audit?kind=adjustment").ok()["items"]
    return (path.format(adjusted=adjusted["seq"]) for path in PAGES)


def auditor(screens: Screens, world: World, **options: object) -> Page:
    screens.expected |= {422}
    return screens.signed_in(world.person("Ada", Role.AUDITOR), **options)


def make_wrong(world: World) -> None:
    change = "UPDATE rounds SET bet_count = 7"
    past_the_service(world.database_url, change)
    world.ask_job({"from": "zero"}, kind="verification", request_id="wrong").ok(201)
    world.runner().run_next()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_in_either_scheme(screens: Screens, played: World, scheme: str) -> None:
    page = auditor(screens, played, color_scheme=scheme)
    for path in paths(played):
        page.goto(path)
        assert violations(page) == [], path
    played.ask_job({"from": "zero"}, kind="verification", request_id="waits").ok(201)
    page.goto("/proof")
    assert violations(page) == []
    played.runner().run_next()
    make_wrong(played)
    page.goto("/proof")
    page.locator(".checked").evaluate("list => list.append(document.createElement('li'))")
    assert violations(page) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(screens: Screens, played: World, width: int) -> None:
    page = auditor(screens, played, viewport={"width": width, "height": 800})
    for path in paths(played):
        page.goto(path)
        for summary in page.locator("main summary").all()[:3]:
            summary.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    make_wrong(played)
    page.goto("/proof")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_trail_is_searched_by_keyboard_alone(screens: Screens, played: World) -> None:
    page = auditor(screens, played)
    page.goto("/audit")
    page.get_by_label("Person").focus()
    page.keyboard.type("Otto")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/audit\?principal=Otto"))
    link = page.get_by_role("link", name="jackpot resumed")
    link.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Jackpot resumed")).to_be_visible()


def test_the_history_of_a_round_comes_with_its_page(screens: Screens, played: World) -> None:
    page = auditor(screens, played)
    page.goto(f"/tables/{LONG}/rounds/{LONG}")
    expect(page.get_by_text("Nobody has done anything about it yet.")).to_be_visible()


def test_an_act_is_printed_without_navigation_on_one_page(screens: Screens, played: World) -> None:
    page = auditor(screens, played)
    (path,) = [path for path in paths(played) if re.fullmatch(r"/audit/\d+", path) and path != "/audit/1"]
    page.goto(path)
    page.emulate_media(media="print")
    expect(page.get_by_role("navigation", name="Pages", exact=True)).to_be_hidden()
    expect(page.get_by_text("The states in full")).to_be_hidden()
    for heading in ("Who, when and why", "Before and after", "In the chain of acts"):
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4", prefer_css_page_size=True))) == 1


def test_a_verification_is_started_and_watched_without_scripts(screens: Screens, played: World) -> None:
    page = auditor(screens, played, java_script_enabled=False)
    page.goto("/proof")
    page.get_by_label("From the last note").check()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("It waits for its turn")).to_be_visible()
    played.runner().run_next()
    page.get_by_role("link", name="Refresh").click()
    expect(page.get_by_role("heading", name="Start a verification")).to_be_visible()
    assert "Without scripts nothing is checked here" in page.locator(".check").inner_text()


def test_progress_moves_by_itself_and_gives_way_to_the_result(screens: Screens, played: World) -> None:
    page = auditor(screens, played)
    page.goto("/proof")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("It waits for its turn")).to_be_visible()
    is_seen = threading.Event()
    kinds = interrupted(after(3), lambda: is_seen.wait(30))
    working = threading.Thread(target=played.runner(kinds=kinds).run_next)
    working.start()
    try:
        expect(page.get_by_text("% of all looks at entries")).to_be_visible()
    finally:
        is_seen.set()
        working.join()
    expect(page.get_by_role("heading", name="Start a verification")).to_be_visible()


def seal_file(world: World, folder: Path, number: int, change: Callable[[str], str] = str) -> Path:
    """The file of a seal, as the API hands it out, perhaps with something changed."""
    content = world.get(f"/v1/seals/{number}").text
    file = folder / f"seal-{number}.json"
    file.write_text(change(content), encoding="utf-8")
    return file


def checked(page: Page, *files: Path) -> str:
    page.get_by_label("Files of seals").set_input_files([str(file) for file in files])
    expect(page.locator(".checked > li")).to_have_count(sum(file.suffix == ".json" for file in files))
    return page.locator(".checked").inner_text()


def spaced(content: str) -> str:
    """The same object, written otherwise: by another program, in another order."""
    return json.dumps(dict(reversed(json.loads(content).items())), indent=2)


@pytest.mark.parametrize("change", [str, spaced])
def test_a_true_seal_is_right_however_it_is_written(
    screens: Screens, played: World, tmp_path: Path, change: Callable[[str], str]
) -> None:
    page = auditor(screens, played)
    page.goto("/proof")
    shown = checked(page, seal_file(played, tmp_path, 1, change), seal_file(played, tmp_path, 2, change))
    assert shown.count("right\nseal") + shown.count("right seal") == 2, shown
    assert shown.count("The ledger kept the same, byte by byte.") == 2
    assert KEY.public.key_id in shown


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda content: content.replace('"service_version":"1.2"', '"service_version":"1.3"'), "It was changed"),
        (lambda content: re.sub(r'(\["-",0,)(\d+)', r"\g<1>9\2", content), "It was changed"),
        (
            lambda content: re.sub('(?<="signature":").', lambda digit: "1" if digit[0] == "0" else "0", content),
            "It was changed",
        ),
        (lambda content: content.replace(KEY.public.key_id, "0" * 64), "knows no key of this id"),
        (lambda content: content[:-1], "not JSON"),
        (lambda content: content.replace("{", '{"more":1,', 1), "no seal of the format"),
        (lambda content: content.replace("jackpot-seal-1", "jackpot-seal-2"), "no seal of the format"),
        (lambda content: content.replace("{", '{"number":1,', 1), "twice"),
        (lambda _content: "", "not JSON"),
        (lambda _content: "[" * 100_000, "nested"),
    ],
)
def test_a_changed_seal_is_wrong(
    screens: Screens, played: World, tmp_path: Path, change: Callable[[str], str], sentence: str
) -> None:
    page = auditor(screens, played)
    page.goto("/proof")
    shown = checked(page, seal_file(played, tmp_path, 2, change))
    assert sentence in shown
    assert "right" not in shown


def test_a_seal_that_the_ledger_did_not_keep_is_wrong(screens: Screens, played: World, tmp_path: Path) -> None:
    screens.expected |= {404}
    seal = seals.read(played.get("/v1/seals/2").text.encode())
    page = auditor(screens, played)
    page.goto("/proof")
    for number, sentence in ((2, "The ledger kept another seal"), (9, "The ledger has no seal of this number")):
        document = {**json.loads(seal.canonical_bytes), "number": number, "service_version": "7"}
        del document["signature"]
        signed = json.dumps(document, sort_keys=True, separators=(",", ":"))
        document["signature"] = KEY.sign(signed.encode()).hex()
        file = tmp_path / f"other-{number}.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        shown = checked(page, file)
        assert "The signature is right" in shown
        assert sentence in shown


def test_a_key_of_ones_own_is_taken_instead_of_the_published_one(
    screens: Screens, played: World, tmp_path: Path
) -> None:
    page = auditor(screens, played)
    page.goto("/proof")
    own, other = tmp_path / "own.pub", tmp_path / "other.pub"
    own.write_bytes(KEY.public.pem)
    other.write_bytes(signing.new_key().public.pem)
    seal = seal_file(played, tmp_path, 1)
    assert "of your file" in checked(page, own, seal)
    shown = checked(page, other, seal)
    assert "It was signed by another key than the one that you chose." in shown


def test_a_large_seq_keeps_its_digits(screens: Screens, played: World, tmp_path: Path) -> None:
    """A number of JavaScript has 53 bits, a seq 63."""
    content = json.loads(played.get("/v1/seals/1").text)
    content["stripes"][0][2] = 2**63 - 1
    del content["signature"]
    signed = json.dumps(content, sort_keys=True, separators=(",", ":"))
    content["signature"] = KEY.sign(signed.encode()).hex()
    file = tmp_path / "large.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    page = auditor(screens, played)
    page.goto("/proof")
    assert "The signature is right" in checked(page, file)


def test_a_browser_without_ed25519_says_so(screens: Screens, played: World, tmp_path: Path) -> None:
    page = auditor(screens, played)
    page.add_init_script(
        "crypto.subtle.importKey = async () => { throw new DOMException('no', 'NotSupportedError'); };"
    )
    page.goto("/proof")
    shown = checked(page, seal_file(played, tmp_path, 1))
    assert "This browser cannot check signatures of Ed25519." in shown


def test_seals_are_dropped_onto_the_page(screens: Screens, played: World) -> None:
    page = auditor(screens, played)
    page.goto("/proof")
    content = played.get("/v1/seals/1").text
    data = page.evaluate_handle(
        "content => { const data = new DataTransfer();"
        " data.items.add(new File([content], 'dropped.json')); return data; }",
        content,
    )
    page.dispatch_event("[data-drop]", "drop", {"dataTransfer": data})
    expect(page.get_by_text("The ledger kept the same, byte by byte.")).to_be_visible()


def test_the_script_keeps_to_its_budget() -> None:
    assert (STATIC / "seals.js").stat().st_size + (STATIC / "frame.js").stat().st_size <= MOST_BYTES
