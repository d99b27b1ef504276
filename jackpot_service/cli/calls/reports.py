"""`jackpot reports …`: what the books say, on the terminal or as a file."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import click

from jackpot_service.cli import words
from jackpot_service.cli.lazy import Group, example
from jackpot_service.cli.options import (
    LARGEST_NUMBER,
    CurrencyCode,
    Identifier,
    Instant,
    InstantOrDay,
    form_options,
    list_options,
    reason_option,
    request_id_option,
)
from jackpot_service.cli.printing import (
    Column,
    Form,
    decimal,
    fields,
    hundredths,
    member,
    moment,
    print_items,
    print_list,
    second,
    shown,
    table,
    text,
    units,
)
from jackpot_service.cli.service_api import Item, at, configured
from jackpot_service.cli.writing import opened, output_option

TEXT: Final = "text"
FORMS: Final = (TEXT, "csv", "json", "xlsx")

FIGURES: Final = frozenset({"amount", "count", "number", "percent"})
"""The types of columns that hold figures."""

DAY_LENGTH: Final = len("2026-11-01")

REPORTS = (
    text("report", "name"),
    text("by", "by"),
    Column(
        "needs",
        lambda report: shown([name.removesuffix("_id") for name in report["required"]]),
        members=("required",),
    ),
    text("title", "title"),
)

COMPARED = (
    text("report", "name"),
    text("version", "report_version"),
    text("outcome", "outcome"),
    text("kept", "kept_sha256"),
    text("now", "sha256"),
)

PERIODS = (
    moment("from", "from"),
    moment("to", "to"),
    text("act", "act"),
    Column("reports", lambda period: str(len(period["reports"]))),
)


@click.group("reports", cls=Group)
def reports() -> None:
    """Reports of the books, as of any time."""


@example("jackpot reports list")
@reports.command("list")
@form_options
def list_reports(form: Form | None) -> None:
    """List the reports there are, and what they sum by."""
    print_items(configured().get(at("reports"))["items"], REPORTS, form=form)


@example(
    "jackpot reports show trial-balance --as-of 2026-11-01T06:00:00Z",
    "jackpot reports show casino-statement --casino riga --from 2026-11-01 --format xlsx --output riga.xlsx",
)
@reports.command("show")
@click.argument("name", type=click.Choice(words.REPORTS))
@click.option("--from", "from", type=InstantOrDay(), help="A time or a day; included.")
@click.option("--to", "to", type=InstantOrDay(), help="A time or a day; not included.")
@click.option("--as-of", type=Instant(), help="As the books were at this instant.")
@click.option("--jackpot", "jackpot_id", type=Identifier())
@click.option("--casino", "casino_id", type=Identifier())
@click.option("--table", "table_id", type=Identifier())
@click.option("--round", "round_id", type=Identifier())
@click.option("--account", help="Of postings: this account only, such as pool:reserve.")
@click.option("--currency", type=CurrencyCode(), help="Of postings: in this currency only.")
@click.option("--movement", type=click.Choice(words.MOVEMENTS), help="Of postings: of this movement only.")
@click.option("--by", type=click.Choice(words.GROUPINGS), multiple=True, help="Group by this; may be repeated.")
@click.option("--format", "form", type=click.Choice(FORMS), default=TEXT, show_default=True)
@click.option("--section", help="Only this one. A CSV file holds one: the first, unless stated.")
@output_option
def show_report(name: str, by: tuple[str, ...], form: str, output: Path | None, **query: Any) -> None:  # noqa: ANN401  as click passes them
    """
    Make the report NAME, and print it or write it to a file.

    A day is one of UTC; of a report of a casino, or of a table, it is the casino's gaming day.
    """
    if form == "xlsx" and output is None:
        message = "a workbook needs --output FILE"
        raise click.UsageError(message)
    service = configured()
    query |= {"by": ",".join(by) or None, "format": "json" if form == TEXT else form}
    if form == TEXT:
        report = service.get(at("reports", name), **query)
        with opened(output) as file:
            file.writelines(f"{line}\n".encode() for line in _lines(report))
        return
    with service.stream(at("reports", name), query) as answer, opened(output) as file:
        for piece in answer.iter_bytes():
            file.write(piece)


def _lines(report: Item) -> Iterator[str]:
    """Write the head of a report, and then each section."""
    yield from fields(_head(report))
    for section in report["sections"]:
        yield ""
        yield section["title"]
        columns = [_column(column) for column in section["columns"]]
        lines = list(table(columns, section["rows"], indent="  "))
        yield from lines or ["  " + "  ".join(column.title for column in columns)]


def _head(report: Item) -> Iterator[tuple[str, str]]:
    yield "report", f"{report['title']} ({report['name']}, version {report['report_version']})"
    if report["signs"]:
        yield "signs", report["signs"]
    yield "from", "the beginning of the books" if report["from"] is None else report["from"]
    yield "to", "all that was booked" if report["to"] is None else report["to"]
    for name, value in report["scope"].items():
        if value not in (None, []):
            yield name, shown(value)
    for book, seqs in report["positions"].items():
        yield f"positions of {book}", ".".join(map(str, seqs))
    yield "made at", f"{second(report['made_at'])} by version {report['version']}"
    if report["content_sha256"]:
        yield "closed with SHA-256", report["content_sha256"]


def _column(described: Item) -> Column:
    title = described["title"]
    if described["currency"]:
        title = f"{title}, {described['currency']}"
    return Column(title, _cell(described), is_figure=described["type"] in FIGURES)


def _cell(described: Item) -> Callable[[Item], str]:
    """Return how the values of a column are written: amounts as money, per cents rounded, times to the second."""
    name, currency, currency_in = described["name"], described["currency"], described["currency_in"]
    match described["type"]:
        case "amount":
            return lambda row: units(member(row, name), currency if currency_in is None else member(row, currency_in))
        case "percent":
            return lambda row: hundredths(member(row, name))
        case "count" | "number":
            return lambda row: decimal(member(row, name))
        case "instant":
            return lambda row: second(member(row, name))
        case _:
            return lambda row: shown(member(row, name))


@example("jackpot reports close --to 2026-11-01 --reason October")
@reports.command("close")
@click.option(
    "--to", "to", type=InstantOrDay(), required=True, help="An instant that is over, or a day of UTC; not included."
)
@reason_option
@request_id_option
def close_period(to: str, reason: str, request_id: str) -> None:
    """Close all that was booked before an instant: the hashes of its reports are stored."""
    end = f"{to}T00:00:00Z" if len(to) == DAY_LENGTH else to
    done = configured().post(at("closed-periods"), {"request_id": request_id, "reason": reason, "to": end})
    for name, stored in sorted(done["reports"].items()):
        click.echo(f"{stored['sha256']}  {name}")


@example("jackpot reports periods")
@reports.command("periods")
@list_options
def list_periods(limit: int | None, form: Form | None) -> None:
    """List the closed periods, the latest first."""
    print_list(configured(), at("closed-periods"), {}, PERIODS, form=form, limit=limit)


@example("jackpot reports compare 41")
@reports.command("compare")
@click.argument("act", type=click.IntRange(0, LARGEST_NUMBER))
@form_options
def compare_period(act: int, form: Form | None) -> None:
    """Make the reports of the period that ACT closed once more, and compare them with their hashes."""
    print_items(configured().get(at("closed-periods", str(act), "comparison"))["items"], COMPARED, form=form)
