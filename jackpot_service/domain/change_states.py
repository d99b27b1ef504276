"""
The states before and after a change, as people read them: each value with its name, and its currency if it is money.

Pages and the command line show the same values by the same names; each writes figures in its own way.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from jackpot_service.domain.currencies import CURRENCIES
from jackpot_service.domain.money import from_minor, plain
from jackpot_service.domain.shapes import DECIMAL

NOWHERE: Final = frozenset({"positions", "round_key", "postings"})
"""Members that no person reads: places in the books; postings are a table of their own."""

AMOUNTS: Final = frozenset(
    {
        *("amount", "balance", "balance_after", "balance_before", "cost", "house_seed", "largest_stake", "limit"),
        *("meter", "meter_after", "meter_house", "meter_players", "prize_fund", "prize_fund_after", "reserve"),
        *("reserve_after", "reset_amount", "least_stake", "to_house_seed", "weight"),
    }
)
"""Members that are amounts in the state's currency."""

AROUND: Final = frozenset({"document", "payload", "rates", "round", "rules", "settings"})
"""Members that hold all others of a state, or say where it was: who reads one of those needs no name around it."""

AT_BOOKING: Final = "when it is approved"
"""The time that only the booking says."""

BETWEEN: Final = " · "
"""Between the names of members that hold each other."""

_OF_AMOUNTS: Final = frozenset({"charged_to", "returned_to", "taken_from"})
"""Members that hold amounts by account."""

_NAMES: Final = ("bet_id", "tier", "kind", "hand")
"""Members by which the items of a list are distinguished."""

_ONE_OF: Final[Mapping[str, str]] = {"awards": "award", "hands": "hand", "payout_tiers": "payout tier"}
"""Members that are lists, and what one item of them is called."""

_WORDED: Final = frozenset(
    {"cards", "cause", "dead_hand", "dealer", "evidence", "hands", "kind", "policy", "prizes", "status", "tier"}
)
"""Members that hold words and cards. Any other text may be a name, such as an id that looks like a card."""

Path = tuple[str, ...]

Write = Callable[[str], str]


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


def leaves(state: Mapping[str, Any], currency: str | None, *, word: Write = str) -> dict[Path, Leaf]:
    """
    Return each value of a state by its place, without places in the books.

    Amounts that name no currency are in `currency`; those in minor units are turned into units. `word` writes the words
    and cards of a list, which stands in one line.
    """
    return dict(_Reading(word).within(state, (), currency))


def name_of(path: Path) -> str:
    """Name a place in a state: settings, payout_tiers, 1, from is "payout tier 1 · from"."""
    inner = [
        name
        for before, name, after in zip(("", *path), path, (*path[1:], ""), strict=False)
        if name not in AROUND or before == "kinds" or not after  # A kind of change may be called as one of them.
    ]
    parts: list[str] = []
    for before, name in zip(["", *inner], inner, strict=False):
        if before in _ONE_OF:
            parts[-1] = f"{_ONE_OF[before]} {name}"
        else:
            parts.append(name.removesuffix("_id").replace("_", " ").replace("-", " "))
    return BETWEEN.join(parts)


def compared(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> frozenset[str]:
    """
    Name the members of a state after a change that its state before has too; of a state that began with it, all.

    All others are what the change records besides.
    """
    return frozenset(after or {}) if before is None else frozenset(before) & frozenset(after or {})


@dataclass(frozen=True, slots=True)
class _Reading:
    word: Write

    def within(self, value: object, path: Path, currency: str | None) -> Iterator[tuple[Path, Leaf]]:
        if isinstance(value, Mapping):
            own = value.get("currency") if isinstance(value.get("currency"), str) else None
            is_said = own is not None and any(name.endswith("_minor") for name in value)  # With each amount.
            for name, inner in value.items():
                if name in NOWHERE or (name == "currency" and is_said):
                    continue
                is_own = own is not None and (name.endswith("_minor") or not is_said)  # A cost is in the base currency.
                yield from self._member(name, inner, path, own if is_own else currency)
        elif isinstance(value, list | tuple):
            yield from self._items(value, path, currency)
        else:
            is_amount = _is_amount(path) and isinstance(value, str) and DECIMAL.fullmatch(value) is not None
            yield path, Leaf(value, currency if is_amount else None, is_name=_is_name(path), is_word=_is_word(path))

    def _member(self, name: str, inner: object, path: Path, currency: str | None) -> Iterator[tuple[Path, Leaf]]:
        if name.endswith("_minor") and type(inner) is int and currency in CURRENCIES:
            amount = plain(from_minor(inner, CURRENCIES[currency].exponent))
            yield (*path, name.removesuffix("_minor")), Leaf(amount, currency)
        else:
            yield from self.within(inner, (*path, name), currency)

    def _items(self, items: Sequence[Any], path: Path, currency: str | None) -> Iterator[tuple[Path, Leaf]]:
        if not items:
            yield path, Leaf(None)
        elif not any(isinstance(item, Mapping | list | tuple) for item in items):
            yield path, Leaf(", ".join(self._flat(item, path) for item in items))
        elif path[-1:] == ("rates",) and all(isinstance(item, list | tuple) for item in items):
            for code, rate, *_ in items:  # Behind a rate stand the decimals of its currency, which no change sets.
                yield (*path, code), Leaf(rate)
        else:
            for number, item in enumerate(items, 1):
                yield from self._item(number, item, path, currency)

    def _item(self, number: int, item: Any, path: Path, currency: str | None) -> Iterator[tuple[Path, Leaf]]:  # noqa: ANN401  JSON
        if isinstance(item, list | tuple) and path[-1:] == ("hands",) and item:
            yield (*path, str(item[0])), Leaf(" ".join(self._flat(part, path) for part in item[1:]))
        elif isinstance(item, list | tuple):
            yield (*path, str(number)), Leaf(self._flat(item, path))
        else:
            named = _name_of(item)
            rest = {name: inner for name, inner in item.items() if name != named}
            yield from self.within(rest, (*path, str(item[named]) if named else str(number)), currency)

    def _flat(self, value: object, path: Path) -> str:
        """Write an item of a list in a line."""
        if isinstance(value, list | tuple):
            return " ".join(self._flat(part, path) for part in value)
        return self.word(str(value)) if _is_word(path) else str(value)


def _name_of(item: Mapping[str, Any]) -> str | None:
    return next((name for name in _NAMES if item.get(name) is not None and len(item) > 1), None)


def _is_name(path: Path) -> bool:
    return bool(path) and (path[-1] in {"document", "hand", "reference", "game_number"} or path[-1].endswith("_id"))


def _is_word(path: Path) -> bool:
    """Whether a place in a state, which is no member of an item, holds words of the contract or cards."""
    return not _WORDED.isdisjoint(path[-1:])


def _is_amount(path: Path) -> bool:
    if "split" in path:
        return False
    if path[-1:] == ("from",):
        return "payout_tiers" in path
    return bool(path) and (path[-1] in AMOUNTS or any(name in _OF_AMOUNTS for name in path[:-1]))
