"""The proof sees whether instants that a version before wrote down stand where the books stood, and are over."""

import random
from functools import partial
from typing import Final

import pytest
from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.ledger import instants
from jackpot_service.ledger.instants_schema import InstantRow
from jackpot_service.proof.proof import verify
from jackpot_service.reports.resolving import resolve as resolve_in
from jackpot_service.usecases.jackpots import AddStripes, add_stripes
from tests.proof.corruption import Corruption, change, codes_after, forge
from tests.support.bets import bet
from tests.support.former import write_down
from tests.support.house import House

TABLE = InstantRow.__tablename__


def write(url: str) -> None:
    """Three instants of both books, with bets before each and a stripe that came between; none after the last."""
    random.seed(5)
    house = House(url)
    house.open(base_amount="1000", stripes=2)
    for part in range(3):
        for number in range(8):
            house.bet(bet(), round_id=f"r{part}-{number}")
        if part == 1:
            command = AddStripes(house.act(), "j1", 3)
            house.transact(lambda session, command=command: add_stripes(session, command))  # type: ignore[misc]
        resolve(house)
    house.engine.dispose()


def resolve(house: House) -> None:
    """Resolve an instant, and write down what was found, as a version before did."""
    now = house.clock()
    for book in (REFERENCE_BOOK, "j1"):
        resolve_in(house.engine, book, now, now=now)
        house.transact(partial(write_down, book=book, instant=now))


def test_instants_that_nobody_touched_are_right(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()
    lengths = superuser.scalars(text("SELECT cardinality(positions) FROM instants WHERE jackpot_id = 'j1' ORDER BY 1"))
    assert list(lengths) == [2, 3, 3]
    gone_on = """
    SELECT min(seq - positions[stripe_no + 1])
    FROM stripes
    JOIN instants USING (jackpot_id)
    WHERE instant = (SELECT min(instant) FROM instants)
    """
    assert superuser.scalar(text(gone_on)) > 0


FIRST = "jackpot_id = 'j1' AND instant = (SELECT min(instant) FROM instants)"
LAST = "jackpot_id = 'j1' AND instant = (SELECT max(instant) FROM instants)"
OF_ACTS = "jackpot_id = '-' AND instant = (SELECT max(instant) FROM instants)"
WRONG = "instant-positions"

CORRUPTIONS: Final = (
    change(TABLE, "positions[1] = positions[1] + 1", FIRST, WRONG),
    change(TABLE, "positions[2] = positions[2] - 1", FIRST, WRONG),
    change(TABLE, "positions[2] = positions[2] + 1", LAST, WRONG),
    change(TABLE, "positions[1] = positions[1] - 1", OF_ACTS, WRONG),
    change(TABLE, "positions[1] = -1", FIRST, WRONG),
    change(TABLE, "positions[1] = NULL", FIRST, WRONG),
    change(TABLE, "positions = positions[1:1]", FIRST, WRONG),
    change(TABLE, "positions = positions || 1::bigint", FIRST, WRONG),
    change(TABLE, "positions = positions || 0::bigint", LAST, WRONG),
    change(TABLE, "instant = instant + interval '1 hour'", FIRST, WRONG),
    change(TABLE, "instant = instant + interval '1 hour'", LAST, WRONG),
    change(TABLE, "instant = instant - interval '5 seconds'", FIRST, WRONG),
    change(TABLE, "jackpot_id = '-', instant = instant + interval '1 us'", FIRST, WRONG),
    change(TABLE, "jackpot_id = 'nowhere'", FIRST, "book-unknown"),
    forge(TABLE, "jackpot_id, instant + interval '1 us', '{1,1}'", f"{TABLE} WHERE {FIRST}", WRONG),
    change("stripes", "booked_at = booked_at - interval '1 us'", "jackpot_id = 'j1' AND stripe_no = 1", WRONG),
    change("stripes", "booked_at = booked_at - interval '1 us'", "jackpot_id = '-'", WRONG),
)


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


def test_every_column_is_changed_by_one_of_them() -> None:
    statements = " ".join(corruption.statement for corruption in CORRUPTIONS if corruption.table == TABLE)
    assert all(f"SET {column.name} =" in statements for column in InstantRow.__table__.columns)


def test_an_instant_that_was_forgotten_is_resolved_to_the_same_again(superuser: Session) -> None:
    stored = superuser.execute(text("SELECT jackpot_id, instant, positions FROM instants ORDER BY instant")).all()
    superuser.execute(text("DELETE FROM instants"))

    assert verify(superuser).mismatches == ()
    again = {(book, instant): instants.before(superuser, book, instant) for book, instant, _ in stored}
    told = {(book, instant): tuple(positions) for book, instant, positions in stored}
    assert again == told | {key: (*told[key], 0) for key in again if len(again[key]) > len(told[key])}
