"""Scenarios 1 to 8: what a bet contributes, and which stakes are taken. Rulebook: Live Caribbean Stud."""

from decimal import Decimal
from typing import Any, Final

import pytest

from jackpot_service.domain.accounts import Pools
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, NOTHING, NOTHING_TOO, ROYAL_FLUSH, dead, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

ZERO = Decimal(0)


def decimals(texts: Body) -> dict[str, Decimal]:
    return {name: Decimal(text) for name, text in texts.items()}


def require_contribution(world: World, stake: Body, *, value: str, parts: tuple[str, str, str, str]) -> None:
    """Place a bet, and find its parts in the record, in the pools and in the postings."""
    meter, reserve, prize_fund, margin = map(Decimal, parts)
    world.open()

    accepted = world.bet(bet(**stake))

    (booked,) = world.round()["bets"]
    assert decimals(booked["contribution"]) == {
        "value": Decimal(value),
        "meter": meter,
        "reserve": reserve,
        "prize_fund": prize_fund,
        "house": margin,
    }
    assert meter + reserve + prize_fund + margin == Decimal(value)
    assert world.books.pools("j1") == Pools(meter, ZERO, reserve, prize_fund)
    assert world.books.balance("j1", "house:margin") == margin
    assert Decimal(accepted["meter"]["amount_exact"]) == meter
    assert Decimal(accepted["round"]["total_stake_base"]) == Decimal(value)


def test_scenario_01_one_euro_is_split_to_the_last_cent(world: World) -> None:
    require_contribution(world, {}, value="1", parts=("0.45", "0.05", "0.3184", "0.1816"))

    assert world.books.balance("j1", "casino:c1") == Decimal(-1)


def test_scenario_02_a_pound_is_split_at_its_rate(world: World) -> None:
    parts = ("0.5265", "0.0585", "0.372528", "0.212472")

    require_contribution(world, {"currency": "GBP"}, value="1.17", parts=parts)

    assert world.books.balance("j1", "casino:c1", "GBP") == Decimal(-1)
    assert world.books.balance("j1", "fx:GBP", "GBP") == Decimal(1)
    assert world.books.balance("j1", "fx:EUR") == Decimal("-1.17")


def test_scenario_03_ten_crowns_are_split_at_their_rate(world: World) -> None:
    parts = ("0.39285", "0.04365", "0.2779632", "0.1585368")

    require_contribution(world, {"currency": "SEK", "stake_minor": 1000}, value="0.873", parts=parts)

    assert world.books.balance("j1", "casino:c1", "SEK") == Decimal(-10)


def test_scenario_04_ten_thousand_bets_of_ten_cents_make_exactly_450(world: World) -> None:
    world.open()

    for batch in range(5):
        tenths = [bet(f"b{number}", stake_minor=10) for number in range(2000)]
        assert world.bet(*tenths, round_id=f"r{batch}")["accepted"] == 2000

    assert world.books.pools("j1") == Pools(Decimal(450), ZERO, Decimal(50), Decimal("318.4"))
    assert world.books.balance("j1", "house:margin") == Decimal("181.6")
    assert world.books.balance("j1", "casino:c1") == Decimal(-1000)


def test_scenario_05_after_any_sequence_every_entry_and_every_currency_sums_to_zero(world: World) -> None:
    world.open(base_amount="100", settings={"reset_amount": "75"}, tables=("T1", "T2"))
    three = (
        bet("e", hand="1"),
        bet("g", hand="2", currency="GBP", stake_minor=333),
        bet("y", hand="3", currency="JPY", stake_minor=150),
    )
    world.bet(*three)
    world.void("g", "never-seen")
    world.bet(*three, round_id="r2")
    world.publish(GBP="1.3", SEK="0.09", JPY="0.006")
    world.bet(*three, round_id="r3", table_id="T2")
    world.settle(hand("1", FLUSH), dead("2"), hand("3"), round_id="r2")
    world.cancel(round_id="r3", table_id="T2")
    world.bet(*three, round_id="r4", table_id="T2")
    world.settle(hand("1", ROYAL_FLUSH), hand("2"), hand("3", NOTHING_TOO), round_id="r4", table_id="T2")
    world.void("e")

    by_entry = "SELECT sum(amount) FROM postings GROUP BY jackpot_id, stripe_no, seq, currency HAVING sum(amount) <> 0"
    assert world.books.rows(by_entry) == []
    assert world.books.rows("SELECT currency FROM postings GROUP BY currency HAVING sum(amount) <> 0") == []
    pools = world.books.pools("j1")
    assert pools == Pools(
        *(
            world.books.balance("j1", account)
            for account in ("pool:meter:players", "pool:meter:house", "pool:reserve", "pool:prize_fund")
        )
    )
    assert pools.meter > 0


