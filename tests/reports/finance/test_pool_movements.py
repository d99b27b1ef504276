import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from jackpot_service.domain.accounts import METER_HOUSE, METER_PLAYERS, PRIZE_FUND, RESERVE
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import ZERO
from tests.properties.profile import seeds
from tests.support import story
from tests.support.answers import Body
from tests.support.asking import only, report, report_answer, rows, rows_of
from tests.support.bets import bet
from tests.support.chance import Chance
from tests.support.hands import NOTHING, ROYAL_FLUSH, hand
from tests.support.journal_sums import Line, lines, moved
from tests.support.world import World

pytestmark = pytest.mark.slow

ACCOUNTS = {
    "meter players": (METER_PLAYERS,),
    "meter house": (METER_HOUSE,),
    "meter": (METER_PLAYERS, METER_HOUSE),
    "reserve": (RESERVE,),
    "prize fund": (PRIZE_FUND,),
}


def booked_in(world: World, line: Line) -> int:
    """The cycle of an entry: the hit that ends one belongs to it."""
    cycle: int = world.books.value(
        "SELECT max(cycle) FROM cycles WHERE jackpot_id = :jackpot "
        "AND (cycle = 1 OR coalesce(cut[:stripe + 1], 0) < :seq)",
        jackpot=line["jackpot_id"],
        stripe=line["stripe_no"],
        seq=line["seq"],
    )
    return cycle


def key_of(world: World, line: Line, by: str) -> str | int:
    day = line["booked_at"].astimezone(UTC).date()
    return {"day": str(day), "month": f"{day:%Y-%m}"}[by] if by != "cycle" else booked_in(world, line)


def require_sums(row: Mapping[str, Any], booked: list[Line]) -> None:
    """Every movement of a row is what the lines say, and together they lead from its opening to its closing."""
    for movement in Movement:
        assert Decimal(row[movement]) == moved(booked, *ACCOUNTS[row["pool"]], movement=movement)
    amounts = [Decimal(row["opening"]), *(Decimal(row[movement]) for movement in Movement)]
    assert sum(amounts, ZERO) == Decimal(row["closing"])


def require_chain(rows_: list[Mapping[str, Any]], *, opening: Decimal) -> None:
    """Each row opens with what the one before closed with."""
    held = opening
    for row in rows_:
        assert Decimal(row["opening"]) == held
        held = Decimal(row["closing"])


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds())
def test_every_row_balances_and_equals_the_journal(world: World, seed: int) -> None:
    history = Chance(world, seed)
    history.go_on(50)
    start = world.clock()
    history.go_on(60)
    end = world.clock()
    history.go_on(10)
    story.require_whole(world)
    world.clock.at = max(world.clock.at, end)  # It may have been put back meanwhile, and nobody is told what is ahead.

    for by in ("day", "month", "cycle"):
        document = report(world, "pool-movements", start=start, end=end, by=by)
        for jackpot_id in ("j1", "j2"):
            require_movements(world, document, jackpot_id, by=by, start=start, end=end)


def require_movements(
    world: World, document: Body, jackpot_id: str, *, by: str, start: datetime, end: datetime
) -> None:
    booked = lines(world, jackpot_id, start=start, end=end)
    by_key: dict[str | int, list[Line]] = {}
    for line in booked:
        by_key.setdefault(key_of(world, line, by), []).append(line)
    for pool, accounts in ACCOUNTS.items():
        own = [row for row in rows_of(document, "movements") if (row["jackpot_id"], row["pool"]) == (jackpot_id, pool)]
        assert {row[by] for row in own} >= by_key.keys()
        for row in own:
            require_sums(row, by_key.get(row[by], []))
        require_chain(own, opening=moved(lines(world, jackpot_id, end=start), *accounts))
        whole = only(rows_of(document, "totals"), jackpot_id=jackpot_id, pool=pool)
        require_sums(whole, booked)
        assert Decimal(whole["closing"]) == moved(lines(world, jackpot_id, end=end), *accounts)


def test_a_hit_belongs_to_the_cycle_that_it_ends(world: World) -> None:
    world.open(base_amount="1000", settings={"reset_amount": "300"})
    world.bet(bet("b1", stake_minor=10_000))
    world.settle(hand("1", ROYAL_FLUSH))
    world.bet(bet("b2"), round_id="r2")

    first, second = (only(rows(world, "pool-movements", by="cycle"), cycle=cycle, pool="meter") for cycle in (1, 2))

    assert {name: first[name] for name in ("opening", "seed", "contribution", "award", "refill", "closing")} == {
        "opening": "0",
        "seed": "1295",
        "contribution": "45",
        "award": "-1045",
        "refill": "5",
        "closing": "300",
    }
    assert (second["opening"], second["contribution"], second["closing"]) == ("300", "0.45", "300.45")


