"""The choices of fields for a casino, a jackpot or a currency: those that the reader may see, casinos with names."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from jackpot_service.api.lists import MOST_LISTED
from jackpot_service.api.request_context import look, principal
from jackpot_service.domain.currencies import CURRENCIES
from jackpot_service.records import references

Choices = Mapping[str, str]
"""The words of each choice, by the id that it sends."""


def casino_choices() -> Choices:
    """Return the casinos that the reader may see, by id; none where they are too many for a list."""
    casinos = look(lambda session: references.casinos(session, principal(), limit=MOST_LISTED + 1, after=None))
    return _listed((casino.casino_id, f"{casino.casino_id}: {casino.name}") for casino in casinos)


def jackpot_choices() -> Choices:
    """Return the jackpots that the reader's tables play for, of the house all; none where they are too many."""
    casino_id = principal().casino_id
    ids = look(lambda session: references.jackpot_ids(session, casino_id=casino_id, limit=MOST_LISTED + 1))
    return _listed((jackpot_id, jackpot_id) for jackpot_id in ids)


def currency_choices() -> Choices:
    """Return all currencies, by code."""
    return {code: code for code in sorted(CURRENCIES)}


_CHOICES_OF: Final[Mapping[str, Callable[[], Choices]]] = {
    "casino_id": casino_choices,
    "currency": currency_choices,
    "jackpot_id": jackpot_choices,
}


def choices_of(names: Iterable[str]) -> Mapping[str, Choices]:
    """Return the choices of fields by their names; a field that is typed has none."""
    return {name: _CHOICES_OF[name]() for name in names if name in _CHOICES_OF}


def _listed(pairs: Iterable[tuple[str, str]]) -> Choices:
    choices = dict(pairs)
    return {} if len(choices) > MOST_LISTED else choices
