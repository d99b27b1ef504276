"""
Field types that take exactly what the contract says, and nothing that only looks like it.

marshmallow's own integers take 5.7 and "5", its decimals round; these refuse.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from marshmallow import ValidationError, fields

from jackpot_service.domain.bets import Bet

IDENTIFIER = re.compile(r"[A-Za-z0-9._:-]{1,64}")
IDENTIFIER_PATTERN = f"^{IDENTIFIER.pattern}$"
CURRENCY = re.compile(r"[A-Z]{3}")
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII)

LARGEST_MINOR = 10**15
"""More minor units than any stake could have; keeps every sum far inside a bigint."""

LONGEST_TEXT = 500


class Identifier(fields.Field[str]):
    """An id of the caller's."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> str:  # noqa: ANN401
        return identifier(value)

    def _jsonschema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": IDENTIFIER_PATTERN}


def identifier(value: object) -> str:
    """Raises: ValidationError."""
    if type(value) is str and IDENTIFIER.fullmatch(value):
        return value
    message = f"must be a string that matches {IDENTIFIER_PATTERN}"
    raise ValidationError(message)


def currency_code(value: object) -> str:
    """Raises: ValidationError."""
    if type(value) is str and CURRENCY.fullmatch(value):
        return value
    message = "must be a currency's three capital letters"
    raise ValidationError(message)


def stake(value: object) -> int:
    """Raises: ValidationError."""
    if type(value) is int and 0 < value <= LARGEST_MINOR:
        return value
    message = f"must be a whole number of minor units from 1 to {LARGEST_MINOR}"
    raise ValidationError(message)


class Whole(fields.Field[int]):
    """A whole number, written as one: no 1.0, no 1e2, no "5", no true."""

    def __init__(self, *, least: int = 0, most: int = LARGEST_MINOR, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.least = least
        self.most = most

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> int:  # noqa: ANN401
        if type(value) is int and self.least <= value <= self.most:
            return value
        message = f"must be a whole number from {self.least} to {self.most}"
        raise ValidationError(message)


class Text(fields.Field[str]):
    """A line of text for people: 1 to 500 characters, none of them a control character."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> str:  # noqa: ANN401
        if type(value) is str and 1 <= len(value) <= LONGEST_TEXT and value.isprintable() and value.strip():
            return value
        message = f"must be a text of 1 to {LONGEST_TEXT} printable characters"
        raise ValidationError(message)


class Instant(fields.Field[datetime]):
    """A time by RFC 3339, turned to UTC."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> datetime:  # noqa: ANN401
        return instant(value)


def instant(value: object) -> datetime:
    """Raises: ValidationError."""
    if type(value) is str and INSTANT.fullmatch(value):
        try:
            return datetime.fromisoformat(value).astimezone(UTC)
        except (ValueError, OverflowError):
            pass
    message = "must be a time by RFC 3339, such as 2026-11-20T09:30:00Z"
    raise ValidationError(message)


class Bets(fields.Field[tuple[Bet, ...]]):
    """
    A batch of bets, read in one go: a nested schema would cost ten times as much a bet.

    Messages are keyed by index and name, as a nested schema's would be.
    """

    def __init__(self, *, most: int, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.most = most

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> tuple[Bet, ...]:  # noqa: ANN401
        if type(value) is not list or not 1 <= len(value) <= self.most:
            message = f"must be a list of 1 to {self.most} bets"
            raise ValidationError(message)
        bets: list[Bet] = []
        flaws: dict[int, Any] = {}
        for index, raw in enumerate(value):
            try:
                bets.append(read_bet(raw))
            except ValidationError as error:
                flaws[index] = error.messages
        if flaws:
            raise ValidationError(flaws)
        return tuple(bets)


DEFAULT_HAND = "1"

_READERS: Mapping[str, Callable[[object], Any]] = {
    "bet_id": identifier,
    "player_id": identifier,
    "hand": identifier,
    "currency": currency_code,
    "stake_minor": stake,
    "occurred_at": instant,
}
_REQUIRED = frozenset({"bet_id", "player_id", "currency", "stake_minor"})

_WORDS = re.compile(f"{IDENTIFIER.pattern} {IDENTIFIER.pattern} {IDENTIFIER.pattern} {CURRENCY.pattern}")


def read_bet(raw: object) -> Bet:
    """Read one bet of a batch. Raises: ValidationError, by name."""
    if type(raw) is dict and raw.keys() <= _READERS.keys():
        get = raw.get
        bet_id, player_id, currency, stake_minor = get("bet_id"), get("player_id"), get("currency"), get("stake_minor")
        hand = get("hand", DEFAULT_HAND)
        if (
            type(bet_id) is type(player_id) is type(hand) is type(currency) is str
            and type(stake_minor) is int
            and 0 < stake_minor <= LARGEST_MINOR
            and _WORDS.fullmatch(f"{bet_id} {player_id} {hand} {currency}")
        ):
            occurred_at = get("occurred_at")
            return Bet(
                bet_id, player_id, hand, currency, stake_minor, None if occurred_at is None else instant(occurred_at)
            )
    raise ValidationError(_flaws_of(raw))


def _flaws_of(raw: object) -> Any:  # noqa: ANN401  marshmallow's messages
    """Say what is wrong with a bet, name by name."""
    if type(raw) is not dict:
        return ["must be an object"]
    flaws: dict[str, list[str]] = {str(name): ["unknown field"] for name in raw.keys() - _READERS.keys()}
    flaws |= {name: ["missing"] for name in _REQUIRED - raw.keys()}
    for name in raw.keys() & _READERS.keys():
        try:
            _READERS[name](raw[name])
        except ValidationError as error:
            flaws[name] = [str(message) for message in error.messages]
    return flaws
