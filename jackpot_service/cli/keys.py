"""
`jackpot keys|users …`: the keys of users and service accounts, and users who show tokens. They approve nothing.

Their acts are recorded under `cli`, whatever JACKPOT_KEY says. Nobody may make a key that approves by their own key;
the operator of the service may, on its host.
"""

from collections.abc import Iterator

import click
import sqlalchemy

from jackpot_service.cli.opening import act, opened_engine
from jackpot_service.cli.values import Identifier, reason_option, request_id_option
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import read, transact
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import MACHINES, Principal, Role
from jackpot_service.records import keys as records
from jackpot_service.records.keys import ListedKey, Subject
from jackpot_service.usecases.keys import add_user, create_key, revoke_key

PAGE = 200

casino_option = click.option("--casino", "casino_id", type=Identifier())
department_option = click.option(
    "--department", default="", help="The department, for ever; without it the role's name."
)


@click.group("keys")
def keys() -> None:
    """Keys of users and service accounts."""


@keys.command("create")
@click.option("--role", type=click.Choice([role.value for role in Role]), required=True)
@casino_option
@department_option
@click.option("--table", "table_ids", type=Identifier(), multiple=True, help="Bind a table server's key to tables.")
@click.option("--name", required=True, help="The owner: one name, one user or service account, at most two live keys.")
@click.option(
    "--service-account", "is_service_account", is_flag=True, help="No user stands behind it: it approves nothing."
)
@reason_option
@request_id_option
@click.pass_obj
def create_a_key(  # noqa: PLR0917  click passes what its options say
    config: Config,
    role: str,
    casino_id: str | None,
    department: str,
    table_ids: tuple[str, ...],
    name: str,
    is_service_account: bool,  # noqa: FBT001
    reason: str,
    request_id: str,
) -> None:
    """Create a key. It alone is printed, on standard output, and never again."""
    principal = Principal(name, Role(role), casino_id, frozenset(table_ids), is_service_account, department)
    done = act(request_id=request_id, reason=reason)
    with opened_engine(config) as engine:
        created = transact(engine, lambda session: create_key(session, done, principal))
    if created.key is None:
        click.echo(f"Key {created.key_id} was created by this request before, and shown then.", err=True)
        return
    click.echo(f"A key of role {role} for {name}. It is shown once: keep it.", err=True)
    click.echo(created.key)


@keys.command("list")
@click.pass_obj
def list_keys(config: Config) -> None:
    """List all keys by name: id, whose, since when, last use, revoked."""
    with opened_engine(config) as engine:
        for key in _all(engine):
            click.echo(_line(key))


@keys.command("revoke")
@click.argument("key_id", type=Identifier())
@reason_option
@request_id_option
@click.pass_obj
def revoke_a_key(config: Config, key_id: str, reason: str, request_id: str) -> None:
    """Revoke a key, for good: every process refuses it within 15 seconds."""
    done = act(request_id=request_id, reason=reason)
    with opened_engine(config) as engine:
        revoked = transact(engine, lambda session: revoke_key(session, done, key_id))
    click.echo(f"Key {key_id} of {revoked.key.principal.name} is revoked.", err=True)


@click.group("users")
def users() -> None:
    """Users who show tokens of an issuer (JACKPOT_OIDC_ISSUER) instead of keys."""


@users.command("add")
@click.argument("name")
@click.option("--role", type=click.Choice([role.value for role in Role if role not in MACHINES]), required=True)
@casino_option
@department_option
@click.option("--oidc-subject", "subject", required=True, help="The `sub` of their tokens.")
@reason_option
@click.pass_obj
def add_a_user(  # noqa: PLR0917  click passes what its options say
    config: Config, name: str, role: str, casino_id: str | None, department: str, subject: str, reason: str
) -> None:
    """Let a subject of the issuer speak as NAME. It is listed among the keys, and revoked as one."""
    if config.oidc_issuer is None:
        message = "set JACKPOT_OIDC_ISSUER to the issuer that knows this subject"
        raise click.ClickException(message)
    principal = Principal(name, Role(role), casino_id, department=department)
    known_as = Subject(config.oidc_issuer, subject)
    with opened_engine(config) as engine:
        added = transact(engine, lambda session: add_user(session, act(reason=reason), principal, known_as))
    click.echo(f"{name}: {'added' if added.is_new else 'was there already'}.", err=True)


def _all(engine: sqlalchemy.Engine) -> Iterator[ListedKey]:
    after = None
    while page := read(engine, lambda session, after=after: records.by_name(session, limit=PAGE, after=after)):  # type: ignore[misc]
        yield from page
        after = page[-1].seq


def _line(key: ListedKey) -> str:
    owner = key.principal
    department = "" if owner.department == owner.role.value else f"department {owner.department}"
    places = (department, owner.casino_id, " ".join(sorted(owner.table_ids)), key.subject)
    bound = "".join(f", {what}" for what in places if what)
    kind = "service account" if owner.is_service_account else "user"
    used = f"last used {instant(key.last_used_at)}" if key.last_used_at else "never used"
    end = f"revoked {instant(key.revoked_at)}" if key.revoked_at else "live"
    return f"{key.key_id}  {owner.name}  {owner.role}, {kind}{bound}  since {instant(key.created_at)}, {used}, {end}"


COMMANDS = (keys, users)
