"""
How commands print what the service answers: tables for people, JSON and CSV for programs.

An amount is written as money, with its thousands apart, from exact texts and whole minor units: no float is made.
JSON is the API's own: of a list one item a line, of one thing an indented object. CSV has every field of the items.
"""

import csv
import json
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final

import click

from jackpot_service.cli.service_api import Item, Service, printable
from jackpot_service.domain.currencies import CURRENCIES

GAP: Final = "  "

LEAST_WIDTH: Final = 20
"""No value is folded into less than so many columns."""

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")  # noqa: RUF001  as spreadsheets in Japan do
"""A spreadsheet takes a text that begins with one of these for a formula, or drops the apostrophe."""


class Form(StrEnum):
    """How to print for a program; people get tables."""

    JSON = "json"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class Column:
    """
    A column of a table: how an item's cell is written, and whether it is a figure, which stands at the right.

    `members` are the paths of those that a plain cell is made of. `mark` is the title where each cell has a line of
    its own; a rule between columns has none.
    """

    title: str
    cell: Callable[[Item], str]
    is_figure: bool = False
    members: tuple[str, ...] = ()
    mark: str | None = None


def text(title: str, path: str) -> Column:
    """A member as it is; lists with commas, nothing as `-`."""
    return Column(title, lambda item: shown(member(item, path)), members=(path,))


def moment(title: str, path: str) -> Column:
    """A time, to the second."""
    return Column(title, lambda item: second(member(item, path)), members=(path,))


def count(title: str, path: str) -> Column:
    """A whole number, with thousands apart."""
    return Column(title, lambda item: _or_dash(member(item, path), "{:,}".format), is_figure=True, members=(path,))


def minor(title: str, path: str, currency: str = "currency") -> Column:
    """An amount in minor units, as money with its currency."""
    return Column(
        title,
        lambda item: money(member(item, path), member(item, currency)),
        is_figure=True,
        members=(path, currency),
    )


def exact(title: str, path: str, currency: str | None = None) -> Column:
    """An exact decimal text, with thousands apart, and its currency if a member names it."""

    def cell(item: Item) -> str:
        written = member(item, path)
        return decimal(written) if currency is None else amount(written, member(item, currency))

    return Column(title, cell, is_figure=True, members=(path,) if currency is None else (path, currency))


def member(item: Item, path: str) -> Any:  # noqa: ANN401  JSON
    """
    Return a member by its path, such as `meter.amount`; None where something on the way is null.

    Raises: KeyError where it is not there, as in the answer of another version.
    """
    value: Any = item
    for name in path.split("."):
        if value is None:
            return None
        value = value[name]
    return value


def money(amount_minor: int | None, currency: str | None) -> str:
    """Write minor units of a currency as money, such as `1,785.75 EUR`."""
    if amount_minor is None or currency is None:
        return "-"
    known = CURRENCIES.get(currency)
    if known is None:
        return f"{amount_minor:,} minor units of {currency}"
    sign, digits = "-" if amount_minor < 0 else "", f"{abs(amount_minor):0{known.exponent + 1}d}"
    whole, part = digits[: len(digits) - known.exponent], digits[len(digits) - known.exponent :]
    return f"{sign}{int(whole):,}{'.' if part else ''}{part} {currency}"


def decimal(exact_text: str | int | None) -> str:
    """Write an exact decimal text with its thousands apart."""
    if exact_text is None:
        return "-"
    try:
        return f"{Decimal(exact_text):,f}"
    except InvalidOperation:
        return str(exact_text)


def amount(exact_text: str | None, currency: str) -> str:
    """Write an exact amount of a currency; none at all has no currency."""
    return "-" if exact_text is None else f"{units(exact_text, currency)} {currency}"


def units(exact_text: str | None, currency: str | None) -> str:
    """Write an exact amount with at least the decimals of its currency: 18,054.90, and 0.00617 as it is."""
    written, known = decimal(exact_text), CURRENCIES.get(currency or "")
    whole, _, decimals = written.partition(".")
    if known is None or not written[-1:].isdecimal() or len(decimals) >= known.exponent:
        return written
    return f"{whole}.{decimals:0<{known.exponent}}"


def hundredths(exact_text: str | None) -> str:
    """Write a per cent, rounded to two decimals; programs read all of them."""
    return "-" if exact_text is None else f"{Decimal(round(Fraction(exact_text) * 100)).scaleb(-2):,f}"


def second(time: str | None) -> str:
    """Write a time of the API to the second, in UTC."""
    return "-" if time is None else f"{time[:10]} {time[11:19]}Z"


def shown(value: Any) -> str:  # noqa: ANN401  JSON
    """Write a value of JSON in words."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(part, dict | list) for part in value)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return ", ".join(map(shown, value)) or "-"
    return str(value)


def _or_dash(value: Any, write: Callable[[Any], str]) -> str:  # noqa: ANN401  JSON
    return "-" if value is None else write(value)


def table(columns: Sequence[Column], items: Iterable[Item], *, indent: str = "") -> Iterator[str]:
    """
    Write items as lines of aligned cells, after their titles; nothing where there are none.

    On a terminal that is too narrow for that, each cell has a line of its own.
    """
    cells = _cells(columns, items)
    lines, width = list(_aligned(columns, cells, indent)), terminal_width()
    if width is None or all(len(line) <= width for line in lines):
        yield from lines
        return
    titles = [column.title if column.mark is None else column.mark for column in columns]
    for number, row in enumerate(cells):
        if number:
            yield ""
        pairs = [(title, cell) for title, cell in zip(titles, row, strict=True) if title]
        yield from (f"{indent}{line}" for line in _folded(pairs, width - len(indent)))


def terminal_width() -> int | None:
    """Return the width of the terminal that standard output is; None for a file or a pipe, whose lines stay whole."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _cells(columns: Sequence[Column], items: Iterable[Item]) -> list[list[str]]:
    return [[printable(column.cell(item)).replace("\n", " ") for column in columns] for item in items]


