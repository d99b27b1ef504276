"""New parameters wait until the running jackpot is won. Decision 19, scenario 38."""

from decimal import Decimal
from typing import Any, Final

import pytest

from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, hand
from tests.support.payouts import held_from
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow


def ask(world: World, settings: dict[str, Any], **more: Any) -> Any:
    return world.ask("rules", {"jackpot_id": "j1", "settings": settings}, **more)


def change(world: World, settings: dict[str, Any], *, request_id: str = "q1") -> Body:
    return world.change("rules", {"jackpot_id": "j1", "settings": settings}, request_id=request_id)


def rules(world: World) -> Body:
    return world.get("/v1/jackpots/j1/rules").ok()


def hit(world: World, *, round_id: str) -> None:
    world.bet(bet(), round_id=round_id)
    world.settle(hand("1", ROYAL_FLUSH), round_id=round_id)


def test_scenario_38_a_change_approved_mid_cycle_waits_for_the_hit_and_then_rules_new_rounds(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet(), round_id="before")
    change(world, {"split.meter": "0.40"})

    shown = rules(world)
    assert (shown["version"], shown["rules"]["split"]["meter"]) == (1, "0.45")
    assert (shown["pending"]["version"], shown["pending"]["rules"]["split"]["meter"]) == (2, "0.4")
    assert world.bet(bet(), round_id="meanwhile")["round"]["rules_version"] == 1

    hit(world, round_id="hit")

    assert (rules(world)["version"], rules(world)["pending"]) == (2, None)
    before = world.books.pools("j1").meter
    assert world.bet(bet("b2"), round_id="meanwhile")["round"]["rules_version"] == 1
    assert world.books.pools("j1").meter - before == Decimal("0.45")
    before = world.books.pools("j1").meter
    assert world.bet(bet(), round_id="after")["round"]["rules_version"] == 2
    assert world.books.pools("j1").meter - before == Decimal("0.40")
    world.cancel(round_id="before")


def test_a_hit_refills_to_the_newest_reset_amount_and_its_cycle_has_the_newest_limit(world: World) -> None:
    world.open(base_amount="1000")
    change(world, {"reset_amount": "300", "limit": "5000"})
    change(world, {"reset_amount": "500"}, request_id="q2")

    hit(world, round_id="hit")

    assert world.meter()["amount_exact"] == "500"
    assert (rules(world)["version"], rules(world)["rules"]["limit"]) == (3, "5000")


def test_an_optional_parameter_is_taken_away_by_null(world: World) -> None:
    world.open(settings={"limit": "5000", "payout_tiers": held_from("100")})

    done = change(world, {"limit": None})

    assert done["after"]["rules"]["document"]["limit"] is None
    assert done["after"]["rules"]["document"]["payout_tiers"][0]["from"] == "100"
    ask(world, {"reset_amount": None}, request_id="q2").problem(422, "rules-invalid")


def test_a_largest_stake_of_a_single_currency_waits_for_the_hit_and_is_taken_away_by_null(world: World) -> None:
    world.open(base_amount="1000")
    pounds = bet("pounds", currency="GBP", stake_minor=8001)
    done = change(world, {"largest_stake.JPY": "5000", "largest_stake.GBP": "80.00"})
    assert "largest_stakes" not in done["before"]["rules"]["document"]
    assert done["after"]["rules"]["document"]["largest_stakes"] == {"GBP": "80", "JPY": "5000"}
    world.bet(pounds, round_id="before")

    hit(world, round_id="hit")

    world.bet(bet(**pounds | {"bet_id": "b2", "player_id": "p2"}), round_id="before")
    world.post_bets(pounds, round_id="after").problem(422, "stake-out-of-range", "/bets/0/stake_minor")
    assert rules(world)["rules"]["largest_stakes"] == {"GBP": "80", "JPY": "5000"}
    assert "A bet in GBP may be at most 80, whatever that is worth." in rules(world)["text"]
    change(world, {"largest_stake.GBP": None}, request_id="q2")
    hit(world, round_id="second-hit")
    world.bet(pounds, round_id="after")
    assert rules(world)["rules"]["largest_stakes"] == {"JPY": "5000"}
    change(world, {"largest_stake.JPY": None}, request_id="q3")
    assert "largest_stakes" not in rules(world)["pending"]["rules"]


