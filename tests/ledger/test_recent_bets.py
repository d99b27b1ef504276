"""What groups of bets came to: set aside when they are booked, rolled up some time later, and told once either way."""

import random
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Final

import pytest

from jackpot_service.database.transactions import pipelined
from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.contribution import Turnover
from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.domain.tallies import Tally
from jackpot_service.ledger import journal, recent_bets, stripes
from jackpot_service.usecases.accept_bets import AcceptBets, BetsAccepted, accept_group
from tests.support import rolling
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.house import House

SERVER: Final = Principal("server", Role.TABLE)

GROUPS: Final = 200
SUMS: Final = 4
"""What a group of two tables sets aside."""


@pytest.fixture
def opened(house: House) -> House:
    """Live Caribbean Stud on one stripe, at two tables."""
    house.open(base_amount="100", stripes=1, tables=("T1", "T2"))
    return house


@pytest.fixture
def unrolled(opened: House) -> House:
    """The same, and chance rolls none of the next groups up."""
    _never_roll_up()
    return opened


def _never_roll_up() -> None:
    recent_bets.CHANCE.seed(1)
    assert min(recent_bets.CHANCE.randrange(recent_bets.SUMS_AT_ONCE) for _ in range(9)) >= SUMS
    recent_bets.CHANCE.seed(1)


def _book(house: House, *tables: str, name: str) -> None:
    """A euro and two pounds at each of some tables, in one group."""
    bets = Bets.of([Bet("a", "p", "1", "EUR", 100), Bet("b", "q", "2", "GBP", 100), Bet("c", "r", "3", "GBP", 100)])
    group = [AcceptBets(SERVER, table_id, name, bets, house.clock()) for table_id in tables]
    answers = house.transact(lambda session: accept_group(session, group))
    assert all(isinstance(answer, BetsAccepted) for answer in answers), answers


def _state(house: House) -> tuple[int, int]:
    """How many groups are set aside, and how many rows the days have."""
    counts = house.books.counts()
    return counts["recent_bets"], counts["daily_bets"]


BY_DAY: Final = """
SELECT table_id, currency, cycle, sum(bets) AS bets, sum(stakes_minor) AS stakes_minor, sum(value) AS value
FROM bets_by_day GROUP BY 1, 2, 3 ORDER BY 3, 1, 2
"""


def test_a_group_leaves_one_row_that_tells_its_batches_by_currency(unrolled: House) -> None:
    _book(unrolled, "T1", "T2", name="r1")

    (row,) = unrolled.books.rows("SELECT * FROM recent_bets")

    sums = ",".join(f'"(c1,{at},{of})"' for at in ("T1", "T2") for of in ("EUR,1,1,100,1.00", "GBP,1,2,200,2.3400"))
    last = unrolled.books.value("SELECT max(seq) FROM entries WHERE kind = 'bets'")
    assert dict(row) == {"jackpot_id": "j1", "stripe_no": 0, "seq": last, "sums": f"{{{sums}}}"}
    assert _state(unrolled) == (1, 0)


@pytest.mark.parametrize("table_id", ["null", "NULL", "..--::__", "0", "x" * 64])
def test_an_id_of_any_form_is_told_as_it_is(unrolled: House, table_id: str) -> None:
    unrolled.add_table(table_id, jackpot_id="j1")
    unrolled.bet(bet(), table_id=table_id)

    assert [row["table_id"] for row in unrolled.books.rows(BY_DAY)] == [table_id]


def test_bets_are_told_once_before_they_are_rolled_up_and_after(unrolled: House) -> None:
    _book(unrolled, "T1", name="r1")
    _book(unrolled, "T1", "T2", name="r2")
    assert _state(unrolled) == (2, 0)
    told = unrolled.books.rows(BY_DAY)
    assert [tuple(row.values()) for row in told] == [
        ("T1", "EUR", 1, 2, 200, 2),
        ("T1", "GBP", 1, 4, 400, Decimal("4.68")),
        ("T2", "EUR", 1, 1, 100, 1),
        ("T2", "GBP", 1, 2, 200, Decimal("2.34")),
    ]

    rolling.roll_up(unrolled.engine)

    assert _state(unrolled) == (0, 4)
    assert unrolled.books.rows(BY_DAY) == told
    assert unrolled.books.value("SELECT seq = rolled_up_to FROM stripes WHERE jackpot_id = 'j1'")


