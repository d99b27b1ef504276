"""How a command gets at the database, with the service running or stopped."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import click
import sqlalchemy

from jackpot_service import embedded, migrate, months
from jackpot_service.auth import Authenticator, require_role
from jackpot_service.config import Config
from jackpot_service.connections import create_engine, create_owners_engine
from jackpot_service.db import guarded
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Role
from jackpot_service.usecases.acts import Act


@contextmanager
def opened_url(config: Config) -> Iterator[str]:
    """Yield the URL of the named database, or start (or join) the embedded one for as long as it is used."""
    if config.database_url is not None:
        yield config.database_url
        return
    with embedded.running(config.data_dir) as url:
        yield url


@contextmanager
def opened_engine(config: Config) -> Iterator[sqlalchemy.Engine]:
    """
    Yield the application's engine on a migrated database.

    Raises: click.ClickException if the database is not at this version's schema.
    """
    with opened_url(config) as url:
        require_current(url)
        engine = guarded(create_engine(config, url))
        try:
            yield engine
        finally:
            engine.dispose()


def bring_up(url: str) -> None:
    """Migrate a database to this version's schema, and make the partitions of the months to come."""
    migrate.upgrade(url)
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


def require_current(url: str) -> None:
    """Raises: click.ClickException if a database is not at the newest revision."""
    if not migrate.is_current(create_owners_engine(url, lock_timeout_ms=migrate.LOCK_TIMEOUT_MS)):
        message = "the database is not at this version's schema; run: jackpot db upgrade"
        raise click.ClickException(message)


def signed_act(config: Config, engine: sqlalchemy.Engine, *, request_id: str | None, reason: str | None) -> Act:
    """
    An act of whoever's key, or token, JACKPOT_KEY is, now.

    Raises: click.ClickException if it is not set; Unauthenticated if it is not in force.
    """
    if config.key is None:
        message = "set JACKPOT_KEY to your own key: this is recorded under a name"
        raise click.ClickException(message)
    principal = Authenticator.configured(config, engine).principal(f"Bearer {config.key}")
    return Act(principal, datetime.now(UTC), request_id=request_id, reason=reason)


def operator_act(config: Config, engine: sqlalchemy.Engine, *, reason: str) -> Act:
    """
    An act that takes one operator, now: of whoever's key, or token, JACKPOT_KEY is; where it is not set, the machine's.

    A key that may not do this is refused, not passed over: whoever shows one means to be recorded under its name.

    Raises: Unauthenticated if it is not in force; RoleForbidden unless it is an operator's.
    """
    if config.key is None:
        return act(reason=reason)
    signed = signed_act(config, engine, request_id=None, reason=reason)
    require_role(signed.principal, frozenset({Role.OPERATOR}))
    return signed


def act(*, reason: str, request_id: str | None = None) -> Act:
    """An act of whoever sits at this machine, now."""
    return Act(SYSTEM_OPERATOR, datetime.now(UTC), request_id=request_id, reason=reason)
