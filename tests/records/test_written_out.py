"""What several statements say in the same words is the same in all of them."""

from typing import Final

import pytest

from jackpot_service.ledger import days, journal
from jackpot_service.records import bets, rounds, settings_in_force

HOLDS: Final = "current_setting('jackpot.guess', true) IS DISTINCT FROM 'wrong'"


def words(statement: str) -> str:
    return " ".join(statement.split())


@pytest.mark.parametrize(
    ("statement", "places"),
    [(rounds._ADD, 1), (bets._ADD, 1), (journal._POST, 2), (days._ADD, 1), (days._NOTE, 1)],
)
def test_what_is_sent_with_bets_writes_nothing_after_a_wrong_guess(statement: str, places: int) -> None:
    assert words(statement).count(HOLDS) == places


def test_what_is_required_is_what_would_be_read() -> None:
    assert words(settings_in_force._READ) in words(settings_in_force._REQUIRE)
    assert f"THEN '{settings_in_force.RIGHT}' ELSE 'wrong' END" in settings_in_force._REQUIRE
