"""Charts in a browser: drawn in either scheme, read by keys, and there as a table for those who see no drawing."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import flask
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from jackpot_service.pages import assets, charts, figures
from jackpot_service.pages.blueprint import POLICY
from jackpot_service.pages.charts import Chart, Kind, Mark
from tests.pages.browser.screens import Screens, violations

pytestmark = [pytest.mark.browser, pytest.mark.long]

ADDRESS: Final = "http://charts.test"

SOURCE: Final = """<!DOCTYPE html><html lang="en"><head><title>Charts</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="{{ asset('ledger.css') }}">{% from '_charts.html' import chart, files with context %}
{{ files() }}</head><body><main><h1>Charts</h1>
{% for shown in all %}<section class="card" aria-label="{{ shown.title }}">{{ chart(shown) }}</section>{% endfor %}
</main></body></html>"""

BEGINNING: Final = datetime(2026, 11, 1, tzinfo=UTC)
HOURS: Final = tuple(BEGINNING + timedelta(hours=12 * number) for number in range(24))
DAYS: Final = tuple((BEGINNING + timedelta(days=number)).date() for number in range(24))

INK: Final = """
(place) => {
  const canvas = place.querySelector("canvas");
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", {willReadFrequently: true});
  copy.drawImage(canvas, 0, 0);
  const {data} = copy.getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Map();
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] < 255) continue;
    const colour = data.slice(at, at + 3).join(",");
    seen.set(colour, (seen.get(colour) ?? 0) + 1);
  }
  return [...seen].filter(([, count]) => count > 100).map(([colour]) => colour);
}
"""
"""The colours of which a drawing has more than a few points."""


def rates() -> Chart:
    """A stepped line with a band and marks, over instants."""
    values = [Decimal("1.17") + Decimal(number % 7) / 1000 for number in range(24)]
    ranges = [None, *((value * Decimal("0.9"), value * Decimal("1.1")) for value in values[:-1])]
    return Chart(
        "Rates",
        HOURS,
        (
            charts.series("GBP", Kind.STEP, values, write=figures.number, unit="EUR"),
            charts.series("USD", Kind.STEP, [value - Decimal("0.2") for value in values], write=figures.number),
        ),
        charts.band("Limits", ranges, write=figures.number),
        (Mark(3, "sheet 4", "/sheet/4"), Mark(23, "now")),
    )


def sums(kind: Kind) -> Chart:
    """Three series over days."""
    values = [[Decimal(100_000 * part + 7_000 * number) for number in range(24)] for part in (1, 2, 3)]
    return Chart(
        f"Sums as {kind}",
        DAYS,
        tuple(charts.series(f"Part {part}", kind, each, write=figures.number) for part, each in enumerate(values, 1)),
    )


@pytest.fixture
def page_of_charts(browser: Browser) -> Iterator[Screens]:
    """Windows on a page of charts, under the policy of all pages."""
    screens = Screens(browser, ADDRESS)
    yield screens
    screens.close()
    assert screens.complaints == []


def opened(screens: Screens, *shown: Chart, **options: Any) -> Page:
    """Open the page of some charts."""
    app = flask.Flask("jackpot_service.pages")
    app.register_blueprint(assets.blueprint)
    app.add_url_rule("/sheet/4", "sheet", lambda: "<title>Sheet 4</title>")
    with app.test_request_context():
        html = flask.render_template_string(SOURCE, all=shown, asset=assets.address_of)
    app.add_url_rule("/", "charts", lambda: flask.Response(html, headers={"Content-Security-Policy": POLICY}))
    client = app.test_client()

    def answer(route: Route) -> None:
        response = client.get(route.request.url.removeprefix(ADDRESS))
        route.fulfill(status=response.status_code, headers=dict(response.headers), body=response.data)

    page = screens.window(**options)
    page.route(f"{ADDRESS}/**", answer)
    page.goto("/")
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_every_kind_is_drawn_within_its_window_and_axe_finds_nothing(
    page_of_charts: Screens, scheme: str, width: int
) -> None:
    shown = (rates(), *(sums(kind) for kind in Kind))
    page = opened(page_of_charts, *shown, color_scheme=scheme, viewport={"width": width, "height": 900})
    expect(page.locator(".plot canvas")).to_have_count(len(shown))
    for place in page.locator(".plot").all():
        assert len(place.evaluate(INK)) >= 2
    for details in page.locator("summary").all():
        details.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []


def test_arrow_keys_read_exact_texts_and_enter_follows_a_mark(page_of_charts: Screens) -> None:
    page = opened(page_of_charts, rates())
    place, readout = page.locator(".plot"), page.locator(".readout")
    place.focus()
    page.keyboard.press("ArrowLeft")
    expect(readout).to_have_text("12 Nov 2026, 12:00:00 UTC · GBP 1.172 · USD 0.972 · Limits 1.0539 to 1.2881 · now")
    page.keyboard.press("Enter")  # This mark leads nowhere.
    page.keyboard.press("Home")
    expect(readout).to_have_text("1 Nov 2026, 00:00:00 UTC · GBP 1.17 · USD 0.97")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(readout).to_contain_text("sheet 4")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{ADDRESS}/sheet/4")


def test_a_pointer_reads_too_and_only_a_point_leads_to_its_page(page_of_charts: Screens) -> None:
    page = opened(page_of_charts, rates())
    box = page.locator(".u-over").bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] * 2.4 / 23, box["y"] + 40)
    expect(page.locator(".readout")).to_contain_text("2 Nov 2026, 00:00:00 UTC")
    page.mouse.move(box["x"] + box["width"] * 3 / 23, box["y"] + 40)
    expect(page.locator(".readout")).to_contain_text("sheet 4")
    page.mouse.down()
    page.mouse.up()
    expect(page).to_have_url(f"{ADDRESS}/sheet/4")


def wait_for_ink(page: Page, colour: str) -> None:
    """A chart is drawn a moment after its colours change."""
    page.wait_for_function(f"colour => ({INK})(document.querySelector('.plot')).includes(colour)", arg=colour)


def test_it_is_drawn_anew_in_the_colours_of_another_scheme(page_of_charts: Screens) -> None:
    page = opened(page_of_charts, rates(), color_scheme="light")
    light = page.locator(".plot").evaluate(INK)
    assert "13,92,70" in light
    page.emulate_media(color_scheme="dark")
    wait_for_ink(page, "127,209,178")
    assert "13,92,70" not in page.locator(".plot").evaluate(INK)
    page.evaluate("document.documentElement.dataset.scheme = 'light'")
    wait_for_ink(page, "13,92,70")
    assert page.locator(".plot").evaluate(INK) == light
    expect(page.locator(".plot canvas")).to_have_count(1)


def test_it_is_as_wide_as_its_place_after_the_window_changes(page_of_charts: Screens) -> None:
    page = opened(page_of_charts, rates(), viewport={"width": 1280, "height": 900})
    page.set_viewport_size({"width": 400, "height": 900})
    page.wait_for_function("document.querySelector('.uplot').clientWidth <= 400")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_without_scripts_the_table_is_there(page_of_charts: Screens) -> None:
    page = opened(page_of_charts, rates(), java_script_enabled=False)
    expect(page.get_by_text("To draw this chart the browser needs scripts.")).to_be_visible()
    expect(page.locator(".plot")).to_be_hidden()
    page.get_by_text("The figures as a table").click()
    expect(page.get_by_role("row", name="22 Nov 2026")).to_have_count(0)
    expect(page.get_by_role("row", name="10 Nov 2026, 12:00:00 UTC")).to_contain_text("1.175")
