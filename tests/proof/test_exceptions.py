"""The proof finds whatever is changed of an exception, and of its acknowledgement: that it is there at all."""

import pytest
from sqlalchemy import text

from jackpot_service.database.models import (
    AcknowledgementRow,
    Base,
    ExceptionChainRow,
    ExceptionCountRow,
    ExceptionRow,
)
from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Role
from jackpot_service.ledger.mismatches import Code
from jackpot_service.proof.proof import verify
from tests.proof.corruption import Corruption, change, codes_after, forge, remove
from tests.support.bets import bet
from tests.support.world import World

pytestmark = pytest.mark.slow

TABLE = AcknowledgementRow.__tablename__
SECOND = "exception_id = (SELECT max(exception_id) FROM exception_acknowledgements)"
"""The acknowledgement of the later of two."""

NOTED = ExceptionRow.__tablename__
MIDDLE, LAST = "number = 2", "number = 3"
"""Of three exceptions the last was not acknowledged."""

EXCEPTIONS = (
    change(NOTED, "exception_id = exception_id || 'x'", LAST, "exception-chain"),
    change(NOTED, "exception_id = exception_id || 'x'", MIDDLE, "exception-chain"),
    change(NOTED, "kind = 'x'", LAST, "exception-chain"),
    change(NOTED, "table_id = 'x'", LAST, "exception-chain"),
    change(NOTED, "round_id = 'x'", LAST, "exception-chain"),
    change(NOTED, "digest = sha256(digest)", LAST, "exception-chain"),
    change(NOTED, "jackpot_id = ''", LAST, "exception-chain"),
    change(NOTED, "principal = 'x'", LAST, "exception-chain"),
    change(NOTED, "noticed_at = noticed_at + interval '1 us'", LAST, "exception-chain"),
    change(NOTED, "detail = jsonb_set(detail, '{detail}', '\"x\"')", LAST, "exception-chain"),
    change(NOTED, "detail = '[]'", LAST, "exception-chain record-unreadable"),
    change(NOTED, "number = 7", LAST, "exception-chain"),
    change(NOTED, "head = sha256(head)", LAST, "exception-chain"),
    remove(NOTED, MIDDLE, "exception-chain"),
    remove(NOTED, "number = (SELECT max(number) FROM exceptions)", "exception-chain"),
    remove(NOTED, "number = 1", "exception-chain"),
    forge(
        NOTED,
        "exception_id || 'x', kind, table_id, 'x', digest, jackpot_id, principal, noticed_at, detail, 5, head",
        f"{NOTED} WHERE {LAST}",
        "exception-chain",
    ),
)

CHAIN = ExceptionChainRow.__tablename__

ENDS = (
    change(CHAIN, "number = number - 1", "true", "exception-chain"),
    change(CHAIN, "number = number + 1", "true", "exception-chain"),
    change(CHAIN, "head = sha256(head)", "true", "exception-chain"),
    remove(CHAIN, "true", "exception-chain"),
)

COUNTS = ExceptionCountRow.__tablename__

COUNTED = (
    remove(COUNTS, "true", "exception-chain"),
    forge(COUNTS, "exception_id, 7", f"{NOTED} WHERE {LAST}", "exception-chain"),
    change(NOTED, "round_id = 'x'", "round_id = ''", "exception-chain"),
)

