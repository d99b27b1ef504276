"""`jackpot audit|exceptions …`: the audit trail, and the cases that somebody must look into."""

from collections.abc import Iterator
from typing import Any

import click
from click.core import ParameterSource

from jackpot_service.cli import words
from jackpot_service.cli.lazy import Group, example
from jackpot_service.cli.options import (
    LARGEST_NUMBER,
    Identifier,
    form_options,
    from_option,
    json_option,
    list_options,
    request_id_option,
    require_order,
    to_option,
)
from jackpot_service.cli.printing import (
    Column,
    Form,
    count,
    fields,
    moment,
    money,
    print_items,
    print_list,
    print_one,
    second,
    shown,
    table,
    text,
    titled,
)
from jackpot_service.cli.service_api import Item, ServiceError, at, configured


def _reason(act: Item) -> str:
    mark = "EMERGENCY: " if act["is_emergency"] else ""
    return f"{mark}{act['reason'] or ''}"


ACTS = (
    count("act", "seq"),
    moment("booked at", "booked_at"),
    text("kind", "kind"),
    text("by", "principal"),
    Column("request", lambda act: shown(act["decides"] or act["request_id"])),
    text("about", "subject"),
    Column("reason", _reason),
)


def _place(exception: Item) -> str:
    names = [exception[name] for name in ("table_id", "round_id") if exception[name]]
    return " ".join(names) or shown(exception["jackpot_id"])


def _granted(exception: Item) -> str:
    return ", ".join(money(listed["amount_minor"], listed["currency"]) for listed in exception["granted"] or ()) or "-"


def _outcome(exception: Item) -> str:
    looked = exception["acknowledgement"]
    return "-" if looked is None else f"{looked['resolution']} by {looked['principal']}: {looked['reason']}"


EXCEPTIONS = (
    text("exception", "exception_id"),
    moment("noticed at", "noticed_at"),
    text("kind", "kind"),
    Column("place", _place),
    count("times", "count"),
    Column("granted", _granted),
    Column("outcome", _outcome),
    text("detail", "detail"),
)


EFFECTS = (text("book", "book"), count("seq", "seq"), text("kind", "kind"), text("recorded", "recorded"))

COUNTS = (
    text("kind", "kind"),
    count("exceptions", "exceptions"),
    count("acknowledged", "acknowledged"),
    count("refusals", "refusals"),
)


@example("jackpot audit --limit 20", "jackpot audit --principal Ann --from 2026-11-01T00:00:00Z --json")
@click.group("audit", cls=Group, invoke_without_command=True, subcommand_metavar="[show SEQ]")
@click.option("--principal", help="The user or service account that acted.")
@click.option("--kind", type=click.Choice(words.ACT_KINDS))
@click.option("--jackpot", "jackpot_id", type=Identifier())
@click.option("--subject", help="The object of the act, as the act names it: 'casino c1'.")
@click.option("--casino", "casino_id", type=Identifier(), help="That the act is about, or its claims or statements.")
@click.option("--request-id", type=Identifier(), help="Also finds what decided or did the change request of this id.")
@from_option
@to_option
@list_options
@click.pass_context
def audit(
    context: click.Context,
    /,
    limit: int | None,
    form: Form | None,
    start: str | None,
    end: str | None,
    **query: Any,  # noqa: ANN401  as click passes them
) -> None:
    """List administrative acts, the latest first: who did what, when and why. Operators see their own."""
    if context.invoked_subcommand is not None:
        _require_no_option_of_the_list(context)
        return
    require_order(start, end)
    query |= {"from": start, "to": end}
    print_list(configured(), at("audit"), query, ACTS, form=form, limit=limit)


def _require_no_option_of_the_list(context: click.Context) -> None:
    if any(context.get_parameter_source(name) is not ParameterSource.DEFAULT for name in context.params):
        message = f"the options of the list are not for one act: leave them out before {context.invoked_subcommand}"
        raise click.UsageError(message)


