"""`jackpot awards …`: awards and their payment, those that nobody claimed, and the evidence that waiting ones need."""

from pathlib import Path
from typing import Any

import click

from jackpot_service.cli import words
from jackpot_service.cli.lazy import Group, example
from jackpot_service.cli.options import (
    Identifier,
    Instant,
    Sha256,
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
    money,
    print_items,
    print_list,
    print_object,
    print_one,
    shown,
    table,
    text,
    titled,
)
from jackpot_service.cli.repeating import perhaps_done
from jackpot_service.cli.service_api import Item, at, configured
from jackpot_service.cli.writing import opened, output_option

COLUMNS = (
    text("award", "award_id"),
    text("jackpot", "jackpot_id"),
    text("table", "table_id"),
    text("round", "round_id"),
    text("bet", "bet_id"),
    text("player", "player_id"),
    text("tier", "tier"),
    minor("amount", "amount_minor"),
    minor("paid", "paid_minor"),
    text("state", "state"),
)

TOTALS = (
    text("state", "state"),
    text("age", "age"),
    count("awards", "awards"),
    minor("unpaid", "unpaid_minor"),
)

STEPS = (text("step", "step"), moment("taken at", "taken_at"), text("act", "act"))

PAGE = "text/html"

award_argument = click.argument("award_id", type=Identifier())


@click.group("awards", cls=Group)
def awards() -> None:
    """Awards; held, rejected and stopped ones are decided by: jackpot changes request held-awards."""


@example(
    "jackpot awards list --state held",
    "jackpot awards list --open --oldest-first",
    "jackpot awards list --claimable-before 2026-12-01T00:00:00Z",
    "jackpot awards list --casino riga --csv > awards.csv",
)
@awards.command("list")
@click.option("--state", type=click.Choice(words.AWARD_STATES), help="Default: all.")
@click.option("--jackpot", "jackpot_id", type=Identifier())
@click.option("--casino", "casino_id", type=Identifier())
@click.option("--player", "player_id", type=Identifier())
@click.option("--open", "open", is_flag=True, help="Those of which something is still to be paid or decided.")
@click.option("--claimable-before", type=Instant(), help="Those whose claim period ends before that, or has ended.")
@click.option("--oldest-first", is_flag=True, help="Those of the oldest rounds first. Not with --player.")
@list_options
def list_awards(limit: int | None, form: Form | None, **query: Any) -> None:  # noqa: ANN401  as click passes them
    """List all awards, those of the latest rounds first."""
    query |= {name: query[name] or None for name in ("open", "oldest_first")}
    print_list(configured(), at("awards"), query, COLUMNS, form=form, limit=limit)


@example("jackpot awards totals", "jackpot awards totals --casino riga --csv > totals.csv")
@awards.command("totals")
@click.option("--jackpot", "jackpot_id", type=Identifier())
@click.option("--casino", "casino_id", type=Identifier())
@form_options
def show_totals(form: Form | None, **query: Any) -> None:  # noqa: ANN401  as click passes them
    """Sum up the awards that are to be paid or decided, by state, currency and age in days."""
    print_items(configured().get(at("award-totals"), **query)["items"], TOTALS, form=form)


@example("jackpot awards show aw_3ec109e5f5d233bbed8118c8c5ede2f1")
@awards.command("show")
@award_argument
@json_option
def show_award(award_id: str, is_json: bool) -> None:  # noqa: FBT001
    """Show an award: what it is worth, its steps and its payments."""
    service = configured()
    answer = service.get(at("awards", award_id))
    print_one(answer, lambda: _award(answer), is_json=is_json)


def _award(answer: Item) -> list[str]:
    currency = answer["currency"]
    rows = [
        *titled(COLUMNS, answer),
        ("casino", answer["casino_id"]),
        ("cost, in the base currency", exact("", "cost_base").cell(answer)),
        ("funded by", answer["funded_by"]),
        ("claimable until", shown(answer["claimable_until"])),
        ("to be withheld", money(answer["withholding_due_minor"], currency)),
        ("withheld", money(answer["withheld_minor"], currency)),
    ]
    payments = [payment.plus(currency=currency) for payment in answer["payments"]]
    columns = (
        text("reference", "reference"),
        minor("amount", "amount_minor"),
        minor("withheld", "withheld_minor"),
        moment("paid at", "paid_at"),
        text("channel", "channel"),
        text("payer", "payer"),
        text("reversed by", "reversed_by"),
    )
    paid = list(table(columns, payments, indent="  "))
    return [*fields(rows), "", *table(STEPS, answer["steps"], indent="  "), *([""] if paid else []), *paid]


