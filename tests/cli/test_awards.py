"""`jackpot awards …`, and what `jackpot casinos …` says of money, on a world in which something was won."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jackpot_service.domain.principals import Role
from tests.support.bets import bet
from tests.support.command_line import Jackpot, calling, calling_service, program
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, hand
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.slow


@pytest.fixture
def won(database_url: str) -> Iterator[World]:
    """A world with a held award and a payable one, whose clock stands some days before the service's."""
    world = World(database_url)
    world.open(base_amount="1000", settings={"payout_tiers": held_from("250")})
    world.bet(bet("a"))
    world.settle(hand("1", FOUR_OF_A_KIND))
    world.bet(bet("a", currency="GBP"), round_id="r2")
    world.settle(hand("1", FLUSH), round_id="r2")
    yield world
    world.close()


@pytest.fixture
def jackpot(
    won: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str
) -> Iterator[Jackpot]:
    """The program, as finance of the house."""
    monkeypatch.setenv("JACKPOT_KEY", won.person("Fay", Role.FINANCE))
    with calling_service(monkeypatch, database_url):
        yield program(monkeypatch, capsys, database_url)


def cells(line: str) -> list[str]:
    return re.split(r" {2,}", line.strip())


def test_awards_are_listed_with_their_amounts_as_money(jackpot: Jackpot) -> None:
    titles, flush, four = jackpot("awards", "list").ok().splitlines()

    assert cells(titles)[:7] == ["award", "jackpot", "table", "round", "bet", "player", "tier"]
    assert cells(titles)[7:] == ["amount", "paid", "state"]
    assert cells(flush)[1:] == ["j1", "T1", "r2", "a", "player-of-a", "flush", "25.00 GBP", "0.00 GBP", "payable"]
    assert cells(four)[6:] == ["four_of_a_kind", "250.00 EUR", "0.00 EUR", "held"]
    assert flush.index("GBP") == four.index("EUR")
    (_, held) = jackpot("awards", "list", "--state", "held").ok().splitlines()
    assert cells(held) == cells(four)
    assert "r2" in jackpot("awards", "list", "--state", "payable", "--jackpot", "j1", "--casino", "c1").ok()
    assert jackpot("awards", "list", "--casino", "c9").ok() == ""


