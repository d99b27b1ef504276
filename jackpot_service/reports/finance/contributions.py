"""Contributions of bets; next to them the amounts taken back of them, where those were charged, and the net."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain.money import ZERO
from jackpot_service.reports.documents import Column, ColumnType, Section, Value, rows_of
from jackpot_service.reports.finance import figures
from jackpot_service.reports.finance.columns import amounts, base_amounts, columns, counts, days, texts
from jackpot_service.reports.finance.figures import Key, Stakes
from jackpot_service.reports.finance.frame import Report, Scope
from jackpot_service.reports.questions import By, Parameter, Parameters

BY: Final = (By.CASINO, By.CURRENCY, By.JACKPOT, By.TABLE, By.DAY, By.MONTH)

DEFAULT: Final = (By.CASINO, By.CURRENCY)

AMOUNTS: Final = {
    "stakes": "stakes",
    "value": "base value",
    "meter": "meter",
    "reserve": "reserve",
    "prize_fund": "prize fund",
    "house": "house",
    "adjustments": "house:adjustments",
}
"""The amounts of bets: their stakes, in their own currency; the worth of these; and its parts by account."""

PARTS: Final = {"": "Bets", "reversed_": "Taken back", "net_": "Net"}
"""The beginnings of the names of columns; net figures are those of bets, less those taken back."""

_Sums = defaultdict[tuple[Value, ...], defaultdict[str, Decimal]]
"""The figures of rows by column, by the groupings of the report; the base currency comes last."""


@dataclass(frozen=True, slots=True)
class _Grouping:
    """
    The groupings of rows.

    A day is the casino's gaming day where every row is of one casino, otherwise the jackpots', which is UTC.
    """

    by: tuple[By, ...]
    has_gaming_days: bool

    @classmethod
    def of(cls, parameters: Parameters) -> "_Grouping":
        """Return the stated groupings, or the default."""
        by = parameters.by or DEFAULT
        of_casino = {By.CASINO, By.TABLE}.intersection(by) or parameters.casino_id or parameters.table_id
        return cls(by, has_gaming_days=bool(of_casino))

    @property
    def day(self) -> Key:
        return Key.GAMING_DAY if self.has_gaming_days else Key.DAY

    def keys(self) -> list[Key]:
        """Return the keys of the sums."""
        known = {By.CASINO: Key.CASINO, By.TABLE: Key.TABLE, By.CURRENCY: Key.CURRENCY}
        of_days = [self.day] if {By.DAY, By.MONTH}.intersection(self.by) else []
        return [*(known[grouping_key] for grouping_key in self.by if grouping_key in known), *of_days]

    def values(self, key: Mapping[Key, Any], jackpot_id: str) -> tuple[Value, ...]:
        """Return the values of a row's groupings."""
        known: dict[By, Value] = {By.JACKPOT: jackpot_id}
        known |= {By.CASINO: key.get(Key.CASINO), By.TABLE: key.get(Key.TABLE), By.CURRENCY: key.get(Key.CURRENCY)}
        if self.day in key:
            known |= {By.DAY: key[self.day], By.MONTH: f"{key[self.day]:%Y-%m}"}
        return tuple(known[grouping_key] for grouping_key in self.by)

    def columns(self) -> tuple[Column, ...]:
        """Return the columns of `values`."""
        name = "gaming day" if self.has_gaming_days else "day (UTC)"
        known: dict[By, str | tuple[Column, ...]] = {
            By.CASINO: "casino_id",
            By.CURRENCY: texts(currency="Currency of stakes"),
            By.JACKPOT: "jackpot_id",
            By.TABLE: "table_id",
            By.DAY: days(day=name.capitalize()),
            By.MONTH: texts(month=f"Month of the {name}"),
        }
        return columns(*(known[grouping_key] for grouping_key in self.by))


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Sum bets and refunds by the groupings, and all of them by base currency."""
    grouping = _Grouping.of(scope.parameters)
    sums, totals = (_Sums(lambda: defaultdict(lambda: ZERO)) for _ in range(2))
    for book in scope.books:
        parts = {
            part: sums_of(session, book, by=grouping.keys(), filters=scope.parameters)
            for part, sums_of in (("", figures.bets), ("reversed_", figures.refunds))
        }
        for part, of_part in parts.items():
            for stakes in of_part:
                key = (*grouping.values(stakes.key, book.jackpot_id), book.base)
                _add(sums[key], part, stakes)
                _add(totals[book.base,], part, stakes)
    return (
        _section("contributions", "Contributions", grouping.columns(), sums, has_stakes=By.CURRENCY in grouping.by),
        _section("totals", "All of them, by base currency", (), totals, has_stakes=False),
    )


def _add(sums: defaultdict[str, Decimal], part: str, stakes: Stakes) -> None:
    for name in ("bets", *AMOUNTS):
        value = Decimal(getattr(stakes, name))
        sums[f"{part}{name}"] = sums[f"{part}{name}"] + value
        sums[f"net_{name}"] = sums[f"net_{name}"] + (-value if part else value)


def _section(name: str, title: str, keys: Sequence[Column], sums: _Sums, *, has_stakes: bool) -> Section:
    """Return rows in the order of their keys: ids, currencies, days and months are in the order of their texts."""
    key_columns = columns(keys, "base")
    shown = columns(key_columns, *(_columns(part, has_stakes=has_stakes) for part in PARTS))
    rows = (
        {
            **{column.name: value for column, value in zip(key_columns, key, strict=True)},
            **{f"{part}bets": int(sums[key][f"{part}bets"]) for part in PARTS},
            **{column.name: sums[key][column.name] for column in shown if column.type is ColumnType.AMOUNT},
        }
        for key in sorted(sums, key=lambda key: tuple(map(str, key)))
    )
    return Section(name, title, shown, rows_of(shown, rows))


def _columns(part: str, *, has_stakes: bool) -> tuple[Column, ...]:
    """Return the columns of a part: stakes where a row is of one currency; no bet is charged to the house when made."""
    title = PARTS[part]
    left_out = {"" if has_stakes else "stakes", "" if part else "adjustments"}
    return columns(
        counts(**{f"{part}bets": f"{title}: number of bets" if part else "Number of bets"}),
        *(
            (amounts if name == "stakes" else base_amounts)(**{f"{part}{name}": f"{title}: {of_amount}"})
            for name, of_amount in AMOUNTS.items()
            if name not in left_out
        ),
    )


REPORT = Report(
    "contributions",
    "Contributions of bets, and what was taken back of them",
    make,
    optional=frozenset({Parameter.CASINO, Parameter.TABLE, Parameter.BY}),
    by=BY,
    default=DEFAULT,
    sections=("contributions", "totals"),
    is_for_casinos=True,
)
