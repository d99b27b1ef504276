"""How a command writes: a list line by line, one thing as JSON, a file that is there only when it is whole."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import click
import orjson

from jackpot_service.cli.opening import opened_engine
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import Session, read

T = TypeVar("T")

MOST_LISTED = 1_000_000

limit_option = click.option(
    "--limit", type=click.IntRange(1, MOST_LISTED), default=50, show_default=True, help="The latest so many."
)
json_option = click.option("--json", "is_json", is_flag=True, help="Everything of each, as JSON.")

output_option = click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file, there when it is whole; default: standard output.",
)


def print_list(
    config: Config,
    rows_of: Callable[[Session, int], Sequence[T]],
    line_of: Callable[[T], str],
    *,
    limit: int,
) -> None:
    """Print the latest rows, a line each; say on standard error if there are more. It reads one more than the limit."""
    with opened_engine(config) as engine:
        rows = read(engine, lambda session: rows_of(session, limit + 1))
    for row in rows[:limit]:
        click.echo(line_of(row))
    if len(rows) > limit:
        click.echo(f"There are more; --limit {limit} showed the latest.", err=True)


def print_json(document: Any) -> None:  # noqa: ANN401  any JSON
    """Print one thing whole."""
    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


def json_line(document: Any) -> str:  # noqa: ANN401  any JSON
    """Write one thing of a list whole, on a line."""
    return orjson.dumps(document).decode()


@contextmanager
def opened(output: Path | None) -> Iterator[BinaryIO]:
    """
    Open what is to be written; a file is written under another name, and moved to its place at the end.

    A device or a pipe is written to as it is: nothing may take its place.

    Raises: click.ClickException if it cannot be written.
    """
    if output is None:
        yield sys.stdout.buffer
        return
    is_special = output.exists() and not output.is_file()
    place = output if is_special else output.resolve()
    unfinished = place if is_special else place.with_name(f"{place.name}.part")
    try:
        with unfinished.open("wb") as file:
            yield file
        if not is_special:
            unfinished.replace(place)
    except OSError as error:
        message = f"{output} cannot be written: {error.strerror}"
        raise click.ClickException(message) from None
    finally:
        if not is_special:
            unfinished.unlink(missing_ok=True)
