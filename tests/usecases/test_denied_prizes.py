"""A winner who is denied leaves an exception: dead, forfeited, void since the closing, or in a cancelled round."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import (
    FLUSH,
    NOTHING,
    NOTHING_TOO,
    ROYAL_FLUSH,
    STRAIGHT_FLUSH,
    STRAIGHT_FLUSH_TOO,
    dead,
    forfeited,
    hand,
)
from tests.support.world import CYBER, LIVE, SENECA, World

pytestmark = pytest.mark.slow

SHARE = 25_045
"""A quarter of 1,001.80: what b1's stake of 1.00 among 4.00 has of a meter of 1,000 + 0.45 · 4."""


@pytest.fixture
def betting(world: World) -> World:
    """A meter of 1,000, and two bets: 1.00 on hand 1, and 3.00 on hand 2."""
    world.open(base_amount="1000")
    world.bet(bet("b1"), bet("b2", hand="2", stake_minor=300))
    return world


def denied(world: World) -> list[Body]:
    """The facts of the exceptions for denied prizes, in the order of bets."""
    exceptions = world.get("/v1/exceptions?kind=prize-denied").ok()["items"]
    return sorted((item["facts"] for item in exceptions), key=lambda facts: facts["bet_id"])


def denied_rows(world: World) -> list[tuple[Any, ...]]:
    return [
        tuple(exception[name] for name in ("bet_id", "denial", "tier", "amount_minor")) for exception in denied(world)
    ]


def test_a_bet_that_was_made_void_after_the_closing_is_an_exception(betting: World) -> None:
    betting.put_closing(bet_count=2).ok(201)
    betting.post_voids("b1", reason="the player left").ok()
    betting.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING))

    assert denied_rows(betting) == [("b1", "void", "royal_flush", SHARE)]


def test_a_winning_hand_of_a_cancelled_round_is_an_exception(betting: World) -> None:
    betting.put_cancellation(hands=[hand("1", ROYAL_FLUSH)]).ok(201)

    assert denied_rows(betting) == [("b1", "cancelled", "royal_flush", SHARE)]


def test_a_fixed_prize_that_is_denied_is_told_in_the_bets_own_currency(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("b1", stake_minor=200), bet("b2", stake_minor=100, currency="GBP"))
    world.settle(forfeited("1", FLUSH))

    assert denied_rows(world) == [("b1", "forfeited", "flush", 5_000), ("b2", "forfeited", "flush", 2_500)]
    assert [exception["currency"] for exception in denied(world)] == ["EUR", "GBP"]


def test_what_a_dead_hand_that_plays_on_shared_is_no_part_of_what_it_was_denied(world: World) -> None:
    world.open(base_amount="1000", settings={"dead_hand": "play-on"})
    world.bet(bet("b1"), bet("b2", hand="2"))
    awards = world.settle(dead("1", FLUSH), hand("2", ROYAL_FLUSH))["awards"]

    assert {award["bet_id"]: award["amount_minor"] for award in awards} == {"b1": 50_045, "b2": 50_045}
    assert denied_rows(world) == [("b1", "dead", "flush", 2_500)]


BETS = (
    bet("b1", stake_minor=100),
    bet("b2", hand="2", stake_minor=300, currency="GBP"),
    bet("b3", hand="3", stake_minor=100),
    bet("b4", hand="4", stake_minor=200),
)
DENIED = ("b1", "b2")
OTHERS = (hand("3", STRAIGHT_FLUSH), hand("4", NOTHING))


def deny_by_the_result(world: World, cards: Sequence[str]) -> None:
    world.settle(forfeited("1", cards), dead("2", FLUSH), *OTHERS)


def deny_by_late_voids(world: World, cards: Sequence[str]) -> None:
    world.put_closing(bet_count=len(BETS)).ok(201)
    world.post_voids(*DENIED, reason="the players left").ok()
    world.settle(hand("1", cards), hand("2", FLUSH), *OTHERS)


@pytest.mark.parametrize("deny", [deny_by_the_result, pytest.param(deny_by_late_voids, marks=pytest.mark.long)])
@pytest.mark.parametrize("rulebook", [LIVE, CYBER, SENECA])
@pytest.mark.parametrize(
    "settings", [{}, pytest.param({"limit": "10001"}, marks=pytest.mark.long)], ids=["free", "limited"]
)
@pytest.mark.parametrize("cards", [STRAIGHT_FLUSH_TOO, ROYAL_FLUSH], ids=["straight flush", "royal flush"])
def test_what_was_denied_is_what_the_same_round_pays_where_its_bets_count(
    world: World, rulebook: str, settings: dict[str, str], cards: Sequence[str], deny: Any
) -> None:
    """Two jackpots alike, beside a real winner and a hand that lost: one pays, the other denies two bets."""
    for jackpot_id, table_id in (("j1", "T1"), ("j2", "T2")):
        world.open(rulebook, jackpot_id=jackpot_id, tables=(table_id,), base_amount="10000", settings=settings)
        bets = BETS if rulebook == LIVE else [{**bet, "currency": "EUR", "stake_minor": 100} for bet in BETS]
        world.bet(*bets, table_id=table_id)
    paid: Counter[str] = Counter()
    for award in world.settle(hand("1", cards), hand("2", FLUSH), *OTHERS, table_id="T2")["awards"]:
        paid[award["bet_id"]] += award["amount_minor"]

    deny(world, cards)

    assert {exception["bet_id"]: exception["amount_minor"] for exception in denied(world)} == {
        name: paid[name] for name in DENIED
    }
    assert all(paid[name] > 0 for name in DENIED)
    assert world.books.mismatches() == ()