@example('jackpot awards pay aw_3ec109e5f5d233bbed8118c8c5ede2f1 --reference "slip 7" --channel cage')
@awards.command("pay")
@award_argument
@click.option("--reference", required=True, help="The casino's own; it names one payment of the award, for ever.")
@click.option("--amount-minor", type=click.IntRange(1), help="In minor units; default: all that is unpaid.")
@click.option("--currency", help="The award's, if it is stated.")
@click.option("--paid-at", type=Instant(), help="When it was paid.")
@click.option("--channel", type=click.Choice(words.CHANNELS))
@click.option("--payer", help="The person who handed the money over.")
@click.option("--withheld-minor", type=click.IntRange(0), help="The part that was kept for the authority.")
@request_id_option
def pay_award(award_id: str, **stated: Any) -> None:  # noqa: ANN401  as click passes them
    """Record that a casino paid an award, or a part of it."""
    body = {name: value for name, value in stated.items() if value is not None}
    _print_state(configured().put(at("awards", award_id, "payment"), body))


@example('jackpot awards stop aw_3ec109e5f5d233bbed8118c8c5ede2f1 --reason "the cards are in doubt"')
@awards.command("stop")
@award_argument
@reason_option
@request_id_option
def stop_award(award_id: str, reason: str, request_id: str) -> None:
    """Stop the payment of an award, or of its unpaid rest; two people release it: changes request held-awards."""
    body = {"reason": reason, "request_id": request_id}
    _print_state(configured().put(at("awards", award_id, "stop"), body))


def _print_state(answer: Item) -> None:
    paid, amount = (money(answer[name], answer["currency"]) for name in ("paid_minor", "amount_minor"))
    click.echo(f"Award {answer['award_id']} is {answer['state']}: {paid} of {amount} paid.", err=True)


@example("jackpot awards unclaimed")
@awards.command("unclaimed")
@json_option
def note_unclaimed_awards(is_json: bool) -> None:  # noqa: FBT001
    """Note each award that nobody claimed as an exception, once. A timer runs it daily, by a service account."""
    service = configured()
    unclaimed = new = 0
    body: Item = {}
    while True:
        noted = service.post(at("unclaimed-awards"), body)
        unclaimed, new = unclaimed + noted["unclaimed"], new + noted["new"]
        after = noted["next"]
        if after is None:
            break
        body = {"after": after}
    if is_json:
        print_object({"unclaimed": unclaimed, "new": new})
    else:
        click.echo(f"Unclaimed awards: {unclaimed:,}, noted now: {new:,}.")


@example(
    "jackpot awards evidence T1 R1",
    'jackpot awards evidence T1 R1 --kind surveillance --statement "recording 17, 21:10"',
)
@awards.command("evidence")
@click.argument("table_id", type=Identifier())
@click.argument("round_id", type=Identifier())
@click.option("--kind", type=click.Choice(words.EVIDENCE), help="Which evidence to record.")
@click.option("--statement", help="For example the recording's reference.")
@click.option("--sha256", type=Sha256(), help="Of a file that is kept elsewhere.")
@request_id_option
@json_option
def evidence(  # noqa: PLR0917  click passes what its options say
    table_id: str,
    round_id: str,
    kind: str | None,
    statement: str | None,
    sha256: str | None,
    request_id: str,
    is_json: bool,  # noqa: FBT001
) -> None:
    """Show the evidence that waiting awards of a round need. With --kind, record some first."""
    if (kind is None) is not (statement is None):
        message = "--kind and --statement go together"
        raise click.UsageError(message)
    service, path = configured(), at("tables", table_id, "rounds", round_id, "evidence")
    if kind is None:
        answer = service.get(path)
    else:
        stated = {"request_id": request_id, "kind": kind, "statement": statement, "sha256": sha256}
        answer = service.post(path, {name: value for name, value in stated.items() if value is not None})
    print_one(answer, lambda: _evidence(answer), is_json=is_json)


def _evidence(answer: Item) -> list[str]:
    needed = answer["requirement"] or {}
    rows = [
        ("round", f"{answer['table_id']}/{answer['round_id']} of {answer['jackpot_id']}"),
        ("approvals needed", shown(needed.get("approvals"))),
        ("evidence needed", shown(needed.get("evidence", []))),
        ("missing", shown(answer["missing"])),
    ]
    columns = (
        text("kind", "kind"),
        text("recorded by", "principal"),
        moment("recorded at", "recorded_at"),
        text("SHA-256", "sha256"),
        text("statement", "statement"),
    )
    return [*fields(rows), "", *table(columns, answer["recorded"], indent="  ")]


@example("jackpot awards slip aw_3ec109e5f5d233bbed8118c8c5ede2f1 --print --output slip.html")
@awards.command("slip")
@award_argument
@click.option("--lang", help="The language, such as de; default: en.")
@click.option("--print", "is_new", is_flag=True, help="Print it, or print it again: each printing is recorded.")
@request_id_option
@output_option
def slip(award_id: str, lang: str | None, is_new: bool, request_id: str, output: Path | None) -> None:  # noqa: FBT001
    """Write the slip of an award, as a page to print (HTML)."""
    method, body = ("POST", {"request_id": request_id}) if is_new else ("GET", None)
    path = at("awards", award_id, "slip")
    service = configured()
    answer = service.answer(method, path, body=body, query={"lang": lang}, accept=PAGE)
    service.require_type(answer, PAGE, perhaps_done(answer.request, body))
    with opened(output) as file:
        file.write(answer.content)
