"""`jackpot seals|verifications|reconciliations …`: how far the books are sealed, verified and reconciled."""

from collections.abc import Iterator

import click

from jackpot_service.cli.lazy import Group, example
from jackpot_service.cli.options import LARGEST_NUMBER, Identifier, Instant, json_option, list_options
from jackpot_service.cli.printing import (
    Column,
    Form,
    count,
    exact,
    fields,
    moment,
    print_list,
    print_one,
    second,
    shown,
    table,
    text,
    titled,
)
from jackpot_service.cli.service_api import Item, ServiceError, at, configured

SEALS = (
    count("seal", "number"),
    moment("booked at", "booked_at"),
    text("by", "principal"),
    count("act", "act"),
    text("signing key", "public_key_id"),
    text("SHA-256", "sha256"),
)

STRIPES = (
    text("book", "book"),
    count("stripe", "stripe"),
    count("seq", "seq"),
    text("head", "head"),
)

VERIFICATIONS = (
    count("note", "number"),
    moment("begun at", "begun_at"),
    moment("noted at", "noted_at"),
    text("ended", "is_whole"),
    count("continues", "continues"),
    count("entries", "entries"),
    count("rounds", "rounds"),
    count("bets", "bets"),
    count("awards", "awards"),
    text("version", "service_version"),
)


def _outcome(run: Item) -> str:
    outcome = run["outcome"]
    if outcome is None:
        return run["error"] or "-"
    return "nothing is wrong" if outcome["is_clean"] else f"mismatches: {outcome['mismatches']:,}"


RUNS = (
    text("job", "job_id"),
    text("from", "from"),
    text("by", "principal"),
    moment("created at", "created_at"),
    text("state", "state"),
    count("done", "progress.done"),
    count("of", "progress.total"),
    moment("ended at", "ended_at"),
    Column("outcome", _outcome),
)

MISMATCHES = (text("code", "code"), text("book", "book"), text("place", "place"), text("detail", "detail"))

RECONCILIATIONS = (
    text("jackpot", "jackpot_id"),
    text("agrees", "agrees"),
    moment("compared to", "to"),
    moment("read at", "read_at"),
    count("figures", "compared"),
    Column("variances", lambda item: f"{len(item['variances']):,}", is_figure=True, members=("variances",)),
    text("waits since", "waits_since"),
)

VARIANCES = (
    text("section", "section"),
    text("account", "account"),
    count("rules", "rules_version"),
    text("movement", "movement"),
    exact("expected", "expected", "currency"),
    exact("booked", "booked", "currency"),
    exact("variance", "variance", "currency"),
)

as_of_option = click.option("--as-of", type=Instant(), help="As it was known at this instant. Default: now.")


@click.group("seals", cls=Group)
def seals() -> None:
    """Seals of the books: list and show them. `jackpot seal` makes one, on the machine."""


@example("jackpot seals list", "jackpot seals list --csv > seals.csv")
@seals.command("list")
@list_options
def list_seals(limit: int | None, form: Form | None) -> None:
    """List the seals of the books, the latest first."""
    print_list(configured(), at("seals"), {}, SEALS, form=form, limit=limit)


@example("jackpot seals show 1", "jackpot seals show 1 --json > seal-1.json")
@seals.command("show")
@click.argument("number", type=click.IntRange(1, LARGEST_NUMBER))
@click.option("--json", "is_json", is_flag=True, help="As JSON, byte by byte as it was signed.")
def show_seal(number: int, is_json: bool) -> None:  # noqa: FBT001
    """Show a seal: where the chain of each stripe ended."""
    service = configured()
    answer = service.answer("GET", at("seals", number))
    seal = service.json(answer)
    if is_json:
        click.echo(answer.content, nl=False)
    else:
        print_one(seal, lambda: _seal(seal), is_json=False)


