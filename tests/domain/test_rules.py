"""The rules as a value and as a document, and how settings change them. Decisions 9 and 19."""

from dataclasses import replace
from decimal import Decimal

import pytest

from jackpot_service.domain.rulebooks import published_rules
from jackpot_service.domain.rules import BadRules, FundedBy, as_document, from_document
from jackpot_service.domain.settings import LONGEST_NUMBER, OPTIONAL, SETTINGS, UnknownSetting, with_settings

LIVE = published_rules("live-caribbean-stud", base="EUR", settings={})
BOUNDED = with_settings(LIVE, {"largest_stake.JPY": "5000", "largest_stake.GBP": "80.50"})


def test_largest_stakes_of_single_currencies_stand_in_the_order_of_their_codes() -> None:
    assert list(BOUNDED.largest_stakes.items()) == [("GBP", Decimal("80.50")), ("JPY", Decimal(5000))]
    assert BOUNDED.largest_stake == LIVE.largest_stake


def test_a_document_lists_largest_stakes_only_where_there_are_any_and_loses_none() -> None:
    assert as_document(BOUNDED)["largest_stakes"] == {"GBP": "80.5", "JPY": "5000"}
    assert from_document(as_document(BOUNDED)) == BOUNDED
    assert "largest_stakes" not in as_document(LIVE)
    assert from_document(as_document(LIVE)) == LIVE


def test_a_document_says_what_becomes_of_dead_hands_only_where_they_are_not_refunded() -> None:
    played = with_settings(LIVE, {"dead_hand": "play-on"})

    assert as_document(played)["dead_hand"] == "play-on"
    assert from_document(as_document(played)) == played
    assert "dead_hand" not in as_document(with_settings(played, {"dead_hand": "refund"}))
    for wrong in ("play_on", "", "x" * 1000):
        with pytest.raises(BadRules, match="dead_hand must be one of refund, play-on"):
            with_settings(LIVE, {"dead_hand": wrong})


def test_setting_one_currency_leaves_the_others_and_null_takes_one_away() -> None:
    changed = with_settings(BOUNDED, {"largest_stake.JPY": None, "largest_stake.BHD": "1.005", "hands_per_player": "2"})

    assert changed.largest_stakes == {"BHD": Decimal("1.005"), "GBP": Decimal("80.50")}
    assert BOUNDED.largest_stakes.keys() == {"GBP", "JPY"}


@pytest.mark.parametrize("most", ["0", "-1", "1000000000000000", "0.00001", "NaN"])
def test_a_largest_stake_that_no_currency_can_have_makes_no_rules(most: str) -> None:
    with pytest.raises(BadRules, match=r"largest_stake\.GBP"):
        replace(LIVE, largest_stakes={"GBP": Decimal(most)})


def test_the_largest_stake_of_any_currency_is_listed_once_among_the_settings() -> None:
    assert "largest_stake.CUR" in OPTIONAL
    assert "largest_stake.CUR" in SETTINGS
    with pytest.raises(UnknownSetting, match=r"one can set .*largest_stake\.CUR"):
        with_settings(LIVE, {"largest_stake.gbp": "1"})


def test_a_refusal_repeats_no_more_of_a_name_than_any_number_needs() -> None:
    with pytest.raises(UnknownSetting) as refusal:
        with_settings(LIVE, {"largest_stake." + "G" * 1000: "1"})

    assert len(str(refusal.value.facts["setting"])) == LONGEST_NUMBER


def test_where_a_hand_owns_the_meter_no_other_pool_pays_its_fixed_prizes() -> None:
    """Such rules would make the award of a fixed prize twice: from the prize fund, and as a claim on the meter."""
    cyber = published_rules("cyber-caribbean-stud", base="EUR", settings={})

    with pytest.raises(BadRules, match="it pays the fixed prizes too"):
        replace(cyber, fixed_prizes_from=FundedBy.PRIZE_FUND)
