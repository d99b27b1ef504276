"""
Field types that take exactly what the contract says, and nothing that only looks like it.

marshmallow's own integers take 5.7 and "5", its decimals round; these refuse.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any, ClassVar, TypeVar

from marshmallow import ValidationError, fields

from jackpot_service.domain.bets import Bet, Bets

IDENTIFIER = re.compile(r"[A-Za-z0-9._:-]{1,64}")
IDENTIFIER_PATTERN = f"^{IDENTIFIER.pattern}$"
CURRENCY = re.compile(r"[A-Z]{3}")
CURRENCY_PATTERN = f"^{CURRENCY.pattern}$"
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII)

LARGEST_MINOR = 10**15
"""More minor units than any stake could have; keeps every sum far inside a bigint."""

LONGEST_TEXT = 500

T = TypeVar("T")


class ReadField(fields.Field[T]):
    """
    A field that one method reads, whatever it is called or stands in.

    `described` is what the OpenAPI description says of it.
    """

    described: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, *, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:  # noqa: ANN401  as the base
        super().__init__(metadata={**self.described, **(metadata or {})}, **kwargs)

    def read(self, value: object) -> T:
        """Turn the raw value into what it means. Raises: ValidationError."""
        raise NotImplementedError

    def _deserialize(self, value: object, *_: object, **__: object) -> T:
        return self.read(value)


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


def instant(value: object) -> datetime:
    """Raises: ValidationError."""
    if type(value) is str and INSTANT.fullmatch(value):
        try:
            return datetime.fromisoformat(value).astimezone(UTC)
        except (ValueError, OverflowError):
            pass
    message = "must be a time by RFC 3339, such as 2026-11-20T09:30:00Z"
    raise ValidationError(message)


class Identifier(ReadField[str]):
    """An id of the caller's."""

    described: ClassVar = {"type": "string", "pattern": IDENTIFIER_PATTERN}

    def read(self, value: object) -> str:
        """Raises: ValidationError."""
        return identifier(value)


class CurrencyCode(ReadField[str]):
    """A currency's three capital letters."""

    described: ClassVar = {"type": "string", "pattern": CURRENCY_PATTERN}

    def read(self, value: object) -> str:
        """Raises: ValidationError."""
        return currency_code(value)


