"""`jackpot jackpots|meter|hits|paytable|rules …`: jackpots, what they offer, and what one operator does with them."""

import json
from collections.abc import Iterator
from typing import Any

import click

from jackpot_service.cli import words
from jackpot_service.cli.change_fields import setting_values
from jackpot_service.cli.lazy import Group, example
from jackpot_service.cli.options import (
    LARGEST_NUMBER,
    Amount,
    CurrencyCode,
    Identifier,
    form_options,
    json_option,
    list_options,
    reason_option,
    request_id_option,
)
from jackpot_service.cli.printing import (
    Column,
    Form,
    count,
    decimal,
    exact,
    fields,
    member,
    minor,
    moment,
    money,
    print_items,
    print_list,
    print_object,
    print_one,
    second,
    shown,
    table,
    text,
    titled,
)
from jackpot_service.cli.service_api import Item, at, configured
from jackpot_service.domain.errors import NotFound

MOST_STRIPES = 256


class UnknownHit(NotFound, code="hit-unknown", title="Unknown hit"):
    """The jackpot was not won yet, or not in this cycle."""


COLUMNS = (
    text("jackpot", "jackpot_id"),
    text("state", "state"),
    text("rulebook", "rulebook"),
    count("cycle", "meter.cycle"),
    exact("on offer", "meter.amount_exact", "currency"),
    exact("reserve", "reserve", "currency"),
    exact("prize fund", "prize_fund", "currency"),
    moment("last movement", "meter.last_movement_at"),
)

HITS = (
    count("cycle", "cycle"),
    moment("hit at", "hit_at"),
    text("casino", "casino_id"),
    text("table", "table_id"),
    text("round", "round_id"),
    count("winners", "winners"),
    exact("meter before", "meter_before", "currency"),
    exact("paid", "paid", "currency"),
    exact("carried", "carried", "currency"),
    exact("meter after", "meter_after", "currency"),
)

AWARDS = (
    text("award", "award_id"),
    text("bet", "bet_id"),
    text("player", "player_id"),
    text("tier", "tier"),
    minor("amount", "amount_minor"),
    text("state", "state"),
)

jackpot_argument = click.argument("jackpot_id", type=Identifier())
currency_option = click.option("--currency", type=CurrencyCode(), help="Default: the base currency.")


@click.group("jackpots", cls=Group)
def jackpots() -> None:
    """Jackpots: list and show them, open, suspend and resume them."""


@example("jackpot jackpots list", "jackpot jackpots list --csv > jackpots.csv")
@jackpots.command("list")
@list_options
def list_jackpots(limit: int | None, form: Form | None) -> None:
    """List the jackpots with their pools."""
    print_list(configured(), at("jackpots"), {}, COLUMNS, form=form, limit=limit)


@example("jackpot jackpots show live")
@jackpots.command("show")
@jackpot_argument
@json_option
def show_jackpot(jackpot_id: str, is_json: bool) -> None:  # noqa: FBT001
    """Show a jackpot: its state, meter and pools."""
    service = configured()
    answer = service.get(at("jackpots", jackpot_id))
    print_one(answer, lambda: fields(_pools(answer)), is_json=is_json)


def _pools(answer: Item) -> list[tuple[str, str]]:
    currency, meter = answer["currency"], answer["meter"]
    return [
        ("jackpot", answer["jackpot_id"]),
        ("state", f"{answer['state']}, {'takes bets' if answer['is_accepting'] else 'takes no bets'}"),
        ("rules", f"{answer['rulebook']}, version {answer['rules_version']}"),
        ("cycle", f"{meter['cycle']:,}"),
        ("on offer", f"{decimal(meter['amount_exact'])} {currency}"),
        ("overflow", f"{decimal(meter['overflow'])} {currency}"),
        ("reserve", f"{decimal(answer['reserve'])} {currency}"),
        ("prize fund", f"{decimal(answer['prize_fund'])} {currency}"),
        ("last movement", second(meter["last_movement_at"])),
    ]


