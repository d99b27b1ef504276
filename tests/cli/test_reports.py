"""`jackpot reports`: its heads, files and periods, and what it says when it cannot."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.reports import making
from jackpot_service.reports.finance.registry import REPORTS
from tests.support.bets import bet
from tests.support.command_line import Jackpot, calling_service, program
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    """A house with a round of two currencies; in the time of the command line its day is over."""
    world = World(database_url)
    world.clock.at = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
    world.open(base_amount="1000.5")
    world.bet(bet("a", currency="JPY", stake_minor=150), bet("b", hand="2"))
    world.settle(hand("1", FLUSH), hand("2"))
    world.clock()
    yield world
    world.close()


@pytest.fixture
def jackpot(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str, world: World
) -> Iterator[Jackpot]:
    """The program, as an auditor of the house."""
    monkeypatch.setenv("JACKPOT_KEY", world.person("Ada", Role.AUDITOR))
    world.close()
    with calling_service(monkeypatch, database_url):
        yield program(monkeypatch, capsys, database_url)


def as_of(world: World) -> tuple[str, str]:
    return "--as-of", f"{world.clock.at:%Y-%m-%dT%H:%M:%SZ}"


def test_the_reports_there_are_are_listed(jackpot: Jackpot) -> None:
    titles, *lines = jackpot("reports", "list").ok().splitlines()

    assert titles.split() == ["report", "by", "needs", "title"]
    assert [line.split()[0] for line in lines] == list(REPORTS)
    assert [re.split(r" {2,}", line)[2] for line in lines if "-statement" in line] == ["casino"]


def test_the_head_says_when_it_was_made_and_where_the_books_stood(jackpot: Jackpot, world: World) -> None:
    lines = jackpot("reports", "show", "trial-balance", "--jackpot", "j1", *as_of(world)).ok().splitlines()

    head = dict(re.split(r" {2,}", line, maxsplit=1) for line in lines[: lines.index("")])
    assert head["report"].startswith("Trial balance (trial-balance, version ")
    assert head["to"] == as_of(world)[1]
    assert head["jackpot"] == "j1"
    assert sum(map(int, head["positions of j1"].split("."))) == 3
    assert {"made at", "positions of -"} <= head.keys()
    assert lines[lines.index("") + 1] == "Accounts"


def test_figures_stand_under_each_other_as_money(jackpot: Jackpot) -> None:
    lines = jackpot("reports", "show", "trial-balance").ok().splitlines()

    accounts = ("house:seed", "house:margin")
    seed, margin = (next(line for line in lines if f" {account} " in line) for account in accounts)
    assert seed.endswith("-1,000.50")
    assert seed.rindex(".") == margin.rindex(".")


def test_amounts_have_the_decimals_of_the_currency_of_their_row(jackpot: Jackpot) -> None:
    lines = jackpot("reports", "show", "trial-balance").ok().splitlines()
    opening = {line.split()[2]: line.split()[3] for line in lines if line.startswith("  j1       casino:c1")}

    assert opening == {"EUR": "0.00", "JPY": "0"}


def test_per_cents_have_two_decimals_and_times_no_fractions(jackpot: Jackpot) -> None:
    printed = jackpot("reports", "show", "rtp").ok() + jackpot("reports", "show", "awards").ok()

    assert " 31.84 " in printed
    assert "31.8448918029" not in printed
    assert re.search(r" 20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}Z ", printed)


def test_every_form_of_a_report_is_the_services(jackpot: Jackpot, world: World, tmp_path: Path) -> None:
    show = ("reports", "show", "trial-balance", *as_of(world))

    shown = json.loads(jackpot(*show, "--format", "json").ok())
    assert (shown["name"], shown["sections"][0]["name"]) == ("trial-balance", "accounts")
    jackpot(*show, "--format", "xlsx", "--output", str(tmp_path / "it.xlsx")).ok()
    assert (tmp_path / "it.xlsx").read_bytes().startswith(b"PK")


def test_csv_keeps_its_line_ends_also_in_a_file(jackpot: Jackpot, tmp_path: Path) -> None:
    path = tmp_path / "balance.csv"
    path.write_text("something older")

    jackpot("reports", "show", "trial-balance", "--format", "csv", "--output", str(path)).ok()

    content = path.read_bytes()
    assert content.startswith(b"jackpot_id,account,currency,opening,debit,credit,closing\r\n")
    assert content.count(b"\n") == content.count(b"\r\n")
    assert [file.name for file in tmp_path.iterdir()] == ["balance.csv"]


def test_what_is_too_long_for_a_terminal_goes_to_a_file(
    jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(making, "MOST_ROWS", 1)
    path = tmp_path / "bets.csv"
    show = ("reports", "show", "rounds", "--section", "bets")

    jackpot(*show).refused(1, "report-too-long")
    jackpot(*show, "--output", str(path)).refused(1, "report-too-long")
    assert list(tmp_path.iterdir()) == []
    assert len(jackpot(*show, "--format", "csv").ok().splitlines()) == 3


def test_a_file_that_cannot_be_written_is_one_line(jackpot: Jackpot, tmp_path: Path) -> None:
    show = ("reports", "show", "trial-balance", "--format", "csv", "--output")

    jackpot(*show, str(tmp_path / "none" / "x.csv")).refused(1, "cannot be written")
    jackpot(*show, str(tmp_path)).refused(2, "is a directory")


WRONG: Final = (
    (2, ("nothing",), "Invalid value"),
    (2, ("trial-balance", "--from", "yesterday"), "must be a day, or a time such as"),
    (1, ("trial-balance", "--from", "2026-02-30"), "jackpot: validation: --from "),
    (2, ("trial-balance", "--as-of", "2026-11-20"), "must be a time such as"),
    (2, ("trial-balance", "--jackpot", "j 1"), "must be 1 to 64 letters"),
    (2, ("trial-balance", "--by", "weekday"), "'day', 'month'"),
    (2, ("trial-balance", "--format", "xlsx"), "needs --output"),
    (1, ("trial-balance", "--from", "2026-11-20", "--to", "2026-11-19"), "question-invalid"),
    (1, ("trial-balance", "--as-of", "2126-01-01T00:00:00Z"), "instant-ahead"),
    (1, ("trial-balance", "--to", "2026-01-01", "--as-of", "2126-01-01T00:00:00Z"), "instant-ahead"),
    (1, ("trial-balance", "--to", "2126-01-01", "--as-of", "2026-01-01T00:00:00Z"), "instant-ahead"),
    (1, ("trial-balance", "--by", "day"), "question-invalid"),
    (1, ("trial-balance", "--casino", "c1"), "question-invalid"),
    (1, ("trial-balance", "--jackpot", "j9"), "jackpot-unknown"),
    (1, ("trial-balance", "--section", "none"), "question-invalid"),
    (1, ("trial-balance", "--section", "none", "--format", "csv"), "question-invalid"),
    (1, ("rounds", "--casino", "c9"), "casino-unknown"),
    (1, ("rounds", "--table", "T9"), "table-unknown"),
    (1, ("rounds", "--round", "r9"), "round-unknown"),
    (1, ("rounds", "--round", "r1", "--jackpot", "j9"), "jackpot-unknown"),
)


def test_a_question_that_cannot_be_is_one_line(jackpot: Jackpot, subtests: pytest.Subtests) -> None:
    for status, arguments, expected in WRONG:
        with subtests.test(str(arguments)):
            jackpot("reports", "show", *arguments).refused(status, expected)


def test_days_of_a_casino_are_its_gaming_days(jackpot: Jackpot, world: World) -> None:
    world.add_casino("riga", zone="Europe/Riga", day_starts="06:00")
    days = ("--from", "2026-01-01", "--to", "2026-07-01")
    shown = [jackpot("reports", "show", "contributions", *days, *casino).ok() for casino in ((), ("--casino", "riga"))]

    heads = [dict(re.split(r" {2,}", line) for line in text.partition("\n\n")[0].splitlines()) for text in shown]
    assert [(head["from"], head["to"]) for head in heads] == [
        ("2026-01-01T00:00:00Z", "2026-07-01T00:00:00Z"),
        ("2026-01-01T04:00:00Z", "2026-07-01T03:00:00Z"),
    ]


def test_one_round_can_be_asked_for(jackpot: Jackpot) -> None:
    show_round = ("reports", "show", "rounds", "--section", "bets", "--format", "csv", "--table", "T1", "--round")

    assert len(jackpot(*show_round, "r1").ok().splitlines()) == 3
    jackpot(*show_round, "r2").refused(1, "round-unknown: No table that is asked about has a round r2.")
