"""The proof finds whatever is changed of an acknowledgement: by whom, of what, that it is there at all."""

import pytest
from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Role
from jackpot_service.proof.proof import verify
from jackpot_service.records.schema import AcknowledgementRow
from tests.proof.corruption import Corruption, change, codes_after, forge, remove
from tests.support.bets import bet
from tests.support.house import House

TABLE = AcknowledgementRow.__tablename__
SECOND = "exception_id = (SELECT max(exception_id) FROM exception_acknowledgements)"
"""The acknowledgement of the later of two."""

CORRUPTIONS = (
    change(TABLE, "exception_id = exception_id || 'x'", SECOND, "entry-digest"),
    change(TABLE, "entry_seq = entry_seq + 1000", SECOND, "document-without-entry entry-digest"),
    change(TABLE, "entry_seq = 1", SECOND, "document-without-entry entry-digest"),
    change(TABLE, "entry_seq = entry_seq - 1", SECOND, "document-without-entry entry-digest"),
    remove(TABLE, SECOND, "entry-digest"),
    forge(TABLE, "'x', entry_seq", f"{TABLE} WHERE {SECOND}", "document-without-entry"),
    forge(TABLE, "'x', 1", TABLE, "document-without-entry"),
    change("acts", "reason = 'otherwise'", "request_id = 'a2'", "entry-digest"),
    change("acts", 'before = before || \'{"kind": "x"}\'', "request_id = 'a2'", "entry-digest"),
    change("acts", 'after = after || \'{"exception_id": "x"}\'', "request_id = 'a2'", "entry-digest"),
    change("entries", "principal = 'somebody'", "kind = 'exception_acknowledged' AND seq % 2 = 0", "entry-digest"),
)


def write(url: str) -> None:
    """Two late bets, acknowledged one after the other."""
    house = House(url)
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


def test_what_was_acknowledged_is_proved(superuser: Session) -> None:
    assert superuser.scalar(text("SELECT count(*) FROM exception_acknowledgements")) == 2
    assert verify(superuser).mismatches == ()


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


def test_every_column_is_changed_by_one_of_them() -> None:
    statements = " ".join(corruption.statement for corruption in CORRUPTIONS if corruption.table == TABLE)
    assert all(f"SET {column.name} =" in statements for column in AcknowledgementRow.__table__.columns)
