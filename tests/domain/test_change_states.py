"""The values of a state before or after a change: their names, and which of them are money."""

from jackpot_service.domain.change_states import Leaf, compared, leaves, name_of


def test_places_in_the_books_are_no_values_and_minor_units_become_units() -> None:
    state = {
        "positions": [1, 2],
        "round": {"round_key": 7, "casino_id": "riga"},
        "awards": [{"bet_id": "b1", "amount_minor": 85_288, "currency": "JPY", "cost": "520.2568"}],
    }

    assert leaves(state, "EUR") == {
        ("round", "casino_id"): Leaf("riga", is_name=True),
        ("awards", "b1", "amount"): Leaf("85288", "JPY"),
        ("awards", "b1", "cost"): Leaf("520.2568", "EUR"),
    }


def test_the_cost_of_an_award_is_in_the_base_currency_and_a_settlement_in_its_own() -> None:
    award = {"amount_minor": 34_115, "currency": "GBP", "cost": "399.1455"}
    settlement = {"currency": "GBP", "amount": "10.5", "balance_after": "0"}

    assert leaves(award, "EUR")["cost",] == Leaf("399.1455", "EUR")
    assert leaves(settlement, "EUR")["balance_after",] == Leaf("0", "GBP")


def test_what_returns_to_accounts_is_money() -> None:
    assert leaves({"returned_to": {"pool:reserve": "1.5"}}, "EUR") == {
        ("returned_to", "pool:reserve"): Leaf("1.5", "EUR")
    }


def test_a_value_is_named_without_what_stands_around_all_of_them() -> None:
    names = [
        ("settings", "payout_tiers", "1", "from"),
        ("rules", "document", "split", "prize_fund"),
        ("round", "casino_id"),
        ("kinds", "rules", "decided_by"),
    ]

    assert [name_of(path) for path in names] == [
        "payout tier 1 · from",
        "split · prize fund",
        "casino",
        "kinds · rules · decided by",
    ]


def test_what_the_state_before_lacks_is_recorded_besides_unless_there_was_none() -> None:
    assert compared({"pools": 1, "balance": 2}, {"pools": 3, "cause": 4}) == {"pools"}
    assert compared(None, {"version": 1}) == {"version"}
