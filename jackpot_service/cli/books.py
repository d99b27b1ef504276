"""`jackpot meter|books`: what the books say, and a jackpot's journal as a file."""

from datetime import UTC, datetime
from pathlib import Path

import click

from jackpot_service.cli.opening import opened_engine
from jackpot_service.cli.progress import shown_progress
from jackpot_service.cli.values import Identifier, Instant
from jackpot_service.cli.writing import opened, output_option
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import read, reading, translated
from jackpot_service.domain.money import plain
from jackpot_service.exports.accounting import FORMS
from jackpot_service.exports.journal import journal_export, pieces
from jackpot_service.reports.jackpots import jackpot_state
from jackpot_service.reports.making import positions_at


@click.command("meter")
@click.argument("jackpot_id", type=Identifier())
@click.pass_obj
def meter(config: Config, jackpot_id: str) -> None:
    """Print the meter of a jackpot, from the committed books."""
    with opened_engine(config) as engine:
        state = read(engine, lambda session: jackpot_state(session, jackpot_id, at=datetime.now(UTC)))
    base = state.rules.base
    rows = {
        "on offer": state.meter.exact,
        "overflow": state.meter.overflow,
        "players' part": state.pools.meter_players,
        "house's part": state.pools.meter_house,
        "reserve": state.pools.reserve,
        "prize fund": state.pools.prize_fund,
    }
    click.echo(f"{jackpot_id}, cycle {state.meter.cycle}, as of {state.meter.as_of:%Y-%m-%d %H:%M:%S} UTC")
    for name, amount in rows.items():
        click.echo(f"  {name:<14} {base} {plain(amount):>28}")


@click.group("books")
def books() -> None:
    """The books as files."""


@books.command("export")
@click.argument("jackpot_id", type=Identifier())
@click.option("--format", "form", type=click.Choice(list(FORMS)), required=True)
@click.option(
    "--as-of", type=Instant(), help="Only entries booked before this instant. Default: all that is committed."
)
@output_option
@click.pass_obj
def export_journal(config: Config, jackpot_id: str, form: str, as_of: datetime | None, output: Path | None) -> None:
    """Write a jackpot's journal to standard output."""
    with opened_engine(config) as engine, translated(engine), reading(engine) as session:
        positions = None if as_of is None else positions_at(engine, jackpot_id, as_of, now=datetime.now(UTC))
        export = journal_export(session, jackpot_id, FORMS[form], positions=positions)
        with opened(output) as file, shown_progress() as count:
            for piece in pieces(session, export):
                file.write(piece.content)
                count(sum(piece.mark.positions), export.total, f"journal of {jackpot_id}")


COMMANDS = (meter, books)
