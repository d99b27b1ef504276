"""`jackpot rates|sheets …`: rate sheets, published, proposed and looked at."""

import base64
from typing import Any, Final

import click

from jackpot_service.cli.calls import changes, ecb
from jackpot_service.cli.lazy import Group, example
from jackpot_service.cli.options import (
    Amount,
    CurrencyCode,
    Identifier,
    Instant,
    dry_run_option,
    form_options,
    json_option,
    list_options,
    pairs,
    reason_option,
    request_id_option,
)
from jackpot_service.cli.printing import (
    Column,
    Form,
    count,
    decimal,
    exact,
    moment,
    print_items,
    print_list,
    second,
    text,
)
from jackpot_service.cli.service_api import Item, at, configured
from jackpot_service.usecases.ecb_documents import LARGEST_DOCUMENT, PIVOT

LARGEST_NUMBER: Final = 2**31 - 1


def _origin(sheet: Item) -> str:
    source = sheet["source"]
    return "by hand" if source is None else f"{source['name']} of {source['date']} (SHA-256 {source['sha256']})"


HEADS = (
    text("base", "base"),
    count("sheet", "number"),
    moment("in force from", "effective_at"),
    Column("source", _origin),
)

RATES = (text("currency", "currency"), exact("rate", "rate"), count("decimals", "exponent"))

HISTORY = (exact("rate", "rate"), *HEADS)

USE = (text("currency", "currency"), count("sheet", "rate_sheet"), count("open rounds", "open_rounds"))

base_option = click.option("--base", type=CurrencyCode(), required=True, help="The base currency.")

number_option = click.option(
    "--number", type=click.IntRange(1, LARGEST_NUMBER), help="Another sheet than the one in force."
)
as_of_option = click.option(
    "--as-of", type=Instant(), help="The sheet in force at an instant, such as 2026-11-20T09:30:00Z."
)


@click.group("sheets", cls=Group)
def sheets() -> None:
    """Rate sheets: list and show them."""


@example("jackpot sheets list --base EUR")
@sheets.command("list")
@base_option
@list_options
def list_sheets(base: str, limit: int | None, form: Form | None) -> None:
    """List the sheets of a base currency, the latest first, also those not in force yet."""
    print_list(configured(), at("rate-sheets"), {"base": base}, HEADS, form=form, limit=limit)


@example("jackpot sheets show --base EUR", "jackpot sheets show --base EUR --as-of 2026-11-20T09:30:00Z")
@sheets.command("show")
@base_option
@number_option
@as_of_option
@form_options
def show_sheet(base: str, number: int | None, as_of: str | None, form: Form | None) -> None:
    """Show a rate sheet: the one in force, unless another is asked for. Rates are base units per unit."""
    if number is not None and as_of is not None:
        message = "--number and --as-of each name a sheet; give one of them"
        raise click.UsageError(message)
    sheet = configured().get(at("rates"), base=base, number=number, as_of=as_of)
    if form is None:
        click.echo(f"{base} sheet {sheet['number']:,}, in force from {second(sheet['effective_at'])}, {_origin(sheet)}")
    print_items(sheet["rates"], RATES, form=form)


@example("jackpot sheets in-force")
@sheets.command("in-force")
@form_options
def show_sheets_in_force(form: Form | None) -> None:
    """Show the sheet of each base currency that is in force now."""
    print_items(configured().get(at("rates", "in-force"))["items"], HEADS, form=form)


@click.group("rates", cls=Group)
def rates() -> None:
    """Rates: publish a first sheet, propose the ECB's, look back."""


@example("jackpot rates publish --base EUR GBP=1.17 SEK=0.0873 --reason opening")
@rates.command("publish")
@base_option
@click.argument("quotes", nargs=-1, metavar="[CURRENCY=RATE]...")
@reason_option
@request_id_option
def publish_sheet(base: str, quotes: tuple[str, ...], reason: str, request_id: str) -> None:
    """
    Publish the first rate sheet of a base currency, in force at once; a rate is base units per unit of its currency.

    Every later sheet is a change that two people make: jackpot changes request rate-sheet.
    """
    stated = {
        CurrencyCode().convert(code, None, None): Amount().convert(rate, None, None)
        for code, rate in pairs(quotes, option="CURRENCY=RATE").items()
    }
    body = {"request_id": request_id, "reason": reason, "base": base, **({"rates": stated} if stated else {})}
    configured().post(at("rate-sheets"), body)
    click.echo(f"The first rate sheet of {base} is in force.", err=True)


