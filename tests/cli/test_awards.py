"""`jackpot awards …`, and what `jackpot casinos …` says of money, on a world in which something was won."""

import json
from collections.abc import Callable
from typing import Final

import pytest

from jackpot_service.domain.principals import Role
from tests.cli.test_command_line import Ended, program
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, hand
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.slow

USAGE: Final = 2

Jackpot = Callable[..., Ended]


@pytest.fixture
def jackpot(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str) -> Jackpot:
    """The program, on a database with a held award and a payable one."""
    world = World(database_url)
    world.open(base_amount="1000", settings={"payout_tiers": held_from("250")})
    world.bet(bet("a"))
    world.settle(hand("1", FOUR_OF_A_KIND))
    world.bet(bet("a", currency="GBP"), round_id="r2")
    world.settle(hand("1", FLUSH), round_id="r2")
    world.engine.dispose()
    return program(monkeypatch, capsys, database_url)


def test_what_waits_for_a_decision_is_listed(jackpot: Jackpot) -> None:
    (line,) = jackpot("awards", "list").ok().splitlines()

    assert line.split("  ")[1:] == ["j1", "T1/r1", "bet a", "four_of_a_kind", "25000 EUR minor", "held"]
    assert "T1/r2" in jackpot("awards", "list", "--state", "payable", "--jackpot", "j1", "--casino", "c1").ok()
    assert not jackpot("awards", "list", "--casino", "c9").ok()


def test_awards_that_nobody_claimed_are_noted_once(
    jackpot: Jackpot, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The world's clock stands some days before that of the machine, by which the program goes."""
    world = World(database_url)
    never = {"casino_id": "c1", "version": 0, "claim_days": None, "forfeited_to": "statutory"}
    assert json.loads(jackpot("casinos", "claims", "c1").ok()) == never
    assert jackpot("awards", "unclaimed").ok() == "Unclaimed awards: 0, noted now: 0.\n"
    world.change("casino-claims", {"casino_id": "c1", "claim_days": 1, "forfeited_to": "meter"})
    shown = {"casino_id": "c1", "version": 1, "claim_days": 1, "forfeited_to": "meter"}
    assert json.loads(jackpot("casinos", "claims", "c1").ok()) == shown
    assert jackpot("casinos", "claims", "c9").status != 0

    monkeypatch.setenv("JACKPOT_KEY", world.person("Fay", Role.FINANCE))
    assert jackpot("awards", "unclaimed").ok() == "Unclaimed awards: 1, noted now: 1.\n"
    assert jackpot("awards", "unclaimed").ok() == "Unclaimed awards: 1, noted now: 0.\n"
    (line,) = jackpot("awards", "list", "--state", "unclaimed").ok().splitlines()
    assert line.endswith("2500 GBP minor  unclaimed")
    for role in (Role.TABLE, Role.AUDITOR):
        monkeypatch.setenv("JACKPOT_KEY", world.key(role))
        assert jackpot("awards", "unclaimed").status != 0
    world.engine.dispose()


def test_evidence_is_recorded_and_shown(jackpot: Jackpot, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(database_url)
    monkeypatch.setenv("JACKPOT_KEY", world.person("Sue", Role.AUDITOR))
    stated = ("--kind", "witness", "--statement", "the floor manager was there", "--request-id", "seen")

    first = json.loads(jackpot("awards", "evidence", "T1", "r1", *stated).ok())
    again = json.loads(jackpot("awards", "evidence", "T1", "r1", *stated).ok())
    shown = json.loads(jackpot("awards", "evidence", "T1", "r1").ok())

    assert first == again == shown
    [recorded] = shown["recorded"]
    assert (recorded["kind"], recorded["statement"], recorded["principal"]) == (
        "witness",
        "the floor manager was there",
        "Sue",
    )
    assert jackpot("awards", "evidence", "T1", "r1", "--kind", "witness").status == USAGE
    monkeypatch.setenv("JACKPOT_KEY", world.key(Role.TABLE))
    assert jackpot("awards", "evidence", "T1", "r1", *stated).status != 0
    world.engine.dispose()


def test_an_approval_says_how_many_more_are_due(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str
) -> None:
    world = World(database_url)
    world.open(base_amount="1000", settings={"payout_tiers": held_from("250", approvals=2)})
    world.bet(bet("a"))
    world.settle(hand("1", FOUR_OF_A_KIND))
    payload = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "decision": "approve"}
    world.ask("held-awards", payload).ok(201)
    run = program(monkeypatch, capsys, database_url)
    said = []
    for name in ("Bob", "Cleo"):
        monkeypatch.setenv("JACKPOT_KEY", world.person(name, Role.FINANCE))
        ended = run("changes", "approve", "q1", "--reason", "checked")
        assert json.loads(ended.ok())["approvals_due"] == 2
        said.append(ended.err)
    world.engine.dispose()

    assert said == [
        "Change request q1: approved; 1 more must approve it.\n",
        "Change request q1: approved and done.\n",
    ]


def test_what_a_casino_owes_and_is_owed_is_told_in_each_currency(jackpot: Jackpot) -> None:
    lines = [line.split() for line in jackpot("casinos", "balances", "c1").ok().splitlines()]

    assert lines == [["j1", "EUR", "1", "it", "owes"], ["j1", "GBP", "24", "it", "is", "owed"]]
    assert not jackpot("casinos", "balances", "c9").ok()


def test_a_withholding_rule_is_requested_approved_and_shown(
    jackpot: Jackpot, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(database_url)
    shown = ("casinos", "withholding", "c1")
    assert json.loads(jackpot(*shown).ok()) == {"casino_id": "c1", "rules": []}
    payload = {"casino_id": "c1", "currency": "EUR", "report_at_minor": 120_000, "least_multiple": 300}
    withheld = {"withhold_at_minor": 500_000, "percent": "24"}
    request = ("changes", "request", "casino-withholding", json.dumps(payload | withheld), "--reason", "a new law")
    monkeypatch.setenv("JACKPOT_KEY", world.person("Fay", Role.FINANCE))
    jackpot(*request, "--request-id", "law").ok()
    assert json.loads(jackpot(*shown).ok())["rules"] == []
    monkeypatch.setenv("JACKPOT_KEY", world.person("Finn", Role.FINANCE))
    jackpot("changes", "approve", "law", "--reason", "checked").ok()

    (rule,) = json.loads(jackpot(*shown).ok())["rules"]

    assert rule.pop("from")
    assert {"casino_id": "c1", **rule} == {"version": 1, **payload, **withheld}
    assert jackpot("casinos", "withholding", "c9").status != 0
    world.engine.dispose()