def _seal(seal: Item) -> Iterator[str]:
    before = seal["previous"]
    rows = [
        ("seal", f"{seal['number']:,}"),
        ("sealed at", second(seal["sealed_at"])),
        ("by version", seal["service_version"]),
        ("signing key", seal["public_key_id"]),
        ("signature", seal["signature"]),
        ("seal before", "-" if before is None else f"{before['number']:,}, SHA-256 {before['sha256']}"),
    ]
    yield from fields(rows)
    yield ""
    members = ("book", "stripe", "seq", "head")
    yield from table(STRIPES, [dict(zip(members, stripe, strict=True)) for stripe in seal["stripes"]], indent="  ")


@click.group("verifications", cls=Group)
def verifications() -> None:
    """Verifications of the books: their notes, and those that are jobs."""


@example("jackpot verifications list --limit 10")
@verifications.command("list")
@list_options
def list_verifications(limit: int | None, form: Form | None) -> None:
    """List the notes of verifications, the latest first. A note says that nothing was wrong until then."""
    print_list(configured(), at("verifications"), {}, VERIFICATIONS, form=form, limit=limit)


@example("jackpot verifications runs --limit 5", "jackpot verifications runs --json > runs.jsonl")
@verifications.command("runs")
@list_options
def list_runs(limit: int | None, form: Form | None) -> None:
    """List the verifications that were started as jobs, the latest first: how far each is, and what came out."""
    print_list(configured(), at("verification-runs"), {}, RUNS, form=form, limit=limit)


@example("jackpot verifications show 006613ab60d03d8-9386aa2ee8ec1ab7")
@verifications.command("show")
@click.argument("job_id", type=Identifier())
@json_option
def show_run(job_id: str, is_json: bool) -> None:  # noqa: FBT001
    """Show a verification that was started as a job, with its first mismatches; `jackpot jobs fetch` has more."""
    service = configured()
    run = next((listed for listed in service.items(at("verification-runs")) if listed.get("job_id") == job_id), None)
    if run is None:
        raise ServiceError(f"job-unknown: there is no verification {job_id}")
    print_one(run, lambda: _run(run), is_json=is_json)


def _run(run: Item) -> Iterator[str]:
    yield from fields(titled(RUNS, run))
    if run["outcome"] is not None:
        names = ("note", "continues", "books", "entries", "rounds", "bets", "awards", "service_version")
        yield ""
        yield from fields((f"  {name.replace('_', ' ')}", shown(run["outcome"][name])) for name in names)
        if run["outcome"]["first_mismatches"]:
            yield ""
            yield from table(MISMATCHES, run["outcome"]["first_mismatches"], indent="  ")


@click.group("reconciliations", cls=Group)
def reconciliations() -> None:
    """Whether documents and journal agree, jackpot by jackpot."""


@example("jackpot reconciliations list", "jackpot reconciliations list --as-of 2026-11-20T00:00:00Z --json")
@reconciliations.command("list")
@as_of_option
@list_options
def list_reconciliations(as_of: str | None, limit: int | None, form: Form | None) -> None:
    """List by jackpot whether documents and journal agree, and up to which instant they were compared."""
    print_list(configured(), at("reconciliations"), {"as_of": as_of}, RECONCILIATIONS, form=form, limit=limit)


@example("jackpot reconciliations show live")
@reconciliations.command("show")
@click.argument("jackpot_id", type=Identifier())
@as_of_option
@json_option
def show_reconciliation(jackpot_id: str, as_of: str | None, is_json: bool) -> None:  # noqa: FBT001
    """Show the reconciliation of a jackpot, with the figures that differ."""
    items = configured().items(at("reconciliations"), {"as_of": as_of})
    reconciliation = next((item for item in items if item["jackpot_id"] == jackpot_id), None)
    if reconciliation is None:
        raise ServiceError(f"jackpot-unknown: there is no jackpot {jackpot_id}")
    print_one(reconciliation, lambda: _reconciliation(reconciliation), is_json=is_json)


def _reconciliation(reconciliation: Item) -> Iterator[str]:
    yield from fields(titled(RECONCILIATIONS, reconciliation))
    if reconciliation["variances"]:
        yield ""
        yield from table(VARIANCES, reconciliation["variances"], indent="  ")
