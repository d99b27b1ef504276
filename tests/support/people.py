"""People who act in tests: the database takes no act of somebody who is no principal."""

from dataclasses import replace

import sqlalchemy

from jackpot_service.database.connections import create_owners_engine
from jackpot_service.database.transactions import Session, transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.records import keys as records
from jackpot_service.usecases import acts, keys
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.registry import SHIPPED_POLICY
from jackpot_service.usecases.changes.requests import switch_emergency
from tests.support.logins import owner_url


def asker_of(kind: str) -> Principal:
    """Somebody whom the shipped policy lets ask for a kind of change: Ann the operator, if she may."""
    requested_by = SHIPPED_POLICY[kind].requested_by
    if Role.OPERATOR in requested_by:
        return Principal("Ann", Role.OPERATOR)
    return Principal("Fay", Role.FINANCE) if Role.FINANCE in requested_by else Principal("Rita", Role.RATES)


def checker_of(kind: str) -> Principal:
    """Somebody else whom the shipped policy lets decide it: Bob of finance, if he may."""
    decided_by = SHIPPED_POLICY[kind].decided_by
    if Role.FINANCE in decided_by:
        return Principal("Bob", Role.FINANCE)
    return Principal("Oskar", Role.OPERATOR) if Role.OPERATOR in decided_by else Principal("Rolf", Role.RATES)


def enrol(session: Session, act: Act) -> Act:
    """Make who acts a principal, unless the command line made one before; returns the act."""
    acts.lock(session)
    keys.ensure(session, replace(act, principal=SYSTEM_OPERATOR), act.principal)
    return act


def enrolled(engine: sqlalchemy.Engine, act: Act) -> Act:
    """Make who acts a principal in a transaction of its own; returns the act."""
    return transact(engine, lambda session: enrol(session, act))


def with_key(session: Session, act: Act) -> Act:
    """Make who acts a principal with a key, unless they have one; returns the act."""
    enrol(session, act)
    if not records.live_ids(session, act.principal.name, of_subjects=False):
        keys.create_key(session, replace(act, principal=SYSTEM_OPERATOR, request_id=None), act.principal)
    return act


def switch(url: str, act: Act, *, is_on: bool) -> bool:
    """Switch emergency approvals as the owner of the database does."""
    engine = create_owners_engine(owner_url(url), lock_timeout_ms=1000)
    try:
        return transact(engine, lambda session: switch_emergency(session, act, is_on=is_on))
    finally:
        engine.dispose()
