"""The command line: the same use cases as the API."""

import gc
import os
import sys
from importlib import import_module
from typing import Final

import click
from sqlalchemy.exc import OperationalError

from jackpot_service.config.settings import Config, ConfigError
from jackpot_service.database.embedded import EmbeddedError
from jackpot_service.database.login import LoginTooStrong
from jackpot_service.domain.errors import LedgerError

MODULES: Final = {
    "audit": "audit",
    "awards": "awards",
    "books": "books",
    "casinos": "documents",
    "changes": "changes",
    "db": "schema",
    "demo": "service",
    "events": "events",
    "exceptions": "audit",
    "jackpots": "documents",
    "jobs": "jobs",
    "keys": "keys",
    "meter": "books",
    "openapi": "contract",
    "rates": "rates",
    "reports": "reports",
    "run": "service",
    "seal": "seals",
    "serve": "service",
    "tables": "documents",
    "users": "keys",
    "verify": "verifying",
}
"""The module of each command."""

WRONG_CONFIGURATION = 2
REFUSED = 1


class Commands(click.Group):
    """Commands whose module is imported when one of them is asked for: all of them take a second or two."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's
        """Name every command."""
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's
        """Import a command; None if there is no such."""
        if cmd_name not in MODULES:
            return None
        gc.disable()  # Imports stay: to look through it again and again would take a fifth of the time.
        try:
            module = import_module(f"jackpot_service.cli.{MODULES[cmd_name]}")
        finally:
            gc.enable()
        return next((command for command in module.COMMANDS if command.name == cmd_name), None)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="jackpot-service")
@click.pass_context
def cli(context: click.Context) -> None:
    """
    The ledger of record for progressive jackpots at poker tables.

    JACKPOT_DATABASE_URL names a PostgreSQL, by the service's own login, and JACKPOT_OWNER_URL the same by its
    owner's, for `jackpot db` alone; without both an embedded one keeps its data in JACKPOT_DATA_DIR (./var).
    JACKPOT_KEY, your own key, says who acts; keys and users are made on the host.
    """
    context.obj = config = Config.from_environment(os.environ)
    import structlog  # noqa: PLC0415  takes a tenth of a second, which help does not need

    from jackpot_service.telemetry import logs  # noqa: PLC0415

    if not structlog.is_configured():  # It would write to standard output, among what the command prints.
        logs.configure(config.log_level)


def main() -> None:
    """Run the command line; whatever is wrong is said in one line on standard error."""
    if not all(map(_is_text, sys.argv)):
        _end("an argument is no text in UTF-8", WRONG_CONFIGURATION)
    try:
        cli(standalone_mode=True)
    except ConfigError as error:
        _end(str(error), WRONG_CONFIGURATION)
    except LoginTooStrong as error:
        _end(str(error), WRONG_CONFIGURATION)
    except LedgerError as error:
        _end(f"{error.code}: {error.detail}", REFUSED)
    except EmbeddedError as error:
        _end(f"embedded PostgreSQL: {error}", REFUSED)
    except OperationalError as error:
        _end(f"the database cannot be reached: {str(error.orig).splitlines()[0]}", REFUSED)


def _is_text(argument: str) -> bool:
    """Bytes that are no text come as lone surrogates, which nothing can be written with."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _end(line: str, status: int) -> None:
    click.echo(f"jackpot: {line}", err=True)
    sys.exit(status)
