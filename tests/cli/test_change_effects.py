"""What a change does is read by people of finance: awards and totals, money as money, no places in the books."""

import json
import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Final

import pytest

from jackpot_service.cli.change_effects import effect_lines
from jackpot_service.domain.principals import Role
from jackpot_service.usecases.changes.registry import KINDS
from tests.support import every_kind
from tests.support.command_line import Jackpot, calling, program
from tests.support.every_kind import PAYLOADS
from tests.support.fixtures import books_verify
from tests.support.fixtures import world as world  # noqa: PLC0414  a fixture of these tests
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]


@pytest.fixture
def jackpot(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str
) -> Iterator[Jackpot]:
    """The program, calling a service at which every kind of change can be requested, as Ada, an auditor."""
    every_kind.played(world)
    monkeypatch.setenv("JACKPOT_KEY", world.person("Ada", Role.AUDITOR))
    with calling(monkeypatch, world.app):
        yield program(monkeypatch, capsys, database_url)


IN_THE_BOOKS: Final = re.compile(r"positions|round.key|_minor|_id\b|[{\[]")
"""How places in the books, and members of the API that are no words, would look."""


def rows(printed: str, title: str) -> list[list[str]]:
    """The cells of the table whose first column has a title."""
    lines = iter(printed.splitlines())
    next(line for line in lines if line.split("  ")[1:2] == [title])
    return [re.split(r" {2,}", line.strip()) for line in takewhile(str.strip, lines)]


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_of_change_shows_places_in_the_books(world: World, jackpot: Jackpot, kind: str) -> None:
    world.ask(kind, PAYLOADS[kind]).ok(201)
    waiting = jackpot("changes", "show", "q1").ok()
    world.approve().ok()
    done = jackpot("changes", "show", "q1").ok()

    for printed in (waiting, done):
        assert IN_THE_BOOKS.search(printed) is None, printed
        assert len(printed.splitlines()) < 60


def test_awards_are_a_line_each_with_their_state_before_and_after_and_a_total(world: World, jackpot: Jackpot) -> None:
    world.ask("held-awards", PAYLOADS["held-awards"]).ok(201)
    (award,) = world.get("/v1/awards?state=held", role=Role.OPERATOR).ok()["items"]
    expected = [award["award_id"], "c1", "250.00 EUR", "held -> payable"]

    waiting = jackpot("changes", "show", "q1").ok()
    world.approve().ok()
    done = jackpot("changes", "show", "q1").ok()

    for printed in (waiting, done):
        assert rows(printed, "award") == [expected]
        assert rows(printed, "total") == [["EUR", "1", "250.00 EUR"]]
    effect = json.loads(jackpot("changes", "show", "q1", "--json").ok())["effect"]
    assert effect["after"]["awards"][0]["amount_minor"] == 25_000


def test_awards_of_several_currencies_have_a_total_of_each() -> None:
    awards = [
        {"bet_id": f"b{number}", "tier": "flush", "amount_minor": minor, "currency": currency, "cost": "1"}
        for number, (minor, currency) in enumerate([(170_576, "EUR"), (85_288, "JPY"), (18_054_90, "EUR")])
    ]
    of_round = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "round_key": 7, "casino_id": "riga"}
    after = {"step": "released", "round": of_round, "awards": [{**award, "correction": 0} for award in awards]}
    effect = {"problem": None, "figured_at": None, "currency": "EUR", "before": {"state": "stopped"}}

    printed = "\n".join(effect_lines({**effect, "after": after, "postings": []}, []))

    assert [cells[1:] for cells in rows(printed, "award")] == [
        ["riga", "1,705.76 EUR", "stopped -> payable or part-paid"],
        ["riga", "85,288", "JPY", "stopped -> payable or part-paid"],
        ["riga", "18,054.90 EUR", "stopped -> payable or part-paid"],
    ]
    assert rows(printed, "total") == [["EUR", "2", "19,760.66 EUR"], ["JPY", "1", "85,288", "JPY"]]


def test_an_adjustment_shows_the_pools_and_says_nothing_twice(world: World, jackpot: Jackpot) -> None:
    world.ask("adjustment", PAYLOADS["adjustment"]).ok(201)

    printed = jackpot("changes", "show", "q1").ok()

    assert rows(printed, "what changes") == [["pools · reserve", "5.20 EUR", "|", "6.20 EUR"]]
    assert printed.count("memo 1") == 1
    assert "recorded with it" not in printed


def test_a_change_of_the_policy_names_the_kind_that_is_called_rules(world: World, jackpot: Jackpot) -> None:
    world.ask("change-policy", PAYLOADS["change-policy"]).ok(201)

    printed = jackpot("changes", "show", "q1").ok()

    assert ["kinds · rules · decided by", "finance, operator", "|", "operator"] in rows(printed, "what changes")
    assert re.search(r"^unchanged: [0-9]+ other values, which --json shows$", printed, re.MULTILINE)
