"""
What a table server's bodies hold: bets, hands and cards.

A batch of bets is read column by column where all are alike, and one by one where something is wrong.
"""

import re
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, ClassVar

from marshmallow import ValidationError

from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.shapes import CURRENCY, IDENTIFIER, LARGEST_MINOR
from jackpot_service.usecases.fields import (
    CurrencyCode,
    Identifier,
    Instant,
    ReadField,
    currency_code,
    identifier,
    instant,
    require_at_most,
    stake,
)


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
                "bet_id": {
                    **Identifier.described,
                    "description": "The caller's own, for ever; best in the order of time, as UUIDs of version 7 are.",
                },
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
        field_errors: dict[int, Any] = {}
        for index, raw in enumerate(value):
            try:
                bets.append(read_bet(raw))
            except ValidationError as error:
                field_errors[index] = error.messages
        if field_errors:
            raise ValidationError(field_errors)
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
    """Look at all at once: joined by spaces they must be as many identifiers as there are values."""
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
        raise ValidationError(_field_errors_of(raw)) from None
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
        raise ValidationError(_field_errors_of(raw))
    if occurred_at is not None:
        try:
            occurred_at = instant(occurred_at)
        except ValidationError:
            raise ValidationError(_field_errors_of(raw)) from None
    elif "occurred_at" in raw:
        raise ValidationError(_field_errors_of(raw))
    return Bet(bet_id, player_id, hand, currency, stake_minor, occurred_at)


def _field_errors_of(raw: object) -> Any:  # noqa: ANN401  marshmallow's messages
    """Say what is wrong with a bet, name by name."""
    if type(raw) is not dict:
        return ["must be an object"]
    field_errors: dict[str, list[str]] = {str(name): ["unknown field"] for name in raw.keys() - _READERS.keys()}
    field_errors |= {name: ["missing"] for name in _REQUIRED - raw.keys()}
    for name in raw.keys() & _READERS.keys():
        try:
            _READERS[name](raw[name])
        except ValidationError as error:
            field_errors[name] = [str(message) for message in error.messages]
    return field_errors
