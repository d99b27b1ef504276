"""An instant is fixed once: what is booked later is booked at it or after it, whatever a clock says."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy
from sqlalchemy import text

from jackpot_service.db import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.ledger import instants
from jackpot_service.ledger.instants import Positions
from jackpot_service.usecases.add_stripes import AddStripes, add_stripes
from jackpot_service.usecases.resolve_instant import InstantAhead, resolve_instant
from tests.races.books import wait_until_one_waits
from tests.support.bets import bet
from tests.support.hands import FLUSH, ROYAL_FLUSH, hand
from tests.support.house import House

MICROSECOND = timedelta(microseconds=1)


def resolve(house: House, instant: datetime, book: str = "j1") -> Positions:
    return house.transact(lambda session: resolve_instant(session, book, instant, now=house.clock()))


def bet_in(house: House, *round_ids: str) -> None:
    for round_id in round_ids:
        house.bet(bet(), round_id=round_id)


def times(house: House, positions: Sequence[int], book: str = "j1") -> tuple[list[datetime], list[datetime]]:
    """When what stands at or before positions was booked, and what stands beyond."""
    rows = house.books.rows("SELECT stripe_no, seq, booked_at FROM entries WHERE jackpot_id = :book", book=book)
    reach = dict(enumerate(positions))
    held = [row for row in rows if row["seq"] <= reach.get(row["stripe_no"], 0)]
    return ([row["booked_at"] for row in rows if row in held], [row["booked_at"] for row in rows if row not in held])


@pytest.fixture
def opened(house: House) -> House:
    house.open(base_amount="1000", stripes=3)
    bet_in(house, *(f"r{number}" for number in range(12)))
    return house


def test_what_was_booked_before_it_belongs_to_it_and_nothing_else(opened: House) -> None:
    middle = opened.books.rows("SELECT booked_at FROM entries WHERE jackpot_id = 'j1' ORDER BY 1")[7]["booked_at"]

    for instant, count in ((middle - MICROSECOND, 7), (middle, 7), (middle + MICROSECOND, 8)):
        before, after = times(opened, resolve(opened, instant))
        assert len(before) == count
        assert max(before) < instant <= min(after)


def test_it_is_the_same_for_ever(opened: House) -> None:
    instant = opened.clock()
    first = resolve(opened, instant)

    bet_in(opened, "later")
    opened.settle(hand("1", ROYAL_FLUSH), round_id="later")

    assert resolve(opened, instant) == first
    assert opened.books.value("SELECT count(*) FROM instants") == 1


def test_before_the_beginning_there_is_nothing(opened: House) -> None:
    for instant in (datetime(1, 1, 1, tzinfo=UTC), datetime(2026, 11, 20, tzinfo=UTC)):
        assert resolve(opened, instant) == (0, 0, 0)


def test_an_instant_that_has_not_come_is_refused_and_not_stored(opened: House) -> None:
    now = opened.clock()

    def ask(session: Session, instant: datetime) -> Positions:
        return resolve_instant(session, "j1", instant, now=now)

    with pytest.raises(InstantAhead):
        opened.transact(lambda session: ask(session, now + MICROSECOND))
    assert opened.books.value("SELECT count(*) FROM instants") == 0

    assert sum(opened.transact(lambda session: ask(session, now))) == 13


def test_a_writer_whose_clock_is_behind_books_at_the_instant_or_later(opened: House) -> None:
    opened.clock.advance(timedelta(hours=1))
    instant = opened.clock()
    positions = resolve(opened, instant)

    opened.clock.advance(timedelta(minutes=-50))
    bet_in(opened, *(f"behind-{number}" for number in range(9)))
    opened.settle(hand("1", FLUSH), round_id="behind-0")

    _, after = times(opened, positions)
    assert len(after) == 10
    assert set(after) == {instant}
    assert resolve(opened, instant) == positions


def test_acts_and_jackpots_of_a_clock_that_is_behind_come_after_it_as_well(opened: House) -> None:
    opened.clock.advance(timedelta(hours=1))
    instant = opened.clock()
    positions = {book: resolve(opened, instant, book) for book in (REFERENCE_BOOK, "j1")}

    opened.clock.advance(timedelta(minutes=-50))
    opened.publish(GBP="1.18")
    opened.open(jackpot_id="j2", tables=("T2",))
    opened.transact(lambda session: add_stripes(session, AddStripes(opened.act(), "j1", 5)))
    opened.bet(bet(), table_id="T2")
    bet_in(opened, *(f"behind-{number}" for number in range(9)))

    for book, held in positions.items():
        assert min(times(opened, held, book)[1]) >= instant
        assert resolve(opened, instant, book) == held
    assert resolve(opened, instant, "j2") == (0, 0, 0, 0)
    assert opened.books.value("SELECT bool_and(booked_at >= :instant) FROM stripes", instant=instant)


def test_stripes_that_come_later_are_not_reached_by_it(opened: House) -> None:
    early, late = opened.clock(), opened.clock()
    positions = resolve(opened, late)
    opened.transact(lambda session: add_stripes(session, AddStripes(opened.act(), "j1", 6)))
    bet_in(opened, *(f"s{number}" for number in range(20)))

    assert resolve(opened, late) == positions
    # Resolved only now, an earlier instant names them, and says that they had nothing.
    assert resolve(opened, early) == (*positions, 0, 0, 0)
    assert sum(resolve(opened, opened.clock())) == sum(positions) + 21


def test_where_all_stripes_are_beyond_it_nothing_is_locked(opened: House) -> None:
    instant = opened.clock()
    resolve(opened, opened.clock())
    with opened.engine.begin() as other:
        other.execute(text("SELECT FROM stripes WHERE jackpot_id = 'j1' FOR UPDATE"))

        assert sum(resolve(opened, instant)) == 13


def test_what_it_stands_on_is_written_once(opened: House) -> None:
    instant = opened.clock()
    positions = resolve(opened, instant)
    with opened.engine.begin() as session:
        instants.store(session, "j1", instant, (1, 1, 1))

    assert resolve(opened, instant) == positions
    for statement in ("UPDATE instants SET positions = '{1}'", "DELETE FROM instants", "TRUNCATE instants"):
        with opened.engine.begin() as session, pytest.raises(sqlalchemy.exc.ProgrammingError, match="denied"):
            session.execute(text(statement))


def test_several_are_found_at_once(opened: House) -> None:
    early, late = opened.clock(), opened.clock()
    for book in (REFERENCE_BOOK, "j1"):
        resolve(opened, early, book)
    resolve(opened, late)

    with opened.engine.connect() as session:
        found = instants.stored_of(session, [REFERENCE_BOOK, "j1", "none"], [early, late])
        each = {(book, one): instants.stored(session, book, one) for book, one in found}

    assert found == each
    assert found.keys() == {(REFERENCE_BOOK, early), ("j1", early), ("j1", late)}


def test_a_meter_says_since_when_nothing_has_moved_and_is_another_answer_then(opened: House) -> None:
    auditor = "/v1/jackpots/j1/meter"
    before = opened.get(auditor)
    instant = opened.clock()
    resolve(opened, instant)
    after = opened.get(auditor, headers={"If-None-Match": before.headers["ETag"]})

    assert (after.status, after.body["exact"]) == (200, before.body["exact"])
    assert datetime.fromisoformat(after.body["as_of"]) == instant


def test_who_comes_second_gets_what_the_first_stored_though_stripes_came_between(opened: House) -> None:
    instant = opened.clock()
    resolve(opened, instant)
    opened.clock.advance(timedelta(minutes=1))
    earlier = instant - MICROSECOND  # It is over, so whoever resolves it holds no stripe.

    with opened.engine.connect() as session, ThreadPoolExecutor() as threads:
        session.begin()
        first = resolve_instant(session, "j1", earlier, now=opened.clock())
        opened.transact(lambda other: add_stripes(other, AddStripes(opened.act(), "j1", 5)))
        second = threads.submit(resolve, opened, earlier)
        wait_until_one_waits(opened.engine)
        session.commit()

        assert second.result() == first == resolve(opened, earlier)