@example("jackpot rates history --base EUR GBP")
@rates.command("history")
@base_option
@click.argument("currency", type=CurrencyCode())
@list_options
def history(base: str, currency: str, limit: int | None, form: Form | None) -> None:
    """List what a currency was worth, sheet by sheet, the latest first."""
    print_list(
        configured(), at("rates", "history"), {"base": base, "currency": currency}, HISTORY, form=form, limit=limit
    )


@example("jackpot rates histories --base EUR GBP SEK", "jackpot rates histories --base EUR --json > rates.jsonl")
@rates.command("histories")
@base_option
@click.argument("currencies", type=CurrencyCode(), nargs=-1, metavar="[CURRENCY]...")
@list_options
def histories(base: str, currencies: tuple[str, ...], limit: int | None, form: Form | None) -> None:
    """List what several currencies were worth, or all of them, sheet by sheet, the latest first."""
    named = tuple(dict.fromkeys(currencies))
    query = {"base": base, "currency": ",".join(named) or None}
    columns = (*HEADS, *map(_rate_of, named)) if named else (*HEADS, Column("rates", _all_rates, members=("rates",)))
    print_list(configured(), at("rates", "histories"), query, columns, form=form, limit=limit)


def _rate_of(code: str) -> Column:
    """Make a column of what a currency was worth; `-` in a sheet that does not have it."""

    def cell(sheet: Item) -> str:
        return next((decimal(rate["rate"]) for rate in sheet["rates"] if rate["currency"] == code), "-")

    return Column(code, cell, is_figure=True, members=("rates",))


def _all_rates(sheet: Item) -> str:
    return ", ".join(f"{rate['currency']} {decimal(rate['rate'])}" for rate in sheet["rates"]) or "-"


@example("jackpot rates use --base EUR")
@rates.command("use")
@base_option
@form_options
def show_use(base: str, form: Form | None) -> None:
    """Count the rounds that have not ended by the rates that they use, by currency and sheet."""
    print_items(configured().get(at("rates", "use"), base=base)["items"], USE, form=form)


@example("jackpot rates import-ecb https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml --dry-run")
@rates.command("import-ecb")
@click.argument("place", metavar="FILE|URL")
@click.option("--base", type=CurrencyCode(), default=PIVOT, show_default=True, help="The base currency.")
@click.option("--all", "all_currencies", is_flag=True, help="Also currencies that the sheet in force does not have.")
@click.option("--request-id", type=Identifier(), help="Default: ecb-BASE-DAY, so that a document is proposed once.")
@dry_run_option
@json_option
def import_ecb(  # noqa: PLR0917  click passes what its options say
    place: str,
    base: str,
    all_currencies: bool,  # noqa: FBT001
    request_id: str | None,
    dry_run: bool,  # noqa: FBT001
    is_json: bool,  # noqa: FBT001
) -> None:
    """
    Propose the ECB's daily reference rates (eurofxref-daily.xml) to those who approve rates; puts nothing in force.

    A rate is the quotient of two quotes, rounded to 10 decimals, half to even. Only currencies of the sheet in force
    are taken, since bets are taken in every currency of a sheet; --all takes the others too. Those that the
    document does not quote keep their rates.
    """
    document = ecb.fetch(place, most=LARGEST_DOCUMENT)
    body: dict[str, Any] = {
        "base": base,
        "document": base64.b64encode(document).decode(),
        "all_currencies": all_currencies,
        **({} if request_id is None else {"request_id": request_id}),
    }
    imported, done = configured().act("POST", at("rate-imports"), body, dry_run=dry_run or None)
    changes.print_request(imported["change"], done, is_dry_run=dry_run, is_json=is_json)
    for code in imported["unquoted"]:
        click.echo(f"{code} is not in the document and keeps its rate; to have it leave, ask for that.", err=True)
