"""What a change says is read in words, and a name stays the name that it is."""

from jackpot_service.pages.shown_changes import in_a_line, requested

NO_BREAK = "\u00a0"


def test_an_id_that_looks_like_a_card_or_a_word_is_shown_as_it_is() -> None:
    payload = {
        "bets": ["2c", "straight"],
        "dealer": ["2c", "Kd"],
        "hands": [["2c", "dealt", ["As", "Td"]]],
        "round_id": "As",
        "tier": "four_of_a_kind",
        "to": "four_of_a_kind",
    }
    assert dict(requested(payload)) == {
        "bets": "2c, straight",
        "dealer": "2♣, K♦",
        "hand 2c": "dealt A♠ 10♦",
        "round": "As",
        "tier": "four of a kind",
        "to": "four_of_a_kind",
    }


def test_what_a_payload_holds_together_is_named_once_in_a_line() -> None:
    tiers = [
        {"tier": 1, "from": "0", "prizes": ["royal-flush"], "evidence": ["surveillance"]},
        {"tier": 2, "from": "2000.00"},
    ]
    line = in_a_line({"jackpot_id": "live", "settings": {"payout_tiers": tiers}}, "EUR").replace(NO_BREAK, " ")
    assert line == (
        "payout tier 1: from EUR 0.00, prizes royal-flush, evidence surveillance · payout tier 2: from EUR 2,000.00"
    )


def test_a_line_holds_no_more_than_four_members_and_says_so() -> None:
    assert in_a_line({"a": "1", "b": "2", "c": "3", "d": "4", "e": "5"}) == "a 1 · b 2 · c 3 · d 4 …"
