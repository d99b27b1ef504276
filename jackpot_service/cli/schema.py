"""`jackpot db …`: the schema of the database."""

import sys
import tempfile
from pathlib import Path

import click
import structlog
from psycopg.errors import InsufficientPrivilege
from sqlalchemy.exc import ProgrammingError

from jackpot_service.cli.lazy import Lazy, LazyGroup, example
from jackpot_service.cli.opening import act, bring_up, make_months, opened_owner_url, pass_config, require_workable
from jackpot_service.cli.values import reason_option
from jackpot_service.config.settings import Config
from jackpot_service.database import embedded, role
from jackpot_service.database.connections import create_owners_engine
from jackpot_service.database.tables import ROLE
from jackpot_service.database.transactions import transact
from jackpot_service.schema import distribute, migrate, months
from jackpot_service.schema.migrate import LOCK_TIMEOUT_MS, NEWEST
from jackpot_service.usecases.changes.requests import switch_emergency

LONGEST_PASSWORD = 1024

log = structlog.get_logger()

MOST_AHEAD = 120
LONGEST_STALL_MS = 3_600_000


@click.group(
    "db",
    cls=LazyGroup,
    lazily={
        "check": Lazy("schema:check", "Prove that the migrations make what the catalogue says."),
        "distribute": Lazy("schema:distribute_tables", "Place the tables on several machines, with Citus."),
        "emergency": Lazy("schema:emergency", "Let one person alone approve an own request, or end that."),
        "key": Lazy("db_keys:make_key", "Make the first key, or one of somebody who requests or approves changes."),
        "months": Lazy("schema:make", "Make the partitions of bets of the next months."),
        "service-password": Lazy("schema:give_password", "Give the service's login a password."),
        "upgrade": Lazy("schema:upgrade", "Migrate the database."),
        "user": Lazy("db_keys:make_user", "Let in a user who requests or approves changes."),
    },
)
def db() -> None:
    """The database's schema, the service's login and the first keys, by the owner's login (JACKPOT_OWNER_URL)."""


@example("jackpot db upgrade")
@click.command("upgrade")
@click.argument("revision", default=NEWEST)
@pass_config
def upgrade(config: Config, revision: str) -> None:
    """
    Migrate the database to the newest REVISION, if it is not there.

    Then it makes the service's login and its rights again, and the partitions of the next months: also after a
    restore. It can be repeated.
    """
    with opened_owner_url(config) as url:
        if revision == NEWEST:
            bring_up(url)
        else:
            migrate.upgrade(url, revision)
    click.echo(f"The database is at {revision}.", err=True)


@example("jackpot db months", "jackpot db months --ahead 24")
@click.command("months")
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
@pass_config
def make(config: Config, ahead: int, stall_ms: int) -> None:
    """Make the partitions of bets that the current month and the next ones lack; bets go on meanwhile."""
    with opened_owner_url(config) as url:
        require_workable(create_owners_engine(url, lock_timeout_ms=LOCK_TIMEOUT_MS))
        make_months(url, ahead=ahead, stall_ms=stall_ms)
    click.echo(f"The current month and the next {ahead} have been seen to.", err=True)


@example("jackpot db distribute")
@click.command("distribute")
@pass_config
def distribute_tables(config: Config) -> None:
    """
    Place the tables on several machines, with Citus: on the coordinator, once, while no service runs.

    It prints each table and where its rows stand. Repeated it changes nothing. docs/scaling.md says what is lost.
    """
    with opened_owner_url(config) as url:
        tables = distribute.distribute(url)
    for table in tables:
        click.echo(f"{table.table:28} {table.placement}{', placed now' if table.is_new else ''}")


@example("jackpot db service-password")
@click.command("service-password")
@pass_config
def give_password(config: Config) -> None:
    """
    Give the service's login a password: type it, or pass it as one line of standard input.

    PostgreSQL gets only a verifier, which is made of the password here. So the password is in no process list and no
    log.
    """
    password = _asked_password()
    with opened_owner_url(config) as url:
        role.set_password(create_owners_engine(url, lock_timeout_ms=LOCK_TIMEOUT_MS), password)
    click.echo(f"The login {ROLE} has this password now.", err=True)


def _asked_password() -> str:
    """Raises: click.ClickException if it is none, or not one line of text."""
    if sys.stdin.isatty():
        password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password or len(password) > LONGEST_PASSWORD or not password.isprintable():
        message = f"a password is one line of text, at most {LONGEST_PASSWORD} characters"
        raise click.ClickException(message)
    return password


@example('jackpot db emergency on --reason "the second approver cannot be reached"')
@click.command("emergency")
@click.argument("switch", type=click.Choice(["on", "off"]))
@reason_option
@pass_config
def emergency(config: Config, switch: str, reason: str) -> None:
    """Let one person alone approve an own request, or end that; only the owner of the database may."""
    with opened_owner_url(config) as url:
        engine = create_owners_engine(url, lock_timeout_ms=config.lock_timeout_ms)
        require_workable(engine)
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


@example("jackpot db check", "jackpot db check --write")
@click.command("check")
@click.option("--write", is_flag=True, help="Write the catalogue anew, after a new revision.")
def check(*, write: bool) -> None:
    """Prove, on a database of its own, that the migrations make what the catalogue says, up, down and up again."""
    with (
        tempfile.TemporaryDirectory(prefix="jackpot-", ignore_cleanup_errors=True) as folder,
        embedded.running(Path(folder) / "var") as cluster,
    ):
        url = cluster.url()
        migrate.upgrade(url)
        migrate.downgrade(url, "base")
        migrate.upgrade(url)
        if write:
            migrate.CATALOGUE.write_text("".join(f"{line}\n" for line in migrate.catalogue(url)), encoding="utf-8")
        differences = migrate.differences(url)
    for difference in differences:
        click.echo(difference, err=True)
    if differences:
        message = "the migrations do not make what the catalogue and the tables of statements say"
        raise click.ClickException(message)
    click.echo("The migrations make what the catalogue says.", err=True)
