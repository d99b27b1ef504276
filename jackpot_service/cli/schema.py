"""`jackpot db …`: the schema of the database."""

import tempfile
from pathlib import Path

import click

from jackpot_service import embedded, migrate
from jackpot_service.cli.opening import opened_url
from jackpot_service.config import Config


@click.group("db")
def db() -> None:
    """The database's schema."""


@db.command("upgrade")
@click.argument("revision", default="head")
@click.pass_obj
def upgrade(config: Config, revision: str) -> None:
    """Migrate the database to the newest REVISION; does nothing if it is there."""
    with opened_url(config) as url:
        migrate.upgrade(url, revision)
    click.echo(f"The database is at {revision}.", err=True)


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
