"""How the command line reads ids, amounts, settings, rates and reasons."""

import secrets
from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

import click
from marshmallow import ValidationError

from jackpot_service.api.parsing import DuplicateMember, NotJson, read_json
from jackpot_service.domain.money import PRECISION
from jackpot_service.domain.settings import PAYOUT_TIERS, Setting
from jackpot_service.reports.finance.period import midnight
from jackpot_service.usecases import fields
from jackpot_service.usecases.setting_values import SettingValue

T = TypeVar("T")


class Value(click.ParamType[T]):
    """A value that a function reads from its text, mostly the one that reads it in the API."""

    def __init__(self, name: str, read: Callable[[str], T]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> T:  # noqa: ANN401  any default
        """Fails with a usage error."""
        if not isinstance(value, str):
            found: T = value
            return found
        try:
            return self._read(value)
        except ValidationError as error:
            self.fail(f"{value!r:.80} {error.messages[0]}", param, ctx)


def _amount(text: str) -> Decimal:
    """Read an exact, plain decimal number, not negative."""
    digits = text.replace(".", "", 1)
    if not (digits.isascii() and digits.isdigit() and len(digits) <= PRECISION):
        message = "is not a plain decimal number"
        raise ValidationError(message)
    return Decimal(text)


def _beginning(text: str) -> datetime:
    """Read a time by RFC 3339, or a day, which begins at 00:00 UTC."""
    found = fields.instant_or_day(text)
    return found if isinstance(found, datetime) else midnight(found)


Identifier = partial(Value, "id", fields.identifier)
CurrencyCode = partial(Value, "currency", fields.currency_code)
Amount = partial(Value, "amount", _amount)
Instant = partial(Value, "time", fields.instant)
InstantOrDay = partial(Value, "time or day", fields.instant_or_day)
Day = partial(Value, "time or day", _beginning)
WallClock = partial(Value, "HH:MM", fields.wall_clock)
Text = partial(Value, "text", fields.Text().read)
Sha256 = partial(Value, "SHA-256", fields.Sha256().read)


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
        except (NotJson, DuplicateMember) as error:
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


def setting_values(texts: Iterable[str], *, option: str) -> dict[str, Setting]:
    """Read settings as `pairs` does; payout tiers are JSON. Raises: click.BadParameter."""
    found: dict[str, Setting] = dict(pairs(texts, option=option))
    tiers = found.get(PAYOUT_TIERS)
    if isinstance(tiers, str):
        try:
            found[PAYOUT_TIERS] = SettingValue().read(read_json(tiers.encode()))
        except (NotJson, DuplicateMember) as error:
            message = f"{PAYOUT_TIERS} is not JSON: {error}"
            raise click.BadParameter(message, param_hint=option) from error
        except ValidationError as error:
            message = f"{PAYOUT_TIERS}: {error.messages}"
            raise click.BadParameter(message, param_hint=option) from error
    return found
