"""What groups of bets came to: noted when they are booked, folded some time later, and told once whichever it is."""

import random
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Final

import pytest

from jackpot_service.db import pipelined
from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.ledger import recent_bets, stripes
from jackpot_service.usecases.accept_bets import AcceptBets, BetsAccepted, accept_group
from tests.support import folding, rolling
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.house import House

SERVER: Final = Principal("server", Role.TABLE)

GROUPS: Final = 200


@pytest.fixture
def opened(house: House) -> House:
    """Live Caribbean Stud on one stripe, at two tables."""
    house.open(base_amount="100", stripes=1, tables=("T1", "T2"))
    return house


def _book(house: House, *tables: str, name: str) -> None:
    """A euro and two pounds at each of some tables, in one group."""
    bets = Bets.of([Bet("a", "p", "1", "EUR", 100), Bet("b", "q", "2", "GBP", 100), Bet("c", "r", "3", "GBP", 100)])
    group = [AcceptBets(SERVER, table_id, name, bets, datetime.now(UTC)) for table_id in tables]
    answers = house.transact(lambda session: accept_group(session, group))
    assert all(isinstance(answer, BetsAccepted) for answer in answers), answers


def _state(house: House) -> tuple[int, int]:
    """How many groups are noted, and how many rows the days have."""
    counts = house.books.counts()
    return counts["recent_bets"], counts["daily_bets"]


MOST_SUMS: Final = 4
"""What a group of these tests adds at most."""


def _without_folding() -> None:
    """Have chance fold none of the next few groups."""
    random.seed(1)
    assert min(random.randrange(recent_bets.SUMS_A_FOLD) for _ in range(9)) > MOST_SUMS
    random.seed(1)


BY_DAY: Final = """
SELECT table_id, currency, cycle, sum(bets) AS bets, sum(stakes_minor) AS stakes_minor, sum(value) AS value
FROM bets_by_day GROUP BY 1, 2, 3 ORDER BY 3, 1, 2
"""


def test_a_group_leaves_one_row_that_tells_its_batches_by_currency(opened: House) -> None:
    _without_folding()
    _book(opened, "T1", "T2", name="r1")

    (row,) = opened.books.rows("SELECT * FROM recent_bets")

    sums = ",".join(f'"(c1,{at},{of})"' for at in ("T1", "T2") for of in ("EUR,1,1,100,1.00", "GBP,1,2,200,2.3400"))
    assert dict(row) == {
        "jackpot_id": "j1",
        "stripe_no": 0,
        "seq": opened.books.value("SELECT max(seq) FROM entries WHERE kind = 'bets'"),
        "sums": f"{{{sums}}}",
    }
    assert _state(opened) == (1, 0)


def test_bets_are_told_once_before_they_are_folded_and_after(opened: House) -> None:
    _without_folding()
    _book(opened, "T1", name="r1")
    _book(opened, "T1", "T2", name="r2")
    assert _state(opened) == (2, 0)
    told = opened.books.rows(BY_DAY)
    assert [tuple(row.values()) for row in told] == [
        ("T1", "EUR", 1, 2, 200, 2),
        ("T1", "GBP", 1, 4, 400, Decimal("4.68")),
        ("T2", "EUR", 1, 1, 100, 1),
        ("T2", "GBP", 1, 2, 200, Decimal("2.34")),
    ]

    folding.fold(opened.engine)

    assert _state(opened) == (0, 4)
    assert opened.books.rows(BY_DAY) == told


def test_what_is_folded_later_is_added_to_what_was_folded_before(opened: House) -> None:
    _without_folding()
    for name in ("r1", "r2"):
        _book(opened, "T1", name=name)
        folding.fold(opened.engine)

    assert _state(opened) == (0, 2)
    assert [(row["bets"], row["stakes_minor"]) for row in opened.books.rows(BY_DAY)] == [(2, 200), (4, 400)]


def test_groups_of_two_cycles_that_are_folded_at_once_are_kept_apart(opened: House) -> None:
    """The place of a group on its stripe tells its cycle, though a hit came between."""
    _without_folding()
    opened.bet(bet("a"))
    opened.settle(hand("1", ROYAL_FLUSH))
    opened.bet(bet("b"), round_id="r2")
    assert _state(opened) == (2, 0)

    folding.fold(opened.engine)

    assert [(row["cycle"], row["bets"]) for row in opened.books.rows(BY_DAY)] == [(1, 1), (2, 1)]


def test_now_and_then_a_booking_folds_what_is_noted(opened: House) -> None:
    random.seed(5)
    states = []
    for number in range(GROUPS):
        _book(opened, "T1", "T2", name=f"r{number}")
        states.append(_state(opened))

    noted = [groups for groups, _ in states]
    folds = [number for number, groups in enumerate(noted) if groups == 0]
    assert 1 < len(folds) < GROUPS / 10
    assert all(after == before + 1 for before, after in pairwise(noted) if after)
    assert [row["bets"] for row in opened.books.rows(BY_DAY)] == [GROUPS, 2 * GROUPS] * 2
    with opened.engine.connect() as session:
        assert rolling.rolled_up(session) == rolling.posted(session)


def test_a_stripe_folds_nothing_of_another(house: House) -> None:
    house.open(stripes=2)
    random.seed(2)
    for number in range(6):
        house.bet(bet(), round_id=f"r{number}")
    noted = {row["stripe_no"] for row in house.books.rows("SELECT stripe_no FROM recent_bets")}
    assert noted == {0, 1}

    with house.engine.begin() as session, pipelined(session) as pipe:
        stripes.lock_one(pipe, "j1", 0)
        recent_bets.fold(pipe, "j1", stripe_no=0)

    assert {row["stripe_no"] for row in house.books.rows("SELECT stripe_no FROM recent_bets")} == {1}
    assert {row["stripe_no"] for row in house.books.rows("SELECT stripe_no FROM daily_bets")} == {0}


def test_a_fold_that_is_rolled_back_leaves_all_as_it_was(opened: House) -> None:
    _without_folding()
    _book(opened, "T1", name="r1")
    told = opened.books.rows(BY_DAY)

    with opened.engine.connect() as session:
        with pipelined(session) as pipe:
            stripes.lock_one(pipe, "j1", 0)
            recent_bets.fold(pipe, "j1", stripe_no=0)
        session.rollback()

    assert _state(opened) == (1, 0)
    assert opened.books.rows(BY_DAY) == told


def test_folding_nothing_changes_nothing(opened: House) -> None:
    with opened.engine.begin() as session, pipelined(session) as pipe:
        stripes.lock_one(pipe, "j1", 0)
        recent_bets.fold(pipe, "j1", stripe_no=0)

    assert _state(opened) == (0, 0)
