"""The two pictures: bets a second against the size of a batch, and latency against load."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from bench import ingest, latency
from bench.figures import Figure, pick
from bench.targets import COMPARED_CONNECTIONS

# Text stays text, and two runs differ in their figures only.
_SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "bench",
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "lines.linewidth": 2,
    "lines.marker": "o",
}
_BLUE, _GREY, _ORANGE, _RED = "#0072b2", "#777777", "#e69f00", "#d55e00"


def draw_throughput(figures: Sequence[Figure], path: Path) -> None:
    """Draw what ours, raw and the naive application take in, by bets a request."""
    lines: tuple[tuple[str, str, str, dict[str, int]], ...] = (
        ("raw", "raw pgbench", _GREY, {}),
        ("ours", "this service", _BLUE, {"connections": COMPARED_CONNECTIONS}),
        ("naive", "naive application", _ORANGE, {}),
    )
    with mpl.rc_context(_SETTINGS):
        canvas = Canvas(figsize=(7.5, 4.5), layout="constrained")
        axes = canvas.subplots()
        for name, label, colour, at in lines:
            points = pick(figures, ingest.NAME, name, **at)
            axes.plot([point.at["N"] for point in points], [point.value for point in points], color=colour, label=label)
        sizes = sorted({point.at["N"] for point in pick(figures, ingest.NAME, "ours")})
        axes.set(xscale="log", yscale="log", xlabel="bets a request", ylabel="bets a second, durable")
        axes.set_xticks(sizes, [str(size) for size in sizes], minor=False)
        axes.set_xticks([], minor=True)
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.set_title(f"Ingest with up to {COMPARED_CONNECTIONS} connections", loc="left")
        axes.legend(frameon=False, loc="upper left")
        _save(canvas, path)


def draw_latency(figures: Sequence[Figure], path: Path) -> None:
    """Draw the percentiles at each load, one panel a batch size."""
    with mpl.rc_context(_SETTINGS):
        canvas = Canvas(figsize=(9, 4.5), layout="constrained")
        panels = canvas.subplots(ncols=len(latency.SIZES), sharey=True, squeeze=False)[0]
        for axes, bets in zip(panels, latency.SIZES, strict=True):
            _draw_percentiles(axes, figures, bets)
        panels[0].set_ylabel("ms from the intended time to the answer")
        panels[0].legend(frameon=False, loc="upper left")
        _save(canvas, path)


def _draw_percentiles(axes: Axes, figures: Sequence[Figure], bets: int) -> None:
    for percentile, colour in zip(latency.PERCENTILES, (_BLUE, _ORANGE, _RED), strict=True):
        name = f"p{percentile:g}"
        points = pick(figures, latency.NAME, name, N=bets)
        axes.plot(
            [point.at["load_percent"] for point in points], [point.value for point in points], color=colour, label=name
        )
    rates = pick(figures, latency.NAME, "rate", N=bets)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}")
    axes.set_xticks(
        [rate.at["load_percent"] for rate in rates],
        [f"{rate.at['load_percent']} %\n{rate.value:,.0f}/s" for rate in rates],
    )
    axes.set_xlabel("requests a second, as a share of the most")
    axes.set_title(f"{bets} bet{'s' if bets > 1 else ''} a request", loc="left")


def _save(canvas: Canvas, path: Path) -> None:
    canvas.savefig(path, format="svg", facecolor="white", metadata={"Date": None})
