"""
Reproducible measurements, each with its floor and its goal: `python -m bench ingest`, from the checkout.

Exit code: 0 when every floor is reached, 2 when one is missed, 1 when something failed or the books do not verify.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import click
from sqlalchemy.exc import SQLAlchemyError

from bench import (
    comparison,
    displays,
    everything,
    flush,
    growth,
    hits,
    ingest,
    instants,
    latency,
    meters,
    overload,
    player_index,
    report,
    reports,
    slow_flush,
    verification,
    workers,
)
from bench import run as runs
from bench.run import Measurement, Outcome
from bench.servers import ServerFailed
from bench.wire import LoadFailed
from jackpot_service.database.embedded import EmbeddedError

FC = TypeVar("FC", bound=Callable[..., Any])

_FAILURES = (
    LoadFailed,
    ServerFailed,
    EmbeddedError,
    RuntimeError,
    OSError,
    subprocess.SubprocessError,
    SQLAlchemyError,
)
_FAILED = 1
_MISSED = 2
_DOCS = Path(__file__).resolve().parent.parent / "docs"


class _Numbers(click.ParamType[tuple[int, ...]]):
    name = "N,N,…"

    def __init__(self, least: int, most: int) -> None:
        self._least = least
        self._most = most

    def convert(
        self, value: str | tuple[int, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        numbers = tuple(int(number) for number in value.split(",") if number.isdecimal())
        if len(numbers) != value.count(",") + 1 or not all(self._least <= number <= self._most for number in numbers):
            self.fail(f"{value!r} is not a list of numbers from {self._least} to {self._most}", param, ctx)
        return tuple(sorted(set(numbers)))


def _seconds_option(default: float) -> Callable[[FC], FC]:
    kind = click.FloatRange(1, 600)
    return click.option("--seconds", type=kind, default=default, show_default=True, help="Of each measurement.")


_repeats_option = click.option(
    "--repeats", type=click.IntRange(1, 20), default=1, show_default=True, help="Rounds; medians count."
)
_json_option = click.option(
    "--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Also write the result here."
)


@click.group()
def main() -> None:
    """Measure the service."""
    signal.signal(signal.SIGTERM, _leave)


@main.command("ingest")
@click.option("--sizes", type=_Numbers(1, ingest.LARGEST), default="1,7,100,1000", show_default=True)
@click.option("--connections", type=_Numbers(1, 512), default="1,8,32", show_default=True, help="Requests in flight.")
@_seconds_option(6)
@_repeats_option
@_json_option
def ingest_command(
    *, sizes: tuple[int, ...], connections: tuple[int, ...], seconds: float, repeats: int, json_file: Path | None
) -> None:
    """Compare ingest over HTTP with raw pgbench and with the naive application."""
    plan = ingest.Plan(sizes, connections, seconds)
    _end(_run([runs.repeated(partial(ingest.measure, plan=plan), repeats=repeats)], json_file))


@main.command("compare")
@click.argument("checkout", type=click.Path(file_okay=False, exists=True, resolve_path=True, path_type=Path))
@click.option("--sizes", type=_Numbers(1, ingest.LARGEST), default="1,7,100,1000", show_default=True)
@click.option(
    "--turns",
    type=click.IntRange(2, 1000),
    default=80,
    show_default=True,
    help="Of each measurement: four of each batch size, and a bet alone.",
)
@click.option("--seconds", type=click.FloatRange(0.2, 60), default=0.8, show_default=True, help="Of each turn.")
@_json_option
def compare_command(
    *, checkout: Path, sizes: tuple[int, ...], turns: int, seconds: float, json_file: Path | None
) -> None:
    """Compare ingest and latencies with another CHECKOUT's, in turns: what a change costs, or brings."""
    if not (checkout / "jackpot_service").is_dir():  # This checkout's own would be found instead.
        message = f"{str(checkout)!r} is no checkout of the service"
        raise click.BadParameter(message, param_hint="CHECKOUT")
    _end(_run([partial(comparison.measure, plan=comparison.Plan(checkout, sizes, turns, seconds))], json_file))


main.add_command(compare_command, "beside")  # Its older name, by which scripts call it.


@main.command("displays")
@click.option("--displays", "count", type=click.IntRange(1, 2500), default=2000, show_default=True, help="A worker.")
@click.option("--people", type=click.IntRange(1, 20), default=20, show_default=True, help="On finance.")
@_seconds_option(20)
@_repeats_option
@_json_option
def displays_command(*, count: int, people: int, seconds: float, repeats: int, json_file: Path | None) -> None:
    """Measure what displays cost the workers, and what bets feel of them and of people on finance."""
    plan = displays.Plan(count, seconds, people)
    _end(_run([runs.repeated(partial(displays.measure, plan=plan), repeats=repeats)], json_file))


@main.command("latency")
@_seconds_option(6)
@_repeats_option
@_json_option
def latency_command(*, seconds: float, repeats: int, json_file: Path | None) -> None:
    """Measure latencies at given loads, in an open loop."""
    plan = latency.Plan(seconds)
    _end(_run([runs.repeated(partial(latency.measure, plan=plan), repeats=repeats)], json_file))


@main.command("workers")
@_seconds_option(6)
@_repeats_option
@_json_option
def workers_command(*, seconds: float, repeats: int, json_file: Path | None) -> None:
    """Measure ingest with one, two and four workers, and with few and many stripes; by processors, what is to come."""
    plan = workers.Plan(seconds)
    _end(_run([runs.repeated(partial(workers.measure, plan=plan), repeats=repeats)], json_file))


