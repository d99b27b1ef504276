"""How a command writes a file, which is there only when it is whole."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
