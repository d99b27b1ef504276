"""
`jackpot db key|user`: keys and users that nobody makes over HTTP, by the login that owns the database.

They are the first key of all, and those of people who may request or approve changes: nobody may make a second person
of themselves. Such an act is recorded under `cli`, whatever JACKPOT_KEY says.
"""

from collections.abc import Callable
from typing import TypeVar

import click

from jackpot_service.cli import words
from jackpot_service.cli.lazy import example
from jackpot_service.cli.opening import act, opened_owner_url, pass_config, require_workable
from jackpot_service.cli.options import Identifier, casino_option, department_option, request_id_option
from jackpot_service.cli.values import reason_option
from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import Session, guarded, transact
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.records.keys import Subject
from jackpot_service.usecases.keys import add_user, create_key

T = TypeVar("T")


@example('export JACKPOT_KEY=$(jackpot db key --role operator --name Olga --reason "the first operator")')
@click.command("key")
@click.option("--role", type=click.Choice(words.ROLES), required=True)
@casino_option
@department_option
@click.option("--table", "table_ids", type=Identifier(), multiple=True, help="Bind a table server's key to tables.")
@click.option("--name", required=True, help="The owner: one name, one user or service account, at most two live keys.")
@click.option(
    "--service-account", "is_service_account", is_flag=True, help="No user stands behind it: it approves nothing."
)
@reason_option
@request_id_option
@pass_config
def make_key(  # noqa: PLR0917  click passes what its options say
    config: Config,
    role: str,
    casino_id: str | None,
    department: str | None,
    table_ids: tuple[str, ...],
    name: str,
    is_service_account: bool,  # noqa: FBT001
    reason: str,
    request_id: str,
) -> None:
    """
    Make a key: the first of all, and those of people who request or approve changes. It alone is printed, once.

    Operators make all other keys: jackpot keys create.
    """
    principal = Principal(name, Role(role), casino_id, frozenset(table_ids), is_service_account, department or "")
    done = act(request_id=request_id, reason=reason)
    created = _as_owner(config, lambda session: create_key(session, done, principal))
    if created.key is None:
        click.echo(f"Key {created.key_id} was created by this request before, and shown then.", err=True)
        return
    click.echo(f"A key of role {role} for {name}. It is shown once: keep it.", err=True)
    click.echo(created.key)


@example('jackpot db user Olga --role operator --oidc-subject 8c1d --reason "the first operator"')
@click.command("user")
@click.argument("name")
@click.option("--role", type=click.Choice(words.ROLES_OF_PEOPLE), required=True)
@casino_option
@department_option
@click.option("--oidc-subject", "subject", required=True, help="The `sub` of their tokens.")
@reason_option
@pass_config
def make_user(  # noqa: PLR0917  click passes what its options say
    config: Config, name: str, role: str, casino_id: str | None, department: str | None, subject: str, reason: str
) -> None:
    """
    Let somebody who signs in with the issuer act as NAME, and request or approve changes.

    Operators add all other users: jackpot users add.
    """
    if config.oidc_issuer is None:
        message = "set JACKPOT_OIDC_ISSUER to the issuer that knows this subject"
        raise click.ClickException(message)
    principal = Principal(name, Role(role), casino_id, department=department or "")
    known_as = Subject(config.oidc_issuer, subject)
    added = _as_owner(config, lambda session: add_user(session, act(reason=reason), principal, known_as))
    click.echo(f"{name}: {'added' if added.is_new else 'was there already'}.", err=True)


def _as_owner(config: Config, use_case: Callable[[Session], T]) -> T:
    """Do something by the owner's login, on a migrated database. Raises: click.ClickException, ClockSkew."""
    with opened_owner_url(config) as url:
        engine = create_engine(config, url)
        try:
            require_workable(engine)
            return transact(guarded(engine), use_case)
        finally:
            engine.dispose()