CORRUPTIONS = (
    *EXCEPTIONS,
    *ENDS,
    *COUNTED,
    change(TABLE, "exception_id = exception_id || 'x'", SECOND, "entry-digest exception-chain"),
    change(TABLE, "entry_seq = entry_seq + 1000", SECOND, "document-without-entry entry-digest"),
    change(TABLE, "entry_seq = 1", SECOND, "document-without-entry entry-digest exception-chain"),
    change(TABLE, "entry_seq = entry_seq - 1", SECOND, "document-without-entry entry-digest exception-chain"),
    remove(TABLE, SECOND, "entry-digest"),
    forge(TABLE, "'x', entry_seq", f"{TABLE} WHERE {SECOND}", "document-without-entry exception-chain"),
    forge(TABLE, "'x', 1", TABLE, "document-without-entry exception-chain"),
    change("acts", "reason = 'otherwise'", "request_id = 'a2'", "entry-digest"),
    change("acts", 'before = before || \'{"kind": "x"}\'', "request_id = 'a2'", "entry-digest exception-chain"),
    change("acts", 'after = after || \'{"exception_id": "x"}\'', "request_id = 'a2'", "entry-digest"),
    change(
        "entries",
        "principal = 'somebody'",
        "kind = 'exception_acknowledged' AND seq % 2 = 0",
        "entry-digest act-principal",
    ),
)


def write(url: str) -> None:
    """Two late bets, each sent twice, acknowledged one after the other; a third; and two refusals that are counted."""
    world = World(url)
    world.open(base_amount="1000")
    world.cancel()
    for number in (1, 2):
        world.post_bets(bet(f"late-{number}")).problem(409, "round-cancelled")
        world.post_bets(bet(f"late-{number}")).problem(409, "round-cancelled")
    second, first = world.get("/v1/exceptions").ok()["items"]
    for number, exception in ((1, first), (2, second)):
        path = f"/v1/exceptions/{exception['exception_id']}/acknowledgement"
        body = {"request_id": f"a{number}", "reason": "looked into"}
        world.post(path, body, key=world.person("Olga", Role.OPERATOR)).ok(201)
    world.post_bets(bet("late-3")).problem(409, "round-cancelled")
    for number in (1, 2):
        world.post_bets(bet("zloty", currency="PLN"), round_id=f"zloty-{number}").problem(422, "no-rate")
    world.close()


def test_what_was_acknowledged_is_proved(superuser: Session) -> None:
    assert superuser.scalar(text("SELECT count(*) FROM exception_acknowledgements")) == 2
    assert verify(superuser).mismatches == ()


@pytest.mark.long
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


@pytest.mark.parametrize("row", [AcknowledgementRow, ExceptionRow])
def test_every_column_is_changed_by_one_of_them(row: type[Base]) -> None:
    statements = " ".join(corruption.statement for corruption in CORRUPTIONS if corruption.table == row.__tablename__)
    assert all(f"SET {column.name} =" in statements for column in row.__table__.columns)


def test_an_acknowledged_exception_is_missed_where_the_chain_ends_before_it(superuser: Session) -> None:
    superuser.execute(text("DELETE FROM exceptions WHERE number >= 2"))

    assert {mismatch.code for mismatch in verify(superuser).mismatches} == {Code.EXCEPTION_CHAIN}


def test_the_last_exception_is_missed_though_the_end_of_the_chain_is_removed_with_it(superuser: Session) -> None:
    superuser.execute(text("DELETE FROM exceptions WHERE number = (SELECT max(number) FROM exceptions)"))
    superuser.execute(text("DELETE FROM exception_chain"))

    assert {mismatch.code for mismatch in verify(superuser).mismatches} == {Code.EXCEPTION_CHAIN}


def test_a_count_that_its_exception_left_behind_is_named_though_the_chain_ends_before_it(superuser: Session) -> None:
    last = "number = (SELECT max(number) FROM exceptions)"
    (removed,) = superuser.scalars(text(f"DELETE FROM exceptions WHERE {last} RETURNING exception_id"))  # noqa: S608  a constant
    set_back = f"(number, head) = (SELECT number, head FROM exceptions WHERE {last})"  # noqa: S608  as above
    superuser.execute(text(f"UPDATE exception_chain SET {set_back}"))  # noqa: S608  as above

    (mismatch,) = verify(superuser).mismatches
    assert (mismatch.code, mismatch.place) == (Code.EXCEPTION_CHAIN, f"exception {removed}")
