"""`jackpot books export`: a jackpot's journal as the text of a program that anybody may add it up with."""

from datetime import UTC, datetime
from pathlib import Path

import click

from jackpot_service.cli import counting
from jackpot_service.cli.opening import opened_engine
from jackpot_service.cli.values import Identifier, Instant
from jackpot_service.cli.writing import opened, output_option
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import reading, told
from jackpot_service.exports.journal import FORMS, journal_export, pieces
from jackpot_service.reports.making import positions_at


@click.group("books")
def books() -> None:
    """The books as files."""


@books.command("export")
@click.argument("jackpot_id", type=Identifier())
@click.option("--format", "form", type=click.Choice(list(FORMS)), required=True)
@click.option("--as-of", type=Instant(), help="What was booked before this instant. Default: all that is committed.")
@output_option
@click.pass_obj
def export_journal(config: Config, jackpot_id: str, form: str, as_of: datetime | None, output: Path | None) -> None:
    """Write a jackpot's journal to standard output."""
    with opened_engine(config) as engine, told(engine), reading(engine) as session:
        positions = None if as_of is None else positions_at(engine, jackpot_id, as_of, now=datetime.now(UTC))
        export = journal_export(session, jackpot_id, FORMS[form], positions=positions)
        with opened(output) as file, counting.shown() as count:
            for piece in pieces(session, export):
                file.write(piece.content)
                count(sum(piece.mark.positions), export.total, f"journal of {jackpot_id}")


COMMANDS = (books,)
