"""
Change requests as people read them: what differs between before and after, what else is recorded, and a digest.

The digest says what a change would do: what it moves and what it sets, as `signed_effects` has it for signatures.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby, islice
from types import MappingProxyType
from typing import Any, Final

import orjson

from jackpot_service.domain.currencies import CURRENCIES
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.money import from_minor, plain
from jackpot_service.domain.shapes import DECIMAL
from jackpot_service.pages import figures
from jackpot_service.pages.change_words import BETWEEN, holds_words, name_of, word
from jackpot_service.usecases.changes.effects import ChangeEffect
from jackpot_service.usecases.changes.signed_effects import content_of, substance_of

MOST_IN_A_LINE: Final = 4
"""So many members of a payload fit into the line of a list."""

NOWHERE: Final = frozenset({"positions", "round_key", "postings"})
"""Members that no person reads: places in the books; postings are a table of their own."""

AMOUNTS: Final = frozenset(
    {
        *("amount", "balance", "balance_after", "balance_before", "cost", "house_seed", "largest_stake", "limit"),
        *("meter", "meter_after", "meter_house", "meter_players", "prize_fund", "prize_fund_after", "reserve"),
        *("reserve_after", "reset_amount", "least_stake", "to_house_seed", "weight"),
    }
)
"""Members that are amounts in the effect's currency."""

_OF_AMOUNTS: Final = frozenset({"charged_to"})
"""Members that hold amounts by account."""

_NAMES: Final = ("bet_id", "tier", "kind", "hand")
"""Members by which the items of a list are distinguished."""

_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\S+(?:Z|\+00:00)")

_OF_SUBJECT: Final = frozenset({"jackpot_id", "casino_id", "currency", "table_id", "round_id", "award_id", "base"})
"""Members that say what a change is about: a list names that in a place of its own."""

AT_BOOKING: Final = "when it is approved"
"""The time that only the booking says."""

_NOTHING_LEFT: Final[Facts] = MappingProxyType({})

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value within a state, the currency if it is an amount in units; whether it names something, or is a word."""

    value: object
    currency: str | None = None
    is_name: bool = False
    is_word: bool = False

    @property
    def is_number(self) -> bool:
        """Whether it is a number that can move."""
        value = self.value
        is_decimal = isinstance(value, str) and DECIMAL.fullmatch(value) is not None
        return not self.is_name and (is_decimal or type(value) is int)

    @property
    def shown(self) -> str:
        """The value as a person reads it."""
        value = self.value
        if value is None or value == "":
            return "none"
        if isinstance(value, bool):
            return "yes" if value else "no"
        if self.currency is not None:
            return figures.exact(str(value), self.currency)
        if self.is_number:
            return figures.number(str(value))
        text = str(value)
        if _INSTANT.fullmatch(text):
            return figures.moment(datetime.fromisoformat(text))
        return word(text) if self.is_word else text


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that a change makes another, and by how many per cent if that can be said."""

    name: str
    before: Leaf | None
    after: Leaf | None

    @property
    def is_figure(self) -> bool:
        """Whether it stands on the right, as figures do."""
        return all(leaf is None or leaf.is_number for leaf in (self.before, self.after))

    @property
    def is_number(self) -> bool:
        """Whether it is a number before and after."""
        return all(leaf is not None and leaf.is_number for leaf in (self.before, self.after))

    @property
    def move(self) -> str:
        """The move of an exact number: +2.13 %; empty of all else, and of a count."""
        is_counted = any(leaf is not None and isinstance(leaf.value, int) for leaf in (self.before, self.after))
        if self.before is None or self.after is None or not self.is_number or is_counted:
            return ""
        return figures.move(Decimal(str(self.before.value)), Decimal(str(self.after.value)))


def differences(effect: ChangeEffect, *, left_to_booking: Facts = _NOTHING_LEFT) -> Sequence[Difference]:
    """List what differs between the two states; of a state that began with the change, all of it."""
    before, after = _leaves(effect.before or {}, effect.currency), _leaves(effect.after or {}, effect.currency)
    top = {*(effect.after or {})} if effect.before is None else {*effect.before} & {*(effect.after or {})}
    return [
        Difference(name_of(path), before.get(path), _as_booked(path, after.get(path), left_to_booking))
        for path in {**before, **after}
        if path[0] in top and _shown(before.get(path)) != _shown(after.get(path))
    ]


def _shown(leaf: Leaf | None) -> str:
    return "none" if leaf is None else leaf.shown


def _as_booked(path: Path, leaf: Leaf | None, left_to_booking: Facts) -> Leaf | None:
    is_left = leaf is not None and leaf.value is None and path[0] in left_to_booking
    return Leaf(AT_BOOKING) if is_left else leaf


def differences_of_states(
    before: Mapping[str, Any] | None, after: Mapping[str, Any], currency: str | None = None
) -> Sequence[Difference]:
    """List what differs between the states that an act shows; of an act without a state before, all of it."""
    first, last = _leaves(before or {}, currency), _leaves(after, currency)
    return [
        Difference(name_of(path), first.get(path), last.get(path))
        for path in {**first, **last}
        if _shown(first.get(path)) != _shown(last.get(path))
    ]


