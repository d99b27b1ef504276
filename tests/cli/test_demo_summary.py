"""What the demo prints when it ends."""

import pytest

from jackpot_service.cli.demo.playing import print_books
from tests.support.bets import bet
from tests.support.fixtures import world as world  # noqa: PLC0414  a fixture of these tests
from tests.support.world import LIVE, World


def test_a_casino_that_took_stakes_owes_them_as_on_the_page_of_finance(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.open(LIVE)
    accepted = world.bet(bet("b1", stake_minor=300))
    assert accepted["accepted"] == 1

    assert print_books(world.engine)

    printed = capsys.readouterr().out
    _, _, casinos = printed.partition("Casinos (positive: the casino owes the house)\n")
    assert casinos.splitlines()[0].split() == ["c1", "EUR", "3.00"]
