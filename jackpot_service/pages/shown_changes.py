"""
Change requests as people read them: what differs between before and after, what else is recorded, and a digest.

The digest says what a change would do: what it moves and what it sets, as `signed_effects` has it for signatures.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby, islice
from types import MappingProxyType
from typing import Any, Final

import orjson

from jackpot_service.domain.change_states import AT_BOOKING, BETWEEN, Leaf, Path, compared, leaves, name_of
from jackpot_service.domain.facts import Facts
from jackpot_service.pages import figures
from jackpot_service.pages.change_words import word
from jackpot_service.usecases.changes.effects import ChangeEffect
from jackpot_service.usecases.changes.signed_effects import content_of, substance_of

MOST_IN_A_LINE: Final = 4
"""So many members of a payload fit into the line of a list."""

_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\S+(?:Z|\+00:00)")

_OF_SUBJECT: Final = frozenset({"jackpot_id", "casino_id", "currency", "table_id", "round_id", "award_id", "base"})
"""Members that say what a change is about: a list names that in a place of its own."""

_NOTHING_LEFT: Final[Facts] = MappingProxyType({})


def shown(leaf: Leaf) -> str:
    """Write a value of a state as a person reads it."""
    value = leaf.value
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if leaf.currency is not None:
        return figures.exact(str(value), leaf.currency)
    if leaf.is_number:
        return figures.number(str(value))
    text = str(value)
    if _INSTANT.fullmatch(text):
        return figures.moment(datetime.fromisoformat(text))
    return word(text) if leaf.is_word else text


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that a change makes another, and by how many per cent if that can be said."""

    name: str
    before: Leaf | None
    after: Leaf | None

    @property
    def before_shown(self) -> str | None:
        """The value before as a person reads it; None if it was not there."""
        return None if self.before is None else shown(self.before)

    @property
    def after_shown(self) -> str | None:
        """The value after as a person reads it; None if it is not there any more."""
        return None if self.after is None else shown(self.after)

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
    top = compared(effect.before, effect.after)
    return [
        Difference(name_of(path), before.get(path), _as_booked(path, after.get(path), left_to_booking))
        for path in {**before, **after}
        if path[0] in top and _shown(before.get(path)) != _shown(after.get(path))
    ]


def _shown(leaf: Leaf | None) -> str:
    return "none" if leaf is None else shown(leaf)


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
    without = compared(effect.before, effect.after)
    new = {name: value for name, value in (effect.after or {}).items() if name not in without}
    return [(name_of(path), shown(leaf)) for path, leaf in _leaves(new, effect.currency).items()]


def requested(payload: Mapping[str, Any], currency: str | None = None) -> Sequence[tuple[str, str]]:
    """List what a payload asks for, by name, without the jackpot: the request names it. Amounts are in a currency."""
    ordered = {name: payload[name] for name in sorted(payload) if name != "jackpot_id"}
    return [(name_of(path), shown(leaf)) for path, leaf in _leaves(ordered, currency).items()]


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
    return leaves(state, currency, word=word)