def test_what_is_rolled_up_later_is_added_to_what_was_rolled_up_before(unrolled: House) -> None:
    for name in ("r1", "r2"):
        _book(unrolled, "T1", name=name)
        rolling.roll_up(unrolled.engine)

    assert _state(unrolled) == (0, 2)
    assert [(row["bets"], row["stakes_minor"]) for row in unrolled.books.rows(BY_DAY)] == [(2, 200), (4, 400)]


def test_groups_of_three_cycles_that_are_rolled_up_at_once_are_kept_apart(unrolled: House) -> None:
    """The place of a group on its stripe tells its cycle, though hits came between."""
    for cycle in (1, 2, 3):
        unrolled.bet(bet(stake_minor=100 * cycle), round_id=f"r{cycle}")
        if cycle < 3:
            unrolled.settle(hand("1", ROYAL_FLUSH), round_id=f"r{cycle}")
    assert _state(unrolled) == (3, 0)
    told = unrolled.books.rows(BY_DAY)
    assert [(row["cycle"], row["stakes_minor"]) for row in told] == [(1, 100), (2, 200), (3, 300)]

    rolling.roll_up(unrolled.engine)

    assert unrolled.books.rows(BY_DAY) == told


def test_now_and_then_a_booking_rolls_up_what_is_set_aside(opened: House) -> None:
    """A group that sets four sums aside does so once in as many groups as make `SUMS_AT_ONCE` sums."""
    chance = random.Random(5)
    recent_bets.CHANCE.seed(5)
    states = []
    for number in range(GROUPS):
        _book(opened, "T1", "T2", name=f"r{number}")
        states.append(_state(opened))

    groups = [groups for groups, _ in states]
    due = [number for number in range(GROUPS) if chance.randrange(recent_bets.SUMS_AT_ONCE) < SUMS]
    assert [number for number, left in enumerate(groups) if left == 0] == due
    assert len(due) > 1
    assert all(after == before + 1 for before, after in pairwise(groups) if after)
    assert [row["bets"] for row in opened.books.rows(BY_DAY)] == [GROUPS, 2 * GROUPS] * 2
    with opened.engine.connect() as session:
        assert rolling.rolled_up(session) == rolling.posted(session)


def test_a_stripe_rolls_up_nothing_of_another(house: House) -> None:
    house.open(stripes=2)
    _never_roll_up()
    random.seed(2)
    for number in range(9):
        house.bet(bet(), round_id=f"r{number}")
    assert house.books.value("SELECT count(DISTINCT stripe_no) FROM recent_bets") == 2

    with house.engine.begin() as session, pipelined(session) as pipe:
        stripes.lock_one(pipe, "j1", 0)
        recent_bets.roll_up(pipe, "j1", stripe_no=0)

    assert {row["stripe_no"] for row in house.books.rows("SELECT stripe_no FROM recent_bets")} == {1}
    assert {row["stripe_no"] for row in house.books.rows("SELECT stripe_no FROM daily_bets")} == {0}


def test_what_is_rolled_back_leaves_all_as_it_was(unrolled: House) -> None:
    _book(unrolled, "T1", name="r1")
    told = unrolled.books.rows(BY_DAY)

    with unrolled.engine.connect() as session:
        with pipelined(session) as pipe:
            stripes.lock_one(pipe, "j1", 0)
            recent_bets.roll_up(pipe, "j1", stripe_no=0)
        session.rollback()

    assert _state(unrolled) == (1, 0)
    assert unrolled.books.rows(BY_DAY) == told
    assert unrolled.books.value("SELECT rolled_up_to FROM stripes WHERE jackpot_id = 'j1'") == 0


def test_where_nothing_is_set_aside_the_days_get_nothing(opened: House) -> None:
    with opened.engine.begin() as session, pipelined(session) as pipe:
        stripes.lock_one(pipe, "j1", 0)
        recent_bets.roll_up(pipe, "j1", stripe_no=0)

    assert _state(opened) == (0, 0)
    assert opened.books.value("SELECT seq = rolled_up_to FROM stripes WHERE jackpot_id = 'j1'")


def test_bets_are_not_booked_together_with_others(opened: House) -> None:
    """The place of a group is that of its last entry."""
    step = RoundStep("c1", "T1", "r1", 1, 1, 1)
    turnover = Turnover("EUR", 1, 100, Decimal(1))
    bets = Entry("j1", EntryKind.BETS, "srv", opened.clock(), {}, round_step=step, tally=Tally(bets=(turnover,)))
    voids = Entry("j1", EntryKind.VOIDS, "srv", opened.clock(), {}, round_step=replace(step, step=2))
    with opened.engine.connect() as session, pytest.raises(ValueError, match="alone"), pipelined(session) as pipe:
        journal.post_all(pipe, [bets, voids], stripe_no=0)
