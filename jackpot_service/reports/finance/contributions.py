"""What bets contributed, and beside it what was taken back of it, where that was charged, and what is left of both."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain.money import EXACT, ZERO
from jackpot_service.reports.documents import Column, Row, Section, Sort, Value
from jackpot_service.reports.finance import figures
from jackpot_service.reports.finance.figures import Key, Of, Stakes
from jackpot_service.reports.finance.frame import Asked, By, Report, Scope, Takes

BY: Final = (By.CASINO, By.CURRENCY, By.JACKPOT, By.TABLE, By.DAY, By.MONTH)

USUAL: Final = (By.CASINO, By.CURRENCY)

Figures = tuple[Decimal, ...]
"""How many bets, then their amounts in the order of `AMOUNTS`."""

AMOUNTS: Final = {
    "stakes": "stakes",
    "value": "base value",
    "meter": "meter",
    "reserve": "reserve",
    "prize_fund": "prize fund",
    "house": "house",
    "adjustments": "house:adjustments",
}
"""What bets come to: their stakes, in their own currency; what these are worth; and where that went."""

PARTS: Final = {"bets": "Bets", "reversed": "Taken back", "net": "Net"}

NOTHING: Final[Figures] = (ZERO,) * (1 + len(AMOUNTS))

Sums = defaultdict[tuple[Value, ...], Figures]
"""Figures by what rows are summed by, as asked; the base currency comes last."""


@dataclass(frozen=True, slots=True)
class _Grouping:
    """
    What rows are summed by.

    A day is the casino's gaming day where every row is of one casino, otherwise the jackpots', which is UTC.
    """

    by: tuple[By, ...]
    has_gaming_days: bool

    @classmethod
    def of(cls, asked: Asked) -> "_Grouping":
        """What was asked for, or what is usual."""
        by = asked.by or USUAL
        of_casino = {By.CASINO, By.TABLE}.intersection(by) or asked.casino_id or asked.table_id
        return cls(by, has_gaming_days=bool(of_casino))

    @property
    def day(self) -> Key:
        return Key.GAMING_DAY if self.has_gaming_days else Key.DAY

    def keys(self) -> list[Key]:
        """What figures are summed by."""
        known = {By.CASINO: Key.CASINO, By.TABLE: Key.TABLE, By.CURRENCY: Key.CURRENCY}
        of_days = [self.day] if {By.DAY, By.MONTH}.intersection(self.by) else []
        return [*(known[one] for one in self.by if one in known), *of_days]

    def values(self, key: Mapping[Key, Any], jackpot_id: str) -> tuple[Value, ...]:
        """What a row says that it is of."""
        found: dict[By, Value] = {By.JACKPOT: jackpot_id}
        found |= {By.CASINO: key.get(Key.CASINO), By.TABLE: key.get(Key.TABLE), By.CURRENCY: key.get(Key.CURRENCY)}
        if self.day in key:
            found |= {By.DAY: key[self.day], By.MONTH: f"{key[self.day]:%Y-%m}"}
        return tuple(found[one] for one in self.by)

    def columns(self) -> list[Column]:
        """The columns of `values`."""
        days = "gaming day" if self.has_gaming_days else "day (UTC)"
        known = {
            By.CASINO: Column("casino_id", "Casino"),
            By.CURRENCY: Column("currency", "Currency of stakes"),
            By.JACKPOT: Column("jackpot_id", "Jackpot"),
            By.TABLE: Column("table_id", "Table"),
            By.DAY: Column("day", days.capitalize(), Sort.DAY),
            By.MONTH: Column("month", f"Month of the {days}"),
        }
        return [known[one] for one in self.by]


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Sum bets and refunds as asked, and all of them by base currency."""
    grouping, of = _Grouping.of(scope.asked), Of(scope.asked.casino_id, scope.asked.table_id)
    booked, reversed_ = (Sums(lambda: NOTHING) for _ in range(2))
    for stand in scope.stands:
        for bets in figures.bets(session, stand, by=grouping.keys(), of=of):
            _add(booked, (*grouping.values(bets.key, stand.jackpot_id), stand.base), _figures(bets))
        for back in figures.refunds(session, stand, by=grouping.keys(), of=of):
            _add(reversed_, (*grouping.values(back.key, stand.jackpot_id), stand.base), _figures(back))
    rows = _rows(booked, reversed_, has_stakes=By.CURRENCY in grouping.by)
    totals = _rows(_by_base(booked), _by_base(reversed_), has_stakes=False)
    columns = _columns(grouping.columns(), has_stakes=By.CURRENCY in grouping.by)
    return (
        Section("contributions", "Contributions", columns, rows),
        Section("totals", "All of them, by base currency", _columns([], has_stakes=False), totals),
    )


def _figures(one: Stakes) -> Figures:
    parts = (one.meter, one.reserve, one.prize_fund, one.house, one.adjustments)
    return (Decimal(one.bets), one.stakes, one.value, *parts)


def _add(sums: Sums, key: tuple[Value, ...], more: Figures) -> None:
    sums[key] = tuple(map(EXACT.add, sums[key], more))


def _by_base(sums: Sums) -> Sums:
    summed = Sums(lambda: NOTHING)
    for key, of_key in sums.items():
        _add(summed, key[-1:], of_key)
    return summed


def _rows(booked: Sums, reversed_: Sums, *, has_stakes: bool) -> Iterator[Row]:
    """Bets, what was taken back, and the net: column by column the third is the first less the second."""
    for key in sorted({*booked, *reversed_}, key=_in_order):
        first, second = booked.get(key, NOTHING), reversed_.get(key, NOTHING)
        parts = {"bets": first, "reversed": second, "net": tuple(map(EXACT.subtract, first, second))}
        yield (*key, *(value for name, part in parts.items() for value in _shown(name, part, has_stakes=has_stakes)))


def _in_order(key: tuple[Value, ...]) -> tuple[str, ...]:
    """Ids, currencies, days and months are in the order of their texts."""
    return tuple(map(str, key))


def _shown(name: str, part: Figures, *, has_stakes: bool) -> Iterable[Value]:
    amounts = dict(zip(AMOUNTS, part[1:], strict=True))
    return (int(part[0]), *(amounts[one] for one in _amounts(name, has_stakes=has_stakes)))


def _amounts(name: str, *, has_stakes: bool) -> list[str]:
    """Which amounts a part shows: stakes where a row is of one currency; no bet is charged to the house when made."""
    left_out = {*(() if has_stakes else ("stakes",)), *(("adjustments",) if name == "bets" else ())}
    return [one for one in AMOUNTS if one not in left_out]


def _columns(keys: Sequence[Column], *, has_stakes: bool) -> list[Column]:
    columns = [*keys, Column("base", "Base currency")]
    for name, title in PARTS.items():
        before = "" if name == "bets" else f"{name}_"
        columns.append(Column(f"{before}bets", "Bets" if name == "bets" else f"{title}: bets", Sort.COUNT))
        for amount in _amounts(name, has_stakes=has_stakes):
            currency_in = "currency" if amount == "stakes" else "base"
            columns.append(
                Column(f"{before}{amount}", f"{title}: {AMOUNTS[amount]}", Sort.AMOUNT, currency_in=currency_in)
            )
    return columns


REPORT = Report(
    "contributions",
    "Contributions of bets, and what was taken back of them",
    make,
    takes=frozenset({Takes.CASINO, Takes.TABLE, Takes.BY}),
    by=BY,
    usual=USUAL,
    sections=("contributions", "totals"),
    is_for_casinos=True,
)
