"""How a command gets at the database, with the service running or stopped."""

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar

import click
import psycopg
import sqlalchemy
import structlog
from sqlalchemy.exc import OperationalError

from jackpot_service.auth.authenticator import Authenticator, require_role
from jackpot_service.config.settings import Config, ConfigError
from jackpot_service.database import embedded, login
from jackpot_service.database.connections import create_engine, create_owners_engine
from jackpot_service.database.login import MEND
from jackpot_service.database.tables import ROLE
from jackpot_service.database.transactions import guarded
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Role
from jackpot_service.schema import migrate, months
from jackpot_service.telemetry import logs
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.registry import SHIPPED_POLICY

SERVICE_VARIABLE = "JACKPOT_DATABASE_URL"
OWNER_VARIABLE = "JACKPOT_OWNER_URL"

NEEDED_NEXT = "jackpot db service-password"

C = TypeVar("C")


def pass_config(command: Callable[..., C]) -> Callable[..., C]:
    """
    Pass the settings to a command on the machine as its first argument, and have what it does logged as they say.

    Raises: ConfigError.
    """

    @functools.wraps(command)
    def run(*arguments: Any, **named: Any) -> C:  # noqa: ANN401  as click passes them
        config = Config.from_environment(os.environ)
        if not structlog.is_configured():  # It would write to standard output, among what the command prints.
            logs.configure(config.log_level)
        return command(config, *arguments, **named)

    return run


@contextmanager
def opened_url(config: Config) -> Iterator[str]:
    """
    Yield the URL of the service's login on the named database, or on the embedded one, which runs for as long.

    Raises: ConfigError if only the owner's is named.
    """
    if config.database_url is not None:
        yield config.database_url
    elif config.owner_url is not None:
        raise ConfigError(SERVICE_VARIABLE, "", f"the URL of the service's login {ROLE}, for all but `jackpot db …`")
    else:
        with embedded.running(config.data_dir) as cluster:
            yield cluster.service_url()


@contextmanager
def opened_owner_url(config: Config) -> Iterator[str]:
    """
    Yield the URL of the owner's login, for what changes the schema.

    Raises: ConfigError if only the service's is named.
    """
    if config.owner_url is not None:
        yield config.owner_url
    elif config.database_url is not None:
        raise ConfigError(OWNER_VARIABLE, "", "the URL of the login that owns the database, for `jackpot db …` alone")
    else:
        with embedded.running(config.data_dir) as cluster:
            yield cluster.url()


def require_no_owner(config: Config) -> None:
    """Raises: ConfigError if a process that stays could read the owner's URL in its environment."""
    if config.owner_url is not None:
        raise ConfigError(OWNER_VARIABLE, "…", "nothing here: unset it, a service must not hold its owner's login")


@contextmanager
def opened_engine(config: Config) -> Iterator[sqlalchemy.Engine]:
    """
    Yield the application's engine on a migrated database.

    Raises: as `require_ready`.
    """
    with opened_url(config) as url:
        require_ready(url)
        engine = guarded(create_engine(config, url))
        try:
            yield engine
        finally:
            engine.dispose()


def bring_up(url: str) -> None:
    """Migrate a database to this schema; make rights, the change policy, and the partitions of the months to come."""
    if migrate.upgrade(url):
        click.echo(f"The service's login {ROLE} is new. Where it needs a password: {NEEDED_NEXT}", err=True)
    migrate.add_change_policies(url, SHIPPED_POLICY)
    make_months(url)


def make_months(url: str, *, ahead: int = months.AHEAD, stall_ms: int = months.STALL_MS) -> None:
    """Make the partitions that months lack, and say on standard error what came of it."""
    made = months.make(url, now=datetime.now(UTC), ahead=ahead, stall_ms=stall_ms)
    for month in made.months:
        click.echo(f"Bets of {month} have their partition now.", err=True)
    for month in made.late:
        click.echo(
            f"Bets of {month} came before its partition: they are in the default partition, complete, and stay there.",
            err=True,
        )


def require_ready(url: str) -> None:
    """
    Look, by one connection, whether the service may work here: by its login, with its rights, on its schema.

    Raises: click.ClickException with what to run; LoginTooStrong if it could do more than the service may.
    """
    engine = create_owners_engine(
        url, lock_timeout_ms=migrate.LOCK_TIMEOUT_MS
    )  # Of the service's login; it only reads.
    try:
        with _login_explained(), engine.connect() as session:
            login.require_own_login(session)
            held = login.rights(session)
            lacking = login.lacking(session, held)
        if lacking:
            message = f"the login {ROLE} lacks rights, as after a restore ({len(lacking)}: {min(lacking)} …); {MEND}"
            raise click.ClickException(message)
        is_of_later = require_workable(engine) is migrate.SchemaState.NEWER
        with engine.connect() as session:
            login.require_walls(session, held)
            if not is_of_later:  # A later version lists the rights that it gives the login.
                login.require_listed_rights(held)
    finally:
        engine.dispose()


@contextmanager
def _login_explained() -> Iterator[None]:
    """Say what to run if the database refuses the service's login: its messages name that, in every language."""
    try:
        yield
    except OperationalError as error:
        named = [line.strip() for line in str(error.orig).splitlines() if ROLE in line]  # Of several hosts, or none.
        if not named and not _lacks_password(error):
            raise
        reason_given = [*named, "it needs a password"][0]
        message = f"the service cannot log in ({reason_given}); {MEND}; and where it needs a password: {NEEDED_NEXT}"
        raise click.ClickException(message) from error


def _lacks_password(error: OperationalError) -> bool:
    cause = error.orig
    return isinstance(cause, psycopg.Error) and cause.pgconn is not None and cause.pgconn.needs_password


def require_workable(engine: sqlalchemy.Engine) -> migrate.SchemaState:
    """Return how the schema stands. Raises: click.ClickException if this version does not work on it."""
    schema_state = migrate.state(engine)
    if schema_state is migrate.SchemaState.TOO_NEW:
        message = "the database is at the schema of a newer version, on which this one cannot work: install that one"
        raise click.ClickException(message)
    if not schema_state.is_workable:
        message = f"the database is not at this version's schema; {MEND}"
        raise click.ClickException(message)
    return schema_state


def signed_act(config: Config, engine: sqlalchemy.Engine, *, request_id: str | None, reason: str | None) -> Act:
    """
    Return an act, now, by the owner of the key or token in JACKPOT_KEY.

    Raises: click.ClickException if it is not set; Unauthenticated if it is not in force.
    """
    if config.key is None:
        message = "set JACKPOT_KEY to your own key: this is recorded under a name"
        raise click.ClickException(message)
    principal = Authenticator.configured(config, engine).principal(f"Bearer {config.key}")
    return Act(principal, datetime.now(UTC), request_id=request_id, reason=reason)


def operator_act(config: Config, engine: sqlalchemy.Engine, *, reason: str) -> Act:
    """
    Return an act of one operator, now: of the owner of the key or token in JACKPOT_KEY, or else of the host's.

    A key that may not do this is refused, not passed over: its owner means to be recorded under a name.

    Raises: Unauthenticated if it is not in force; RoleForbidden unless it is an operator's.
    """
    if config.key is None:
        return act(reason=reason)
    signed = signed_act(config, engine, request_id=None, reason=reason)
    require_role(signed.principal, frozenset({Role.OPERATOR}))
    return signed


def act(*, reason: str, request_id: str | None = None) -> Act:
    """Return an act of the host's operator, now."""
    return Act(SYSTEM_OPERATOR, datetime.now(UTC), request_id=request_id, reason=reason)