@main.command("hits")
@_seconds_option(10)
@_repeats_option
@_json_option
def hits_command(*, seconds: float, repeats: int, json_file: Path | None) -> None:
    """Measure how long a hit every second holds up the bets at other tables."""
    plan = hits.Plan(seconds)
    _end(_run([runs.repeated(partial(hits.measure, plan=plan), repeats=repeats)], json_file))


@main.command("flush")
@click.option("--rounds", type=click.IntRange(1, 100), default=5, show_default=True, help="Royal flushes.")
@_json_option
def flush_command(*, rounds: int, json_file: Path | None) -> None:
    """Measure a royal flush that 5,000 bettors share."""
    _end(_run([partial(flush.measure, plan=flush.Plan(rounds))], json_file))


@main.command("meters")
@_seconds_option(4)
@_repeats_option
@_json_option
def meters_command(*, seconds: float, repeats: int, json_file: Path | None) -> None:
    """Measure how often the meter can be read."""
    plan = meters.Plan(seconds)
    _end(_run([runs.repeated(partial(meters.measure, plan=plan), repeats=repeats)], json_file))


@main.command("instants")
@_seconds_option(3)
@click.option("--turns", type=click.IntRange(1, 50), default=5, show_default=True, help="Of each way; medians count.")
@_json_option
def instants_command(*, seconds: float, turns: int, json_file: Path | None) -> None:
    """Measure what a reader of current instants costs the bets."""
    _end(_run([partial(instants.measure, plan=instants.Plan(seconds, turns))], json_file))


@main.command("overload")
@_seconds_option(5)
@_json_option
def overload_command(*, seconds: float, json_file: Path | None) -> None:
    """Measure what is booked at ten times the connections, or while another casino floods; and what refusals cost."""
    _end(_run([partial(overload.measure, plan=overload.Plan(seconds))], json_file))


@main.command("slow-flush")
@_seconds_option(4)
@_repeats_option
@_json_option
def slow_flush_command(*, seconds: float, repeats: int, json_file: Path | None) -> None:
    """Measure ingest where a flush takes two milliseconds more."""
    plan = slow_flush.Plan(seconds)
    _end(_run([runs.repeated(partial(slow_flush.measure, plan=plan), repeats=repeats)], json_file))


@main.command("growth")
@click.option("--millions", type=_Numbers(0, 100), default="0,1,10", show_default=True, help="Bets in the books.")
@_seconds_option(4)
@_json_option
def growth_command(*, millions: tuple[int, ...], seconds: float, json_file: Path | None) -> None:
    """Measure ingest at an empty database and at many million bets; takes minutes and gigabytes."""
    _end(_run([partial(growth.measure, plan=growth.Plan(millions, seconds))], json_file))


@main.command("verification")
@click.option("--thousands", type=_Numbers(1, 100_000), default="100,300,1000", show_default=True, help="Bets in all.")
@click.option("--bets", type=click.IntRange(1, ingest.LARGEST), default=100, show_default=True, help="Bets a round.")
@_json_option
def verification_command(*, thousands: tuple[int, ...], bets: int, json_file: Path | None) -> None:
    """Measure how long the proof takes, and how much memory, as the books grow."""
    _end(_run([partial(verification.measure, plan=verification.Plan(thousands, bets))], json_file))


@main.command("reports")
@click.option("--millions", type=_Numbers(1, 100), default="1", show_default=True, help="Bets in the month.")
@_json_option
def reports_command(*, millions: tuple[int, ...], json_file: Path | None) -> None:
    """Measure how long every finance report of a month takes; ten million take most of an hour."""
    _end(_run([partial(reports.measure, plan=reports.Plan(millions))], json_file))


@main.command("player-index")
@click.option("--statements", type=click.IntRange(40, 100_000), default=1000, show_default=True, help="Of 1,000 bets.")
@_json_option
def player_index_command(*, statements: int, json_file: Path | None) -> None:
    """Measure what the index of a player's bets costs a bet, compared with none and with a B-tree."""
    _end(_run([partial(player_index.measure, plan=player_index.Plan(statements))], json_file))


@main.command("all")
@_seconds_option(2)
@click.option(
    "--directory",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    default=_DOCS,
    show_default="docs",
    help="Where bench.json and the pictures go.",
)
def all_command(*, seconds: float, directory: Path) -> None:
    """Measure what bench/everything.py lists, in some ten minutes; write the figures and draw them."""
    from bench import pictures  # noqa: PLC0415 -- only this needs what requirements-bench.txt adds, and needs it first

    outcome = _run(everything.measurements(seconds), directory / "bench.json")
    pictures.draw_throughput(outcome.figures, directory / "bench-throughput.svg")
    pictures.draw_latency(outcome.figures, directory / "bench-latency.svg")
    _end(outcome)


def _run(measurements: Sequence[Measurement], json_file: Path | None) -> Outcome:
    """Measure, print what was found and write it to a file if there is one."""
    try:
        outcome = runs.run(measurements, log=lambda message: click.echo(message, err=True))
    except _FAILURES as failure:
        click.echo(f"bench failed: {failure}", err=True)
        sys.exit(_FAILED)
    click.echo(report.as_text(outcome))
    if json_file is not None:
        json_file.write_text(json.dumps(outcome.as_document(), indent=2) + "\n")
    return outcome


def _end(outcome: Outcome) -> None:
    if not outcome.books_clean:
        sys.exit(_FAILED)
    if outcome.missed:
        sys.exit(_MISSED)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    """End as after Ctrl-C, so that every process that was started is stopped."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    main(prog_name="python -m bench")