def recorded(effect: ChangeEffect) -> Sequence[tuple[str, str]]:
    """List what a change records besides: members that the state before does not have."""
    if effect.before is None or effect.after is None:
        return ()
    new = {name: value for name, value in effect.after.items() if name not in effect.before}
    return [(name_of(path), leaf.shown) for path, leaf in _leaves(new, effect.currency).items()]


def requested(payload: Mapping[str, Any], currency: str | None = None) -> Sequence[tuple[str, str]]:
    """List what a payload asks for, by name, without the jackpot: the request names it. Amounts are in a currency."""
    ordered = {name: payload[name] for name in sorted(payload) if name != "jackpot_id"}
    return [(name_of(path), leaf.shown) for path, leaf in _leaves(ordered, currency).items()]


def in_a_line(payload: Mapping[str, Any], currency: str | None = None) -> str:
    """Say in a line what a payload asks for, besides what it is about."""
    own = payload.get("currency")
    rest = {name: value for name, value in payload.items() if name not in _OF_SUBJECT}
    listed = requested(rest, own if isinstance(own, str) else currency)
    parts: list[str] = []
    for around, members in groupby(islice(listed, MOST_IN_A_LINE), key=lambda member: member[0].rpartition(BETWEEN)[0]):
        members_read = [f"{name.rpartition(BETWEEN)[2]} {value}" for name, value in members]
        parts.extend([f"{around}: {', '.join(members_read)}"] if around else members_read)
    line = BETWEEN.join(parts)
    return f"{line} …" if len(listed) > MOST_IN_A_LINE else line


def digest(effect: ChangeEffect, *, left_to_booking: Facts) -> str:
    """
    Return the digest of what a change would do, or did: of what a passkey would sign, and nothing that bets move.

    Without the members that only its booking says. Raises: ValueError for the effect of a change that cannot be made.
    """
    substance = substance_of(content_of(effect), without=left_to_booking)
    return hashlib.sha256(orjson.dumps(substance)).hexdigest()


def _leaves(state: Mapping[str, Any], currency: str | None) -> dict[Path, Leaf]:
    return dict(_within(state, (), currency))


def _within(value: object, path: Path, currency: str | None) -> Iterator[tuple[Path, Leaf]]:
    if isinstance(value, Mapping):
        own = value.get("currency") if isinstance(value.get("currency"), str) else None
        is_said = own is not None and any(name.endswith("_minor") for name in value)  # With each amount.
        for name, inner in value.items():
            if name in NOWHERE or (name == "currency" and is_said):
                continue
            yield from _member(name, inner, path, own or currency)
    elif isinstance(value, list | tuple):
        yield from _items(value, path, currency)
    else:
        is_amount = _is_amount(path) and isinstance(value, str) and DECIMAL.fullmatch(value) is not None
        yield path, Leaf(value, currency if is_amount else None, is_name=_is_name(path), is_word=holds_words(path))


def _member(name: str, inner: object, path: Path, currency: str | None) -> Iterator[tuple[Path, Leaf]]:
    if name.endswith("_minor") and type(inner) is int and currency in CURRENCIES:
        amount = plain(from_minor(inner, CURRENCIES[currency].exponent))
        yield (*path, name.removesuffix("_minor")), Leaf(amount, currency)
    else:
        yield from _within(inner, (*path, name), currency)


def _items(items: Sequence[Any], path: Path, currency: str | None) -> Iterator[tuple[Path, Leaf]]:
    if not items:
        yield path, Leaf(None)
    elif not any(isinstance(item, Mapping | list | tuple) for item in items):
        yield path, Leaf(", ".join(_flat(item, path) for item in items))
    elif path[-1:] == ("rates",) and all(isinstance(item, list | tuple) for item in items):
        for code, rate, *_ in items:
            yield (*path, code), Leaf(rate)
    else:
        for number, item in enumerate(items, 1):
            if isinstance(item, list | tuple) and path[-1:] == ("hands",) and item:
                yield (*path, str(item[0])), Leaf(" ".join(_flat(part, path) for part in item[1:]))
            elif isinstance(item, list | tuple):
                yield (*path, str(number)), Leaf(_flat(item, path))
            else:
                named = _name_of(item)
                rest = {name: inner for name, inner in item.items() if name != named}
                yield from _within(rest, (*path, str(item[named]) if named else str(number)), currency)


def _flat(value: object, path: Path) -> str:
    """Write an item of a list in a line."""
    if isinstance(value, list | tuple):
        return " ".join(_flat(part, path) for part in value)
    return word(str(value)) if holds_words(path) else str(value)


def _name_of(item: Mapping[str, Any]) -> str | None:
    return next((name for name in _NAMES if item.get(name) is not None and len(item) > 1), None)


def _is_name(path: Path) -> bool:
    return bool(path) and (path[-1] in {"document", "hand", "reference", "game_number"} or path[-1].endswith("_id"))


def _is_amount(path: Path) -> bool:
    if "split" in path:
        return False
    if path[-1:] == ("from",):
        return "payout_tiers" in path
    return bool(path) and (path[-1] in AMOUNTS or any(name in _OF_AMOUNTS for name in path[:-1]))
