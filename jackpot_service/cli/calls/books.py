"""`jackpot books …`: a jackpot's journal as a file, and how far the books are proved, sealed and closed."""

from collections.abc import Iterator
from pathlib import Path

import click

from jackpot_service.cli import words
from jackpot_service.cli.calls import jobs
from jackpot_service.cli.lazy import Group, example
from jackpot_service.cli.options import Identifier, Instant, json_option, list_options, request_id_option
from jackpot_service.cli.printing import Form, count, fields, moment, print_list, print_one, second, table, text
from jackpot_service.cli.service_api import Item, ServiceError, at, configured
from jackpot_service.cli.writing import output_option

BOOKS = (text("jackpot", "jackpot_id"), moment("reconciled to", "reconciled_to"))

HEADS = (
    text("book", "book"),
    count("stripe", "stripe"),
    count("seq", "seq"),
    moment("booked at", "booked_at"),
    text("head", "head"),
)


@click.group("books", cls=Group)
def books() -> None:
    """The books as files, and their checkpoints."""


@example("jackpot books export live --format beancount --output live.beancount")
@books.command("export")
@click.argument("jackpot_id", type=Identifier())
@click.option("--format", "form", type=click.Choice(words.JOURNAL_FORMS), required=True)
@click.option(
    "--as-of", type=Instant(), help="Only entries booked before this instant. Default: all that is committed."
)
@request_id_option
@output_option
def export_journal(jackpot_id: str, form: str, as_of: str | None, request_id: str, output: Path | None) -> None:
    """Write a jackpot's journal for accounting programs. A job makes it, by jackpot serve or jobs worker."""
    service = configured()
    stated = {"jackpot_id": jackpot_id, "format": form, **({} if as_of is None else {"as_of": as_of})}
    job_id = str(jobs.created(service, "journal", stated, request_id=request_id)["job_id"])
    jobs.wait_for(service, job_id)
    job = service.get(at("jobs", job_id))
    if job["state"] != jobs.DONE:
        raise ServiceError(f"job-not-done: job {job_id} is {job['state']}: {job['error'] or 'it was ended'}")
    jobs.write_file(service, job_id, output)


@example("jackpot books heads", "jackpot books heads --csv > heads.csv")
@books.command("heads")
@list_options
def list_heads(limit: int | None, form: Form | None) -> None:
    """List where the chain of every stripe ends now, by book and stripe."""
    print_list(configured(), at("stripe-heads"), {}, HEADS, form=form, limit=limit)


@example("jackpot books checkpoints")
@books.command("checkpoints")
@json_option
def show_checkpoints(is_json: bool) -> None:  # noqa: FBT001
    """Show when the books were last verified, sealed and closed, and how far each jackpot's is reconciled."""
    answer = configured().get(at("checkpoints"))
    print_one(answer, lambda: _checkpoints(answer), is_json=is_json)


def _checkpoints(answer: Item) -> Iterator[str]:
    rows = [
        ("last verification", _when(answer["last_verification"], "noted_at")),
        ("last whole verification", _when(answer["last_whole_verification"], "noted_at")),
        ("last seal", _when(answer["last_seal"], "booked_at")),
        ("last closed period", _when(answer["last_closed_period"], "to")),
    ]
    yield from fields(rows)
    yield ""
    yield from table(BOOKS, answer["books"], indent="  ")


def _when(answer: Item | None, name: str) -> str:
    if answer is None:
        return "never"
    number = f"number {answer['number']}, " if "number" in answer else ""
    return f"{number}{second(answer[name])}"
