"""
Reproducible measurements, each a ratio within one run: `python -m bench ingest`, from the checkout.

Exit code: 0 when every floor is reached, 2 when one is missed, 1 when something failed or the books do not verify.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

import click
from sqlalchemy.exc import SQLAlchemyError

from bench import ingest, report
from bench.load import LoadFailed
from bench.servers import ServerFailed
from jackpot_service.embedded import EmbeddedError

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


class _Sizes(click.ParamType[tuple[int, ...]]):
    name = "N,N,…"

    def convert(
        self, value: str | tuple[int, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        sizes = tuple(int(size) for size in value.split(",") if size.isdecimal())
        if len(sizes) != value.count(",") + 1 or not all(1 <= size <= ingest.LARGEST for size in sizes):
            self.fail(f"{value!r} is not a list of batch sizes from 1 to {ingest.LARGEST}", param, ctx)
        return sizes


@click.group()
def main() -> None:
    """Measure the service."""
    signal.signal(signal.SIGTERM, _leave)


@main.command("ingest")
@click.option("--sizes", type=_Sizes(), default="1,7,100,1000", show_default=True, help="Bets a request.")
@click.option("--seconds", type=click.FloatRange(1, 600), default=6, show_default=True, help="Of each measurement.")
@click.option("--connections", type=click.IntRange(1, 512), default=32, show_default=True, help="Requests in flight.")
@click.option("--repeats", type=click.IntRange(1, 20), default=1, show_default=True, help="Rounds; medians count.")
@click.option(
    "--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Also write the result here."
)
def ingest_command(
    *, sizes: tuple[int, ...], seconds: float, connections: int, repeats: int, json_file: Path | None
) -> None:
    """Compare ingest over HTTP with raw pgbench and with the naive application."""
    plan = ingest.Plan(sizes, seconds, connections, repeats)
    try:
        outcome = ingest.run(plan, tell=lambda message: click.echo(message, err=True))
    except _FAILURES as failure:
        click.echo(f"bench failed: {failure}", err=True)
        sys.exit(_FAILED)
    click.echo(report.as_text(outcome))
    if json_file is not None:
        json_file.write_text(json.dumps(report.as_document(outcome), indent=2) + "\n")
    if not outcome.books_clean:
        sys.exit(_FAILED)
    if report.missed(outcome):
        sys.exit(_MISSED)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    """End as after Ctrl-C, so that every process that was started is stopped."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    main(prog_name="python -m bench")