def _folded(pairs: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    """Write names with their values, aligned; a long value goes on under its beginning."""
    rows = list(pairs)
    start = max((len(name) for name, _ in rows), default=0) + len(GAP)
    for name, value in rows:
        room = max(width - start, LEAST_WIDTH)
        parts = [value] if len(value) <= room else textwrap.wrap(value, room, break_on_hyphens=False) or [""]
        yield f"{name:<{start}}{parts[0]}".rstrip()
        yield from (f"{'':<{start}}{part}" for part in parts[1:])


def _aligned(columns: Sequence[Column], rows: Sequence[Sequence[str]], indent: str) -> Iterator[str]:
    if not rows:
        return
    rows = [_pointed(cells, column) for column, cells in zip(columns, zip(*rows, strict=True), strict=True)]
    widths = [max(map(len, (column.title, *cells))) for column, cells in zip(columns, rows, strict=True)]
    for line in ([column.title for column in columns], *map(list, zip(*rows, strict=True))):
        cells = (
            f"{cell:>{width}}" if column.is_figure else f"{cell:<{width}}"
            for column, cell, width in zip(columns, line, widths, strict=True)
        )
        yield (indent + GAP.join(cells)).rstrip()


def _pointed(cells: Sequence[str], column: Column) -> Sequence[str]:
    """Fill figures up at their right, so that their decimal points stand under each other."""
    if not column.is_figure:
        return cells
    parts = [cell.partition(" ") for cell in cells]
    decimals = [len(number) - number.rindex(".") if "." in number else 0 for number, _, _ in parts]
    most, widest = max(decimals), max(len(unit) for _, _, unit in parts)
    return [
        f"{number}{' ' * (most - has)}{space}{unit:<{widest}}" if widest else f"{number}{' ' * (most - has)}"
        for (number, space, unit), has in zip(parts, decimals, strict=True)
    ]


def print_list(
    service: Service,
    path: str,
    query: Item,
    columns: Sequence[Column],
    *,
    form: Form | None,
    limit: int | None = None,
) -> None:
    """
    Print a list of the service to its end, or its first `limit` items: then standard error says if there are more.

    Raises: ServiceError.
    """
    items: list[Item] = []
    is_cut = False
    for page, has_more in service.pages(path, query, limit=limit):
        is_cut = has_more
        if form is Form.JSON:
            print_items(page, columns, form=form)
        else:
            items += page
    print_items(items, columns, form=form)
    if is_cut:
        click.echo(f"There are more: --limit {limit} cut the list here; without it all are shown.", err=True)


def print_items(items: Sequence[Item], columns: Sequence[Column], *, form: Form | None) -> None:
    """Print items that are at hand: as a table, or as JSON, one a line, or as CSV."""
    if form is Form.CSV:
        _print_csv(items, columns)
        return
    lines = map(json_line, items) if form is Form.JSON else table(columns, items)
    for line in lines:
        click.echo(line)
    if form is None and not items:
        click.echo("There are none.", err=True)


def json_line(item: Item) -> str:
    """Write an item as JSON, on a line."""
    return json.dumps(item, ensure_ascii=False, separators=(",", ":"))


def print_object(value: Any) -> None:  # noqa: ANN401  JSON
    """Print one thing as JSON."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_one(value: Any, lines: Callable[[], Iterable[str]], *, is_json: bool) -> None:  # noqa: ANN401  JSON
    """Print one thing: as JSON, or as lines for people, of which none is printed before all could be written."""
    if is_json:
        print_object(value)
        return
    for line in list(lines()):
        click.echo(line)


def _print_csv(items: Sequence[Item], columns: Sequence[Column]) -> None:
    """
    Print items as CSV (RFC 4180), with every field of theirs: `meter.amount` is a member of a member, a list is JSON.

    A list without items has the members that its table shows in its header: no item says which others there are.
    A text that a spreadsheet would take for a formula gets an apostrophe in front; figures never get one.
    """
    rows = [dict(_flat(item)) for item in items]
    named = [tuple(row) for row in rows] or [column.members for column in columns]
    names = list(dict.fromkeys(name for several in named for name in several))
    writer = csv.writer(sys.stdout, lineterminator="\r\n")
    writer.writerow(names)
    writer.writerows([row.get(name, "") for name in names] for row in rows)
    sys.stdout.flush()


def _flat(item: Item, prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in item.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _cell(value)


def _cell(value: Any) -> str:  # noqa: ANN401  JSON
    if value is None:
        return ""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"'{value}" if value.startswith(FORMULA) and not _is_figure(value) else value


def _is_figure(value: str) -> bool:
    return value.removeprefix("-").replace(".", "", 1).isdecimal()


def titled(columns: Iterable[Column], item: Item) -> Iterator[tuple[str, str]]:
    """Yield the cells of an item, each with the title of its column: one thing is shown by the words of its list."""
    return ((column.title, column.cell(item)) for column in columns)


def named(item: Item) -> Iterator[tuple[str, str]]:
    """Yield the members of an item in words, each with its name."""
    return ((name.replace("_", " "), shown(value)) for name, value in item.items())


def fields(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Write names with their values, aligned; as wide as the terminal."""
    rows = [(name, printable(value).replace("\n", " ")) for name, value in pairs]
    yield from _folded(rows, terminal_width() or sys.maxsize)
