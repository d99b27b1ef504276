"""
Before and after the cards: betting closes, denied winners leave a trace, stakes have bounds. Scenarios 42 to 51.

Number 46 stands with the prizes of Cyber and Seneca, and number 50 with dead hands.
"""

from typing import Any

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, dead, forfeited, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

SHARE = 25_045
"""A quarter of 1,001.80: what b1's stake of 1.00 among 4.00 has of a meter of 1,000 + 0.45 x 4."""


def exceptions(world: World) -> list[Body]:
    noted: list[Body] = world.get("/v1/exceptions").ok()["items"]
    return noted


def test_scenario_42_a_bet_after_the_closing_is_refused_and_finance_sees_it(world: World) -> None:
    """Demand 1; rulebooks 000, 002 and 004: betting closes before the cards are dealt."""
    world.open(base_amount="1000")
    world.bet(bet("b1"))

    assert world.put_closing(bet_count=1).ok(201)["round"]["state"] == "closed"

    world.post_bets(bet("late")).problem(409, "betting-closed")
    assert world.post_bets(bet("b1")).ok(200)["replayed"] == 1
    assert [exception["kind"] for exception in exceptions(world)] == ["late-bet"]
    assert world.round()["round"]["state"] == "closed"


@pytest.mark.parametrize(("result", "denial"), [(dead, "dead"), (forfeited, "forfeited")])
def test_scenario_43_a_royal_flush_that_is_called_dead_or_forfeited_is_an_exception(
    world: World, result: Any, denial: str
) -> None:
    """Demand 2; rulebook 000 leaves a would-be prize to a decision by hand, so none is lost silently."""
    world.open(base_amount="1000")
    world.bet(bet("b1"), bet("b2", hand="2", stake_minor=300))

    world.settle(result("1", ROYAL_FLUSH), hand("2", NOTHING))

    (denied,) = exceptions(world)
    facts = denied["facts"]
    assert (denied["kind"], facts["denial"], facts["tier"], facts["amount_minor"]) == (
        "prize-denied",
        denial,
        "royal_flush",
        SHARE,
    )
    assert (facts["bet_id"], facts["player_id"], facts["hand"], facts["currency"]) == ("b1", "player-of-b1", "1", "EUR")
    assert facts["cards"] == sorted(ROYAL_FLUSH)


def test_scenario_44_one_person_does_not_close_a_denied_prize(world: World) -> None:
    """Demand 2: two people decide about a denied prize."""
    world.open(base_amount="1000")
    world.bet(bet("b1"), bet("b2", hand="2"))
    world.settle(forfeited("1", FLUSH), hand("2", NOTHING))
    (denied,) = exceptions(world)

    path = f"/v1/exceptions/{denied['exception_id']}/acknowledgement"
    body = {"request_id": "looked", "reason": "all is well"}
    answer = world.post(path, body, key=world.person("Fay", Role.FINANCE))

    answer.problem(403, "two-people-required")
    assert exceptions(world)[0]["acknowledgement"] is None


@pytest.mark.parametrize(("currency", "least"), [("EUR", 100), ("GBP", 86), ("SEK", 1146)])
def test_scenario_49_a_stake_below_the_least_is_refused_in_every_currency(
    world: World, currency: str, least: int
) -> None:
    """Demand 6; rulebooks 000 and 004 set the least stake: it is meant in the base currency."""
    world.open(settings={"least_stake": "1.00"})
    fine, below = (bet(f"b{stake}", currency=currency, stake_minor=stake) for stake in (least, least - 1))
    before = world.books.counts_but_exceptions()

    problem = world.post_bets(fine, below).problem(422, "stake-out-of-range", "/bets/1/stake_minor")

    assert problem["least_stake"] == "1"
    assert problem["errors"][0]["detail"] == (f"The least stake is worth 1 EUR: {least} minor units of {currency}.")
    assert world.books.counts_but_exceptions() == before
    assert [exception["kind"] for exception in world.books.exceptions()] == ["stake-out-of-range"]
    world.bet(fine)


def test_scenario_51_a_tightened_table_refuses_the_next_bet_of_an_open_round(world: World) -> None:
    """Demand 6; rulebooks 000 and 004: limits may change from time to time, so a table is tightened at once."""
    world.open(base_amount="1000", settings={"least_stake": "1"}, tables=("T1", "T2"))
    world.bet(bet("a", stake_minor=5000))

    tighter = {"jackpot_id": "j1", "table_id": "T1", "largest_stake": "20", "least_stake": "2"}
    world.change("table-limits", tighter)

    before = world.books.counts_but_exceptions()
    problem = world.post_bets(bet("b", hand="2", stake_minor=2001)).problem(
        422, "stake-out-of-range", "/bets/0/stake_minor"
    )
    assert problem["largest_stake"] == "20"
    assert problem["detail"] == "The largest stake of this table is worth 20 EUR."
    world.post_bets(bet("b", hand="2", stake_minor=199)).problem(422, "stake-out-of-range")
    assert world.books.counts_but_exceptions() == before
    world.bet(bet("b", hand="2", stake_minor=2000))
    world.bet(bet("c", stake_minor=10_000), table_id="T2")
    assert world.post_bets(bet("a", stake_minor=5000)).ok(200)["replayed"] == 1