@example(
    'jackpot jackpots open live --rules live-caribbean-stud --currency EUR --reason "as agreed"',
    'jackpot jackpots open small --rules cyber-caribbean-stud --currency EUR --set limit=10000 --reason "as agreed"',
)
@jackpots.command("open")
@jackpot_argument
@click.option("--rules", "rulebook", type=click.Choice(words.RULEBOOKS), required=True, help="The published rulebook.")
@click.option("--currency", type=CurrencyCode(), required=True, help="The base currency, for good.")
@click.option("--base-amount", type=Amount(), help="The start of the first cycle; default: the reset amount.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help=f"One of {', '.join(words.SETTINGS)} (CUR is any currency).",
)
@click.option("--stripes", type=click.IntRange(1, MOST_STRIPES), help="Default: as the service is configured.")
@reason_option
@request_id_option
def open_jackpot(jackpot_id: str, settings: tuple[str, ...], **stated: Any) -> None:  # noqa: ANN401  as click passes them
    """Open a jackpot from a published rulebook."""
    body = {name: value for name, value in stated.items() if value is not None} | {"jackpot_id": jackpot_id}
    if settings:
        body["settings"] = setting_values(settings)
    answer = configured().post(at("jackpots"), body)
    click.echo(
        f"Jackpot {jackpot_id} is {answer['state']} by the rules of {answer['rulebook']}, in {answer['currency']}.",
        err=True,
    )


@example('jackpot jackpots stripes live 32 --reason "more tables"')
@jackpots.command("stripes")
@jackpot_argument
@click.argument("count", type=click.IntRange(1, MOST_STRIPES))
@reason_option
@request_id_option
def spread_jackpot(jackpot_id: str, count: int, reason: str, request_id: str) -> None:
    """Spread a jackpot over more stripes, while it runs: so many of its entries can be committed at once."""
    body = {"request_id": request_id, "reason": reason, "stripes": count}
    answer = configured().put(at("jackpots", jackpot_id, "stripes"), body)
    click.echo(f"Jackpot {jackpot_id} has {answer['stripes']} stripes.", err=True)


@example('jackpot jackpots suspend live --reason "a stuck display"')
@jackpots.command("suspend")
@jackpot_argument
@reason_option
@request_id_option
def suspend_jackpot(jackpot_id: str, reason: str, request_id: str) -> None:
    """Refuse a jackpot's bets from now on; all else goes on."""
    _change_suspension(jackpot_id, "suspension", reason=reason, request_id=request_id)


@example("jackpot jackpots resume live --reason repaired")
@jackpots.command("resume")
@jackpot_argument
@reason_option
@request_id_option
def resume_jackpot(jackpot_id: str, reason: str, request_id: str) -> None:
    """Take a jackpot's bets again."""
    _change_suspension(jackpot_id, "resumption", reason=reason, request_id=request_id)


def _change_suspension(jackpot_id: str, what: str, *, reason: str, request_id: str) -> None:
    body = {"request_id": request_id, "reason": reason}
    done = configured().put(at("jackpots", jackpot_id, what), body)
    click.echo(f"Jackpot {jackpot_id} is {done['state']}.", err=True)


@example("jackpot jackpots limits live")
@jackpots.command("limits")
@jackpot_argument
@form_options
def show_limits(jackpot_id: str, form: Form | None) -> None:
    """Show the limits that tables of a jackpot have of their own; two people set them: changes request table-limits."""
    service = configured()
    answer = service.get(at("jackpots", jackpot_id, "table-limits"))
    columns = (
        text("table", "table_id"),
        count("version", "version"),
        *(exact(name.replace("_", " "), f"limits.{name}") for name in ("token", "least_stake", "largest_stake")),
    )
    print_items(answer["tables"], columns, form=form)


@example("jackpot meter live", "jackpot meter live --currency GBP --currency SEK")
@click.command("meter")
@jackpot_argument
@click.option("--currency", type=CurrencyCode(), multiple=True, help="May be repeated; default: the base currency.")
@json_option
def meter(jackpot_id: str, currency: tuple[str, ...], is_json: bool) -> None:  # noqa: FBT001
    """Show the meter of a jackpot, from the committed books."""
    service = configured()
    answer = service.get(at("jackpots", jackpot_id, "meter"), currency=",".join(currency) or None)
    print_one(answer, lambda: fields(_meter(answer)), is_json=is_json)


def _meter(answer: Item) -> list[tuple[str, str]]:
    return [
        ("jackpot", answer["jackpot_id"]),
        ("cycle", f"{answer['cycle']:,}"),
        *(("shown", money(amount["amount_minor"], amount["currency"])) for amount in answer["amounts"]),
        ("exact, in the base currency", decimal(answer["amount_exact"])),
        ("overflow", decimal(answer["overflow"])),
        ("rate", f"{answer['rate']}, of sheet {shown(answer['rate_sheet'])}"),
        ("last movement", second(answer["last_movement_at"])),
    ]


@click.group("hits", cls=Group)
def hits() -> None:
    """Jackpots that were won: list them, and show one with its awards."""


