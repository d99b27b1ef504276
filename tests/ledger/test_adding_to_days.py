"""Figures are added to their days later, once, and are told meanwhile all the same."""

import random
from decimal import Decimal
from itertools import pairwise
from typing import Final

import pytest

from jackpot_service.database.transactions import pipelined
from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.ledger import days as kept_days
from jackpot_service.ledger import stripes
from jackpot_service.usecases.accept_bets import AcceptBets
from tests.ledger.booked_days import SERVER, book, opened
from tests.support import rolling
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.reading import Rows
from tests.support.world import World

__all__ = ["opened"]

pytestmark = pytest.mark.long

GROUPS: Final = 200
FIGURES: Final = 4
"""How many figures the bets of a group of two tables have."""


def _never_add() -> None:
    kept_days.CHANCE.seed(1)
    assert min(kept_days.CHANCE.randrange(kept_days.FIGURES_AT_ONCE) for _ in range(9)) >= FIGURES
    kept_days.CHANCE.seed(1)


def _group(world: World, *tables: str, name: str) -> None:
    """A euro and two pounds at each of some tables, in one group."""
    bets = Bets.of([Bet("a", "p", "1", "EUR", 100), Bet("b", "q", "2", "GBP", 100), Bet("c", "r", "3", "GBP", 100)])
    book(world, *(AcceptBets(SERVER, table_id, name, bets, world.clock()) for table_id in tables))


def _behind(world: World) -> int:
    """How many entries of the stripe are not in its days."""
    behind: int = world.books.value("SELECT seq - summed_to FROM stripes WHERE jackpot_id = 'j1' AND stripe_no = 0")
    return behind


def _rows_of_days(world: World) -> Rows:
    """What reports see of bets."""
    relation = "days_with_recent('j1', ARRAY['bets'])"
    columns = "table_id, currency, cycle, sum(number) AS bets, sum(minor) AS stakes_minor, sum(value) AS value"
    return world.books.rows(f"SELECT {columns} FROM {relation} AS told GROUP BY 1, 2, 3 ORDER BY 3, 1, 2")  # noqa: S608


def test_an_entry_tells_what_its_bets_come_to_by_currency(opened: World) -> None:
    _group(opened, "T1", "R1", name="r1")

    columns = "casino_id, table_id, rules_version, figures::text[]"
    rows = opened.books.rows(f"SELECT {columns} FROM entries WHERE kind = 'bets'")  # noqa: S608  a constant

    figures = ["(bets,EUR,,,,,1,100,1)", "(bets,GBP,,,,,2,200,2.34)"]
    assert [tuple(row.values()) for row in rows] == [("c1", "T1", 1, figures), ("riga", "R1", 1, figures)]


@pytest.mark.parametrize("table_id", ["null", "NULL", "..--::__", "0", "x" * 64])
def test_an_id_of_any_form_is_told_as_it_is(opened: World, table_id: str) -> None:
    opened.add_table(table_id, jackpot_id="j1")
    opened.bet(bet(), table_id=table_id)

    assert [row["table_id"] for row in _rows_of_days(opened)] == [table_id]


def test_figures_are_told_once_before_they_are_added_to_days_and_after(opened: World) -> None:
    _never_add()
    behind = _behind(opened)
    _group(opened, "T1", name="r1")
    _group(opened, "T1", "R1", name="r2")
    assert _behind(opened) == behind + 3
    rows = _rows_of_days(opened)
    assert [tuple(row.values()) for row in rows] == [
        ("R1", "EUR", 1, 1, 100, 1),
        ("R1", "GBP", 1, 2, 200, Decimal("2.34")),
        ("T1", "EUR", 1, 2, 200, 2),
        ("T1", "GBP", 1, 4, 400, Decimal("4.68")),
    ]

    rolling.roll_up(opened.engine)

    assert _behind(opened) == 0
    assert _rows_of_days(opened) == rows
    assert opened.books.value("SELECT count(*) FROM days WHERE kind = 'bets'") == 4


def test_what_is_added_later_is_added_to_what_was_before(opened: World) -> None:
    for name in ("r1", "r2"):
        _group(opened, "T1", name=name)
        rolling.roll_up(opened.engine)

    assert [(row["bets"], row["stakes_minor"]) for row in _rows_of_days(opened)] == [(2, 200), (4, 400)]
    assert opened.books.value("SELECT count(*) FROM days WHERE kind = 'bets'") == 2


def test_figures_of_three_cycles_that_are_added_at_once_are_kept_apart(opened: World) -> None:
    """The place of an entry on its stripe tells its cycle, though hits came between."""
    _never_add()
    for cycle in (1, 2, 3):
        opened.bet(bet(stake_minor=100 * cycle), round_id=f"r{cycle}")
        if cycle < 3:
            opened.settle(hand("1", ROYAL_FLUSH), round_id=f"r{cycle}")
    rows = _rows_of_days(opened)
    assert [(row["cycle"], row["stakes_minor"]) for row in rows] == [(1, 100), (2, 200), (3, 300)]

    rolling.roll_up(opened.engine)

    assert _rows_of_days(opened) == rows


def test_now_and_then_a_booking_adds_what_is_behind(opened: World) -> None:
    """A group of four figures does so once in as many groups as have `FIGURES_AT_ONCE` figures."""
    rolling.roll_up(opened.engine)
    chance = random.Random(5)
    kept_days.CHANCE.seed(5)
    behind = []
    for number in range(GROUPS):
        _group(opened, "T1", "R1", name=f"r{number}")
        behind.append(_behind(opened))

    summed = [number for number in range(GROUPS) if chance.randrange(kept_days.FIGURES_AT_ONCE) < FIGURES]
    assert [number for number, left in enumerate(behind) if left == 0] == summed
    assert len(summed) > 1
    assert all(after == before + 2 for before, after in pairwise(behind) if after)
    assert [row["bets"] for row in _rows_of_days(opened)] == [GROUPS, 2 * GROUPS] * 2


def test_a_stripe_adds_nothing_of_another(world: World) -> None:
    world.open(stripes=2)
    _never_add()
    random.seed(2)
    for number in range(9):
        world.bet(bet(), round_id=f"r{number}")
    assert world.books.value("SELECT count(DISTINCT stripe_no) FROM entries WHERE kind = 'bets'") == 2

    with world.engine.begin() as session, pipelined(session) as pipe:
        stripes.lock_one(pipe, "j1", 0)
        kept_days.add(pipe, "j1", stripe_no=0)

    assert {row["stripe_no"] for row in world.books.rows("SELECT stripe_no FROM days")} == {0}
    assert world.books.value("SELECT summed_to FROM stripes WHERE jackpot_id = 'j1' AND stripe_no = 1") == 0


def test_what_is_rolled_back_leaves_all_as_it_was(opened: World) -> None:
    _never_add()
    _group(opened, "T1", name="r1")
    rows, behind = _rows_of_days(opened), _behind(opened)

    with opened.engine.connect() as session:
        with pipelined(session) as pipe:
            stripes.lock_one(pipe, "j1", 0)
            kept_days.add(pipe, "j1", stripe_no=0)
        session.rollback()

    assert _behind(opened) == behind
    assert _rows_of_days(opened) == rows


def test_nothing_is_added_twice(opened: World) -> None:
    _group(opened, "T1", name="r1")
    for _ in range(2):
        with opened.engine.begin() as session, pipelined(session) as pipe:
            stripes.lock_one(pipe, "j1", 0)
            kept_days.add(pipe, "j1", stripe_no=0)

    assert [(row["bets"], row["stakes_minor"]) for row in _rows_of_days(opened)] == [(1, 100), (2, 200)]
