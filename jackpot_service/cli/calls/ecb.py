"""Documents of a central bank: read from a file or fetched from a URL, within bounds of size and time."""

import time
from pathlib import Path
from typing import Final

import click
import httpx

PATIENCE_S: Final = 10.0
LONGEST_S: Final = 30.0

SCHEMES: Final = ("http://", "https://")


def fetch(place: str, *, most: int) -> bytes:
    """
    Read a file or a URL.

    Raises: click.ClickException, in one line, if it cannot be read, is larger than `most` bytes or takes too long.
    """
    if place.startswith(SCHEMES):
        if "@" in place:
            message = "a URL that holds a name or a password is refused: it would be shown and kept"
            raise click.ClickException(message)
        return _from_url(place, most=most)
    try:
        with Path(place).open("rb") as file:
            content = file.read(most + 1)
    except (OSError, ValueError) as error:
        message = f"{place} cannot be read: {getattr(error, 'strerror', None) or error}"
        raise click.ClickException(message) from None
    _require_size(place, len(content), most=most)
    return content


def _from_url(url: str, *, most: int) -> bytes:
    """Read a URL as it is sent, and nothing after a redirection: what is compressed could be anything, unpacked."""
    until = time.monotonic() + LONGEST_S
    content = bytearray()
    try:
        with httpx.stream("GET", url, headers={"Accept-Encoding": "identity"}, timeout=PATIENCE_S) as answer:
            _require_plain(url, answer)
            for part in answer.iter_raw():
                content += part
                _require_size(url, len(content), most=most)
                if time.monotonic() > until:
                    message = f"{url} takes longer than {LONGEST_S:g} s"
                    raise click.ClickException(message)
    # Hosts that cannot be are found out by codecs (ValueError), a proxy of another kind by what is not installed.
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, ImportError) as error:
        message = f"{url} cannot be read: {str(error) or type(error).__name__}"
        raise click.ClickException(message) from None
    return bytes(content)


def _require_plain(url: str, answer: httpx.Response) -> None:
    if answer.status_code != httpx.codes.OK:
        message = f"{url} answers {answer.status_code}"
        raise click.ClickException(message)
    if answer.headers.get("Content-Encoding", "identity") != "identity":
        message = f"{url} answers in a {answer.headers['Content-Encoding']} that was not asked for"
        raise click.ClickException(message)


def _require_size(place: str, size: int, *, most: int) -> None:
    if size > most:
        message = f"{place} is larger than {most:,} bytes"
        raise click.ClickException(message)