class Whole(ReadField[int]):
    """A whole number, written as one: no 1.0, no 1e2, no "5", no true."""

    def __init__(self, *, most: int, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(metadata={"type": "integer", "minimum": 0, "maximum": most, **(metadata or {})}, **kwargs)
        self.most = most

    def read(self, value: object) -> int:
        """Raises: ValidationError."""
        if type(value) is int and 0 <= value <= self.most:
            return value
        message = f"must be a whole number from 0 to {self.most}"
        raise ValidationError(message)


class Text(ReadField[str]):
    """A line of text for people: 1 to 500 characters, none of them a control character."""

    described: ClassVar = {"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT}

    def read(self, value: object) -> str:
        """Raises: ValidationError."""
        if type(value) is str and 1 <= len(value) <= LONGEST_TEXT and value.isprintable() and value.strip():
            return value
        message = f"must be a text of 1 to {LONGEST_TEXT} printable characters"
        raise ValidationError(message)


class Instant(ReadField[datetime]):
    """A time by RFC 3339, turned to UTC."""

    described: ClassVar = {"type": "string", "format": "date-time"}

    def read(self, value: object) -> datetime:
        """Raises: ValidationError."""
        return instant(value)


def require_at_most(values: Sequence[object], most: int) -> None:
    """Look at the length of a list before anything in it is. Raises: ValidationError."""
    if len(values) > most:
        message = f"must hold at most {most}, not {len(values)}"
        raise ValidationError(message)


class BoundedList(fields.List[Any]):
    """A list that is refused for its length before its items are read, of which a body can hold half a million."""

    def __init__(self, *args: Any, most: Callable[[], int], **kwargs: Any) -> None:  # noqa: ANN401  as the base
        super().__init__(*args, **kwargs)
        self.most = most

    def _deserialize(self, value: object, *args: Any, **kwargs: Any) -> list[Any]:  # noqa: ANN401  as the base
        if isinstance(value, list):
            require_at_most(value, self.most())
        return super()._deserialize(value, *args, **kwargs)


class BetList(ReadField[Bets]):
    """
    A batch of bets, read in one go: a nested schema would cost ten times as much a bet.

    Messages are keyed by index and name, as a nested schema's would be.
    """

    described: ClassVar = {
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "additionalProperties": False,
            "required": ["bet_id", "player_id", "currency", "stake_minor"],
            "properties": {
                "bet_id": Identifier.described,
                "player_id": Identifier.described,
                "hand": {**Identifier.described, "default": "1"},
                "currency": CurrencyCode.described,
                "stake_minor": {"type": "integer", "minimum": 1, "maximum": LARGEST_MINOR},
                "occurred_at": Instant.described,
            },
        },
    }

    def __init__(self, *, most: Callable[[], int], **kwargs: Any) -> None:  # noqa: ANN401  as the base
        super().__init__(**kwargs)
        self.most = most

    def read(self, value: object) -> Bets:
        """Raises: ValidationError."""
        if type(value) is not list or not value:
            message = "must be a list of bets, at least one"
            raise ValidationError(message)
        require_at_most(value, self.most())
        alike = read_alike(value)
        if alike is not None:
            return alike
        bets: list[Bet] = []
        flaws: dict[int, Any] = {}
        for index, raw in enumerate(value):
            try:
                bets.append(read_bet(raw))
            except ValidationError as error:
                flaws[index] = error.messages
        if flaws:
            raise ValidationError(flaws)
        return Bets.of(bets)


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

_IDENTIFIERS = re.compile(f"(?:{IDENTIFIER.pattern} )*+{IDENTIFIER.pattern}")


def read_alike(raws: list[Any]) -> Bets | None:
    """
    Read a batch whose bets all name the same fields, and no time, column by column: a third of the cost of one by one.

    Returns None if they do not, or if anything is wrong with any; `read_bet` then says what.
    """
    if set(map(type, raws)) != {dict} or (sizes := set(map(len, raws))) not in ({4}, {5}):
        return None
    try:
        columns = [list(map(itemgetter(name), raws)) for name in ("bet_id", "player_id", "currency", "stake_minor")]
        hands = list(map(itemgetter("hand"), raws)) if sizes == {5} else [DEFAULT_HAND] * len(raws)
    except KeyError:
        return None
    bet_ids, player_ids, currencies, stakes = columns
    if not (_are_identifiers(bet_ids) and _are_identifiers(player_ids) and _are_identifiers(hands)):
        return None
    if set(map(type, currencies)) != {str} or not all(map(CURRENCY.fullmatch, set(currencies))):
        return None
    if set(map(type, stakes)) != {int} or min(stakes) <= 0 or max(stakes) > LARGEST_MINOR:
        return None
    return Bets(bet_ids, player_ids, hands, currencies, stakes, occurred_at=None, places=range(len(raws)))


def _are_identifiers(values: list[Any]) -> bool:
    """Tell it of all at once: joined by spaces they must be as many identifiers as there are values."""
    try:
        words = " ".join(values)
    except TypeError:  # Not all are strings.
        return False
    return _IDENTIFIERS.fullmatch(words) is not None and words.count(" ") == len(values) - 1


def read_bet(raw: Any) -> Bet:  # noqa: ANN401  any JSON
    """Read one bet of a batch. Raises: ValidationError, by name."""
    try:
        bet_id, player_id, currency, stake_minor = raw["bet_id"], raw["player_id"], raw["currency"], raw["stake_minor"]
        hand = raw.get("hand", DEFAULT_HAND)
        occurred_at = raw.get("occurred_at")
        count = len(_REQUIRED) + ("hand" in raw) + ("occurred_at" in raw)
    except (TypeError, KeyError):
        raise ValidationError(_flaws_of(raw)) from None
    if (
        len(raw) != count
        or type(bet_id) is not str
        or type(player_id) is not str
        or type(hand) is not str
        or type(currency) is not str
        or type(stake_minor) is not int
        or not 0 < stake_minor <= LARGEST_MINOR
        or not _WORDS.fullmatch(f"{bet_id} {player_id} {hand} {currency}")
    ):
        raise ValidationError(_flaws_of(raw))
    if occurred_at is not None:
        try:
            occurred_at = instant(occurred_at)
        except ValidationError:
            raise ValidationError(_flaws_of(raw)) from None
    elif "occurred_at" in raw:
        raise ValidationError(_flaws_of(raw))
    return Bet(bet_id, player_id, hand, currency, stake_minor, occurred_at)


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