def test_scenario_06_a_stake_above_the_largest_is_refused_and_kept_as_an_exception(world: World) -> None:
    world.open(base_amount="1000")
    before = world.books.counts_but_exceptions()

    answer = world.post_bets(bet("fine", stake_minor=10_000), bet("beyond", stake_minor=10_001))

    problem = answer.problem(422, "stake-out-of-range", "/bets/1/stake_minor")
    assert Decimal(problem["largest_stake"]) == 100
    assert world.books.counts_but_exceptions() == before
    assert world.books.pools("j1") == Pools(meter_house=Decimal(1000))
    (exception,) = world.books.exceptions()
    assert (exception["kind"], exception["table_id"]) == ("stake-out-of-range", "T1")
    assert exception["detail"]["request"]["round_id"] == "r1"


def test_scenario_06_the_largest_stake_is_meant_in_the_base_currency(world: World) -> None:
    world.open()

    world.bet(bet(currency="GBP", stake_minor=8547), round_id="taken")
    beyond = world.post_bets(bet(currency="GBP", stake_minor=8548), round_id="refused")

    beyond.problem(422, "stake-out-of-range", "/bets/0/stake_minor")


def test_scenario_06_in_a_mixed_batch_each_stake_is_held_against_the_largest_of_its_own_currency(world: World) -> None:
    world.open()
    largest = bet("euros", stake_minor=10_000)

    beyond = world.post_bets(largest, bet("pounds", currency="GBP", stake_minor=8548), round_id="refused")

    beyond.problem(422, "stake-out-of-range", "/bets/1/stake_minor")
    taken = world.bet(largest, bet("pounds", currency="GBP", stake_minor=8547), round_id="taken")
    assert taken["accepted"] == 2


def test_scenario_06_a_stake_above_the_largest_of_its_own_currency_is_refused_and_kept_likewise(world: World) -> None:
    world.open(base_amount="1000", settings={"largest_stake.GBP": "80"})
    before = world.books.counts_but_exceptions()

    answer = world.post_bets(bet("euros", stake_minor=10_000), bet("pounds", currency="GBP", stake_minor=8001))

    problem = answer.problem(422, "stake-out-of-range", "/bets/1/stake_minor")
    assert problem["largest_stakes"] == {"GBP": "80"}
    assert "largest_stake" not in problem
    assert problem["errors"][0]["detail"] == "The largest stake in GBP is 80: 8000 minor units of GBP."
    assert world.books.counts_but_exceptions() == before
    assert world.books.pools("j1") == Pools(meter_house=Decimal(1000))
    (exception,) = world.books.exceptions()
    assert (exception["kind"], exception["table_id"]) == ("stake-out-of-range", "T1")
    assert exception["detail"]["request"]["round_id"] == "r1"


def test_scenario_06_a_currency_without_a_largest_stake_of_its_own_does_not_mind_those_of_others(world: World) -> None:
    world.open(settings={"largest_stake.GBP": "0.01", "largest_stake.JPY": "5000"})

    accepted = world.bet(
        bet("euros", stake_minor=10_000),
        bet("crowns", currency="SEK", stake_minor=114_547),
        bet("pounds", currency="GBP", stake_minor=1),
        bet("yen", currency="JPY", stake_minor=5000),
    )

    assert accepted["accepted"] == 4
    beyond = world.post_bets(bet("yen", currency="JPY", stake_minor=5001), round_id="refused")
    assert beyond.problem(422, "stake-out-of-range", "/bets/0/stake_minor")["largest_stakes"] == {"JPY": "5000"}


