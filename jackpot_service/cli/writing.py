"""How a command writes a file, which is there only when it is whole."""

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import click

OWN: Final = 0o600
"""The permissions of a file that its owner alone reads and writes."""

LONGEST_NAME: Final = 40

output_option = click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write: it appears once it is whole. Default: standard output.",
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
        sys.stdout.flush()
        return
    is_special = output.exists() and not output.is_file()
    try:
        with output.open("wb") if is_special else replacing(output.resolve()) as file:
            yield file
    except OSError as error:
        message = f"{output} cannot be written: {error.strerror}"
        raise click.ClickException(message) from None


@contextmanager
def replacing(place: Path, *, mode: int | None = None) -> Iterator[BinaryIO]:
    """
    Write a file under a name that nobody else has, and move it to its place when it is whole and on the disk.

    Its permissions are `mode`, or those of the file that it replaces, or those that new files get.

    Raises: OSError.
    """
    unfinished = place.with_name(f".{place.name[:LONGEST_NAME]}.{os.getpid()}.{secrets.token_hex(4)}.part")
    permissions = _mode_of(place) if mode is None else mode
    descriptor = os.open(
        unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if permissions is None else permissions & OWN
    )
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            if permissions is not None:
                os.fchmod(descriptor, permissions)
            os.fsync(descriptor)
        unfinished.replace(place)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _mode_of(place: Path) -> int | None:
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except FileNotFoundError:
        return None
