"""The balances of all casinos at once are the first table of each casino's statement."""

from datetime import timedelta
from decimal import Decimal

import pytest

from tests.properties.profile import seeds
from tests.reports.finance.play import Play
from tests.support import equations, story
from tests.support.asking import report, report_answer, rows, rows_of
from tests.support.bets import bet
from tests.support.hands import STRAIGHT, hand
from tests.support.journal_sums import lines
from tests.support.world import World

pytestmark = pytest.mark.slow


def test_each_casino_owes_its_stakes_less_its_awards(world: World) -> None:
    world.open(base_amount="1000")
    world.add_casino("c2")
    world.add_table("T2", jackpot_id="j1", casino_id="c2")
    world.bet(bet("a", stake_minor=300))
    world.settle(hand("1", STRAIGHT))
    since = world.clock()
    world.bet(bet("b", currency="GBP", stake_minor=700), round_id="r2", table_id="T2")

    listed = rows(world, "casino-balances")

    assert [(row["casino_id"], row["currency"], row["stakes"], row["awards"], row["closing"]) for row in listed] == [
        ("c1", "EUR", "3", "-30", "-27"),
        ("c2", "GBP", "7", "0", "7"),
    ]
    later = rows(world, "casino-balances", start=since)
    assert [(row["casino_id"], row["opening"], row["net"], row["closing"]) for row in later] == [
        ("c1", "-27", "0", "-27"),
        ("c2", "0", "7", "7"),
    ]


def test_it_is_of_the_whole_house(world: World) -> None:
    world.open()
    report_answer(world, "casino-balances", casino_id="c1").problem(422, "question-invalid")


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds())
def test_every_row_is_that_of_a_statement_and_of_the_postings(world: World, seed: int) -> None:
    play = Play(world, seed)
    play.open()
    play.go_on(100)
    start = world.clock() - timedelta(days=1)
    play.go_on(40)
    story.require_whole(world)
    period = {"start": start, "as_of": world.clock()}

    document = report(world, "casino-balances", **period)

    equations.require("casino-balances", {"accounts": rows_of(document)})
    listed = {(row["casino_id"], row["jackpot_id"], row["currency"]): row for row in rows_of(document)}
    of_statements = {}
    for casino_id in ("c1", "c2"):
        for row in rows(world, "casino-statement", "accounts", casino_id=casino_id, **period):
            of_statements[casino_id, row["jackpot_id"], row["currency"]] = row
    moved = {key for key, row in of_statements.items() if any(Decimal(row[name]) for name in ("opening", "closing"))}
    assert moved <= listed.keys()
    for key, row in listed.items():
        assert {name: row[name] for name in of_statements[key] if name in row} == {
            name: value for name, value in of_statements[key].items() if name in row
        }
    booked: dict[tuple[str, str, str], Decimal] = {}
    for jackpot_id in ("j1", "cyber"):
        for line in lines(world, jackpot_id):
            if line["account"].startswith("casino:"):
                key = (line["account"].removeprefix("casino:"), jackpot_id, line["currency"])
                booked[key] = booked.get(key, Decimal(0)) - line["amount"]
    assert {key: Decimal(row["closing"]) for key, row in listed.items()} == booked
