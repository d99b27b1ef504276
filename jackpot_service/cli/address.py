"""Where the service is, and by which key it is called: as the environment says."""

import os
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import click

URL_VARIABLE: Final = "JACKPOT_URL"
KEY_VARIABLE: Final = "JACKPOT_KEY"
DEFAULT_URL: Final = "http://127.0.0.1:8000"

WRONG_SETTING: Final = 2

LONGEST_SHOWN: Final = 200


class WrongSetting(click.ClickException):
    """A variable of the environment is wrong."""

    exit_code = WRONG_SETTING

    def show(self, file: object = None) -> None:  # noqa: ARG002  click's
        """Say so in one line."""
        click.echo(f"jackpot: {self.format_message()}", err=True)


def service_url(environ: Mapping[str, str] = os.environ) -> str:
    """Return the service's address, without a slash at its end. Raises: WrongSetting."""
    url = environ.get(URL_VARIABLE, DEFAULT_URL)
    try:
        parts = urlsplit(url)
        is_plain = url.isascii() and url.isprintable() and not set(" #?@") & set(url)
        if is_plain and parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0:
            return url.rstrip("/")
    except ValueError:
        pass
    shown = "…" if "@" in url else repr(url[:LONGEST_SHOWN])
    raise WrongSetting(f"{URL_VARIABLE}={shown} is refused: it takes an address such as {DEFAULT_URL}, without a key")


def own_key(environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the caller's key, or token; None if none is set. Raises: WrongSetting, without showing it."""
    key = environ.get(KEY_VARIABLE)
    if key is not None and not (key.isascii() and key.isprintable() and key.strip()):
        raise WrongSetting(f"{KEY_VARIABLE}=… is refused: it takes a key such as jk_…; or leave it unset")
    return key
