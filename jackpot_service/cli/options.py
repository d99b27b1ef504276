"""Arguments and options that many commands share. The service judges what they hold: here only their form is read."""

import json
import re
import secrets
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, TypeVar

import click

from jackpot_service.cli.printing import Form
from jackpot_service.domain.shapes import CURRENCY, DAY, DECIMAL, IDENTIFIER, INSTANT, SHA256, WALL_CLOCK

C = TypeVar("C", bound=Callable[..., Any])

LARGEST_TEXT: Final = 1 << 20

LARGEST_NUMBER: Final = 2**63 - 1
"""The largest number that an address of the API takes."""


class Shape(click.ParamType[str]):
    """A text of a certain form."""

    def __init__(self, name: str, requirement: str, *patterns: re.Pattern[str]) -> None:
        self.name = name
        self._requirement = requirement
        self._patterns = patterns

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401  any default
        """Fails with a usage error."""
        text = str(value)
        if not any(pattern.fullmatch(text) for pattern in self._patterns):
            self.fail(f"{text!r:.80} {self._requirement}", param, ctx)
        return text


Identifier = partial(Shape, "id", "must be 1 to 64 letters, digits and . _ : -", IDENTIFIER)
CurrencyCode = partial(Shape, "currency", "must be three capital letters", CURRENCY)
Instant = partial(Shape, "time", "must be a time such as 2026-11-20T09:30:00Z", INSTANT)
InstantOrDay = partial(Shape, "time or day", "must be a day, or a time such as 2026-11-20T09:30:00Z", INSTANT, DAY)
Amount = partial(Shape, "amount", "is not a plain decimal number", re.compile(r"[0-9]+(\.[0-9]+)?"))
SignedAmount = partial(Shape, "amount", "is not a plain decimal number", DECIMAL)
WallClock = partial(Shape, "HH:MM", "must be a time of the day such as 06:00", WALL_CLOCK)
Sha256 = partial(Shape, "SHA-256", "must be 64 small hexadecimal digits", SHA256)


def new_request_id() -> str:
    """Return an id for an act that nobody names."""
    return f"cli-{secrets.token_hex(8)}"


request_id_option = click.option(
    "--request-id",
    type=Identifier(),
    default=new_request_id,
    show_default="a new one",
    help="Your id of it; the same again is a replay.",
)

reason_option = click.option("--reason", required=True, help="Why; it stands in the audit trail.")

casino_option = click.option("--casino", "casino_id", type=Identifier())
department_option = click.option("--department", help="The department, for ever; without it the role's name.")

dry_run_option = click.option("--dry-run", is_flag=True, help="Show what it would do, and do nothing.")

from_option = click.option("--from", "start", type=Instant(), help="Then or later.")
to_option = click.option("--to", "end", type=Instant(), help="Before then.")

limit_option = click.option(
    "--limit", type=click.IntRange(1), help="Only the first so many; without it the whole list is shown."
)


def form_options(command: C) -> C:
    """Let a command print JSON or CSV: it gets `form`."""
    for form in (Form.CSV, Form.JSON):
        command = click.option(
            f"--{form}",
            "form",
            flag_value=form,
            type=Form,
            help="As CSV, every field." if form is Form.CSV else "As JSON, an item a line.",
        )(command)
    return command


def list_options(command: C) -> C:
    """Give a list its options: `limit` and `form`."""
    return limit_option(form_options(command))


json_option = click.option("--json", "is_json", is_flag=True, help="As JSON, whole.")


def require_order(start: str | None, end: str | None) -> None:
    """Raises: click.UsageError for days or times of one zone that are in the wrong order; the service sees the rest."""
    if start is not None and end is not None and len(start) == len(end) and start[19:] == end[19:] and end < start:
        message = "--to lies before --from"
        raise click.UsageError(message)


def pairs(texts: Iterable[str], *, option: str) -> dict[str, str]:
    """Read `name=value` texts. Raises: click.BadParameter for one without =, or a name twice."""
    parsed: dict[str, str] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name or not value:
            message = f"{text!r} is not of the form name=value"
            raise click.BadParameter(message, param_hint=option)
        if name in parsed:
            message = f"{name} is given twice"
            raise click.BadParameter(message, param_hint=option)
        parsed[name] = value
    return parsed


class JsonValue(click.ParamType[Any]):
    """JSON as text, @FILE, or - for standard input."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401  JSON
        """Fails with a usage error, also for a member twice, a number that is no whole one, and no text in UTF-8."""
        if not isinstance(value, str):
            return value
        text = value
        if text == "-" or text.startswith("@"):
            text = self._content(text.removeprefix("@"), param, ctx)
        return self.read(text, param, ctx)

    def read(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401  JSON
        """Read a text. Fails with a usage error."""
        try:
            return json.loads(text, object_pairs_hook=_unique, parse_float=_refused, parse_constant=_refused)
        except _RefusedError as error:
            self.fail(str(error), param, ctx)
        except (ValueError, RecursionError):
            self.fail("this is not JSON", param, ctx)

    def _content(self, path: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            with click.open_file(path, encoding="utf-8") as file:
                content: str = file.read(LARGEST_TEXT)
        except (OSError, ValueError) as error:
            self.fail(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}", param, ctx)
        return content


class JsonObject(JsonValue):
    """A JSON object as text, @FILE, or - for standard input."""

    def read(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401  JSON
        """Read a text. Fails with a usage error."""
        parsed = super().read(text, param, ctx)
        if not isinstance(parsed, dict):
            self.fail("it is no JSON object", param, ctx)
        return parsed


class JsonFile(JsonObject):
    """A JSON object in a file, or in standard input (-)."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401  JSON
        """Fails with a usage error."""
        return self.read(self._content(value, param, ctx), param, ctx) if isinstance(value, str) else value


class _RefusedError(ValueError):
    """It is JSON that could be read in two ways."""


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    parsed = dict(members)
    if len(parsed) < len(members):
        raise _RefusedError("a member is there twice in one object")
    return parsed


def _refused(number: str) -> Any:  # noqa: ANN401  JSON
    raise _RefusedError(f"{number:.40} must stand in quotes: amounts are exact texts")