def test_scenario_06_of_two_largest_stakes_the_narrower_holds_at_the_rates_of_the_round(world: World) -> None:
    world.open(settings={"largest_stake.GBP": "90"})
    world.bet(bet(currency="GBP", stake_minor=8547), round_id="at-1.17")
    worth_too_much = world.post_bets(bet(currency="GBP", stake_minor=8548), round_id="refused")
    world.publish(GBP="1.05")

    world.bet(bet(currency="GBP", stake_minor=9000), round_id="at-1.05")
    too_many_pounds = world.post_bets(bet(currency="GBP", stake_minor=9001), round_id="refused")

    assert worth_too_much.problem(422, "stake-out-of-range")["largest_stake"] == "100"
    assert "largest_stakes" not in worth_too_much.body
    assert too_many_pounds.problem(422, "stake-out-of-range")["largest_stakes"] == {"GBP": "90"}


def test_scenario_06_a_batch_beyond_several_largest_stakes_is_told_all_of_them(world: World) -> None:
    world.open(settings={"largest_stake.GBP": "80", "largest_stake.JPY": "5000", "largest_stake.SEK": "10"})

    answer = world.post_bets(
        bet("euros", stake_minor=10_001),
        bet("crowns", currency="SEK", stake_minor=1000),
        bet("pounds", currency="GBP", stake_minor=8001),
        bet("yen", currency="JPY", stake_minor=20_000),
    )

    places = ("/bets/0/stake_minor", "/bets/2/stake_minor", "/bets/3/stake_minor")
    problem = answer.problem(422, "stake-out-of-range", *places)
    assert problem["largest_stake"] == "100"
    assert problem["largest_stakes"] == {"GBP": "80", "JPY": "5000"}
    assert problem["detail"] == (
        "The largest stake in GBP is 80. The largest stake in JPY is 5000. The largest stake is worth 100 EUR."
    )


NO_STAKES: Final[dict[str, tuple[dict[str, Any], int, str, str]]] = {
    "1.005 EUR": ({"stake_minor": 100.5}, 422, "validation", "stake_minor"),
    "1.5 JPY": ({"currency": "JPY", "stake_minor": 1.5}, 422, "validation", "stake_minor"),
    "-1": ({"stake_minor": -1}, 422, "validation", "stake_minor"),
    "0": ({"stake_minor": 0}, 422, "validation", "stake_minor"),
    "true": ({"stake_minor": True}, 422, "validation", "stake_minor"),
    "unknown currency": ({"currency": "XXX"}, 422, "unknown-currency", "currency"),
    "no rate": ({"currency": "CHF"}, 422, "no-rate", "currency"),
}


def test_scenario_07_a_stake_that_cannot_be_is_refused(world: World, subtests: pytest.Subtests) -> None:
    world.open()

    for number, (stated, (stake, status, code, name)) in enumerate(NO_STAKES.items()):
        with subtests.test(stated):
            before = world.books.counts_but_exceptions()

            world.post_bets(bet(**stake), round_id=f"r{number}").problem(status, code, f"/bets/0/{name}")

            assert world.books.counts_but_exceptions() == before


def test_scenario_07_a_stake_that_is_not_a_number_is_no_json(world: World) -> None:
    world.open()
    before = world.books.counts()
    body = b'{"bets":[{"bet_id":"b1","player_id":"p1","currency":"EUR","stake_minor":NaN}]}'

    world.send("POST", "T1", "r1/bets", body).problem(400, "not-json")

    assert world.books.counts() == before


def test_scenario_08_a_limit_keeps_the_rest_off_the_offer(world: World) -> None:
    world.open(base_amount="999.80", settings={"limit": "1000"})

    accepted = world.bet(bet())

    meter = world.meter()
    assert meter["amount"] == "1000.00"
    assert meter["amount_minor"] == 100_000
    assert Decimal(meter["amount_exact"]) == 1000
    assert Decimal(meter["overflow"]) == Decimal("0.25")
    assert {name: meter[name] for name in accepted["meter"]} == accepted["meter"]
    assert world.books.pools("j1").meter == Decimal("1000.25")
    world.settle(hand("1", NOTHING))