def test_an_award_is_shown_stopped_and_paid(jackpot: Jackpot, won: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACKPOT_KEY", won.person("Olga", Role.OPERATOR))
    award_id = json.loads(jackpot("awards", "list", "--state", "payable", "--json").ok())["award_id"]

    paid = jackpot("awards", "pay", award_id, "--reference", "slip 7", "--amount-minor", "1000", "--channel", "cage")
    stopped = jackpot("awards", "stop", award_id, "--reason", "the cards are in doubt")
    shown = jackpot("awards", "show", award_id).ok()

    assert paid.err == f"Award {award_id} is part-paid: 10.00 GBP of 25.00 GBP paid.\n"
    assert stopped.err == f"Award {award_id} is stopped: 10.00 GBP of 25.00 GBP paid.\n"
    assert re.search(r"^amount +25\.00 GBP$", shown, re.MULTILINE)
    assert re.search(r"^  slip 7 +10\.00 GBP +0\.00 GBP +- +cage +- +-$", shown, re.MULTILINE)
    assert json.loads(jackpot("awards", "show", award_id, "--json").ok())["state"] == "stopped"
    jackpot("awards", "pay", award_id, "--reference", "slip 8").refused(1, "jackpot: award-state: ")
    jackpot("awards", "show", "aw_none").refused(1, "jackpot: award-unknown: ")


def test_awards_that_nobody_claimed_are_noted_once(
    jackpot: Jackpot, won: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = {"casino_id": "c1", "version": 0, "claim_days": None, "forfeited_to": "statutory"}
    assert json.loads(jackpot("casinos", "claims", "c1", "--json").ok()) == never
    assert jackpot("awards", "unclaimed").ok() == "Unclaimed awards: 0, noted now: 0.\n"
    won.change("casino-claims", {"casino_id": "c1", "claim_days": 1, "forfeited_to": "meter"})
    assert re.search(r"^claim days +1$", jackpot("casinos", "claims", "c1").ok(), re.MULTILINE)
    jackpot("casinos", "claims", "c9").refused(1, "jackpot: casino-unknown: ")

    assert jackpot("awards", "unclaimed").ok() == "Unclaimed awards: 1, noted now: 1.\n"
    assert json.loads(jackpot("awards", "unclaimed", "--json").ok()) == {"unclaimed": 1, "new": 0}
    (_, line) = jackpot("awards", "list", "--state", "unclaimed").ok().splitlines()
    assert cells(line)[-3:] == ["25.00 GBP", "0.00 GBP", "unclaimed"]
    for role in (Role.TABLE, Role.AUDITOR):
        monkeypatch.setenv("JACKPOT_KEY", won.key(role))
        jackpot("awards", "unclaimed").refused(1, "jackpot: role-forbidden: ")


def test_evidence_is_recorded_and_shown(jackpot: Jackpot, won: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACKPOT_KEY", won.person("Sue", Role.AUDITOR))
    stated = ("--kind", "witness", "--statement", "the floor manager was there", "--request-id", "seen", "--json")

    first = json.loads(jackpot("awards", "evidence", "T1", "r1", *stated).ok())
    again = json.loads(jackpot("awards", "evidence", "T1", "r1", *stated).ok())
    shown = json.loads(jackpot("awards", "evidence", "T1", "r1", "--json").ok())

    assert first == again == shown
    [recorded] = shown["recorded"]
    output = ("witness", "the floor manager was there", "Sue")
    assert (recorded["kind"], recorded["statement"], recorded["principal"]) == output
    assert jackpot("awards", "evidence", "T1", "r1").ok().splitlines()[-1].endswith("the floor manager was there")
    jackpot("awards", "evidence", "T1", "r1", "--kind", "witness").refused(2, "--kind and --statement go together")
    monkeypatch.setenv("JACKPOT_KEY", won.key(Role.TABLE))
    jackpot("awards", "evidence", "T1", "r1", *stated).refused(1, "jackpot: ")


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
    output = []
    with calling(monkeypatch, world.app):
        for name in ("Bob", "Cleo"):
            monkeypatch.setenv("JACKPOT_KEY", world.person(name, Role.FINANCE))
            ended = run("changes", "approve", "q1", "--reason", "checked")
            assert re.search(r"^approvals due +2$", ended.ok(), re.MULTILINE)
            output.append(ended.err)
    world.close()

    assert output == [
        "Change request q1: approved; 1 more must approve it.\n",
        "Change request q1: approved and done.\n",
    ]


def test_what_a_casino_owes_and_is_owed_is_told_in_each_currency(jackpot: Jackpot) -> None:
    _, *lines = map(cells, jackpot("casinos", "balances", "c1").ok().splitlines())

    assert lines == [["j1", "0.00 EUR", "1.00 EUR"], ["j1", "0.00 GBP", "-24.00 GBP"]]
    jackpot("casinos", "balances", "c9").refused(1, "jackpot: casino-unknown: ")


def test_a_withholding_rule_is_requested_approved_and_shown(
    jackpot: Jackpot, won: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = ("casinos", "withholding", "c1", "--json")
    assert jackpot(*shown).ok() == ""
    stated = {"report-at-minor": 120_000, "least-multiple": 300, "withhold-at-minor": 500_000, "percent": "24"}
    options = [word for name, value in stated.items() for word in (f"--{name}", str(value))]
    request = ("changes", "request", "casino-withholding", "--casino", "c1", "--currency", "EUR", *options)
    jackpot(*request, "--reason", "a new law", "--request-id", "law").ok()
    assert jackpot(*shown).ok() == ""
    monkeypatch.setenv("JACKPOT_KEY", won.person("Finn", Role.FINANCE))
    jackpot("changes", "approve", "law", "--reason", "checked").ok()

    rule = json.loads(jackpot(*shown).ok())

    assert rule.pop("from")
    assert rule == {"currency": "EUR", "version": 1} | {name.replace("-", "_"): value for name, value in stated.items()}
    jackpot("casinos", "withholding", "c9").refused(1, "jackpot: casino-unknown: ")


def test_a_slip_is_printed_to_a_file_and_shown_again(
    jackpot: Jackpot, won: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JACKPOT_KEY", won.person("Olga", Role.OPERATOR))
    award_id = json.loads(jackpot("awards", "list", "--state", "payable", "--json").ok())["award_id"]
    first, again = tmp_path / "slip.html", tmp_path / "again.html"

    jackpot("awards", "slip", award_id, "--output", str(first)).refused(1, "jackpot: ")
    jackpot("awards", "slip", award_id, "--print", "--lang", "de", "--output", str(first)).ok()
    jackpot("awards", "slip", award_id, "--lang", "de", "--output", str(again)).ok()

    assert first.read_text().startswith("<!DOCTYPE html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.html", "slip.html"]


def test_the_bets_of_a_player_are_listed(jackpot: Jackpot) -> None:
    titles, latest, first = jackpot("players", "bets", "player-of-a").ok().splitlines()

    assert cells(titles)[:4] == ["booked at", "table", "round", "bet"]
    assert [cells(line)[1:6] for line in (latest, first)] == [
        ["T1", "r2", "a", "1", "1.00 GBP"],
        ["T1", "r1", "a", "1", "1.00 EUR"],
    ]


def test_a_period_is_closed_and_listed(jackpot: Jackpot) -> None:
    end = datetime.now(UTC)
    closed = jackpot("reports", "close", "--to", f"{end:%Y-%m-%dT%H:%M:%S.%fZ}", "--reason", "month end").ok()

    assert re.search(r"^[0-9a-f]{64}  trial-balance$", closed, re.MULTILINE)
    (_, line) = jackpot("reports", "periods").ok().splitlines()
    assert cells(line)[:2] == ["-", f"{end:%Y-%m-%d %H:%M:%SZ}"]
