"""An instant is resolved without a row: what is booked later is booked at it or after it, whatever a clock says."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy
from sqlalchemy import text

from jackpot_service.database.transactions import read
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.ledger import instants
from jackpot_service.ledger.instants import Positions
from jackpot_service.reports.making import InstantAhead
from jackpot_service.reports.making import resolve as resolve_in
from jackpot_service.usecases.jackpots import AddStripes, add_stripes
from tests.races.books import wait_until_one_waits
from tests.support.bets import bet
from tests.support.hands import FLUSH, ROYAL_FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

MICROSECOND = timedelta(microseconds=1)

TIMES = "SELECT array_agg(booked_at ORDER BY jackpot_id, stripe_no) FROM stripes"


def resolve(world: World, instant: datetime, book: str = "j1") -> Positions:
    resolve_in(world.engine, book, instant, now=world.clock())
    return read(world.engine, lambda session: instants.at(session, book, instant))


def bet_in(world: World, *round_ids: str) -> None:
    for round_id in round_ids:
        world.bet(bet(), round_id=round_id)


def times(world: World, positions: Sequence[int], book: str = "j1") -> tuple[list[datetime], list[datetime]]:
    """When what stands at or before positions was booked, and what stands beyond."""
    rows = world.books.rows("SELECT stripe_no, seq, booked_at FROM entries WHERE jackpot_id = :book", book=book)
    reach = dict(enumerate(positions))
    held = [row for row in rows if row["seq"] <= reach.get(row["stripe_no"], 0)]
    return ([row["booked_at"] for row in rows if row in held], [row["booked_at"] for row in rows if row not in held])


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000", stripes=3)
    bet_in(world, *(f"r{number}" for number in range(12)))
    return world


def test_what_was_booked_before_it_belongs_to_it_and_nothing_else(opened: World) -> None:
    middle = opened.books.rows("SELECT booked_at FROM entries WHERE jackpot_id = 'j1' ORDER BY 1")[7]["booked_at"]

    for instant, count in ((middle - MICROSECOND, 7), (middle, 7), (middle + MICROSECOND, 8)):
        before, after = times(opened, resolve(opened, instant))
        assert len(before) == count
        assert max(before) < instant <= min(after)


def test_it_is_the_same_for_ever(opened: World) -> None:
    instant = opened.clock()
    first = resolve(opened, instant)

    bet_in(opened, "later")
    opened.settle(hand("1", ROYAL_FLUSH), round_id="later")

    assert resolve(opened, instant) == first


def test_before_the_beginning_there_is_nothing(opened: World) -> None:
    for instant in (datetime(1, 1, 1, tzinfo=UTC), datetime(2026, 11, 20, tzinfo=UTC)):
        assert resolve(opened, instant) == ()


def test_an_instant_that_has_not_come_is_refused_and_raises_no_stripe(opened: World) -> None:
    now = opened.clock()
    before = opened.books.value(TIMES)

    with pytest.raises(InstantAhead):
        resolve_in(opened.engine, "j1", now + MICROSECOND, now=now)
    assert opened.books.value(TIMES) == before

    assert sum(resolve(opened, now)) == 13


def test_a_writer_whose_clock_is_behind_books_at_the_instant_or_later(opened: World) -> None:
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


def test_acts_and_jackpots_of_a_clock_that_is_behind_come_after_it_as_well(opened: World) -> None:
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
    assert resolve(opened, instant, "j2") == ()
    assert opened.books.value("SELECT bool_and(booked_at >= :instant) FROM stripes", instant=instant)


def test_stripes_that_come_later_are_not_reached_by_it(opened: World) -> None:
    early, late = opened.clock(), opened.clock()
    positions = resolve(opened, late)
    opened.transact(lambda session: add_stripes(session, AddStripes(opened.act(), "j1", 6)))
    bet_in(opened, *(f"s{number}" for number in range(20)))

    assert resolve(opened, late) == positions
    assert resolve(opened, early) == positions
    now = resolve(opened, opened.clock())
    assert (len(positions), len(now)) == (3, 6)
    assert sum(now) == sum(positions) + 21


def test_a_stripe_that_is_added_by_an_act_of_a_clock_ahead_takes_nothing_before_the_act(opened: World) -> None:
    opened.clock.advance(timedelta(hours=1))
    opened.publish(GBP="1.18")
    opened.clock.advance(timedelta(minutes=-50))
    opened.transact(lambda session: add_stripes(session, AddStripes(opened.act(), "j1", 9)))
    bet_in(opened, *(f"behind-{number}" for number in range(30)))

    opened.clock.advance(timedelta(hours=2))
    added = opened.books.value("SELECT booked_at FROM entries WHERE kind = 'stripes_added' AND jackpot_id = 'j1'")
    since = opened.books.rows("SELECT booked_at FROM entries WHERE jackpot_id = 'j1' AND stripe_no > 2")
    assert since
    assert min(row["booked_at"] for row in since) >= added
    assert len(resolve(opened, added)) == 3
    assert len(resolve(opened, added + MICROSECOND)) == 9


def test_where_all_stripes_are_beyond_it_nothing_is_locked(opened: World) -> None:
    instant = opened.clock()
    resolve(opened, opened.clock())
    with opened.engine.begin() as other:
        other.execute(text("SELECT FROM stripes WHERE jackpot_id = 'j1' FOR UPDATE"))

        assert sum(resolve(opened, instant)) == 13


def test_idle_stripes_are_raised_and_nothing_else_is_written(opened: World) -> None:
    before = opened.books.counts()
    instant = opened.clock()

    positions = resolve(opened, instant)

    assert opened.books.counts() == before
    assert set(opened.books.value("SELECT array_agg(booked_at) FROM stripes WHERE jackpot_id = 'j1'")) == {instant}
    assert opened.books.value("SELECT array_agg(seq ORDER BY stripe_no) FROM stripes WHERE jackpot_id = 'j1'") == [
        *positions
    ]


def test_stripes_that_are_beyond_it_stay_as_they_are(opened: World) -> None:
    resolve(opened, opened.clock())
    opened.clock.advance(timedelta(hours=1))
    bet_in(opened, "beyond")
    before = opened.books.value(TIMES)

    resolve(opened, opened.clock.at - timedelta(hours=1))

    assert max(before) in opened.books.value(TIMES)
    assert all(now >= then for now, then in zip(opened.books.value(TIMES), before, strict=True))


def test_while_one_stripe_is_held_those_before_it_are_raised_and_free_again(opened: World) -> None:
    instant = opened.clock()
    free = "SELECT FROM stripes WHERE jackpot_id = 'j1' AND stripe_no < 2 AND booked_at >= :instant FOR UPDATE NOWAIT"
    with opened.engine.connect() as holder, ThreadPoolExecutor() as threads:
        holder.execute(text("SELECT FROM stripes WHERE jackpot_id = 'j1' AND stripe_no = 2 FOR UPDATE"))
        asking = threads.submit(resolve, opened, instant)
        wait_until_one_waits(opened.engine)

        with opened.engine.begin() as other:
            assert other.execute(text(free), {"instant": instant}).rowcount == 2
        holder.rollback()
        assert sum(asking.result()) == 13


def test_a_stripe_that_comes_while_it_is_resolved_is_not_behind(opened: World) -> None:
    """Whoever resolves waits for stripe 0, which whoever adds a stripe by a clock that is behind holds."""
    opened.clock.advance(timedelta(hours=1))
    instant = opened.clock()
    opened.clock.advance(timedelta(minutes=-50))
    command = AddStripes(opened.act(), "j1", 5)
    opened.clock.advance(timedelta(minutes=55))
    with opened.engine.connect() as adding, ThreadPoolExecutor() as threads:
        adding.begin()
        add_stripes(adding, command)
        asking = threads.submit(resolve, opened, instant)
        wait_until_one_waits(opened.engine)
        adding.commit()
        positions = asking.result()

    assert len(positions) == 5
    assert opened.books.value("SELECT bool_and(booked_at >= :i) FROM stripes WHERE jackpot_id = 'j1'", i=instant)


def test_no_stripe_can_be_put_back(opened: World) -> None:
    resolve(opened, opened.clock())
    back = "UPDATE stripes SET booked_at = booked_at - interval '1 us' WHERE jackpot_id = 'j1' AND stripe_no = 1"
    with opened.engine.begin() as session, pytest.raises(sqlalchemy.exc.ProgrammingError, match="stripes"):
        session.execute(text(back))


def test_a_meter_says_since_when_nothing_has_moved_and_is_another_answer_then(opened: World) -> None:
    auditor = "/v1/jackpots/j1/meter"
    before = opened.get(auditor)
    instant = opened.clock()
    resolve(opened, instant)
    after = opened.get(auditor, headers={"If-None-Match": before.headers["ETag"]})

    assert (after.status, after.body["amount_exact"]) == (200, before.body["amount_exact"])
    assert datetime.fromisoformat(after.body["last_movement_at"]) == instant
