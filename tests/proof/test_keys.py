"""The proof finds whatever is changed about people and keys: each case changes rows past every wall, and is undone."""

from datetime import UTC, datetime
from typing import Final

import pytest
from sqlalchemy import text

from jackpot_service.database import transactions
from jackpot_service.database.models import Base
from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.ledger.mismatches import Code
from jackpot_service.proof.proof import verify
from jackpot_service.records.immutable import Table
from jackpot_service.records.keys import Subject
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.casinos import add_casino, add_table
from jackpot_service.usecases.keys import add_user, create_key, revoke_key
from tests.proof.corruption import Corruption, change, codes_after, forge, remove
from tests.support import history

pytestmark = pytest.mark.slow

ANN: Final = Principal("ann", Role.OPERATOR)
SERVER: Final = Principal("srv", Role.TABLE, "c1", frozenset({"T1"}))
ISSUER: Final = "https://sign-in.example"


def act(reason: str | None = None) -> Act:
    return Act(SYSTEM_OPERATOR, datetime.now(UTC), reason=reason)


def write(url: str) -> None:
    with history.engine_of(url) as engine:
        transactions.transact(engine, _write)


def _write(session: Session) -> None:
    """A server with a revoked key and a live one, a person with a live key, a revoked subject and a live one."""
    for casino_id in ("c1", "c2"):
        add_casino(session, act(), casino_id=casino_id, name=casino_id)
    add_table(session, act(), Table("T1", "c1", "casino-holdem-2-hand", None))
    revoke_key(session, act("lost"), create_key(session, act(), SERVER).key_id)
    create_key(session, act(), SERVER)
    create_key(session, act(), ANN)
    add_user(session, act(), ANN, Subject(ISSUER, "sub-1"))
    subject = session.scalar(text("SELECT key_id FROM keys WHERE subject = 'sub-1'"))
    revoke_key(session, act("another sign-in"), str(subject))
    add_user(session, act(), ANN, Subject(ISSUER, "sub-2"))


LIVE: Final = "principal = 'srv' AND revoked_at IS NULL"
REVOKED: Final = "principal = 'srv' AND revoked_at IS NOT NULL"
SIGNED_IN: Final = "subject = 'sub-2'"

CORRUPTIONS: Final = (
    change("principals", "role = 'auditor'", "name = 'ann'", "entry-digest"),
    change("principals", "role = 'finance'", "name = 'srv'", "entry-digest"),
    change("principals", "casino_id = 'c2'", "name = 'srv'", "entry-digest"),
    change("principals", "casino_id = 'c9'", "name = 'srv'", "entry-digest key-binding"),
    change("principals", "is_automaton = NOT is_automaton", "name = 'ann'", "entry-digest"),
    change("principals", "department = 'cage'", "name = 'ann'", "entry-digest"),
    change("principals", "name = 'bea'", "name = 'srv'", "entry-digest key-binding"),
    change("principals", "entry_seq = 1", "name = 'srv'", "document-without-entry entry-digest"),
    remove("principals", "name = 'srv'", "entry-digest key-binding"),
    forge("principals", "'eve', 'operator', NULL, false, 'operator', 1", "principals", "document-without-entry"),
    forge(
        "principals",
        "'zoe', 'operator', NULL, false, 'operator', entry_seq",
        "principals WHERE name = 'srv'",
        "document-without-entry",
    ),
    change("keys", "key_id = 'stolen'", LIVE, "entry-digest"),
    change("keys", "key_id = 'stolen'", REVOKED, "entry-digest key-revocation"),
    change("keys", "secret_hash = sha256(secret_hash)", LIVE, "entry-digest"),
    change("keys", "secret_hash = sha256('x'), issuer = NULL, subject = NULL", SIGNED_IN, "entry-digest"),
    change("keys", "principal = 'ann'", LIVE, "entry-digest"),
    change("keys", "principal = 'ann'", REVOKED, "entry-digest key-revocation"),
    change("keys", "principal = 'eve'", LIVE, "entry-digest key-binding"),
    change("keys", "table_ids = '{}'", LIVE, "entry-digest"),
    change("keys", "table_ids = '{T9}'", LIVE, "entry-digest key-binding"),
    change("keys", "entry_seq = 1", LIVE, "document-without-entry entry-digest"),
    change("keys", "issuer = 'https://another.example'", SIGNED_IN, "entry-digest"),
    change("keys", "subject = 'sub-3'", SIGNED_IN, "entry-digest"),
    change("keys", "revoked_at = now()", LIVE, "key-revocation"),
    change("keys", "revoked_at = now()", SIGNED_IN, "key-revocation"),
    change("keys", "revoked_at = NULL", REVOKED, "key-revocation"),
    change("keys", "revoked_at = NULL", "subject = 'sub-1'", "key-revocation"),
    change("keys", "revoked_at = revoked_at + interval '1 us'", REVOKED, "key-revocation"),
    remove("keys", LIVE, "entry-digest"),
    remove("keys", REVOKED, "entry-digest key-revocation"),
    forge(
        "keys", "'forged', sha256('x'), NULL, NULL, principal, table_ids, entry_seq", "keys", "document-without-entry"
    ),
)
"""What somebody with every right might change, and every code by which the proof names it."""

NOT_PROVED: Final = {
    "last_used_at": "noted for people, once a minute at most; nothing depends on it",
}


def test_people_and_keys_that_nobody_touched_are_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()


@pytest.mark.long
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


def test_every_column_is_changed_above_or_has_a_reason_not_to_be() -> None:
    for table in ("principals", "keys"):
        for column in Base.metadata.tables[table].columns:
            changed = any(
                corruption.table == table and f" SET {column.name} = " in corruption.statement
                for corruption in CORRUPTIONS
            )
            assert changed or column.name in NOT_PROVED, column


def test_an_act_that_revoked_a_key_cannot_be_made_to_say_something_else(superuser: Session) -> None:
    changes = (
        """UPDATE acts SET after = after || '{"principal": "ann"}' WHERE subject LIKE 'key %' AND reason = 'lost'""",
        """UPDATE acts SET after = after || '{"key_id": "x"}' WHERE subject LIKE 'key %' AND reason = 'lost'""",
        """UPDATE acts SET after = '{}' WHERE subject LIKE 'key %' AND reason = 'lost'""",
    )
    for statement in changes:
        attempt = superuser.begin_nested()
        superuser.execute(text(statement))
        codes_ = {mismatch.code for mismatch in verify(superuser).mismatches}
        assert codes_ == {Code.ENTRY_DIGEST, Code.KEY_REVOCATION}
        attempt.rollback()


def test_when_a_key_was_last_used_is_not_proved(superuser: Session) -> None:
    superuser.execute(text("UPDATE keys SET last_used_at = now()"))
    assert verify(superuser).mismatches == ()
