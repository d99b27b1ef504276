"""`jackpot reports …`: what the books say, on the terminal or as a file."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from jackpot_service.api.periods import closed
from jackpot_service.auth.authenticator import require_house, require_role
from jackpot_service.cli.opening import opened_engine, signed_act
from jackpot_service.cli.values import Day, Value, reason_option, request_id_option
from jackpot_service.cli.writing import opened, output_option
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import read
from jackpot_service.domain.principals import Role
from jackpot_service.exports import files, xlsx_file
from jackpot_service.reports import making, questions
from jackpot_service.reports.documents import Document
from jackpot_service.reports.finance import frame
from jackpot_service.reports.finance.registry import REPORTS, report_of
from jackpot_service.reports.making import bounded, made
from jackpot_service.reports.questions import By, QuestionSchema
from jackpot_service.usecases.fields import Identifier, Instant, InstantOrDay

TEXT, CSV, XLSX = "text", "csv", "xlsx"

_METAVARS: Final = {Identifier: "id", Instant: "time", InstantOrDay: "time or day"}


@click.group("reports")
def reports() -> None:
    """Reports of the books, as of any time."""


@reports.command("list")
def list_reports() -> None:
    """List the reports there are, and what they sum by."""
    for report in REPORTS.values():
        by = f", by {', '.join(report.by)}" if report.by else ""
        click.echo(f"{report.name:<20} {report.title}{by}")


def _question_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command an option for each field of a question."""
    for name, field in reversed(QuestionSchema().fields.items()):
        option, text = (field.data_key or name).removesuffix("_id").replace("_", "-"), field.metadata.get("description")
        of_type = (
            click.Choice([one.value for one in By])
            if name == "by"
            else Value(_METAVARS[type(field)], field.deserialize)
        )
        command = click.option(f"--{option}", name, type=of_type, multiple=name == "by", help=text)(command)
    return command


@reports.command("show")
@click.argument("name", type=click.Choice(list(REPORTS)))
@_question_options
@click.option("--format", "form", type=click.Choice([TEXT, CSV, XLSX]), default=TEXT, show_default=True)
@click.option("--section", help="Only this one. A CSV file holds one: the first, unless stated.")
@output_option
@click.pass_obj
def show_report(
    config: Config,
    /,
    *,
    name: str,
    form: str,
    section: str | None,
    output: Path | None,
    **query: Any,  # noqa: ANN401  the fields of a question
) -> None:
    """
    Make the report NAME, and print it or write it to a file.

    A day is one of UTC; of a report of a casino, or of a table, it is the casino's gaming day.
    """
    report = report_of(name)
    frame.require_section(report, section)
    question = questions.question_of({**query, "by": tuple(map(By, query["by"]))})
    with opened_engine(config) as engine:
        now = datetime.now(UTC)
        parameters = read(
            engine, lambda session: making.parameters_of(session, report, question, config.longest_open, now=now)
        )
        with made(engine, report, parameters, now=now) as whole:
            _write(whole.narrowed(section), form, output)


@reports.command("close")
@click.option("--to", "end", type=Day(), required=True, help="An instant that is over, or a day; not included.")
@reason_option
@request_id_option
@click.pass_obj
def close_a_period(config: Config, end: datetime, reason: str, request_id: str) -> None:
    """Close everything before an instant, under the name that JACKPOT_KEY gives: its reports are kept by hashes."""
    with opened_engine(config) as engine:
        act = signed_act(config, engine, request_id=request_id, reason=reason)
        require_role(act.principal, frozenset({Role.FINANCE}))
        require_house(act.principal)
        done = closed(engine, act, end).period
    for name, kept in sorted(done.reports.items()):
        click.echo(f"{kept.sha256}  {name}")


def _write(document: Document, form: str, output: Path | None) -> None:
    if form == XLSX:
        _write_workbook(document, output)
    elif form == CSV:
        _write_lines(files.csv_lines(document), output)
    else:
        _write_lines([f"{line}\n" for line in files.text_lines(bounded(document))], output)


def _write_workbook(document: Document, output: Path | None) -> None:
    if output is None:
        message = "a workbook needs --output FILE"
        raise click.UsageError(message)
    with opened(output) as file:
        xlsx_file.write(document, file)


def _write_lines(lines: Iterable[str], output: Path | None) -> None:
    with opened(output) as file:
        file.writelines(line.encode() for line in lines)


COMMANDS = (reports,)