@example("jackpot audit show 17", "jackpot audit show 17 --json")
@audit.command("show")
@click.argument("seq", type=click.IntRange(1, LARGEST_NUMBER))
@json_option
def show_act(seq: int, is_json: bool) -> None:  # noqa: FBT001
    """Show an act by its number: what it found and left, and the entries that it booked."""
    act = configured().get(at("audit", seq))
    print_one(act, lambda: _act(act), is_json=is_json)


def _act(act: Item) -> Iterator[str]:
    yield from fields(
        [*titled(ACTS, act), ("received at", second(act["received_at"])), ("jackpot", shown(act["jackpot_id"]))]
    )
    for title in ("before", "after"):
        if act[title]:
            yield ""
            yield title
            yield from fields((f"  {name}", shown(value)) for name, value in act[title].items())
    if act["effects"]:
        yield ""
        yield from table(EFFECTS, act["effects"], indent="  ")


@click.group("exceptions", cls=Group)
def exceptions() -> None:
    """Late bets, miscounts, conflicts, rounds open too long, emergency approvals."""


@example(
    "jackpot exceptions list --unacknowledged", "jackpot exceptions list --kind late-bet --casino riga --csv > late.csv"
)
@exceptions.command("list")
@click.option("--kind", type=click.Choice(words.EXCEPTION_KINDS))
@click.option("--jackpot", "jackpot_id", type=Identifier())
@click.option("--casino", "casino_id", type=Identifier())
@click.option("--table", "table_id", type=Identifier())
@click.option("--acknowledged/--unacknowledged", default=None, help="Default: both.")
@from_option
@to_option
@list_options
def list_exceptions(
    limit: int | None,
    form: Form | None,
    start: str | None,
    end: str | None,
    **query: Any,  # noqa: ANN401  as click passes them
) -> None:
    """List exceptions, the latest first."""
    require_order(start, end)
    query |= {"from": start, "to": end}
    print_list(configured(), at("exceptions"), query, EXCEPTIONS, form=form, limit=limit)


@example("jackpot exceptions counts", "jackpot exceptions counts --unacknowledged --casino riga")
@exceptions.command("counts")
@click.option("--jackpot", "jackpot_id", type=Identifier())
@click.option("--casino", "casino_id", type=Identifier())
@click.option("--table", "table_id", type=Identifier())
@click.option("--acknowledged/--unacknowledged", default=None, help="Default: both.")
@from_option
@to_option
@form_options
def count_exceptions(form: Form | None, start: str | None, end: str | None, **query: Any) -> None:  # noqa: ANN401  as click passes them
    """Count exceptions by kind, with the refusals that they stand for."""
    require_order(start, end)
    answer = configured().get(at("exception-counts"), **query, **{"from": start, "to": end})
    print_items(answer["items"], COUNTS, form=form)


@example("jackpot exceptions show ex-17")
@exceptions.command("show")
@click.argument("exception_id", type=Identifier())
@json_option
def show_exception(exception_id: str, is_json: bool) -> None:  # noqa: FBT001
    """Show an exception with the facts of the call that it is about."""
    service = configured()
    exception = next(
        (listed for listed in service.items(at("exceptions")) if listed.get("exception_id") == exception_id), None
    )
    if exception is None:
        raise ServiceError(f"exception-unknown: there is no exception {exception_id}")
    print_one(exception, lambda: _exception(exception), is_json=is_json)


def _exception(exception: Item) -> Iterator[str]:
    yield from fields(titled(EXCEPTIONS, exception))
    yield ""
    yield from fields((f"  {name}", shown(value)) for name, value in exception["facts"].items())


@example('jackpot exceptions acknowledge ex-17 --reason "the table\'s clock was wrong"')
@exceptions.command("acknowledge")
@click.argument("exception_id", type=Identifier())
@click.option("--reason", required=True, help="The outcome.")
@request_id_option
def acknowledge(exception_id: str, reason: str, request_id: str) -> None:
    """Acknowledge an exception, and say what came of it."""
    path = at("exceptions", exception_id, "acknowledgement")
    _, done = configured().act("POST", path, {"request_id": request_id, "reason": reason})
    outcome = done.phrase(
        now="acknowledged", before="was acknowledged before, by this request", unsure="is acknowledged, by this request"
    )
    click.echo(f"Exception {exception_id}: {outcome}.", err=True)
