"""How the command line reads ids, amounts, settings, rates and reasons."""

import re
import secrets
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import click

from jackpot_service.api.parsing import KeyTwice, NotJson, read_json
from jackpot_service.domain.money import EXACT
from jackpot_service.domain.shapes import CURRENCY, DAY, IDENTIFIER, IDENTIFIER_PATTERN, INSTANT
from jackpot_service.reports.finance.spans import midnight

LONGEST_TEXT = 500

WALL_CLOCK = re.compile("(?:[01][0-9]|2[0-3]):[0-5][0-9]")


class Identifier(click.ParamType[str]):
    """An id."""

    name = "id"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Fails with a usage error."""
        text = str(value)
        if not IDENTIFIER.fullmatch(text):
            self.fail(f"{text!r} does not match {IDENTIFIER_PATTERN}", param, ctx)
        return text


class CurrencyCode(click.ParamType[str]):
    """A currency's three capital letters."""

    name = "currency"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Fails with a usage error."""
        text = str(value)
        if not CURRENCY.fullmatch(text):
            self.fail(f"{text!r} is not a currency's three capital letters", param, ctx)
        return text


class Amount(click.ParamType[Decimal]):
    """An exact, plain decimal number, not negative."""

    name = "amount"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Decimal:
        """Fails with a usage error."""
        text = str(value)
        digits = text.replace(".", "", 1)
        if not (digits.isascii() and digits.isdigit() and len(digits) <= EXACT.prec):
            self.fail(f"{text!r} is not a plain decimal number", param, ctx)
        return EXACT.create_decimal(text)


class Instant(click.ParamType[datetime]):
    """A time by RFC 3339, turned to UTC."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Fails with a usage error."""
        if isinstance(value, datetime):
            return value
        text = str(value)
        if not INSTANT.fullmatch(text):
            self.fail(f"{text!r} is no time by RFC 3339 such as 2026-11-20T09:30:00Z", param, ctx)
        try:
            return datetime.fromisoformat(text).astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail(f"{text!r} is no time that there is", param, ctx)


class InstantOrDay(click.ParamType[datetime | date]):
    """A time by RFC 3339, or a day."""

    name = "time or day"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime | date:
        """Fails with a usage error."""
        if isinstance(value, date):
            return value
        if not DAY.fullmatch(str(value)):
            return Instant().convert(value, param, ctx)
        try:
            return date.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is no day that there is", param, ctx)


class Day(click.ParamType[datetime]):
    """A time by RFC 3339, or a day, which begins at 00:00 UTC."""

    name = "time or day"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Fails with a usage error."""
        found = InstantOrDay().convert(value, param, ctx)
        return found if isinstance(found, datetime) else midnight(found)


class WallClock(click.ParamType[time]):
    """A time of the day, in hours and minutes."""

    name = "HH:MM"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> time:
        """Fails with a usage error."""
        if isinstance(value, time):
            return value
        text = str(value)
        if not WALL_CLOCK.fullmatch(text):
            self.fail(f"{text!r} is no time of the day such as 06:00", param, ctx)
        return time.fromisoformat(text)


class Text(click.ParamType[str]):
    """A line of text for people."""

    name = "text"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Fails with a usage error."""
        text = str(value)
        if not 1 <= len(text) <= LONGEST_TEXT or not text.isprintable() or not text.strip():
            self.fail(f"it is no text of 1 to {LONGEST_TEXT} printable characters", param, ctx)
        return text


class JsonDocument(click.ParamType[dict[str, Any]]):
    """A JSON object, as text or as @FILE (@- is standard input)."""

    name = "json"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        """Fails with a usage error."""
        if isinstance(value, dict):
            return value
        text = str(value)
        if text.startswith("@"):
            text = self._content(text[1:], param, ctx)
        try:
            found = read_json(text.encode())
        except (NotJson, KeyTwice) as error:
            self.fail(str(error.description), param, ctx)
        if not isinstance(found, dict):
            self.fail("it is no JSON object", param, ctx)
        return found

    def _content(self, path: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            with click.open_file(path, encoding="utf-8") as file:
                content: str = file.read()
        except (OSError, ValueError) as error:
            self.fail(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}", param, ctx)
        return content


request_id_option = click.option(
    "--request-id",
    type=Identifier(),
    default=lambda: f"cli-{secrets.token_hex(8)}",
    show_default="a new one",
    help="Your id of it; the same again is a replay.",
)

reason_option = click.option("--reason", type=Text(), required=True)


def require_order(start: datetime | None, end: datetime | None) -> None:
    """Raises: click.UsageError for a period that ends before it begins."""
    if start is not None and end is not None and end < start:
        message = "--to lies before --from"
        raise click.UsageError(message)


def pairs(texts: Iterable[str], *, option: str) -> dict[str, str]:
    """Read `name=value` texts. Raises: click.BadParameter for one without =, or a name twice."""
    found: dict[str, str] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name or not value:
            message = f"{text!r} is not of the form name=value"
            raise click.BadParameter(message, param_hint=option)
        if name in found:
            message = f"{name} is given twice"
            raise click.BadParameter(message, param_hint=option)
        found[name] = value
    return found