def test_all_who_are_denied_would_have_shared_one_jackpot(betting: World) -> None:
    """The meter is on offer once: two denied bets are told what they would have had together."""
    betting.bet(bet("b3", player_id="p3", stake_minor=600))
    betting.settle(forfeited("1", ROYAL_FLUSH), hand("2", NOTHING))

    assert [(exception["bet_id"], exception["amount_minor"]) for exception in denied(betting)] == [
        ("b1", 10_045),
        ("b3", 60_270),
    ]


@pytest.mark.parametrize(
    "hands",
    [
        [hand("1", ROYAL_FLUSH), hand("2", NOTHING)],
        [dead("1", NOTHING_TOO), hand("2", NOTHING)],
        [dead("1", ROYAL_FLUSH[:4]), hand("2", NOTHING)],
        [dead("1", (*ROYAL_FLUSH, "2d")), hand("2", NOTHING)],
        [forfeited("1"), hand("2", NOTHING)],
        [hand("1", NOTHING_TOO), hand("2", NOTHING), forfeited("3", FLUSH)],
    ],
)
def test_nobody_is_denied_what_was_paid_or_what_no_bet_had(betting: World, hands: list[Body]) -> None:
    betting.settle(*hands)

    assert denied_rows(betting) == []


def test_a_bet_that_was_void_before_the_closing_was_not_denied(betting: World) -> None:
    betting.void("b1")
    betting.put_closing(bet_count=1).ok(201)
    betting.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING))

    assert denied_rows(betting) == []


def test_a_repeated_result_and_a_refused_one_note_nothing_more(betting: World) -> None:
    hands = (forfeited("1", ROYAL_FLUSH), hand("2", NOTHING))
    betting.put_result(*hands, bet_count=3).problem(409, "bet-count-mismatch")
    assert denied_rows(betting) == []

    betting.settle(*hands)
    betting.put_result(*hands).ok(200)
    assert denied_rows(betting) == [("b1", "forfeited", "royal_flush", SHARE)]


def test_each_of_more_bets_than_one_statement_writes_is_an_exception(world: World) -> None:
    world.open(base_amount="1000")
    for batch in range(3):
        world.bet(*(bet(f"b{batch}-{number}") for number in range(500)))
    world.settle(forfeited("1", ROYAL_FLUSH))

    assert world.books.value("SELECT count(*) FROM exceptions WHERE kind = 'prize-denied'") == 1500
    assert world.books.mismatches() == ()


def test_a_late_void_of_an_earlier_cycle_adds_nothing_to_the_running_meter(betting: World) -> None:
    """Its contribution went with the cycle that was won since."""
    betting.put_closing(bet_count=2).ok(201)
    betting.post_voids("b1", reason="the player left").ok()
    betting.bet(bet("b1", stake_minor=10_000), round_id="r2")
    betting.settle(hand("1", ROYAL_FLUSH), round_id="r2")
    offered = Decimal(betting.meter()["amount_exact"])

    betting.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING))

    assert denied_rows(betting) == [("b1", "void", "royal_flush", int(offered * 100 / 4))]


def test_a_denied_prize_beside_a_hit_has_its_share_of_the_jackpot_too(betting: World) -> None:
    """A flush pays 25 times the stake; the royal flush of hand 2 is shared by all who count."""
    betting.settle(forfeited("1", FLUSH), hand("2", ROYAL_FLUSH))

    assert denied_rows(betting) == [("b1", "forfeited", "flush", 2_500 + SHARE)]


def test_a_late_void_of_a_cancelled_round_is_void_and_the_others_are_cancelled(betting: World) -> None:
    betting.bet(bet("b3", player_id="p3", stake_minor=600))
    betting.put_closing(bet_count=3).ok(201)
    betting.post_voids("b1", reason="the player left").ok()
    betting.put_cancellation(hands=[hand("1", ROYAL_FLUSH)]).ok(201)

    assert denied_rows(betting) == [("b1", "void", "royal_flush", 10_045), ("b3", "cancelled", "royal_flush", 60_270)]
