"""The keys of the demo: of its tables' servers, its people and its display, kept in a file that a shell can read."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

import sqlalchemy

from jackpot_demo import scene
from jackpot_service.auth.authenticator import Authenticator
from jackpot_service.database.transactions import Session, transact
from jackpot_service.domain.errors import Unauthenticated
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.records import keys
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import KeyCreated, create_key, revoke_key

FILE: Final = "demo-keys.env"

_HEAD: Final = "# The keys of the demo. In a shell: . {path}\n"


def principals() -> Mapping[str, Principal]:
    """Return those who have a key in the demo, by the variable that holds it: a casino's id or a first name."""
    tables = {
        casino.casino_id.upper(): Principal(f"demo-{casino.casino_id}", Role.TABLE, casino.casino_id)
        for casino in scene.CASINOS
    }
    people = {variable_of(person): Principal(person.name, Role(person.role)) for person in scene.PEOPLE}
    return {**tables, **people}


def variable_of(person: scene.Person) -> str:
    """Return the variable of somebody's key: the first name in capitals."""
    return person.name.split()[0].upper()


def stored_keys(data_dir: Path, engine: sqlalchemy.Engine, *, at: datetime) -> Mapping[str, str]:
    """Return the demo's keys by their variables, new ones for those that are lost or revoked, and keep them."""
    path = data_dir / FILE
    before = dict(_read(path)) if path.exists() else {}
    authenticator = Authenticator(engine)
    by_variable = {
        variable: _key_in_force(authenticator, before.get(variable)) or _new_key(engine, principal, at)
        for variable, principal in principals().items()
    }
    if by_variable != before:
        _write(path, by_variable)
    return by_variable


def keys_of_tables(by_variable: Mapping[str, str]) -> dict[str, str]:
    """Return the keys of the tables' servers, by casino."""
    return {casino.casino_id: by_variable[casino.casino_id.upper()] for casino in scene.CASINOS}


def _read(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text().splitlines():
        variable, equals, key = line.partition("  #")[0].partition("=")
        if equals and not line.startswith("#"):
            yield variable, key


def _write(path: Path, by_variable: Mapping[str, str]) -> None:
    """Write the file in one step: who reads it meanwhile, or after a crash, finds what was there or all of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        f"{variable}={by_variable[variable]}  # {owner.name}, {owner.role}\n"
        for variable, owner in principals().items()
    ]
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    new.touch(mode=0o600)
    new.write_text(_HEAD.format(path=path) + "".join(lines))
    new.replace(path)


def _key_in_force(authenticator: Authenticator, key: str | None) -> str | None:
    try:
        authenticator.principal(f"Bearer {key}")
    except Unauthenticated:
        return None
    return key


def _new_key(engine: sqlalchemy.Engine, principal: Principal, at: datetime) -> str:
    """A key in place of those that were lost with the file, of which the newest may stay live."""

    def rotate(session: Session) -> KeyCreated:
        for key_id in keys.live_ids(session, principal.name, of_subjects=False)[:-1]:
            revoke_key(session, Act(SYSTEM_OPERATOR, at, reason="the demo lost it"), key_id)
        return create_key(session, Act(SYSTEM_OPERATOR, at, reason="for the demo"), principal)

    return transact(engine, rotate).whole
