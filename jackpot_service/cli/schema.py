"""`jackpot db …`: the schema of the database."""

import tempfile
from pathlib import Path

import click
import structlog
from psycopg.errors import InsufficientPrivilege
from sqlalchemy.exc import ProgrammingError

from jackpot_service import embedded, migrate, months
from jackpot_service.cli.opening import act, bring_up, make_months, opened_url, require_current
from jackpot_service.cli.values import reason_option
from jackpot_service.config import Config
from jackpot_service.connections import create_owners_engine
from jackpot_service.db import transact
from jackpot_service.usecases.switch_emergency import switch_emergency

NEWEST = "head"

log = structlog.get_logger()

MOST_AHEAD = 120
LONGEST_STALL_MS = 3_600_000


@click.group("db")
def db() -> None:
    """The database's schema."""


@db.command("upgrade")
@click.argument("revision", default=NEWEST)
@click.pass_obj
def upgrade(config: Config, revision: str) -> None:
    """Migrate the database to the newest REVISION, if it is not there, and make the partitions of the next months."""
    with opened_url(config) as url:
        if revision == NEWEST:
            bring_up(url)
        else:
            migrate.upgrade(url, revision)
    click.echo(f"The database is at {revision}.", err=True)


@db.command("months")
@click.option(
    "--ahead",
    type=click.IntRange(0, MOST_AHEAD),
    default=months.AHEAD,
    show_default=True,
    help="For how many months after the current one.",
)
@click.option(
    "--stall-ms",
    type=click.IntRange(months.STALL_MS, LONGEST_STALL_MS),
    default=months.STALL_MS,
    show_default=True,
    help="For how long it may hold up calls that read bets.",
)
@click.pass_obj
def make(config: Config, ahead: int, stall_ms: int) -> None:
    """Make the partitions of bets that the current month and the next ones lack; bets go on meanwhile."""
    with opened_url(config) as url:
        require_current(url)
        make_months(url, ahead=ahead, stall_ms=stall_ms)
    click.echo(f"The current month and the next {ahead} have been seen to.", err=True)


@db.command("emergency")
@click.argument("switch", type=click.Choice(["on", "off"]))
@reason_option
@click.pass_obj
def emergency(config: Config, switch: str, reason: str) -> None:
    """Let one person alone approve an own request, or end that; only the owner of the database may."""
    with opened_url(config) as url:
        require_current(url)
        engine = create_owners_engine(url, lock_timeout_ms=config.lock_timeout_ms)
        try:
            done = transact(engine, lambda session: switch_emergency(session, act(reason=reason), is_on=switch == "on"))
        except ProgrammingError as error:
            if not isinstance(error.orig, InsufficientPrivilege):
                raise
            message = "the switch is for the owner of the database: name the owner's URL"
            raise click.ClickException(message) from None
        finally:
            engine.dispose()
    if done:
        log.critical("emergency approvals switched", switch=switch, reason=reason)
    click.echo(f"Emergency approvals are {switch}{'' if done else ', as they were'}.", err=True)


@db.command("check")
def check() -> None:
    """Prove, on a database of its own, that the migrations make what the models say, up, down and up again."""
    with (
        tempfile.TemporaryDirectory(prefix="jackpot-", ignore_cleanup_errors=True) as folder,
        embedded.running(Path(folder) / "var") as url,
    ):
        migrate.upgrade(url)
        migrate.downgrade(url, "base")
        migrate.upgrade(url)
        differences = migrate.differences(url)
    for difference in differences:
        click.echo(difference, err=True)
    if differences:
        message = "the migrations do not make what the models say"
        raise click.ClickException(message)
    click.echo("The migrations make what the models say.", err=True)


COMMANDS = (db,)
