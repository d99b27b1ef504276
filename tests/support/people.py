"""People who act in tests: the database takes no act of somebody who is no principal."""

from dataclasses import replace

import sqlalchemy

from jackpot_service.database.connections import create_owners_engine
from jackpot_service.database.transactions import Session, transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.usecases import acts, keys
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.requests import switch_emergency
from tests.support.logins import owner_url


def enrol(session: Session, act: Act) -> Act:
    """Make who acts a principal, unless the command line made one before; returns the act."""
    acts.lock(session)
    keys.ensure(session, replace(act, principal=SYSTEM_OPERATOR), act.principal)
    return act


def enrolled(engine: sqlalchemy.Engine, act: Act) -> Act:
    """Make who acts a principal in a transaction of its own; returns the act."""
    return transact(engine, lambda session: enrol(session, act))


def switch(url: str, act: Act, *, is_on: bool) -> bool:
    """Switch emergency approvals as the owner of the database does."""
    engine = create_owners_engine(owner_url(url), lock_timeout_ms=1000)
    try:
        return transact(engine, lambda session: switch_emergency(session, act, is_on=is_on))
    finally:
        engine.dispose()
