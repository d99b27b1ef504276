"""The command line: the same use cases through another door."""

import os
import sys

import click
from sqlalchemy.exc import OperationalError

from jackpot_service.cli import (
    audit,
    awards,
    books,
    changes,
    documents,
    events,
    exceptions,
    export,
    jobs,
    keys,
    rates,
    reports,
    schema,
    seals,
    service,
    verifying,
)
from jackpot_service.config import Config, ConfigError
from jackpot_service.domain.errors import LedgerError
from jackpot_service.embedded import EmbeddedError

COMMAND_GROUPS = (
    service,
    schema,
    documents,
    keys,
    rates,
    changes,
    awards,
    audit,
    events,
    exceptions,
    reports,
    jobs,
    books,
    verifying,
    seals,
    export,
)

WRONG_CONFIGURATION = 2
REFUSED = 1


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="jackpot-service")
@click.pass_context
def cli(context: click.Context) -> None:
    """
    The ledger of record for progressive jackpots at poker tables.

    JACKPOT_DATABASE_URL names a PostgreSQL; without it an embedded one keeps its data in JACKPOT_DATA_DIR (./var).
    JACKPOT_KEY, your own key, says who acts; keys and people are the machine's own affair.
    """
    context.obj = Config.from_environment(os.environ)


for group in COMMAND_GROUPS:
    for command in group.COMMANDS:
        cli.add_command(command)


def main() -> None:
    """Run the command line; whatever is wrong is said in one line on standard error."""
    if not all(map(_is_text, sys.argv)):
        _end("an argument is no text in UTF-8", WRONG_CONFIGURATION)
    try:
        cli(standalone_mode=True)
    except ConfigError as error:
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
