"""A settled round corrected from the command line: Ann asks with her key, Bob approves with his."""

import json
from pathlib import Path

import pytest

from jackpot_service.domain.principals import Role
from tests.support.bets import bet
from tests.support.command_line import calling, program
from tests.support.correcting import payload
from tests.support.fixtures import books_verify
from tests.support.fixtures import world as world  # noqa: PLC0414  a fixture of these tests
from tests.support.hands import STRAIGHT, THREE_OF_A_KIND, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]


def test_two_people_correct_a_round_from_the_command_line(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    database_url: str,
    tmp_path: Path,
) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", THREE_OF_A_KIND))
    jackpot = program(monkeypatch, capsys, database_url)
    right = tmp_path / "right.json"
    right.write_text(json.dumps(payload(hand("1", STRAIGHT))["result"]))
    round_ = ("--jackpot", "j1", "--table", "T1", "--round", "r1", "--result", f"@{right}")
    request = ("changes", "request", "round-correction", *round_, "--reason", "the camera shows a straight")

    with calling(monkeypatch, world.app):
        monkeypatch.setenv("JACKPOT_KEY", world.person("Ann", Role.OPERATOR))
        shown = jackpot(*request, "--dry-run", "--json").ok()
        assert json.loads(shown)["effect"]["after"]["awards"][0]["amount_minor"] == 1000
        jackpot(*request, "--request-id", "q1").ok()
        jackpot("changes", "approve", "q1", "--reason", "checked").refused(1, "another user must decide")
        monkeypatch.setenv("JACKPOT_KEY", world.person("Bob", Role.FINANCE))
        done = json.loads(jackpot("changes", "approve", "q1", "--reason", "checked", "--json").ok())

    assert done["effect"]["after"]["postings"][-1] == ["casino:c1", "EUR", "10", "correction"]
    assert world.books.balance("j1", "casino:c1") == 9
