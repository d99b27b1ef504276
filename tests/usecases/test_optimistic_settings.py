"""What is in force is expected to be as it was, and required when bets are written: whoever guessed wrong asks."""

from datetime import timedelta

import pytest

from jackpot_service.ledger import days
from jackpot_service.records.settings_in_force import LIKELY_AFTER
from tests.support.bets import bet
from tests.support.drivers import round_trips, warm
from tests.support.hands import NOTHING, ROYAL_FLUSH, hand
from tests.support.world import World
from tests.usecases.test_stripes import spread
from tests.usecases.test_suspension import put

pytestmark = pytest.mark.slow


@pytest.fixture
def opened(world: World) -> World:
    """A jackpot whose rounds of late were all new, so that the process expects the next to be new as well."""
    world.open(base_amount="1000")
    for number in range(LIKELY_AFTER):
        world.bet(bet(), round_id=f"before-{number}")
    return world


def test_bets_of_a_new_round_take_one_round_trip_where_those_before_were_new(opened: World) -> None:
    assert round_trips(opened, lambda: opened.bet(bet(), round_id="new")) == 1


def test_it_takes_some_new_rounds_in_a_row_until_they_are_expected(world: World) -> None:
    world.open()
    warm(world)
    taken = [
        round_trips(world, lambda number=number: world.bet(bet(), round_id=f"r{number}"))  # type: ignore[misc]
        for number in range(LIKELY_AFTER + 2)
    ]
    assert taken == [2] * LIKELY_AFTER + [1, 1]


def test_a_round_that_is_known_after_all_is_answered_as_ever_and_no_more_expected(opened: World) -> None:
    opened.bet(bet("b1"), round_id="r")
    assert opened.bet(bet("b2", hand="2"), round_id="r")["round"]["bet_count"] == 2
    again = opened.post_bets(bet("b1"), round_id="r").ok(200)
    opened.post_bets(bet("b1", stake_minor=200), round_id="r").problem(409, "bet-conflict")

    assert (again["accepted"], again["replayed"]) == (0, 1)
    assert round_trips(opened, lambda: opened.bet(bet(), round_id="new")) == 2


def test_a_round_that_another_process_opened_is_found(opened: World) -> None:
    other = opened.start()
    opened.post_bets(bet("b1"), round_id="r", app=other).ok(201)

    assert opened.bet(bet("b2", hand="2"), round_id="r")["round"]["bet_count"] == 2


def test_a_round_that_is_over_takes_no_bet(opened: World) -> None:
    other = opened.start()
    opened.post_bets(bet("b1"), round_id="r", app=other).ok(201)
    opened.put_result(hand("1", NOTHING), round_id="r", bet_count=1, app=other).ok(201)
    before = opened.books.counts()

    opened.post_bets(bet("b2"), round_id="r").problem(409, "round-settled")

    after = opened.books.counts()
    assert {name for name in before if after[name] != before[name]} == {"exceptions"}


def test_a_new_rate_sheet_is_pinned_by_the_next_round(opened: World) -> None:
    number = opened.publish(GBP="1.20", SEK="0.09")
    opened.clock.at += timedelta(seconds=1)

    accepted = opened.bet(bet(currency="GBP"), round_id="new")

    assert accepted["round"]["rate_sheet"] == number
    assert accepted["round"]["total_stake_base"] == "1.2"


def test_nobody_is_refused_by_what_was_in_force_before(opened: World) -> None:
    opened.post_bets(bet(currency="CHF"), round_id="early").problem(422, "no-rate")
    opened.publish(CHF="1.05")
    opened.clock.at += timedelta(seconds=1)

    assert opened.bet(bet(currency="CHF"), round_id="new")["round"]["total_stake_base"] == "1.05"


def test_a_refusal_does_not_end_what_is_expected(opened: World) -> None:
    opened.post_bets(bet(currency="CHF"), round_id="early").problem(422, "no-rate")
    assert round_trips(opened, lambda: opened.bet(bet(), round_id="new")) == 1


def test_rules_that_came_into_force_with_a_hit_are_those_of_the_next_round(opened: World) -> None:
    opened.change("rules", {"jackpot_id": "j1", "settings": {"split.meter": "0.40"}}, request_id="q1")
    opened.put_result(hand("1", ROYAL_FLUSH), round_id="before-0", app=opened.start()).ok(201)

    assert opened.bet(bet(), round_id="new")["round"]["rules_version"] == 2


def test_stripes_that_were_added_are_used(opened: World) -> None:
    spread(opened, 64)
    for number in range(30):
        opened.bet(bet(), round_id=f"new-{number}")

    assert opened.books.value("SELECT max(stripe_no) FROM entries WHERE kind = 'bets'") > 3


def test_a_suspended_jackpot_takes_no_bets(opened: World) -> None:
    put(opened, "suspension", "s1").ok(201)
    before = opened.books.counts_but_exceptions()

    opened.post_bets(bet(), round_id="new").problem(409, "jackpot-suspended")

    assert opened.books.counts_but_exceptions() == before


def test_a_guess_that_was_wrong_writes_nothing_and_is_tried_again(
    opened: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where every group is added to days, which updates."""
    opened.post_bets(bet("b1"), round_id="r", app=opened.start()).ok(201)
    before = opened.books.counts()
    committed = "SELECT xmin::text FROM stripes WHERE jackpot_id = 'j1' ORDER BY stripe_no"
    rows = opened.books.rows(committed)

    monkeypatch.setattr(days, "FIGURES_AT_ONCE", 1)

    opened.post_bets(bet("b1", stake_minor=200), round_id="r").problem(409, "bet-conflict")

    after = opened.books.counts()
    assert {name for name in before if after[name] != before[name]} == {"exceptions"}
    assert opened.books.rows(committed) == rows