@example("jackpot hits list live")
@hits.command("list")
@jackpot_argument
@list_options
def list_hits(jackpot_id: str, limit: int | None, form: Form | None) -> None:
    """List the hits of a jackpot, the latest first; amounts are in its base currency."""
    print_list(configured(), at("jackpots", jackpot_id, "hits"), {}, HITS, form=form, limit=limit)


@example("jackpot hits show live", "jackpot hits show live 3")
@hits.command("show")
@jackpot_argument
@click.argument("cycle", type=click.IntRange(1, LARGEST_NUMBER), required=False)
@json_option
def show_hit(jackpot_id: str, cycle: int | None, is_json: bool) -> None:  # noqa: FBT001
    """Show a hit with its cards and awards: that of a CYCLE, or the latest."""
    service = configured()
    listed = service.items(at("jackpots", jackpot_id, "hits"))
    answer = next((hit for hit in listed if cycle in {None, hit["cycle"]}), None)
    if answer is None:
        which = "was not won yet" if cycle is None else f"was not won in cycle {cycle}"
        raise UnknownHit(f"jackpot {jackpot_id} {which}")
    print_one(answer, lambda: _hit(answer), is_json=is_json)


def _hit(hit: Item) -> Iterator[str]:
    yield from fields(titled((*HITS, text("cards", "cards"), text("payment", "payment")), hit))
    yield ""
    yield from table(AWARDS, hit["awards"], indent="  ")


@click.group("paytable", cls=Group)
def paytable() -> None:
    """The prizes of a jackpot, in a currency."""


@example("jackpot paytable show live --currency SEK")
@paytable.command("show")
@jackpot_argument
@currency_option
@form_options
def show_paytable(jackpot_id: str, currency: str | None, form: Form | None) -> None:
    """Show the paytable of a jackpot, for one unit or token of a currency."""
    service = configured()
    answer = service.get(at("jackpots", jackpot_id, "paytable"), currency=currency)
    lines = [line.plus(currency=answer["currency"]) for line in answer["lines"]]
    if form is Form.JSON:
        print_object(answer)
        return
    if form is None:
        click.echo(f"{jackpot_id}, {answer['rulebook']} version {answer['rules_version']}, {answer['policy']}")
    columns = (text("tier", "tier"), Column("prize", _prize, is_figure=True), minor("amount now", "amount_minor"))
    print_items(lines, columns, form=form)


def _prize(line: Item) -> str:
    if member(line, "stake_multiple") is not None:
        return f"{line['stake_multiple']:,} times the stake"
    if member(line, "meter_part") is not None:
        return f"{line['meter_part']} of the meter"
    return f"{decimal(line['fixed_amount'])} in the base currency"


@click.group("rules", cls=Group)
def rules() -> None:
    """The rules of a jackpot, as they are printed for players."""


@example("jackpot rules show live", "jackpot rules show live --lang de --currency SEK")
@rules.command("show")
@jackpot_argument
@currency_option
@click.option("--lang", help="The language, such as de; default: en.")
@json_option
def show_rules(jackpot_id: str, currency: str | None, lang: str | None, is_json: bool) -> None:  # noqa: FBT001
    """Show the rules in force of a jackpot, in sentences and as settings, and those that wait for the next hit."""
    service = configured()
    answer = service.get(at("jackpots", jackpot_id, "rules"), currency=currency, lang=lang)
    print_one(answer, lambda: _rules(answer), is_json=is_json)


def _rules(answer: Item) -> list[str]:
    head = [
        ("jackpot", answer["jackpot_id"]),
        ("rules", f"{answer['rulebook']}, version {answer['version']}, approved {second(answer['approved_at'])}"),
        ("pays back", f"{answer['theoretical_return']['percent']} %"),
    ]
    prizes = (
        text("tier", "tier"),
        text("odds", "odds"),
        Column("prize", _prize, is_figure=True),
        Column("amount now", lambda prize: money(prize["amount_minor"], answer["currency"]), is_figure=True),
    )
    lines = [*fields(head), "", *map(_sentence, answer["text"]), "", *table(prizes, answer["prizes"], indent="  "), ""]
    lines += fields((f"  {name}", _setting(value)) for name, value in answer["rules"].items())
    pending = answer["pending"]
    if pending is not None:
        lines += ["", f"After the next hit version {pending['version']} applies:"]
        lines += fields((f"  {name}", _setting(value)) for name, value in pending["rules"].items())
    return lines


def _sentence(sentence: Any) -> str:  # noqa: ANN401  JSON
    return sentence if isinstance(sentence, str) else shown(sentence)


def _setting(value: Any) -> str:  # noqa: ANN401  JSON
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else shown(value)
