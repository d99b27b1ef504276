"""Two processes that make people of names that look alike at once: one of them does."""

from functools import partial

import pytest
import sqlalchemy
from psycopg.errors import UniqueViolation
from sqlalchemy.exc import IntegrityError

from jackpot_service.database.transactions import transact
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.records import keys as records
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import create_key
from tests.races import books, scene
from tests.races.processes import Racer, race

pytestmark = pytest.mark.long

NAMES = ("Alice", "\N{CYRILLIC CAPITAL LETTER A}lice", "AIice", "ALICE")
TURNS = 5


def create(racer: Racer, name: str) -> list[str]:
    """Create a key of a name in each turn, when all others do; returns what came of each."""
    answers = []
    for turn in range(TURNS):
        principal = Principal(f"{name} {turn}", Role.AUDITOR)
        racer.meet()
        command = partial(create_key, act=Act(SYSTEM_OPERATOR, scene.now()), principal=principal)
        answer = scene.attempted(partial(transact, racer.engine, command))
        answers.append(answer.code if isinstance(answer, LedgerError) else "created")
    return answers


def write(racer: Racer, name: str) -> list[str]:
    """Write the row of a principal in each turn, when all others do, without the lock that acts come one by one by."""
    answers = []
    for turn in range(TURNS):
        principal = Principal(f"{name} {turn}", Role.AUDITOR)
        racer.meet()
        try:
            with racer.engine.begin() as session:
                records.add_principal(session, principal, entry_seq=turn + 1)
            answers.append("created")
        except IntegrityError as error:
            answers.append("refused" if isinstance(error.orig, UniqueViolation) else str(error))
    return answers


def people(engine: sqlalchemy.Engine) -> int:
    """Count those whom the race made."""
    ((count,),) = books.ask(engine, "SELECT count(*) FROM principals WHERE role = 'auditor'")
    return int(count)


def test_of_those_who_ask_for_keys_of_names_that_look_alike_one_gets_it(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    outcomes = race(database_url, *(partial(create, name=name) for name in NAMES))

    for turn in zip(*outcomes, strict=True):
        assert sorted(turn) == ["created", *["principal-conflict"] * (len(NAMES) - 1)]
    assert people(engine) == TURNS
    books.require_clean(engine)


def test_the_database_alone_takes_one_of_names_that_look_alike(engine: sqlalchemy.Engine, database_url: str) -> None:
    outcomes = race(database_url, *(partial(write, name=name) for name in NAMES))

    for turn in zip(*outcomes, strict=True):
        assert sorted(turn) == ["created", *["refused"] * (len(NAMES) - 1)]
    assert people(engine) == TURNS
