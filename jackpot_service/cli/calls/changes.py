"""`jackpot changes …`: change requests, asked for by one user and decided by another."""

from collections.abc import Iterator
from typing import Any, Final

import click

from jackpot_service.cli import change_fields, words
from jackpot_service.cli.change_effects import effect_lines, requested
from jackpot_service.cli.lazy import Group, example
from jackpot_service.cli.options import (
    Identifier,
    JsonFile,
    dry_run_option,
    form_options,
    json_option,
    list_options,
    new_request_id,
    pairs,
    reason_option,
)
from jackpot_service.cli.printing import (
    Form,
    fields,
    moment,
    print_items,
    print_list,
    print_one,
    table,
    text,
    titled,
)
from jackpot_service.cli.service_api import Done, Item, Service, at, configured

PENDING: Final = "pending"

COLUMNS = (
    text("request", "request_id"),
    text("state", "state"),
    text("kind", "kind"),
    text("by", "maker"),
    moment("made at", "made_at"),
    moment("expires at", "expires_at"),
    text("about", "subject"),
    text("reason", "reason"),
)

DECISIONS = (
    text("outcome", "outcome"),
    text("by", "checker"),
    moment("decided at", "decided_at"),
    text("emergency", "is_emergency"),
    text("reason", "reason"),
)

POLICY = (
    text("kind", "kind"),
    text("requested by", "requested_by"),
    text("decided by", "decided_by"),
    text("another department", "needs_other_department"),
    text("another role", "needs_other_role"),
    text("passkey", "needs_passkey"),
)

request_argument = click.argument("request_id", type=Identifier())


@click.group("changes", cls=Group)
def changes() -> None:
    """Changes that need two people: one requests, another approves."""


