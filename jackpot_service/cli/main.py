"""
The command line. A command that people use is a call of the API, with the rights of the caller's key and no others.

Only what serves, proves and migrates touches the database. Each command is imported when it is run.
"""

import os
import sys
from typing import Final

import click

from jackpot_service.cli.lazy import Lazy, LazyGroup, example
from jackpot_service.cli.program import OutputFailed

PROGRAM: Final = "jackpot"

REFUSED: Final = 1
WRONG_CONFIGURATION: Final = 2

_LOOK: Final = "Look (over HTTP)"
_ACT: Final = "Act (over HTTP)"
_OWN: Final = "You"
_MACHINE: Final = "On the machine, with the database"

COMMANDS: Final = {
    "audit": Lazy("calls.audit:audit", "Administrative acts: who did what, when and why.", _LOOK),
    "awards": Lazy("calls.awards:awards", "Awards: list, show, pay and stop them.", _LOOK),
    "books": Lazy("calls.books:books", "The books as files, and how far they are proved.", _LOOK),
    "casinos": Lazy("calls.casinos:casinos", "Casinos: the companies that run gaming tables.", _LOOK),
    "entries": Lazy("calls.rounds:entries", "Entries of the books.", _LOOK),
    "events": Lazy("calls.events:events", "Print what happened as CloudEvents.", _LOOK),
    "exceptions": Lazy("calls.audit:exceptions", "Cases that somebody must look into.", _LOOK),
    "hits": Lazy("calls.jackpots:hits", "Jackpots that were won.", _LOOK),
    "jackpots": Lazy("calls.jackpots:jackpots", "Jackpots: list and show them, open, suspend and resume them.", _LOOK),
    "jobs": Lazy("calls.jobs:jobs", "Long exports, fetched as files.", _LOOK),
    "meter": Lazy("calls.jackpots:meter", "Show the meter of a jackpot.", _LOOK),
    "paytable": Lazy("calls.jackpots:paytable", "The prizes of a jackpot, in a currency.", _LOOK),
    "people": Lazy("calls.keys:people", "Who there is, with which role and which keys.", _LOOK),
    "players": Lazy("calls.rounds:players", "Players: the bets that they made.", _LOOK),
    "reconciliations": Lazy("calls.proof:reconciliations", "Whether documents and journal agree.", _LOOK),
    "reports": Lazy("calls.reports:reports", "Reports of the books, as of any time.", _LOOK),
    "rounds": Lazy("calls.rounds:rounds", "Rounds: their bets, cards and awards.", _LOOK),
    "rules": Lazy("calls.jackpots:rules", "The rules of a jackpot, as printed for players.", _LOOK),
    "seals": Lazy("calls.proof:seals", "Seals of the books: list and show them.", _LOOK),
    "sheets": Lazy("calls.rates:sheets", "Rate sheets: list and show them.", _LOOK),
    "tables": Lazy("calls.casinos:tables", "Gaming tables.", _LOOK),
    "verifications": Lazy("calls.proof:verifications", "Verifications of the books, and what came out.", _LOOK),
    "changes": Lazy("calls.changes:changes", "Changes that need two people.", _ACT),
    "keys": Lazy("calls.keys:keys", "Keys of people and service accounts.", _ACT),
    "passkeys": Lazy("calls.passkeys:passkeys", "Passkeys of people: list and revoke them.", _ACT),
    "rates": Lazy("calls.rates:rates", "Rates: publish a first sheet, propose the ECB's, look back.", _ACT),
    "users": Lazy("calls.keys:users", "Users who show tokens instead of keys.", _ACT),
    "completion": Lazy("calls.own:completion", "Print the script by which a shell completes commands.", _OWN),
    "login": Lazy("calls.own:login", "Sign in with the issuer of the service.", _OWN),
    "logout": Lazy("calls.own:logout", "Forget your sign-in.", _OWN),
    "whoami": Lazy("calls.keys:whoami", "Show who you are to the service, and what you may do.", _OWN),
    "db": Lazy("schema:db", "The schema, and the keys that nobody makes over HTTP.", _MACHINE),
    "demo": Lazy("service:demo", "Play rounds at demo tables, and prove the books.", _MACHINE),
    "openapi": Lazy("contract:openapi", "Write openapi.yaml and pages of docs, in a checkout.", _MACHINE),
    "run": Lazy("service:run", "Serve, and play at demo tables.", _MACHINE),
    "seal": Lazy("seals:seal", "Sign where the books stand.", _MACHINE),
    "serve": Lazy("service:serve", "Serve the API.", _MACHINE),
    "verify": Lazy("verifying:verify_books", "Re-derive the books from zero.", _MACHINE),
}
"""Every command, by section."""

SETTINGS: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@example(
    "jackpot jackpots list",
    "jackpot awards list --state held",
    'jackpot changes request rate-sheet --base EUR --rate GBP=1.18 --reason "as the market moved"',
)
@click.group(cls=LazyGroup, lazily=COMMANDS, context_settings=SETTINGS)
@click.version_option(package_name="jackpot-service")
def cli() -> None:
    """
    The ledger of record for progressive jackpots at poker tables.

    JACKPOT_URL is the address of the service (http://127.0.0.1:8000), and JACKPOT_KEY your own key; `jackpot login`
    signs you in without one. A command has the rights of the key, as every other caller has. Lists are whole; --json
    and --csv print them for programs.

    Commands on the machine read JACKPOT_DATABASE_URL, or JACKPOT_OWNER_URL for `jackpot db`; without both an embedded
    PostgreSQL keeps its data in JACKPOT_DATA_DIR (./var).
    """


def main() -> None:
    """Run the command line; whatever is wrong is said in one line on standard error."""
    if not all(map(_is_text, sys.argv)):
        _end("an argument is no text in UTF-8", WRONG_CONFIGURATION)
    try:
        cli(prog_name=PROGRAM, standalone_mode=True)
    except Exception as error:
        from jackpot_service.cli.failures import explained  # noqa: PLC0415  it knows the database's

        explanation = explained(error) or _explained_output(error)
        if explanation is None:
            raise
        _end(*explanation)


def _explained_output(error: Exception) -> tuple[str, int] | None:
    """Explain why standard output could not be written. Its rest goes nowhere, since it would fail again."""
    if not isinstance(error, OutputFailed):
        return None
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    return f"standard output cannot be written: {error.strerror}", REFUSED


def _is_text(argument: str) -> bool:
    """Bytes that are no text come as lone surrogates, which nothing can be written with."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _end(line: str, status: int) -> None:
    click.echo(f"{PROGRAM}: {line}", err=True)
    sys.exit(status)
