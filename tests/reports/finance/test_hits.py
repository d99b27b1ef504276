from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from jackpot_service.domain.accounts import METER_HOUSE, METER_PLAYERS, RESERVE
from tests.properties.profile import seeds
from tests.support import story
from tests.support.answers import Body
from tests.support.asking import only, report, rows, rows_of
from tests.support.bets import bet
from tests.support.chance import Chance
from tests.support.hands import (
    FLUSH,
    FOUR_OF_A_KIND,
    NOTHING,
    ROYAL_FLUSH,
    ROYAL_FLUSH_TOO,
    STRAIGHT_FLUSH,
    hand,
)
from tests.support.journal_sums import lines, moved
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow

METER = (METER_PLAYERS, METER_HOUSE)


def test_a_shared_jackpot_shows_how_each_payoff_was_arrived_at(world: World) -> None:
    """Scenario 20."""
    world.open(base_amount="5432.68065")
    stakes = {"e": ("EUR", 100), "g": ("GBP", 100), "s": ("SEK", 1000)}
    world.bet(*(bet(name, currency=currency, stake_minor=stake) for name, (currency, stake) in stakes.items()))
    world.settle(hand("1", ROYAL_FLUSH))

    document = report(world, "hits")
    (hit,) = rows_of(document)
    payoffs = {row["bet_id"]: row for row in rows_of(document, "payoffs")}

    assert (hit["cycle"], hit["table_id"], hit["round_id"], hit["casino_id"]) == (1, "T1", "r1", "c1")
    assert (hit["meter"], hit["total_stake_base"], hit["overflow"]) == ("5434.05", "3.043", "0")
    assert (hit["payout_per_unit"], hit["entitled"]) == ("1785.754189944134078212", None)
    assert (hit["awards"], hit["paid"], hit["carried"]) == (3, "5434.040742", "0.009258")
    assert (hit["house_seed"], hit["meter_after"], hit["reserve_after"]) == ("0", "0.161408", "0")
    assert {name: (row["stake"], row["rate"], row["payable"]) for name, row in payoffs.items()} == {
        "e": ("1", "1", "1785.75"),
        "g": ("1", "1.17", "1785.75"),
        "s": ("10", "0.0873", "17857.54"),
    }
    assert payoffs["g"]["formula"] == "stake x M / W"
    assert Fraction(payoffs["s"]["due_exact"]) == 10 * Fraction("5434.05") / Fraction("3.043")
    assert payoffs["s"]["due"] == "17857.541899441340782122"
    assert (payoffs["s"]["stake_value"], payoffs["s"]["cost_base"]) == ("0.873", "1558.963242")
    assert payoffs["s"]["cards"] == "As Js Ks Qs Ts"


def test_hands_that_own_their_prizes_show_what_they_were_entitled_to(world: World) -> None:
    """Scenario 32, and a fixed prize."""
    world.open(CYBER, tables=("C1",), base_amount="99997.9")
    world.bet(*(bet(f"b{number}", hand=str(number)) for number in (1, 2, 3)), table_id="C1")
    world.settle(hand("1", ROYAL_FLUSH), hand("2", STRAIGHT_FLUSH), hand("3", FLUSH), table_id="C1")

    (hit,), payoffs = rows(world, "hits"), rows(world, "hits", "payoffs")

    assert (hit["meter"], hit["payout_per_unit"], hit["entitled"], hit["policy"]) == (
        "100000",
        None,
        "100000",
        "aggregate_pro_rata",
    )
    assert [(row["tier"], Fraction(row["due_exact"]) < Fraction(row["meter"])) for row in payoffs] == [
        ("royal_flush", True),
        ("straight_flush", True),
        ("flush", True),
    ]
    assert sum(Fraction(row["due_exact"]) for row in payoffs) == 100_000
    assert payoffs[1]["formula"].startswith("9086.77")
    assert payoffs[1]["formula"].endswith(" of M / rate"), "the section of hits has the policy"
    assert all(Decimal(row["payable"]) <= Decimal(row["due"]) < Decimal(row["payable"]) + 1 for row in payoffs)


def test_a_prize_of_the_prize_fund_in_the_same_round_is_shown_beside_the_shares(world: World) -> None:
    world.open(base_amount="500")
    world.bet(bet("b1"), bet("b2", hand="2"))
    world.settle(hand("1", ROYAL_FLUSH), hand("2", FOUR_OF_A_KIND))

    (hit,), payoffs = rows(world, "hits"), rows(world, "hits", "payoffs")

    assert hit["awards"] == 2
    fixed = only(payoffs, tier="four_of_a_kind")
    assert (fixed["paid_from"], fixed["formula"], fixed["due_exact"], fixed["payable"]) == (
        "prize fund",
        "stake x 250",
        "250",
        "250",
    )


