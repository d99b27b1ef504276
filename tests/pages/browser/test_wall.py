"""The wall in a browser: what it shows as time goes by, when the jackpot is hit, and when nobody is there to ask."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, ConsoleMessage, FloatRect, Page

from jackpot_service.api import feeds
from jackpot_service.domain.principals import Role
from jackpot_service.pages import assets
from jackpot_service.pages.wall import THEMES
from tests.pages.browser.screens import violations
from tests.support.bets import bet
from tests.support.hands import NOTHING, ROYAL_FLUSH_TOO, hand
from tests.support.served import served
from tests.support.world import World

pytestmark = [pytest.mark.browser, pytest.mark.long]

WALL: Final = "/wall/j1"
SIZES: Final = ((1280, 720), (1920, 1080), (1080, 1920))

ROLLED: Final = """
async ([source, seed, frames]) => {
  const {Rolling, turns} = await import("data:text/javascript," + encodeURIComponent(source));
  let state = seed;
  const random = () => {  // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  let amount = Math.floor(random() * 1e9), time = 0, shown = amount, rolled = 0, fell = 0;
  const rolling = new Rolling(amount), wrong = [];
  for (let frame = 0; frame < frames && wrong.length < 5; frame += 1) {
    time += random() * 40;
    if (random() < 0.05) {
      const kind = random();
      if (kind < 0.1) amount = Math.floor(random() * 1e5);                       // A hit.
      else if (kind < 0.25) amount = Math.max(0, amount - Math.floor(random() * 1e4));  // A void.
      else amount += Math.floor(random() * 10 ** Math.floor(random() * 9));
      amount = Math.min(amount, 1e12 - 1);
      rolling.report(amount, time, random() < 0.1);
      if (rolling.shown > amount) wrong.push(["does not fall at once", rolling.shown, amount]);
      if (shown > amount) { fell += 1; shown = amount; }
    }
    // The time of a frame may lie before the message that was taken in it.
    const now = rolling.at(time - (random() < 0.3 ? random() * 60 : 0));
    if (now > amount) wrong.push(["above", now, amount]);
    if (now < shown) wrong.push(["back", now, shown]);
    if (now > shown && now < amount) rolled += 1;
    const wheels = turns(now, 13);
    if (wheels.some(([digit, turn]) => digit < 0 || digit > 9 || turn < 0 || turn >= 1)) wrong.push(["wheel", now]);
    const digits = Number(wheels.map(([digit]) => digit).reverse().join(""));
    if (digits > amount || digits !== Math.floor(now)) wrong.push(["digits", digits, now]);
    shown = now;
  }
  const end = rolling.at(time + 3001);
  if (end !== amount || rolling.rolls) wrong.push(["end", end, amount]);
  return {wrong, rolled, fell};
}
"""

FRAMES: Final = """
([seconds, last]) => new Promise((done) => {
  const seen = [], digits = () => [...document.querySelectorAll(".meter .wheel")]
    .map((wheel) => wheel.firstChild.textContent).join("");
  const until = performance.now() + seconds * 1000;
  const frame = () => {
    seen.push(Number(digits()));
    performance.now() < until && seen.at(-1) !== last ? requestAnimationFrame(frame) : done(seen);
  };
  frame();
})
"""


FULL: Final = """
async () => {
  await document.fonts.ready;
  const text = "Last won €131,108.25 on 23 November at Casino Riga, shared by 17 players";
  if (!document.querySelector(".last")) {
    const last = document.querySelector(".foot").appendChild(document.createElement("p"));
    last.className = "last";
    last.textContent = text;
  }
}
"""
"""Has the page show a last hit, too: after a real one the amount would be small."""


@pytest.fixture
def shown(world: World) -> World:
    """A jackpot that is displayed to all, at the time of browsers."""
    world.clock.at = datetime.now(UTC)
    world.publish(GBP="1.17", SEK="0.0873", JPY="0.0061", KWD="3.05")
    world.open(base_amount="130710.94", settings={"displayed": "true"})
    return world


@contextmanager
def displaying(
    browser: Browser,
    world: World,
    query: str = "",
    *,
    clock: bool = False,
    size: tuple[int, int] = (1280, 720),
    **more: Any,
) -> Iterator[Page]:
    """Open the wall, which does nothing that its policy forbids and has no error, until the block ends."""
    wrong: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            wrong.append(message.text)

    with served(world.app) as address:
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **more)
        try:
            page = context.new_page()
            page.on("console", listen)
            page.on("pageerror", lambda error: wrong.append(str(error)))
            if clock:
                page.clock.install()
            page.goto(f"{address}{WALL}{query}")
            yield page
        finally:
            context.close()
    assert wrong == []


def figure(page: Page) -> str:
    """The amount that stands on the wheels."""
    spans = page.locator(".meter .wheel:not(.leading), .meter .mark:not(.leading)").all()
    return "".join((span.locator("b").first.text_content() or "") for span in spans)


def wait_for_figure(page: Page, amount: str) -> None:
    digits = re.sub(r"[,.]", "", amount)
    page.wait_for_function(
        "digits => [...document.querySelectorAll('.meter .wheel:not(.leading)')]"
        ".map((wheel) => wheel.firstChild.textContent).join('') === digits",
        arg=digits,
    )
    assert figure(page) == amount


def meter_minor(world: World) -> int:
    """The meter now, in whole cents, rounded down."""
    amount: int = world.meter()["amount_minor"]
    return amount


def suspend(world: World) -> None:
    body = {"request_id": "s", "reason": "r"}
    world.put("/v1/jackpots/j1/suspension", body, key=world.key(Role.OPERATOR)).ok(201)


def hit(world: World, round_id: str = "hit", *, winners: int = 3) -> None:
    world.bet(
        bet(f"{round_id}-w", player_id="secret-player"),
        *[bet(f"{round_id}-{n}", hand="2") for n in range(winners - 1)],
        round_id=round_id,
    )
    world.settle(hand("1", ROYAL_FLUSH_TOO), hand("2", NOTHING), round_id=round_id)


# The roll.


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_amount_that_rolls_is_never_above_what_was_reported(browser: Browser, seed: int) -> None:
    page = browser.new_page()
    page.goto("about:blank")
    source = (assets.STATIC / "rolling.js").read_text()
    rolled = page.evaluate(ROLLED, [source, seed, 100_000])
    page.close()
    assert rolled["wrong"] == []
    assert rolled["rolled"] > 1000
    assert rolled["fell"] > 100


def test_the_wheels_roll_up_to_the_meter_and_never_lead_it(browser: Browser, shown: World) -> None:
    with displaying(browser, shown) as page:
        wait_for_figure(page, "130,710.94")
        for number in range(4):
            shown.bet(bet(f"b{number}", stake_minor=9990), round_id=f"r{number}")
            most = meter_minor(shown)
            seen = page.evaluate(FRAMES, [1.5, None])
            assert max(seen) <= most
            assert seen == sorted(seen)
        wait_for_figure(page, f"{meter_minor(shown) / 100:,.2f}")


def test_a_void_lowers_the_amount_at_once(browser: Browser, shown: World) -> None:
    shown.bet(bet("b", stake_minor=10_000))
    with displaying(browser, shown) as page:
        wait_for_figure(page, "130,755.94")
        shown.void("b")
        wait_for_figure(page, "130,710.94")


def test_without_motion_the_amount_changes_in_steps(browser: Browser, shown: World) -> None:
    with displaying(browser, shown, reduced_motion="reduce") as page:
        wait_for_figure(page, "130,710.94")
        shown.bet(bet("b", stake_minor=10_000))
        seen = page.evaluate(FRAMES, [60, 13075594])
        assert set(seen) <= {13071094, 13075594}
        assert seen[-1] == 13075594
        hit(shown)
        page.wait_for_selector(".won:not([hidden])")
        assert page.locator(".confetti i").count() == 0


# How it looks, and how it fits.


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing(browser: Browser, shown: World, theme: str) -> None:
    with displaying(browser, shown, f"?theme={theme}") as page:
        assert violations(page) == []


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("currency", "amount"), [("EUR", "100"), ("EUR", "130710.94"), ("JPY", "4000000"), ("KWD", "375000000")]
)
def test_amounts_fit_every_screen(
    browser: Browser, world: World, size: tuple[int, int], currency: str, amount: str
) -> None:
    world.clock.at = datetime.now(UTC)
    world.publish(GBP="1.17", SEK="0.0873", JPY="0.0061", KWD="3.05", USD="0.92", DKK="0.13", NOK="0.09")
    world.open(base_amount=amount, settings={"displayed": "true"})
    suspend(world)
    named = "EUR,GBP,USD,SEK,DKK,NOK,KWD"
    with displaying(browser, world, f"?currency={currency}&others={named}", size=size) as page:
        page.evaluate(FULL)
        boxes = page.evaluate("""() => [...document.querySelectorAll(
            ".head h1, .link, .jackpot h2, .meter > *, .closed, .others li, .royal, .prizes li, .last")]
            .map((e) => [e.className, ...Object.values(e.getBoundingClientRect().toJSON())])""")
    for name, x, y, width, height, *_ in boxes:
        assert x >= 0, (name, x)
        assert y >= 0, (name, y)
        assert x + width <= size[0], (name, x, width)
        assert y + height <= size[1], (name, y, height)
    rows = [
        ("head", [box for box in boxes if box[0] == "link"]),
        ("meter", [box for box in boxes if box[0] == "wheel"]),
        ("closed", [box for box in boxes if box[0] == "closed"]),
        ("last", [box for box in boxes if box[0] == "last"]),
    ]
    ends = 0.0
    for name, row in rows:
        assert row, name
        assert min(box[2] for box in row) >= ends, name
        ends = max(box[2] + box[4] for box in row)


def box_of(page: Page, selector: str) -> FloatRect:
    box = page.locator(selector).bounding_box()
    assert box, selector
    return box


def test_nothing_of_the_jackpot_lies_under_the_foot_or_the_head(browser: Browser, shown: World) -> None:
    suspend(shown)
    for size in SIZES:
        with displaying(browser, shown, "?others=GBP,SEK,JPY,KWD", size=size) as page:
            page.evaluate(FULL)
            head, jackpot, chips, foot = (
                box_of(page, selector) for selector in (".head", ".jackpot h2", ".others", ".foot")
            )
            assert jackpot["y"] >= head["y"] + head["height"], size
            assert chips["y"] + chips["height"] <= foot["y"], size


# A hit.


def test_a_hit_is_celebrated_once_and_then_the_count_rises_again(browser: Browser, shown: World) -> None:
    with displaying(browser, shown, clock=True) as page:
        hit(shown)
        page.wait_for_selector(".won:not([hidden])")
        paid = shown.call("GET", "/v1/jackpots/j1/feed", key=None).ok()["last_hit"]["amount_minor"]
        assert page.locator(".won .sum").text_content() == f"€{paid / 100:,.2f}"
        assert page.locator(".won .where").text_content() == "Casino c1 · shared by 3 players of one round"
        cards = [(c.get_attribute("data-suit"), c.text_content()) for c in page.locator(".won .card").all()]
        assert cards == [("h", "10"), ("h", "J"), ("h", "Q"), ("h", "K"), ("h", "A")]
        assert page.locator(".confetti i").count() > 50
        page.clock.fast_forward(25_000)
        page.wait_for_selector(".won", state="hidden")
        page.wait_for_selector(".last")  # The rest of the page is renewed without another visit.
        assert "secret" not in page.content()

        page.clock.fast_forward(16_000)  # It hears nothing, and listens anew.
        shown.bet(bet("later"), round_id="later")
        page.wait_for_timeout(1500)
        page.clock.fast_forward(16_000)
        wait_for_figure(page, f"{meter_minor(shown) / 100:,.2f}")
        assert page.locator(".won").is_hidden()


def test_a_hit_before_the_page_was_opened_is_not_celebrated(browser: Browser, shown: World) -> None:
    hit(shown)
    with displaying(browser, shown) as page:
        page.wait_for_timeout(2500)
        assert page.locator(".won").is_hidden()
        assert "Last won" in (page.locator(".last").text_content() or "")


def frame_of_old_hit(at: datetime) -> str:
    """A frame as the feed would send it, of a hit at a time."""
    last_hit = {
        "cycle": 1,
        "hit_at": at.isoformat(),
        "casino_id": "c1",
        "casino": "Casino c1",
        "currency": "EUR",
        "exponent": 2,
        "amount_minor": 100,
        "cards": ["As", "Ks", "Qs", "Js", "Ts"],
        "winners": 1,
    }
    amounts = [{"currency": "EUR", "exponent": 2, "amount_minor": 50}]
    frame = {"jackpot_id": "j1", "state": "open", "cycle": 2, "rate_sheet": 2, "amounts": amounts, "last_hit": last_hit}
    return f"retry: 3000\n\ndata: {json.dumps(frame)}\n\n"


@pytest.mark.parametrize(("seconds", "is_celebrated"), [(60, True), (130, False)])
def test_a_hit_is_celebrated_only_within_two_minutes(
    browser: Browser, shown: World, seconds: int, *, is_celebrated: bool
) -> None:
    with displaying(browser, shown) as page:
        body = frame_of_old_hit(shown.clock.at - timedelta(seconds=seconds))
        page.route("**/feed?*", lambda route: route.fulfill(body=body, content_type="text/event-stream"))
        page.reload()
        if is_celebrated:
            page.wait_for_selector(".won:not([hidden])")
        else:
            wait_for_figure(page, "0.50")  # It is painted only while nothing is celebrated.
            assert page.locator(".won").is_hidden()


# Live, late, offline.


def link(page: Page, state: str) -> str:
    page.wait_for_selector(f"html[data-link={state}]", state="attached")
    return page.locator(".said").text_content() or ""


def test_silence_is_said_aloud_and_ends_by_itself(browser: Browser, shown: World) -> None:
    with displaying(browser, shown, clock=True) as page:
        assert re.fullmatch(r"\d\d:\d\d", link(page, "live"))
        page.wait_for_timeout(1000)
        page.route("**/feed?*", lambda route: route.abort())
        page.clock.fast_forward(16_000)
        assert re.fullmatch(r"reconnecting · as of \d\d:\d\d:\d\d", link(page, "late"))
        page.clock.fast_forward(15_000)
        assert re.fullmatch(r"offline · amount as of \d\d:\d\d:\d\d", link(page, "offline"))
        assert figure(page) == "130,710.94"

        page.unroute("**/feed?*")
        page.clock.fast_forward(25_000)
        link(page, "live")
        shown.bet(bet("b", stake_minor=10_000))
        wait_for_figure(page, "130,755.94")


def test_comments_of_a_jackpot_that_nobody_plays_for_keep_it_live(
    browser: Browser, shown: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    [late_ms] = re.findall(r"\bLATE_MS = (\d+)", (assets.STATIC / "wall.js").read_text())
    assert int(late_ms) / 1000 > feeds.ALIVE_EVERY_S + feeds.EVERY_S
    monkeypatch.setattr(feeds, "ALIVE_EVERY_S", feeds.EVERY_S)  # One that is late by seconds is not missed then.
    with displaying(browser, shown) as page:
        for _ in range(24):
            page.wait_for_timeout(500)
            assert page.locator("html").get_attribute("data-link") == "live"


def test_a_suspended_jackpot_is_closed_for_bets_without_another_visit(browser: Browser, shown: World) -> None:
    with displaying(browser, shown) as page:
        assert page.locator(".closed").is_hidden()
        shown.put("/v1/jackpots/j1/suspension", {"request_id": "s", "reason": "r"}, key=shown.key(Role.OPERATOR)).ok(
            201
        )
        page.wait_for_selector(".closed", state="visible")


def test_without_scripts_it_holds_the_figures(browser: Browser, shown: World) -> None:
    with displaying(browser, shown, java_script_enabled=False) as page:
        assert figure(page) == "130,710.94"
        assert "as of" in (page.locator(".said").text_content() or "")


def test_those_who_hear_it_hear_the_amount_once_a_minute(browser: Browser, shown: World) -> None:
    with displaying(browser, shown, clock=True) as page:
        assert page.locator(".heard").text_content() == "EUR 130,710.94"
        shown.bet(bet("b", stake_minor=10_000))
        wait_for_figure(page, "130,755.94")
        assert page.locator(".heard").text_content() == "EUR 130,710.94"
        page.clock.fast_forward(61_000)
        page.wait_for_function("document.querySelector('.heard').textContent === 'EUR 130,755.94'")
        assert page.locator(".stage").evaluate("stage => stage.style.transform") != ""
