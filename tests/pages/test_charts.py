"""Charts: exact texts beside the numbers for pixels, a table beside each, and nothing that a page could run."""

import json
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import flask
import pytest

from jackpot_service.pages import assets, charts, figures
from jackpot_service.pages.charts import Chart, Kind, Mark

DAYS = (date(2026, 11, 21), date(2026, 11, 22), date(2026, 11, 23))
EXACT = (Decimal("1.1700000001"), None, Decimal("1.2"))
HOSTILE = "</script><script>alert(1)</script>&'\""


def drawn(*, label: str = "GBP", kind: Kind = Kind.STEP, marks: tuple[Mark, ...] = ()) -> Chart:
    """A chart of three days."""
    return Chart(
        title=f"Rates of {label}",
        x=DAYS,
        series=(charts.series(label, kind, EXACT, write=figures.number, unit="EUR"),),
        band=charts.band("Limits", [None, None, (Decimal("1.053"), Decimal("1.287"))], write=figures.number),
        marks=marks,
    )


def rendered(chart: Chart) -> str:
    """The chart as a page has it."""
    app = flask.Flask("jackpot_service.pages")
    source = "{% from '_charts.html' import chart, files with context %}{{ files() }}{{ chart(shown) }}"
    with app.test_request_context():
        return flask.render_template_string(source, shown=chart, asset=assets.address_of)


def document_in(html: str) -> dict[str, Any]:
    (content,) = re.findall(r"<template>(.*?)</template>", html, re.DOTALL)
    document: dict[str, Any] = json.loads(content)
    return document


def test_the_texts_are_exact_and_the_numbers_are_for_pixels() -> None:
    drawing = drawn().drawing()
    assert drawing["x"] == [1795219200, 1795305600, 1795392000]
    assert drawing["series"][0]["texts"] == ("1.1700000001", "", "1.2")
    assert drawing["series"][0]["drawn"] == [pytest.approx(1.17), None, pytest.approx(1.2)]
    assert drawing["band"]["texts"] == ("", "", "1.053 to 1.287")


def test_instants_are_placed_by_their_second_and_written_in_utc() -> None:
    at = datetime(2026, 11, 23, 19, 45, 53, tzinfo=UTC)
    chart = Chart("Rate", (at, at + timedelta(hours=1)), ())
    assert chart.drawing()["x"] == [at.timestamp(), at.timestamp() + 3600]
    assert chart.when[0] == "23 Nov 2026, 19:45:53 UTC"
    assert not chart.is_of_days


def test_areas_are_stacked_exactly_and_their_texts_stay_their_own() -> None:
    values = [(Decimal("0.1"),) * 3, (Decimal("0.2"), None, Decimal("-0.3"))]
    areas = tuple(charts.series("a", Kind.AREA_STACKED, each, write=figures.number) for each in values)
    line = charts.series("l", Kind.LINE, [Decimal(9)] * 3, write=figures.number)
    drawing = Chart("Sums", DAYS, (areas[0], line, areas[1])).drawing()
    assert [each["drawn"] for each in drawing["series"]] == [[0.1] * 3, [9.0] * 3, [0.3, 0.1, -0.2]]
    assert drawing["series"][2]["texts"] == ("0.2", "", "\N{MINUS SIGN}0.3")


@pytest.mark.parametrize(
    ("x", "texts", "mark"),
    [(DAYS[:2], 3, 0), (DAYS, 2, 0), ((DAYS[1], DAYS[0], DAYS[2]), 3, 0), ((DAYS[0],) * 3, 3, 0), (DAYS, 3, 3)],
)
def test_a_chart_whose_rows_do_not_fit_cannot_be_made(x: tuple[date, ...], texts: int, mark: int) -> None:
    series = charts.Series("a", Kind.LINE, (Decimal(1),) * 3, ("1",) * texts)
    with pytest.raises(ValueError, match="row"):
        Chart("Sums", x, (series,), marks=(Mark(mark, "a hit"),))


def test_a_page_has_a_drawing_and_the_same_figures_as_a_table() -> None:
    html = rendered(drawn(marks=(Mark(2, "sheet 7", "/rates/EUR/7"),)))
    assert 'role="img" tabindex="0" aria-label="Rates of GBP: GBP, from 21 Nov 2026 to 23 Nov 2026. ' in html
    assert "At the end: GBP 1.2." in html
    assert "<details>" in html
    rows = re.findall(r"<tr><th scope=\"row\".*?</tr>", html)
    cells = [re.sub(r"<[^>]+>", "|", row) for row in rows]
    assert [re.sub(r"\|+", "|", row).strip("|") for row in cells] == [
        "21 Nov 2026|1.1700000001|none",
        "22 Nov 2026|none|none",
        "23 Nov 2026|1.2|1.053 to 1.287|sheet 7",
    ]
    assert '<a href="/rates/EUR/7">' in html
    assert document_in(html)["marks"] == [{"row": 2, "text": "sheet 7", "href": "/rates/EUR/7"}]


def test_the_data_for_scripts_cannot_end_their_element() -> None:
    html = rendered(drawn(label=HOSTILE, marks=(Mark(0, HOSTILE),)))
    assert html.count("<script") == 2
    assert "<script>" not in html
    (content,) = re.findall(r"<template>(.*?)</template>", html, re.DOTALL)
    assert not set(content) & set("<>&")
    assert "\\u003c/script\\u003e" in content
    assert document_in(html)["series"][0]["label"] == HOSTILE


def test_a_chart_without_rows_says_so() -> None:
    empty = Chart("Rates", (), (charts.series("GBP", Kind.STEP, [], write=figures.number),))
    html = rendered(empty)
    assert "Nothing to draw yet." in html
    assert "application/json" not in html


def test_the_script_is_small() -> None:
    assert (assets.STATIC / "charts.js").stat().st_size <= 6000
