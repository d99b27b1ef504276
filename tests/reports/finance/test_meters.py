from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from jackpot_service.domain.accounts import METER_HOUSE, METER_PLAYERS, PRIZE_FUND, RESERVE
from tests.properties.profile import seeds
from tests.support import story
from tests.support.asking import only, report, rows, rows_of
from tests.support.bets import bet
from tests.support.chance import Chance
from tests.support.hands import ROYAL_FLUSH, STRAIGHT_FLUSH, hand
from tests.support.journal_sums import lines, moved
from tests.support.world import CYBER, World

METER = (METER_PLAYERS, METER_HOUSE)


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds())
def test_meters_equal_the_journal_and_what_the_meter_shows(world: World, seed: int) -> None:
    history = Chance(world, seed)
    edges = [world.clock()]
    for _ in range(3):
        history.go_on(40)
        edges.append(max(world.clock(), edges[-1]))
    world.clock.at = edges[-1]  # It may have been put back meanwhile, and nobody is told what is ahead.
    story.require_whole(world)

    for start, end in [*pairwise(edges), (None, edges[1]), (None, edges[2])]:
        document = report(world, "meters", **{"end": end} | ({"start": start} if start else {}))
        for jackpot_id in ("j1", "j2"):
            require_booked(world, only(rows_of(document), jackpot_id=jackpot_id), start=start, end=end)
    document = report(world, "meters", start=edges[1])
    for jackpot_id in ("j1", "j2"):
        row = only(rows_of(document), jackpot_id=jackpot_id)
        require_booked(world, row, start=edges[1])
        shown = world.meter(jackpot_id)
        assert (row["cycle"], row["display"]) == (shown["cycle"], shown["amount_exact"])


def require_booked(
    world: World, row: Mapping[str, Any], *, start: datetime | None = None, end: datetime | None = None
) -> None:
    """A row of the report is what the postings come to, up to its end and within its period."""
    whole = lines(world, row["jackpot_id"], end=end)
    period = lines(world, row["jackpot_id"], start=start, end=end)
    meter = max(moved(whole, *METER), Decimal(0))
    assert Decimal(row["meter"]) == moved(whole, *METER)
    assert Decimal(row["display"]) == (meter if row["limit"] is None else min(meter, Decimal(row["limit"])))
    assert Decimal(row["overflow"]) == meter - Decimal(row["display"])
    assert Decimal(row["reserve"]) == moved(whole, RESERVE)
    assert Decimal(row["prize_fund"]) == moved(whole, PRIZE_FUND)
    signs = {"in": 1, "reversed": -1, "wins": -1, "returned": 1, "adjustments": 1, "corrections": 1}
    movements = ("contribution", "reversal", "award", "return", "adjustment", "correction")
    for (name, sign), movement in zip(signs.items(), movements, strict=True):
        assert Decimal(row[name]) == sign * moved(period, *METER, movement=movement), name
    assert row["cycle"] == 1 + hits(world, row["jackpot_id"], end=end)
    assert row["hits"] == hits(world, row["jackpot_id"], start=start, end=end)


def hits(world: World, jackpot_id: str, *, start: datetime | None = None, end: datetime | None = None) -> int:
    """How many cycles after the first were opened from `start` on and before `end`."""
    opened = world.books.rows(
        "SELECT booked_at FROM cycles JOIN entries USING (jackpot_id, stripe_no, seq)"
        " WHERE jackpot_id = :jackpot AND cycle > 1",
        jackpot=jackpot_id,
    )
    times = [cycle_["booked_at"] for cycle_ in opened]
    return sum((start is None or at >= start) and (end is None or at < end) for at in times)


def test_a_limit_shows_what_is_on_offer_and_what_flows_over(world: World) -> None:
    """Scenario 8."""
    world.open(base_amount="999.80", settings={"limit": "1000"})
    world.bet(bet())

    (row,) = rows(world, "meters")

    assert (row["display"], row["meter"], row["overflow"], row["limit"]) == ("1000", "1000.25", "0.25", "1000")
    assert (row["in"], row["reserve"], row["prize_fund"]) == ("0.45", "0.05", "0.3184")


def test_an_adjustment_is_no_win(world: World) -> None:
    """Scenario 39."""
    world.open(base_amount="0")
    world.bet(bet("b1", stake_minor=10_000))
    moved_by_hand = {"account": "meter", "amount": "-10", "document": "memo", "cause": "count-error"}
    world.settle(hand("1"))
    world.change("adjustment", {"jackpot_id": "j1", **moved_by_hand})

    (row,) = rows(world, "meters")

    assert (row["in"], row["adjustments"], row["wins"], row["hits"], row["meter"]) == ("45", "-10", "0", 0, "35")


def test_wins_are_what_the_meter_paid_whether_or_not_it_was_hit(world: World) -> None:
    world.open(CYBER, tables=("C1",), base_amount="100000")
    world.bet(bet(), table_id="C1")
    world.settle(hand("1", STRAIGHT_FLUSH), table_id="C1")

    (row,) = rows(world, "meters")

    assert (row["hits"], row["cycle"], row["in"], row["wins"]) == (0, 1, "0.7", "10000.07")
    assert row["reset_amount"] == "10000"


def test_parameters_are_told_with_every_change_and_who_made_it(world: World) -> None:
    """Scenario 38."""
    world.open(base_amount="20", settings={"reset_amount": "10"})
    world.change("rules", {"jackpot_id": "j1", "settings": {"split.meter": "0.40", "limit": "500"}})
    world.bet(bet())
    before_the_hit = world.clock()
    world.settle(hand("1", ROYAL_FLUSH))

    first, second = rows(world, "meters", "parameters")
    pending = rows(world, "meters", "parameters", as_of=before_the_hit)[1]

    assert (first["version"], first["from_cycle"], first["meter_rate"], first["base_amount"]) == (1, 1, "0.45", "20")
    assert (first["requested_by"], first["done_by"]) == (None, "cli")
    assert (second["version"], second["from_cycle"], second["meter_rate"], second["limit"]) == (2, 2, "0.4", "500")
    assert (second["requested_by"], second["done_by"], second["reason"]) == ("Ann", "Bob", "as agreed")
    assert pending["from_cycle"] is None


def test_the_limit_and_the_reset_amount_are_those_of_the_cycle_that_ran(world: World) -> None:
    world.open(base_amount="20", settings={"reset_amount": "10"})
    world.change("rules", {"jackpot_id": "j1", "settings": {"reset_amount": "15", "limit": "500"}})
    world.bet(bet())
    world.settle(hand("1"))
    before = world.clock()
    world.bet(bet(), round_id="r2")
    world.settle(hand("1", ROYAL_FLUSH), round_id="r2")

    (then,), (now,) = rows(world, "meters", as_of=before), rows(world, "meters")

    assert (then["cycle"], then["reset_amount"], then["limit"]) == (1, "10", None)
    assert (now["cycle"], now["reset_amount"], now["limit"]) == (2, "15", "500")


def test_a_jackpot_that_was_opened_later_has_no_meter_yet(world: World) -> None:
    end = world.clock()
    world.open()

    document = report(world, "meters", as_of=end)

    assert rows_of(document) == rows_of(document, "parameters") == []
