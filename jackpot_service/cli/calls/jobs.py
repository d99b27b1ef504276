"""`jackpot jobs …`: long work that is done in the background, and the files that it leaves for a while."""

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import click

from jackpot_service.cli import words
from jackpot_service.cli.lazy import Lazy, LazyGroup, example
from jackpot_service.cli.options import (
    Identifier,
    JsonObject,
    json_option,
    list_options,
    pairs,
    request_id_option,
)
from jackpot_service.cli.printing import (
    Column,
    Form,
    fields,
    moment,
    print_list,
    print_one,
    second,
    shown,
    text,
    titled,
)
from jackpot_service.cli.progress import shown_progress
from jackpot_service.cli.service_api import Item, NoAnswer, Service, at, configured
from jackpot_service.cli.writing import opened, output_option

PAUSE_S: Final = 0.5

RUNNING, DONE, FAILED, CANCELLED = "running", "done", "failed", "cancelled"

OVER: Final = frozenset({DONE, FAILED, CANCELLED})

LISTS: Final = frozenset({"by", "positions"})
"""The parameters that are lists: their values have commas between."""


def _progress(job: Item) -> str:
    if job["state"] == FAILED:
        return shown(job["error"])
    if job["state"] != RUNNING:
        return "-"
    of = job["progress"]
    done = f"{of['done']:,}" if of["total"] is None else f"{of['done']:,} of {of['total']:,}"
    left = of["remaining_seconds"]
    return done if left is None else f"{done}, {timedelta(seconds=left)} left"


COLUMNS = (
    text("job", "job_id"),
    moment("created at", "created_at"),
    text("by", "principal"),
    text("kind", "kind"),
    text("state", "state"),
    Column("file", lambda job: "-" if job["file"] is None else job["file"]["name"]),
    Column("progress", _progress),
)

job_argument = click.argument("job_id", type=Identifier())


@click.group(
    "jobs",
    cls=LazyGroup,
    lazily={
        "cancel": Lazy("calls.jobs:cancel", "End a job."),
        "create": Lazy("calls.jobs:create", "Create a job."),
        "fetch": Lazy("calls.jobs:fetch", "Write the file of a job that is done."),
        "list": Lazy("calls.jobs:list_jobs", "List jobs, the latest first."),
        "show": Lazy("calls.jobs:show_job", "Show a job."),
        "worker": Lazy("job_worker:worker", "Do jobs, with the database, until Ctrl-C.", "On the machine"),
    },
)
def jobs() -> None:
    """Long exports: created, done in the background, and fetched as files."""


@example(
    "jackpot jobs create journal jackpot_id=live format=beancount",
    "jackpot jobs create verification from=zero",
    "jackpot jobs create report name=pool-movements format=xlsx by=cycle,casino from=2026-11-01",
)
@click.command("create")
@click.argument("kind", type=click.Choice(words.JOB_KINDS))
@click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--parameters", "document", type=JsonObject(), help="All of them as JSON, @FILE or -.")
@request_id_option
def create(kind: str, parameters: tuple[str, ...], document: Any, request_id: str) -> None:  # noqa: ANN401  JSON
    """Create a job. Its id is printed."""
    if document is not None and parameters:
        message = "give the parameters as NAME=VALUE, or as --parameters"
        raise click.UsageError(message)
    stated = document if document is not None else _values(pairs(parameters, option="NAME=VALUE"))
    job = created(configured(), kind, stated, request_id=request_id)
    click.echo(job["job_id"])


def created(service: Service, kind: str, parameters: Item, *, request_id: str) -> Item:
    """Create a job, or find it if this request created it before. Raises: ServiceError."""
    body = {"request_id": request_id, "kind": kind, "parameters": parameters}
    return service.post(at("jobs"), body)


def _values(stated: dict[str, str]) -> dict[str, Any]:
    return {name: value.split(",") if name in LISTS else value for name, value in stated.items()}


@example("jackpot jobs list --state running")
@click.command("list")
@click.option("--state", type=click.Choice(words.JOB_STATES))
@list_options
def list_jobs(state: str | None, limit: int | None, form: Form | None) -> None:
    """List jobs, the latest first."""
    print_list(configured(), at("jobs"), {"state": state}, COLUMNS, form=form, limit=limit)


@example("jackpot jobs show 0123456789abcdef")
@click.command("show")
@job_argument
@json_option
def show_job(job_id: str, is_json: bool) -> None:  # noqa: FBT001
    """Show a job: its parameters, how far it is, and its file."""
    job = configured().get(at("jobs", job_id))
    print_one(job, lambda: fields(_job(job)), is_json=is_json)


def _job(job: Item) -> Iterator[tuple[str, str]]:
    yield from titled(COLUMNS, job)
    yield "parameters", shown(job["parameters"])
    yield "ended at", second(job["ended_at"])
    if job["file"] is not None:
        yield "kept until", second(job["file"]["kept_until"])


@example("jackpot jobs cancel 0123456789abcdef")
@click.command("cancel")
@job_argument
def cancel(job_id: str) -> None:
    """End a job; one that is over stays as it is."""
    job = configured().post(at("jobs", job_id, "cancellation"), {})
    click.echo(f"Job {job_id} is {job['state']}.", err=True)


@example("jackpot jobs fetch 0123456789abcdef --wait --output live.beancount")
@click.command("fetch")
@job_argument
@click.option("--wait", is_flag=True, help="Wait until it is done, by jackpot serve or jobs worker.")
@output_option
def fetch(job_id: str, wait: bool, output: Path | None) -> None:  # noqa: FBT001
    """Write the file of a job that is done, to standard output or to --output."""
    service = configured()
    if wait:
        wait_for(service, job_id)
    write_file(service, job_id, output)


def wait_for(service: Service, job_id: str) -> None:
    """Wait until a job is over, and show how far it is. Raises: ServiceError."""
    with shown_progress() as count:
        while True:
            job = service.get(at("jobs", job_id))
            count(job["progress"]["done"], job["progress"]["total"], f"job {job_id}")
            if job["state"] in OVER:
                return
            time.sleep(PAUSE_S)


def write_file(service: Service, job_id: str, output: Path | None) -> None:
    """Write the file of a job, piece by piece. Raises: ServiceError, also if it breaks off."""
    with service.stream(at("jobs", job_id, "file")) as answer, opened(output) as file:
        stated, written = answer.headers.get("Content-Length", ""), 0
        for piece in answer.iter_bytes():
            written += len(piece)
            file.write(piece)
        if stated.isdigit() and int(stated) != written:
            raise NoAnswer(f"the file broke off after {written:,} bytes of {int(stated):,}: fetch it again")