def test_a_cycle_in_which_no_money_moved_is_told_of_all_the_same(world: World) -> None:
    world.open(base_amount="100")
    world.bet(bet("b1"))
    world.bet(bet("b2"), round_id="r2")
    world.settle(hand("1", ROYAL_FLUSH))
    start = world.clock()
    world.settle(hand("1", NOTHING), round_id="r2")
    end = world.clock()
    world.bet(bet("b3"), round_id="r3")

    listed = [row for row in rows(world, "pool-movements", start=start, end=end, by="cycle") if row["pool"] == "meter"]

    assert [(row["cycle"], row["contribution"], row["opening"] == row["closing"]) for row in listed] == [(2, "0", True)]
    assert rows(world, "pool-movements", start=start, end=end, by="day") == []


def test_whole_days_and_the_entries_beside_them_are_put_together_by_cycle(world: World) -> None:
    world.open(base_amount="100")
    bet_at: list[datetime] = []
    for number in range(1, 9):
        world.clock.advance(timedelta(hours=9))
        world.bet(bet(stake_minor=100 * number), round_id=f"r{number}")
        if number in {2, 3, 6}:
            world.settle(hand("1", ROYAL_FLUSH), round_id=f"r{number}")
        bet_at.append(world.clock())
    start, *_, end, _ = bet_at

    listed = [row for row in rows(world, "pool-movements", start=start, end=end, by="cycle") if row["pool"] == "meter"]

    assert [(row["cycle"], row["contribution"]) for row in listed] == [
        (1, "0.9"),
        (2, "1.35"),
        (3, "6.75"),
        (4, "3.15"),
    ]


def test_a_cycle_is_cut_off_where_the_period_begins_and_ends(world: World) -> None:
    world.open()
    world.bet(bet("b1"))
    start = world.clock()
    world.bet(bet("b2"))
    end = world.clock()
    world.settle(hand("1", ROYAL_FLUSH))

    (row,) = (row for row in rows(world, "pool-movements", start=start, end=end, by="cycle") if row["pool"] == "meter")

    assert (row["cycle"], row["opening"], row["contribution"], row["closing"]) == (1, "0.45", "0.45", "0.9")


def test_a_period_in_which_nothing_was_booked_still_has_its_totals(world: World) -> None:
    world.open(base_amount="7")
    world.clock.advance(timedelta(days=3))
    start = world.clock()

    document = report(world, "pool-movements", start=start, end=world.clock())

    assert rows_of(document, "movements") == []
    row = only(rows_of(document, "totals"), pool="meter house")
    assert (row["opening"], row["closing"]) == ("7", "7")


def test_a_hit_is_not_booked_before_a_bet_that_it_was_paid_from_whatever_the_clocks_say(world: World) -> None:
    world.open(base_amount="100", stripes=8)
    random.seed(2)  # The bet and the hit are booked on different stripes.
    world.clock.advance(timedelta(hours=1))
    world.bet(bet())
    world.clock.advance(timedelta(hours=-1))
    world.settle(hand("1", ROYAL_FLUSH))
    world.clock.advance(timedelta(minutes=30))
    between = world.clock()
    world.clock.advance(timedelta(hours=1))

    before = rows(world, "pool-movements", as_of=between, by="cycle")
    after = rows(world, "pool-movements", start=between, by="cycle")

    first, hit = only(before, pool="meter"), only(after, pool="meter")
    assert (first["cycle"], first["contribution"], first["award"], first["closing"]) == (1, "0", "0", "100")
    assert (hit["cycle"], hit["opening"], hit["contribution"], hit["award"]) == (1, "100", "0.45", "-100.45")


def test_a_bet_that_comes_after_a_hit_is_not_booked_before_it_whatever_the_clocks_say(world: World) -> None:
    world.open(base_amount="100", stripes=8)
    world.bet(bet())
    world.clock.advance(timedelta(hours=1))
    world.settle(hand("1", ROYAL_FLUSH))
    world.clock.advance(timedelta(hours=-1))
    for number in range(20):
        world.bet(bet(), round_id=f"late-{number}")
    world.clock.advance(timedelta(minutes=30))
    between = world.clock()
    world.clock.advance(timedelta(hours=1))

    before = rows(world, "pool-movements", as_of=between, by="cycle")

    meter = only(before, pool="meter")
    assert (meter["cycle"], meter["contribution"], meter["closing"]) == (1, "0.45", "100.45")


def test_a_jackpot_that_was_opened_later_is_not_told_of(world: World) -> None:
    world.open()
    end = world.clock()
    world.open(jackpot_id="j2", tables=("T2",), base_amount="7")

    assert rows(world, "pool-movements", "totals", jackpot_id="j2", as_of=end) == []


def test_it_sums_by_one_thing_at_a_time(world: World) -> None:
    world.open()
    world.bet(bet())
    world.settle(hand("1", NOTHING))

    assert list(rows(world, "pool-movements")[0])[1] == "day"
    report_answer(world, "pool-movements", by="day,month").problem(422, "question-invalid")
    report_answer(world, "pool-movements", by="casino").problem(422, "question-invalid")
    report_answer(world, "pool-movements", casino_id="c1").problem(422, "question-invalid")
