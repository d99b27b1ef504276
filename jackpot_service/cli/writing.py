"""Where a command writes a file: to standard output, or to a file that is there only when it is whole."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import click

output_option = click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file, there when it is whole; default: standard output.",
)


@contextmanager
def opened(output: Path | None) -> Iterator[BinaryIO]:
    """
    Open what is to be written; a file is written beside its place, and moved there at the end.

    Raises: click.ClickException if it cannot be written.
    """
    if output is None:
        yield sys.stdout.buffer
        return
    unfinished = output.with_name(f"{output.name}.part")
    try:
        with unfinished.open("wb") as file:
            yield file
        unfinished.replace(output)
    except OSError as error:
        message = f"{output} cannot be written: {error.strerror}"
        raise click.ClickException(message) from None
    finally:
        with suppress(OSError):
            unfinished.unlink()
