"""Values of the client, written as the JSON that they were read from."""

from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from jackpot_service.domain.facts import instant


def plain(value: Any) -> Any:
    """The JSON of a value; a member that may be absent is left out where it has its default."""
    if is_dataclass(value) and not isinstance(value, type):
        stated = ((field, getattr(value, field.name)) for field in fields(value))
        return {field.name.removesuffix("_"): plain(part) for field, part in stated if part != default_of(field)}
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    if isinstance(value, datetime):
        return instant(value)
    return str(value) if isinstance(value, Decimal | Fraction | date) else value


def default_of(field: Field[Any]) -> Any:
    """The value of a member that is absent; nothing is equal to that of a member that may not be."""
    return field.default if field.default_factory is MISSING else field.default_factory()
