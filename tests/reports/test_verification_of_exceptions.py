"""The proof finds whatever is changed of an acknowledgement: by whom, of what, that it is there at all."""

import os
from collections.abc import Iterator

import psycopg
import pytest
import sqlalchemy
from psycopg import sql
from sqlalchemy import NullPool, text

from jackpot_service import embedded
from jackpot_service.db import Session
from jackpot_service.domain.principals import Role
from jackpot_service.records.schema import AcknowledgementRow
from jackpot_service.reports.verification.proof import verify
from tests.reports.corruptions import Corruption, _change, _forge, _remove
from tests.support.bets import bet
from tests.support.house import House

TABLE = AcknowledgementRow.__tablename__
SECOND = "exception_id = (SELECT max(exception_id) FROM exception_acknowledgements)"
"""The acknowledgement of the later of two."""

CORRUPTIONS = (
    _change(TABLE, "exception_id = exception_id || 'x'", SECOND, "entry-digest"),
    _change(TABLE, "entry_seq = entry_seq + 1000", SECOND, "document-without-entry entry-digest"),
    _change(TABLE, "entry_seq = 1", SECOND, "document-without-entry entry-digest"),
    _change(TABLE, "entry_seq = entry_seq - 1", SECOND, "document-without-entry entry-digest"),
    _remove(TABLE, SECOND, "entry-digest"),
    _forge(TABLE, "'x', entry_seq", f"{TABLE} WHERE {SECOND}", "document-without-entry"),
    _forge(TABLE, "'x', 1", TABLE, "document-without-entry"),
    _change("acts", "reason = 'otherwise'", "request_id = 'a2'", "entry-digest"),
    _change("acts", 'before = before || \'{"kind": "x"}\'', "request_id = 'a2'", "entry-digest"),
    _change("acts", 'after = after || \'{"exception_id": "x"}\'', "request_id = 'a2'", "entry-digest"),
    _change("entries", "principal = 'somebody'", "kind = 'exception_acknowledged' AND seq % 2 = 0", "entry-digest"),
)


@pytest.fixture(scope="module")
def url(cluster: embedded.Cluster, administrator: psycopg.Connection[object]) -> Iterator[str]:
    """Name a database in which two late bets were acknowledged one after the other; tests undo what they change."""
    name = f"acknowledged_{os.getpid()}"
    administrator.execute(sql.SQL("CREATE DATABASE {} TEMPLATE migrated").format(sql.Identifier(name)))
    try:
        _write(House(cluster.url(name)))
        yield cluster.url(name)
    finally:
        administrator.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _write(house: House) -> None:
    house.open(base_amount="1000")
    house.cancel()
    for number in (1, 2):
        house.post_bets(bet(f"late-{number}")).problem(409, "round-cancelled")
    second, first = house.get("/v1/exceptions").ok()["items"]
    for number, exception in ((1, first), (2, second)):
        path = f"/v1/exceptions/{exception['exception_id']}/acknowledgement"
        body = {"request_id": f"a{number}", "reason": "looked into"}
        house.post(path, body, key=house.person("Olga", Role.OPERATOR)).ok(201)
    house.engine.dispose()


@pytest.fixture
def superuser(url: str) -> Iterator[Session]:
    """Open a session whose changes no trigger refuses, and which is rolled back."""
    engine = sqlalchemy.create_engine(url, isolation_level="REPEATABLE READ", poolclass=NullPool)
    with engine.connect() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        yield session


def test_what_was_acknowledged_is_proved(superuser: Session) -> None:
    assert superuser.scalar(text("SELECT count(*) FROM exception_acknowledgements")) == 2
    assert verify(superuser).mismatches == ()


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert superuser.execute(text(corruption.statement)).rowcount == 1
    assert {mismatch.code for mismatch in verify(superuser).mismatches} == corruption.codes


def test_every_column_is_changed_by_one_of_them() -> None:
    statements = " ".join(corruption.statement for corruption in CORRUPTIONS if corruption.table == TABLE)
    assert all(f"SET {column.name} =" in statements for column in AcknowledgementRow.__table__.columns)
