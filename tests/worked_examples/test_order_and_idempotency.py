"""Scenarios 9 to 19: what is sent twice, late, in another order, or with another content."""

from decimal import Decimal

from jackpot_service.domain.accounts import Pools
from tests.support.bets import bet
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, hand
from tests.support.world import World


def test_scenario_09_the_same_batch_twice_contributes_once(world: World) -> None:
    world.open()
    batch = (bet("b1"), bet("b2", currency="GBP"))

    first = world.post_bets(*batch).ok(201)
    pools, counts = world.books.pools("j1"), world.books.counts()
    again = world.post_bets(*batch).ok(200)

    assert (first["accepted"], first["replayed"]) == (2, 0)
    assert (again["accepted"], again["replayed"]) == (0, 2)
    same = ("round", "void", "meter", "payout_per_unit")
    assert {name: again[name] for name in same} == {name: first[name] for name in same}
    assert world.books.pools("j1") == pools
    assert world.books.counts() == counts


def test_scenario_09_neither_order_nor_a_stated_default_nor_a_remark_is_content(world: World) -> None:
    world.open()
    world.bet(bet("b1"), bet("b2"))
    unstated = {name: value for name, value in bet("b1").items() if name != "hand"}

    again = world.post_bets(bet("b2", occurred_at="2026-11-20T09:00:00Z"), unstated).ok(200)

    assert (again["accepted"], again["replayed"]) == (0, 2)


def test_scenario_09_a_batch_that_is_partly_a_replay_books_the_rest(world: World) -> None:
    world.open()
    world.bet(bet("b1"))

    more = world.post_bets(bet("b1"), bet("b2")).ok(201)

    assert (more["accepted"], more["replayed"], more["round"]["bet_count"]) == (1, 1, 2)
    assert world.books.pools("j1").meter == Decimal("0.90")


def test_scenario_10_the_same_bet_id_with_another_stake_is_a_conflict(world: World) -> None:
    world.open()
    world.bet(bet("b1", stake_minor=100))
    before, pools = world.books.counts_but_exceptions(), world.books.pools("j1")

    answer = world.post_bets(bet("new"), bet("b1", stake_minor=200))

    assert answer.problem(409, "bet-conflict", "/bets/1")["bet_ids"] == ["b1"]
    assert world.books.counts_but_exceptions() == before
    assert world.books.pools("j1") == pools
    assert [exception["kind"] for exception in world.books.exceptions()] == ["bet-conflict"]


def test_scenario_11_fifty_copies_of_one_batch_one_after_another_contribute_once(world: World) -> None:
    world.open()

    answers = [world.post_bets(bet("b1"), bet("b2")) for _ in range(50)]

    assert [answer.status for answer in answers] == [201] + [200] * 49
    assert world.books.pools("j1").meter == Decimal("0.90")
    assert world.books.value("SELECT replays FROM rounds") == 49


def test_scenario_12_two_hundred_bets_of_one_euro_make_90_and_10(world: World) -> None:
    world.open(tables=("T1", "T2", "T3", "T4"))

    for number in range(200):
        world.bet(bet(f"b{number}"), table_id=f"T{number % 4 + 1}")

    pools = world.books.pools("j1")
    assert (pools.meter, pools.reserve) == (Decimal(90), Decimal(10))


def test_scenario_13_a_void_that_comes_first_makes_its_bet_void(world: World) -> None:
    world.open()

    voided = world.void("b1")
    accepted = world.post_bets(bet("b1")).ok(200)

    assert (voided["voided"], voided["unknown"]) == ([], ["b1"])
    assert (accepted["accepted"], accepted["replayed"], accepted["void"]) == (0, 0, ["b1"])
    assert world.books.pools("j1") == Pools()
    assert world.void("b1") == voided
    assert world.post_bets(bet("b1")).ok(200) == accepted


def test_scenario_13_the_rest_of_a_batch_with_a_void_bet_is_booked(world: World) -> None:
    world.open()
    world.void("b1")

    accepted = world.post_bets(bet("b1"), bet("b2")).ok(201)

    assert (accepted["accepted"], accepted["void"]) == (1, ["b1"])
    assert world.books.pools("j1").meter == Decimal("0.45")
    world.put_result(hand("1"), bet_count=1).ok(201)


def test_scenario_13_a_void_gives_back_exactly_what_its_bet_brought(world: World) -> None:
    world.open()
    world.bet(bet("b1", currency="SEK", stake_minor=777))

    first = world.void("b1")

    assert (first["voided"], first["unknown"]) == (["b1"], [])
    assert (first["round"]["bet_count"], first["round"]["total_stake_base"]) == (0, "0")
    assert world.books.pools("j1") == Pools()
    assert world.books.balance("j1", "casino:c1", "SEK") == 0
    assert world.void("b1") == first


def test_scenario_13_a_void_that_is_repeated_after_another_bet_shows_the_round_as_it_was(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("b1"), bet("b2", hand="2", currency="GBP"))
    first = world.void("b1")
    world.bet(bet("b3", hand="3"))

    again = world.void("b1")

    assert again == first
    assert (again["round"]["bet_count"], again["round"]["total_stake_base"]) == (1, "1.17")
    assert world.live_bets("T1", "r1") == 2
    world.settle(hand("2", FLUSH), hand("3", ROYAL_FLUSH))
    assert world.void("b1") == first