def test_two_tables_that_hit_in_the_same_second_stand_in_the_order_of_the_ledger(world: World) -> None:
    """Scenario 28."""
    world.open(base_amount="100", tables=("T1", "T2"), stripes=3)
    world.bet(bet("b1"), round_id="first")
    world.bet(bet("b1"), round_id="second", table_id="T2")
    world.clock.advance(timedelta(seconds=-1))
    world.settle(hand("1", ROYAL_FLUSH), round_id="first")
    world.bet(bet("between"), round_id="third")
    world.clock.advance(timedelta(seconds=-3))
    world.settle(hand("1", ROYAL_FLUSH_TOO), round_id="second", table_id="T2")

    hits, order = rows(world, "hits"), rows(world, "hits", "order")

    assert [(row["cycle"], row["round_id"]) for row in order] == [(1, "first"), (2, "second")]
    assert order[0]["received_at"] > order[1]["received_at"]
    assert order[0]["position"] <= order[1]["position"]
    assert [row["entries"] for row in order] == [3, 2]
    assert hits[1]["meter"] == "0.55"  # The reserve of 0.10, and the bet between.
    assert hits[0]["carried"] == "0"


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds())
def test_every_payoff_is_its_due_rounded_down_and_together_they_are_what_was_paid(world: World, seed: int) -> None:
    history = Chance(world, seed)
    history.go_on(60)
    start = world.clock()
    history.go_on(80)
    story.require_whole(world)

    document = report(world, "hits")

    hits, payoffs = rows_of(document), rows_of(document, "payoffs")
    assert hits
    for hit in hits:
        require_booked(world, document, hit)
        round_ = world.round(hit["round_id"], hit["table_id"])
        own = [row for row in payoffs if (row["table_id"], row["round_id"]) == (hit["table_id"], hit["round_id"])]
        assert len(own) == len(round_["settlement"]["awards"])
        from_meter = [row for row in own if row["paid_from"] == "meter"]
        assert sum(Decimal(row["cost_base"]) for row in from_meter) == Decimal(hit["paid"])
        assert Decimal(hit["meter"]) - Decimal(hit["paid"]) == Decimal(hit["carried"])
        for row in own:
            assert 0 <= Fraction(row["due_exact"]) - Fraction(row["payable"]) < Fraction(1, 100)
            assert Decimal(row["cost_base"]) == Decimal(row["payable"]) * Decimal(row["rate"])
    parts = rows(world, "hits", as_of=start), rows(world, "hits", start=start)
    assert [hit for part in parts for hit in part if hit["jackpot_id"] == "j1"] == [
        hit for hit in hits if hit["jackpot_id"] == "j1"
    ]


def require_booked(world: World, document: Body, hit: Mapping[str, Any]) -> None:
    """What a hit says of pools is what the postings come to, of its own entry and of all up to it."""
    order = only(rows_of(document, "order"), jackpot_id=hit["jackpot_id"], cycle=hit["cycle"])
    positions = [int(position) for position in order["positions"].split(".")]
    place = (order["stripe_no"], order["seq"])
    assert positions[order["stripe_no"]] == order["seq"]
    whole = lines(world, hit["jackpot_id"])
    own = [line for line in whole if (line["stripe_no"], line["seq"]) == place]
    until = [line for line in whole if line["seq"] <= (*positions, 0, 0, 0, 0)[line["stripe_no"]]]
    before = [line for line in until if line not in own or line["movement"] == "reversal"]
    limit = only(rows(world, "meters"), jackpot_id=hit["jackpot_id"])["limit"]

    assert Decimal(hit["meter"]) == offered(moved(before, *METER), limit)
    assert Decimal(hit["overflow"]) == max(moved(before, *METER), Decimal(0)) - Decimal(hit["meter"])
    assert Decimal(hit["overflow"]) >= moved(own, RESERVE, movement="overflow")  # The house's part of it stays.
    assert Decimal(hit["paid"]) == -moved(own, *METER, movement="award")
    assert Decimal(hit["house_seed"]) == moved(own, *METER, movement="seed")
    assert Decimal(hit["meter_after"]) == offered(moved(until, *METER), limit)
    assert Decimal(hit["reserve_after"]) == moved(until, RESERVE)


def offered(meter: Decimal, limit: str | None) -> Decimal:
    """What of a meter is on offer; nobody changes the limit of these jackpots."""
    return max(meter, Decimal(0)) if limit is None else min(max(meter, Decimal(0)), Decimal(limit))


def test_without_a_hit_there_is_nothing_to_show(world: World) -> None:
    world.open()
    world.bet(bet())
    world.settle(hand("1", NOTHING))

    assert [section["rows"] for section in report(world, "hits")["sections"]] == [[], [], []]
