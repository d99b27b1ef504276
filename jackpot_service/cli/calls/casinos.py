"""`jackpot casinos|tables …`: casinos and their tables, and what casinos owe."""

from collections.abc import Iterator
from typing import Any

import click

from jackpot_service.cli import words
from jackpot_service.cli.lazy import Group, example
from jackpot_service.cli.options import (
    Identifier,
    WallClock,
    form_options,
    json_option,
    list_options,
    reason_option,
    request_id_option,
)
from jackpot_service.cli.printing import (
    Form,
    count,
    exact,
    fields,
    minor,
    moment,
    named,
    print_items,
    print_list,
    print_one,
    shown,
    table,
    text,
    titled,
)
from jackpot_service.cli.service_api import Item, Service, at, configured

CASINOS = (text("casino", "casino_id"), text("zone", "zone"), text("day starts", "day_starts"), text("name", "name"))

TABLES = (
    text("table", "table_id"),
    text("casino", "casino_id"),
    text("game", "game"),
    text("jackpot", "jackpot_id"),
)

STAKES = (text("currency", "currency"), minor("least stake", "least_minor"), minor("largest stake", "largest_minor"))

OPEN_ROUNDS = (
    text("round", "round_id"),
    text("state", "state"),
    moment("opened at", "opened_at"),
    count("bets", "bet_count"),
)

RULES = (
    text("currency", "currency"),
    count("version", "version"),
    moment("from", "from"),
    minor("reported from", "report_at_minor"),
    minor("withheld from", "withhold_at_minor"),
    text("percent", "percent"),
    count("least multiple", "least_multiple"),
)

casino_argument = click.argument("casino_id", type=Identifier())


@click.group("casinos", cls=Group)
def casinos() -> None:
    """Casinos: the companies that run gaming tables."""


@example("jackpot casinos list")
@casinos.command("list")
@list_options
def list_casinos(limit: int | None, form: Form | None) -> None:
    """List the casinos."""
    print_list(configured(), at("casinos"), {}, CASINOS, form=form, limit=limit)


@example("jackpot casinos show riga")
@casinos.command("show")
@casino_argument
@json_option
def show_casino(casino_id: str, is_json: bool) -> None:  # noqa: FBT001
    """Show a casino: its gaming days, tables and claims."""
    service = configured()
    answer = service.get(at("casinos", casino_id))
    print_one(answer, lambda: _casino(service, answer), is_json=is_json)


def _casino(service: Service, answer: Item) -> Iterator[str]:
    yield from fields(titled(CASINOS, answer))
    yield ""
    yield from table(TABLES, service.items(at("tables"), {"casino_id": answer["casino_id"]}), indent="  ")


@example('jackpot casinos add riga "Casino Riga" --zone Europe/Riga --day-starts 06:00 --reason contract')
@casinos.command("add")
@casino_argument
@click.argument("name")
@click.option("--zone", default="UTC", show_default=True, help="Its time zone, such as Europe/Riga.")
@click.option(
    "--day-starts", type=WallClock(), default="00:00", show_default=True, help="When its gaming days start there."
)
@reason_option
@request_id_option
def add_casino(casino_id: str, **stated: Any) -> None:  # noqa: ANN401  as click passes them
    """Add a casino, once; the same again changes nothing. Its gaming days never change."""
    _, done = configured().act("POST", at("casinos"), {"casino_id": casino_id, **stated})
    click.echo(f"Casino {casino_id}: {done.added()}.", err=True)


@example("jackpot casinos balances riga")
@casinos.command("balances")
@casino_argument
@form_options
def show_balances(casino_id: str, form: Form | None) -> None:
    """Show what a casino owes (negative: is owed), by jackpot and currency. It reads all of the books."""
    service = configured()
    answer = service.get(at("reports", "casino-statement"), casino_id=casino_id, section="accounts")
    sections = answer["sections"]
    rows = sections[0]["rows"] if sections else []
    columns = (
        text("jackpot", "jackpot_id"),
        exact("opening balance", "opening", "currency"),
        exact("closing balance", "closing", "currency"),
    )
    print_items(rows, columns, form=form)


@example("jackpot casinos claims riga")
@casinos.command("claims")
@casino_argument
@json_option
def show_claims(casino_id: str, is_json: bool) -> None:  # noqa: FBT001
    """Show for how long awards can be claimed at a casino, and where forfeited ones go."""
    _show_fields(at("casinos", casino_id, "claims"), is_json=is_json)


@example("jackpot casinos withholding riga")
@casinos.command("withholding")
@casino_argument
@form_options
def show_withholding(casino_id: str, form: Form | None) -> None:
    """Show every version of a casino's withholding rules; two people set one: changes request casino-withholding."""
    service = configured()
    answer = service.get(at("casinos", casino_id, "withholding-rules"))
    rules = answer["rules"]
    print_items(rules, RULES, form=form)


def _show_fields(path: str, *, is_json: bool) -> None:
    answer: Item = configured().get(path)
    print_one(answer, lambda: fields(named(answer)), is_json=is_json)


@click.group("tables", cls=Group)
def tables() -> None:
    """Gaming tables."""


@example("jackpot tables list --casino riga")
@tables.command("list")
@click.option("--casino", "casino_id", type=Identifier())
@click.option("--jackpot", "jackpot_id", type=Identifier())
@list_options
def list_tables(limit: int | None, form: Form | None, **query: Any) -> None:  # noqa: ANN401  as click passes them
    """List the tables."""
    print_list(configured(), at("tables"), query, TABLES, form=form, limit=limit)


@example("jackpot tables show T1")
@tables.command("show")
@click.argument("table_id", type=Identifier())
@json_option
def show_table(table_id: str, is_json: bool) -> None:  # noqa: FBT001
    """Show a table: its jackpot, the stakes that it takes now, and its rounds that wait for an end."""
    service = configured()
    answer = service.get(at("tables", table_id))
    print_one(answer, lambda: _table(answer), is_json=is_json)


def _table(answer: Item) -> list[str]:
    terms, rows = answer["terms"], list(titled(TABLES, answer))
    if terms is None:
        return list(fields(rows))
    rows += [
        ("takes bets", f"{shown(terms['is_accepting'])} (jackpot {terms['state']})"),
        ("rules version", shown(terms["rules_version"])),
        ("hands a player", shown(terms["hands_per_player"])),
        ("close required", shown(terms["close_required"])),
    ]
    waiting = answer["open_rounds"]
    more = [] if waiting["next"] is None else [f"  More: jackpot rounds list --waiting --table {answer['table_id']}"]
    rounds = list(table(OPEN_ROUNDS, waiting["items"], indent="  "))
    return [*fields(rows), "", *table(STAKES, terms["stakes"], indent="  "), *([""] if rounds else []), *rounds, *more]


@example('jackpot tables add T1 --casino riga --game caribbean-stud --jackpot live --reason "a new table"')
@tables.command("add")
@click.argument("table_id", type=Identifier())
@click.option("--casino", "casino_id", type=Identifier(), required=True)
@click.option("--game", type=click.Choice(words.GAMES), required=True)
@click.option(
    "--jackpot", "jackpot_id", type=Identifier(), help="Without it the table takes no jackpot bets, for good."
)
@reason_option
@request_id_option
def add_table(table_id: str, **stated: Any) -> None:  # noqa: ANN401  as click passes them
    """Add a table, once; the same again changes nothing. Its casino, game and jackpot never change."""
    _, done = configured().act("POST", at("tables"), {"table_id": table_id, **stated})
    click.echo(f"Table {table_id}: {done.added()}.", err=True)