def test_scenario_14_a_round_of_three_currencies_is_cancelled_at_its_own_rates(world: World) -> None:
    world.open(base_amount="5000")
    before = world.books.pools("j1")
    world.bet(bet("e"), bet("g", currency="GBP"), bet("s", currency="SEK", stake_minor=1000))
    world.publish(GBP="1.30", SEK="0.09")

    cancelled = world.put_cancellation().ok(201)

    assert world.books.pools("j1") == before
    assert [(refund["bet_id"], refund["amount_minor"], refund["currency"]) for refund in cancelled["refunds"]] == [
        ("e", 100, "EUR"),
        ("g", 100, "GBP"),
        ("s", 1000, "SEK"),
    ]
    assert cancelled["round"]["state"] == "cancelled"
    for currency in ("EUR", "GBP", "SEK"):
        assert world.books.balance("j1", "casino:c1", currency) == 0
    counts = world.books.counts()
    assert world.put_cancellation().ok(200) == cancelled
    assert world.books.counts() == counts
    assert world.books.pools("j1") == before


def test_scenario_14_an_unknown_round_is_opened_pinned_and_closed_by_its_cancellation(world: World) -> None:
    world.open()

    cancelled = world.cancel()

    assert cancelled["refunds"] == []
    assert (cancelled["round"]["state"], cancelled["round"]["rate_sheet"]) == ("cancelled", 1)
    world.post_bets(bet()).problem(409, "round-cancelled")


def test_scenario_15_a_settled_round_cannot_be_cancelled(world: World) -> None:
    world.open()
    world.bet(bet())
    world.settle(hand("1"))
    before, pools = world.books.counts_but_exceptions(), world.books.pools("j1")

    world.put_cancellation().problem(409, "round-settled")

    assert world.books.counts_but_exceptions() == before
    assert world.books.pools("j1") == pools


def test_scenario_16_a_result_that_counts_other_bets_settles_nothing(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("b1"), bet("b2"), bet("b3"))
    world.void("b3", "tombstone")
    before, pools = world.books.counts_but_exceptions(), world.books.pools("j1")

    problem = world.put_result(hand("1", ROYAL_FLUSH), bet_count=3).problem(409, "bet-count-mismatch")

    assert (problem["bet_count"], problem["bet_ids"]) == (2, ["b1", "b2"])
    assert world.books.counts_but_exceptions() == before
    assert world.books.pools("j1") == pools
    assert world.round()["round"]["state"] == "open"
    assert [exception["kind"] for exception in world.books.exceptions()] == ["bet-count-mismatch"]
    world.put_result(hand("1", ROYAL_FLUSH), bet_count=2).ok(201)


def test_scenario_16_a_result_of_no_bets_closes_an_unknown_round(world: World) -> None:
    world.open()

    settled = world.put_result(hand("1", ROYAL_FLUSH), bet_count=0).ok(201)

    assert (settled["round"]["state"], settled["round"]["bet_count"]) == ("settled", 0)
    assert settled["settlement"]["awards"] == []
    assert settled["settlement"]["cycle_after"] == 1


def test_scenario_17_a_bet_after_the_result_is_refused_and_in_the_exception_report(world: World) -> None:
    world.open()
    world.bet(bet("b1"))
    world.settle(hand("1"))
    before, pools = world.books.counts_but_exceptions(), world.books.pools("j1")

    world.post_bets(bet("late")).problem(409, "round-settled")

    assert world.books.counts_but_exceptions() == before
    assert world.books.pools("j1") == pools
    (exception,) = world.books.exceptions()
    assert (exception["kind"], exception["table_id"], exception["round_id"]) == ("late-bet", "T1", "r1")
    assert world.post_bets(bet("b1")).ok(200)["replayed"] == 1


def test_scenario_18_the_same_result_twice_pays_once(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("b1", hand="1"), bet("b2", hand="2"))

    first = world.put_result(hand("1", FLUSH), hand("2")).ok(201)
    pools, counts = world.books.pools("j1"), world.books.counts()
    again = world.put_result(hand("2", NOTHING[::-1]), hand("1", FLUSH[::-1])).ok(200)

    assert [award["amount_minor"] for award in first["settlement"]["awards"]] == [2500]
    assert again == first
    assert world.books.pools("j1") == pools
    assert world.books.counts() == counts


def test_scenario_18_another_result_is_a_conflict(world: World) -> None:
    world.open()
    world.bet(bet("b1"))
    world.settle(hand("1"))
    before = world.books.counts_but_exceptions()

    problem = world.put_result(hand("1", ROYAL_FLUSH)).problem(409, "result-conflict")

    assert problem["differing"] == ["hands"]
    assert world.books.counts_but_exceptions() == before
    assert [exception["kind"] for exception in world.books.exceptions()] == ["result-conflict"]


def test_scenario_19_a_retry_at_another_process_gets_the_committed_answer(world: World) -> None:
    world.open(base_amount="1000")
    world.post_bets(bet())
    lost = world.put_result(hand("1", ROYAL_FLUSH))
    counts = world.books.counts()

    other = world.start()

    assert world.post_bets(bet(), app=other).ok(200)["replayed"] == 1
    assert world.put_result(hand("1", ROYAL_FLUSH), app=other).ok(200) == lost.ok(201)
    assert world.books.counts() == counts