def test_a_token_comes_only_when_no_currency_has_a_largest_stake_of_its_own_any_more(world: World) -> None:
    world.open(settings={"largest_stake.GBP": "80"})
    token = {"largest_stake": None, "token": "1"}

    ask(world, token).problem(422, "rules-invalid")
    ask(world, token | {"largest_stake.GBP": None}).ok(201)


def test_prizes_hands_and_policy_are_parameters_too(world: World) -> None:
    world.open(CYBER)
    settings = {
        "prizes.straight_flush": "0.2",
        "prizes.flush": "60",
        "prizes.straight": "5",
        "prizes.full_house": None,
        "hands_per_player": "2",
        "policy": "equal_share",
    }

    document = change(world, settings)["after"]["rules"]["document"]

    assert document["prizes"] == {
        "royal_flush": {"meter_part": "1"},
        "straight_flush": {"meter_part": "0.2"},
        "four_of_a_kind": {"fixed_amount": "500"},
        "flush": {"fixed_amount": "60"},
        "straight": {"fixed_amount": "5"},
    }
    assert (document["hands_per_player"], document["policy"]) == (2, "equal_share")
    hit(world, round_id="hit")
    world.bet(bet("a"), bet("b", player_id="p", hand="2"), round_id="new")
    settlement = world.settle(hand("1", FLUSH), hand("2", NOTHING), round_id="new")
    assert [award["amount_minor"] for award in settlement["awards"]] == [6000]


def test_a_prize_that_was_taken_away_comes_back_as_an_amount(world: World) -> None:
    world.open(CYBER, settings={"token": "3"})
    names = ("four_of_a_kind", "full_house", "flush")
    change(world, {f"prizes.{name}": None for name in names}, request_id="q1")

    prizes = change(world, {"prizes.flush": "50"}, request_id="q2")["after"]["rules"]["document"]["prizes"]

    assert prizes["flush"] == {"fixed_amount": "50"}


def test_the_prizes_cost_is_shown_against_their_split(world: World) -> None:
    world.open()

    requested = ask(world, {"split.prize_fund": "0.3185"}).ok(201)

    assert requested["effect"]["after"]["fixed_prizes"] == {
        "paid_from": "prize_fund",
        "cost": "206909/649740",
        "cost_percent": "31.8448918029",
        "split_percent": "31.85",
    }


def test_of_a_meter_that_pays_fixed_prizes_the_cost_is_shown_against_its_part(world: World) -> None:
    world.open(CYBER)

    requested = ask(world, {"prizes.flush": "55"}).ok(201)

    shown = requested["effect"]["after"]["fixed_prizes"]
    assert (shown["paid_from"], shown["split_percent"]) == ("meter", "70")
    assert shown["cost_percent"].startswith("37.2")