class Kinds(Group):
    """A command for each kind of change, made of its fields when it is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's
        """Name every kind."""
        return list(change_fields.FIELDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's
        """Return the command of a kind."""
        return _request_of(cmd_name) if cmd_name in change_fields.FIELDS else None


@example(
    'jackpot changes request rate-sheet --base EUR --rate GBP=1.18 --reason "as the market moved"',
    'jackpot changes request rate-sheet --payload rates.json --reason "as the market moved" --dry-run',
    "jackpot changes request adjustment --help",
)
@changes.group("request", cls=Kinds)
def request() -> None:
    """Request a change of a KIND, with its fields as options."""


def _request_of(kind: str) -> click.Command:
    options = [change_fields.option_of(name, field) for name, field in change_fields.FIELDS[kind].items()]
    common = [
        click.Option(["--payload"], type=JsonFile(), help="All fields as JSON: a file, or -."),
        click.Option(["--reason"], required=True, help="Why; it stands in the audit trail."),
        click.Option(
            ["--request-id"],
            type=Identifier(),
            default=new_request_id,
            show_default="a new one",
            help="Your id of it; the same again is a replay.",
        ),
        click.Option(["--base-version"], help="The version that you saw; refused if it is another by now."),
        click.Option(["--dry-run"], is_flag=True, help="Show what it would do, and do nothing."),
        click.Option(["--json", "is_json"], is_flag=True, help="As JSON, whole."),
    ]
    shown_example = f"jackpot changes request {kind} {change_fields.EXAMPLES[kind]} --reason …"
    return click.Command(
        kind,
        callback=lambda **options: _ask(kind, options),
        params=[*options, *common],
        help=f"Request a change of kind {kind}; another person decides it.",
        epilog=f"\b\nExamples:\n  {shown_example}",
        short_help=f"{', '.join(change_fields.FIELDS[kind])}",
    )


def _ask(kind: str, options: dict[str, Any]) -> None:
    stated = {name: options[name] for name in change_fields.FIELDS[kind] if options[name] not in (None, ())}
    document = options["payload"]
    if document is not None and stated:
        message = "give the fields as options, or all of them by --payload"
        raise click.UsageError(message)
    payload = change_fields.payload_of(kind, stated) if document is None else document
    body = {"request_id": options["request_id"], "kind": kind, "payload": payload, "reason": options["reason"]}
    if options["base_version"] is not None:
        body["base_version"] = options["base_version"]
    ask(configured(), body, is_dry_run=options["dry_run"], is_json=options["is_json"])


def ask(service: Service, body: Item, *, is_dry_run: bool, is_json: bool) -> None:
    """Request a change, print it, and say whether it was requested just now. Raises: ServiceError."""
    change, done = service.act("POST", at("change-requests"), body, dry_run=is_dry_run or None)
    print_request(change, done, is_dry_run=is_dry_run, is_json=is_json)


def print_request(change: Item, done: Done, *, is_dry_run: bool, is_json: bool) -> None:
    """Print a change request, and say whether it was requested just now."""
    print_change(change, is_json=is_json)
    state = change["state"]
    outcome = done.phrase(
        now="it waits for another user", before=f"it was requested before, and is {state}", unsure=f"it is {state}"
    )
    click.echo(f"Change request {change['request_id']}: {_stated(outcome, is_dry_run=is_dry_run)}.", err=True)


@example(
    "jackpot changes approve q1 --reason checked",
    'jackpot changes approve q1 --confirm GBP=1.40 --reason "the market fell"',
)
@changes.command("approve")
@request_argument
@click.option("--confirm", multiple=True, metavar="NAME=FIGURE", help="Repeat a figure that the request names.")
@reason_option
@click.option("--emergency", is_flag=True, help="Approve your own request, alone, where jackpot db emergency is on.")
@dry_run_option
@json_option
def approve(  # noqa: PLR0917  click passes what its options say
    request_id: str,
    confirm: tuple[str, ...],
    reason: str,
    emergency: bool,  # noqa: FBT001
    dry_run: bool,  # noqa: FBT001
    is_json: bool,  # noqa: FBT001
) -> None:
    """Approve what somebody else requested. The last approval that is due also does it."""
    body = {"reason": reason, "confirm": pairs(confirm, option="--confirm"), "emergency": emergency}
    query = {"dry_run": True} if dry_run else {}
    change = configured().post(at("change-requests", request_id, "approval"), body, **query)
    print_change(change, is_json=is_json)
    waits_for = change["approvals_due"] - len(change["decisions"])
    done = "approved and done" if change["decision"] else f"approved; {waits_for} more must approve it"
    click.echo(f"Change request {request_id}: {_stated(done, is_dry_run=dry_run)}.", err=True)


@example('jackpot changes reject q1 --reason "the wrong jackpot"')
@changes.command("reject")
@request_argument
@reason_option
@json_option
def reject(request_id: str, reason: str, is_json: bool) -> None:  # noqa: FBT001
    """Reject what somebody else requested."""
    change = configured().post(at("change-requests", request_id, "rejection"), {"reason": reason})
    print_change(change, is_json=is_json)
    click.echo(f"Change request {request_id}: rejected.", err=True)


@example("jackpot changes list", "jackpot changes list --state all --kind rate-sheet --csv > rates.csv")
@changes.command("list")
@click.option("--state", type=click.Choice([*words.CHANGE_STATES, "all"]), default="pending", show_default=True)
@click.option("--kind", type=click.Choice(list(change_fields.FIELDS)))
@list_options
def list_changes(state: str, kind: str | None, limit: int | None, form: Form | None) -> None:
    """List change requests, the latest first."""
    query = {"state": None if state == "all" else state, "kind": kind}
    print_list(configured(), at("change-requests"), query, COLUMNS, form=form, limit=limit)


@example("jackpot changes counts", "jackpot changes counts --kind rate-sheet")
@changes.command("counts")
@click.option("--kind", type=click.Choice(list(change_fields.FIELDS)))
@json_option
def count_changes(kind: str | None, is_json: bool) -> None:  # noqa: FBT001
    """Count change requests by state."""
    answer = configured().get(at("change-request-counts"), kind=kind)
    print_one(answer, lambda: fields((state, f"{answer[state]:,}") for state in words.CHANGE_STATES), is_json=is_json)


@example("jackpot changes show q1")
@changes.command("show")
@request_argument
@json_option
def show_change(request_id: str, is_json: bool) -> None:  # noqa: FBT001
    """Show a change request: its fields, its decisions, and what it does, before | after."""
    print_change(configured().get(at("change-requests", request_id)), is_json=is_json)


@example("jackpot changes policy", "jackpot changes policy --version 1")
@changes.command("policy")
@click.option("--version", type=click.IntRange(1), help="Another version than the one in force.")
@form_options
def show_policy(version: int | None, form: Form | None) -> None:
    """Show who requests each kind of change, and who decides it."""
    policy = configured().get(at("change-policy"), version=version)
    if form is None:
        click.echo(f"Change policy, version {policy['version']:,}")
    print_items(policy["kinds"], POLICY, form=form)


def print_change(change: Item, *, is_json: bool) -> None:
    """Print a change request whole: as JSON, or what it asks for and what it does, in words."""
    print_one(change, lambda: _lines(change), is_json=is_json)


def _lines(change: Item) -> Iterator[str]:
    effect, payload = change["effect"], requested(change)
    rows = list(titled(COLUMNS, change))
    rows += [("based on version", change["base_version"]), ("approvals due", str(change["approvals_due"]))]
    yield from fields(rows)
    yield ""
    yield from fields((f"  {name}", value) for name, value in payload)
    if change["decisions"]:
        yield ""
        yield from table(DECISIONS, change["decisions"], indent="  ")
    if effect is not None:
        yield ""
        yield from effect_lines(effect, payload)
    if change["confirm"] and change["state"] == PENDING:
        repeated = " ".join(f"--confirm {name}={figure}" for name, figure in change["confirm"].items())
        yield ""
        yield f"Who approves it repeats these figures: {repeated}"


def _stated(done: str, *, is_dry_run: bool) -> str:
    return "nothing was done, this was a dry run" if is_dry_run else done
