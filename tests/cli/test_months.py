"""`jackpot db months`, and what `jackpot db upgrade` makes of them."""

import re
from datetime import UTC, datetime

import psycopg
import pytest

from jackpot_service.domain.rounds import Month, keys_of
from tests.support.command_line import Jackpot, program
from tests.support.logins import owner_conninfo


def test_an_upgrade_makes_the_next_three_months(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], empty_database_url: str
) -> None:
    jackpot = program(monkeypatch, capsys, empty_database_url)

    output = jackpot("db", "upgrade").err

    assert len(re.findall(r"^Bets of \d{4}-\d\d have their partition now\.$", output, re.MULTILINE)) in {2, 3}
    assert output.endswith("The database is at head.\n")
    assert jackpot("db", "months").err == "The current month and the next 3 have been seen to.\n"


def test_more_months_are_made_when_asked_for_and_once(jackpot: Jackpot) -> None:
    month = Month.of(datetime.now(UTC)).later(5)

    assert jackpot("db", "months", "--ahead", "5").err.splitlines()[-2:] == [
        f"Bets of {month} have their partition now.",
        "The current month and the next 5 have been seen to.",
    ]
    assert jackpot("db", "months", "--ahead", "5").err.splitlines() == [
        "The current month and the next 5 have been seen to."
    ]


def test_a_month_that_came_too_late_is_said_to_be_complete_all_the_same(jackpot: Jackpot, database_url: str) -> None:
    month = Month.of(datetime.now(UTC)).later(4)
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        owner.execute("INSERT INTO jackpots VALUES ('live', 'EUR')")
        owner.execute("INSERT INTO bets VALUES ('live', %s, 'b1', 1, 'p1', '1', 'EUR', 100)", [keys_of(month).first])

    made = jackpot("db", "months", "--ahead", "4")

    assert made.status == 0
    assert f"Bets of {month} came before its partition: they are in the default partition, complete" in made.err


def test_what_is_in_the_way_is_said_in_a_line(jackpot: Jackpot, database_url: str) -> None:
    month = Month.of(datetime.now(UTC)).later(4)
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        owner.execute(f"CREATE TABLE bets_{month.year}_{month.number:02} ()")

    jackpot("db", "months", "--ahead", "4").refused(1, "jackpot: name-taken: Month")


@pytest.mark.parametrize("ahead", ["-1", "121", "x"])
def test_a_number_of_months_that_makes_no_sense_is_refused(jackpot: Jackpot, ahead: str) -> None:
    jackpot("db", "months", "--ahead", ahead).refused(2, "--ahead")


def test_a_database_without_the_schema_is_told_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], empty_database_url: str
) -> None:
    program(monkeypatch, capsys, empty_database_url)("db", "months").refused(1, "run: jackpot db upgrade")