NO_JACKPOT: Final[tuple[tuple[Any, str], ...]] = (
    ({"split.meter": "0.7", "split.reserve": "0.1"}, "rules-invalid"),  # With the prize fund's it is 1.1184.
    ({"split.meter": "0.45001"}, "rules-invalid"),
    ({"split.meter": "-0.1"}, "rules-invalid"),
    ({"split.meter": "NaN"}, "rules-invalid"),
    ({"split.meter": "1e-1"}, "rules-invalid"),
    ({"split.meter": ""}, "rules-invalid"),
    ({"split.meter": "0." + "1" * 100}, "rules-invalid"),
    ({"split.meter": "0.45"}, "rules-invalid"),  # As it is.
    ({"split.house": "0.1"}, "setting-unknown"),
    ({"prizes.royal_flush": "0.5"}, "setting-unknown"),
    ({"prizes.flush": "0"}, "rules-invalid"),
    ({"prizes.flush": "2.5"}, "rules-invalid"),
    ({"prizes.flush": "99999"}, "rules-invalid"),
    ({"prizes.flush": "9" * 5000}, "rules-invalid"),
    ({"prizes.flush": "²"}, "rules-invalid"),
    ({"hands_per_player": "0"}, "rules-invalid"),
    ({"hands_per_player": "11"}, "rules-invalid"),
    ({"policy": "minor_first"}, "rules-invalid"),
    ({"largest_stake": None}, "rules-invalid"),
    ({"token": "1"}, "rules-invalid"),
    ({"largest_stake": None, "token": "1.005"}, "rules-invalid"),
    ({"largest_stake.GBP": "1.005"}, "rules-invalid"),
    ({"largest_stake.GBP": "0"}, "rules-invalid"),
    ({"largest_stake.GBP": "-1"}, "rules-invalid"),
    ({"largest_stake.GBP": "1e1"}, "rules-invalid"),
    ({"largest_stake.GBP": "1" + "0" * 15}, "rules-invalid"),
    ({"largest_stake.GBP": None}, "rules-invalid"),  # There is none.
    ({"largest_stake.GBP": "90", "largest_stake": None, "token": "1"}, "rules-invalid"),
    ({"largest_stake.JPY": "1.5"}, "rules-invalid"),
    ({"largest_stake.XXX": "90"}, "unknown-currency"),
    ({"largest_stake.XXX": None}, "rules-invalid"),
    ({"largest_stake.CUR": "90"}, "unknown-currency"),
    ({"largest_stake.gbp": "90"}, "setting-unknown"),
    ({"largest_stake.": "90"}, "setting-unknown"),
    ({"token.GBP": "90"}, "setting-unknown"),
    ({"largest_stake.GBP": 90}, "payload-invalid"),
    ({"limit": "999.99"}, "rules-invalid"),  # On offer is 1,000.
    ({"limit": "5000", "reset_amount": "5001"}, "rules-invalid"),
    ({"split.meter": 0.4}, "payload-invalid"),
    ({}, "payload-invalid"),
    ([], "payload-invalid"),
)


def test_settings_that_make_no_jackpot_are_refused_when_they_are_asked_for(
    world: World, subtests: pytest.Subtests
) -> None:
    world.open(base_amount="1000")
    ask(world, {"nonsense": "1"}).problem(422, "setting-unknown")

    for number, (settings, code) in enumerate(NO_JACKPOT):
        with subtests.test(settings=settings):
            before = world.books.counts()

            ask(world, settings, request_id=f"q{number}").problem(422, code)

            assert world.books.counts() == before


def test_a_limit_must_not_lie_below_what_is_on_offer_when_it_is_approved(world: World) -> None:
    world.open(base_amount="1000")
    ask(world, {"limit": "1000.20"}).ok(201)
    world.bet(bet())  # On offer are 1,000.45 now.

    world.approve().problem(422, "rules-invalid")
    assert rules(world)["pending"] is None


def test_a_limit_below_what_is_booked_but_not_below_what_is_on_offer_is_taken(world: World) -> None:
    world.open(base_amount="999.80", settings={"limit": "1000"})
    world.bet(bet())
    assert world.meter()["overflow"] == "0.25"

    change(world, {"limit": "1000.10"})


def test_the_reset_amount_must_cover_the_largest_fixed_prize_that_the_meter_pays(world: World) -> None:
    world.open(CYBER)

    ask(world, {"reset_amount": "499.99"}).problem(422, "rules-invalid")
    ask(world, {"prizes.four_of_a_kind": "10000.01"}).problem(422, "rules-invalid")
    ask(world, {"reset_amount": "500"}).ok(201)
    ask(world, {"token": "20"}, request_id="q2").ok(201)


def test_a_request_made_against_older_rules_is_stale(world: World) -> None:
    world.open()
    assert ask(world, {"split.meter": "0.40"}, request_id="q1").ok(201)["base_version"] == "1"
    ask(world, {"split.reserve": "0.06"}, request_id="q2").ok(201)
    world.bet(bet())  # It makes nothing stale.
    world.approve("q1").ok()

    world.approve("q2").problem(409, "change-stale")
    ask(world, {"split.reserve": "0.06"}, request_id="q3", base_version="1").problem(409, "change-stale")


def test_a_dry_run_leaves_no_trace_not_even_in_what_a_process_remembers(world: World) -> None:
    world.open(base_amount="10")
    ask(world, {"split.meter": "0.40"}, query="?dry_run=true").ok()
    change(world, {"split.meter": "0.30"})
    hit(world, round_id="hit")

    assert rules(world)["rules"]["split"]["meter"] == "0.3"


def test_the_rules_of_an_unknown_jackpot_do_not_change(world: World) -> None:
    ask(world, {"split.meter": "0.40"}).problem(404, "jackpot-unknown")
