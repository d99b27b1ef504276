"""
The bets of a body.

A batch of bets is read column by column; only to say what is wrong with it is it read bet by bet.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import repeat
from operator import contains, itemgetter
from typing import Any, ClassVar

from marshmallow import ValidationError

from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.shapes import CURRENCY, IDENTIFIER, LARGEST_MINOR
from jackpot_service.usecases.fields import (
    IS_MISSING,
    IS_UNKNOWN,
    CurrencyCode,
    Identifier,
    Instant,
    OfMember,
    ReadField,
    require_at_most,
)
from jackpot_service.usecases.readers import currency_code, identifier, instant, stake


class BetList(ReadField[Bets]):
    """
    A batch of bets, read in one go: a nested schema would cost ten times as much a bet.

    Messages are keyed by index and name, as a nested schema's would be.
    """

    described: ClassVar = {
        "type": "array",
        "minItems": 1,
        "items": {
            "title": "Bet",
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
        """Raises: ValidationError, with what is right of the bets as its valid data, if anything is."""
        if type(value) is not list or not value:
            message = "must be a list of bets, at least one"
            raise ValidationError(message)
        require_at_most(value, self.most())
        bets = _columns_of(value)
        if bets is None:
            errors = {index: wrong for index, raw in enumerate(value) if (wrong := _field_errors_of(raw))}
            # marshmallow takes whatever was read.
            raise ValidationError(errors, valid_data=_right_of(value, errors))  # type: ignore[arg-type]
        return bets


def _right_of(raws: list[Any], errors: Mapping[int, Any]) -> Bets | None:
    """Read the fields that are right of the bets that are objects."""
    places = [place for place, raw in enumerate(raws) if type(raw) is dict]
    if not places:
        return None
    wrong = {place: _wrong_fields_of(raws[place], errors.get(place, {})) for place in places}
    bets = Bets.of(_bet_of(raws[place], wrong[place]) for place in places)
    return replace(bets, places=places, wrong=wrong)


def _wrong_fields_of(raw: Mapping[str, Any], errors: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the fields of which nobody knows what they were to say."""
    wrong = errors.keys() & _READERS.keys()
    if raw.keys() - _READERS.keys():  # An unknown member may be the misspelt name of one that need not be stated.
        wrong |= _OPTIONAL.keys() - raw.keys()
    return frozenset(wrong)


def _bet_of(raw: Mapping[str, Any], wrong: Collection[str]) -> Bet:
    """Read the fields of a bet that are right; those that are wrong are empty."""
    stated = {name: read(raw[name]) for name, read in _READERS.items() if name in raw and name not in wrong}
    usual = {} if "hand" in wrong else {"hand": _OPTIONAL["hand"]}
    return _NO_BET._replace(**usual | stated)


_READERS: Mapping[str, Callable[[object], Any]] = {
    "bet_id": identifier,
    "player_id": identifier,
    "currency": currency_code,
    "stake_minor": stake,
    "hand": identifier,
    "occurred_at": instant,
}

_REQUIRED = ("bet_id", "player_id", "currency", "stake_minor")

_OPTIONAL: Mapping[str, Any] = {"hand": "1", "occurred_at": ...}
"""The values of what a bet need not state. The time stands for no JSON, so that nobody can send it."""

_NO_BET = Bet(bet_id="", player_id="", hand="", currency="", stake_minor=0)

_IDENTIFIERS = re.compile(f"(?:{IDENTIFIER.pattern} )*+{IDENTIFIER.pattern}")


def _columns_of(raws: list[Any]) -> Bets | None:
    """
    Read a batch column by column, which costs a third of reading it bet by bet.

    Returns None if anything is wrong with any bet; `_field_errors_of` then says what.
    """
    if set(map(type, raws)) != {dict}:
        return None
    sizes = set(map(len, raws))
    is_undated = sizes == {4} or (sizes == {5} and not any(map(contains, raws, repeat("occurred_at"))))
    if not is_undated:
        raws = [{**_OPTIONAL, **raw} for raw in raws]
        if set(map(len, raws)) != {len(_READERS)}:
            return None
    try:
        bet_ids, player_ids, currencies, stakes = (list(map(itemgetter(name), raws)) for name in _REQUIRED)
        hands = [_OPTIONAL["hand"]] * len(raws) if sizes == {4} else list(map(itemgetter("hand"), raws))
        times = None if is_undated else [_time_of(raw["occurred_at"]) for raw in raws]
    except (KeyError, ValidationError):
        return None
    if not (
        _are_identifiers(bet_ids)
        and _are_identifiers(player_ids)
        and _are_identifiers(hands)
        and set(map(type, currencies)) == {str}
        and all(map(CURRENCY.fullmatch, set(currencies)))
        and set(map(type, stakes)) == {int}
        and min(stakes) > 0
        and max(stakes) <= LARGEST_MINOR
    ):
        return None
    occurred_at = times if times is not None and any(times) else None
    return Bets(bet_ids, player_ids, hands, currencies, stakes, occurred_at, places=range(len(raws)))


def _time_of(stated: Any) -> datetime | None:  # noqa: ANN401  any JSON
    return None if stated is ... else instant(stated)


def _are_identifiers(values: list[Any]) -> bool:
    """Look at all at once: joined by spaces they must be as many identifiers as there are values."""
    try:
        words = " ".join(values)
    except TypeError:  # Not all are strings.
        return False
    return _IDENTIFIERS.fullmatch(words) is not None and words.count(" ") == len(values) - 1


def _field_errors_of(raw: object) -> Any:  # noqa: ANN401  marshmallow's messages
    """Return what is wrong with a bet, by name; nothing if it is right."""
    if type(raw) is not dict:
        return ["must be an object"]
    field_errors: dict[str, list[str]] = {str(name): [OfMember(IS_UNKNOWN)] for name in raw.keys() - _READERS.keys()}
    field_errors |= {name: [IS_MISSING] for name in _REQUIRED if name not in raw}
    for name in raw.keys() & _READERS.keys():
        try:
            _READERS[name](raw[name])
        except ValidationError as error:
            field_errors[name] = [str(message) for message in error.messages]
    return field_errors
