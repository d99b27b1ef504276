"""What there is, listed and shown as the API has it, to each key as much as the API gives it and no more."""

import csv
import io
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

import pytest

from jackpot_service.cli import service_api
from jackpot_service.domain.principals import Role
from tests.support.bets import bet
from tests.support.command_line import Jackpot, calling, program
from tests.support.fixtures import world as world  # noqa: PLC0414  a fixture of these tests
from tests.support.hands import FLUSH, ROYAL_FLUSH, hand
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.slow

BETTORS: Final = 75


@pytest.fixture
def won(world: World) -> World:
    """A world in which 75 bettors shared a royal flush, and one round waits for its result."""
    world.open(base_amount="100000", settings={"payout_tiers": held_from("0")})
    world.bet(*(bet(f"b{n:02}", hand="1" if n else "2") for n in range(BETTORS)))
    world.settle(hand("1", ROYAL_FLUSH), hand("2", FLUSH))
    world.bet(bet("late"), round_id="r2")
    return world


@pytest.fixture
def jackpot(
    won: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str
) -> Iterator[Jackpot]:
    """The program, calling the world's service as an operator."""
    monkeypatch.setenv("JACKPOT_KEY", won.person("Olga", Role.OPERATOR))
    with calling(monkeypatch, won.app):
        yield program(monkeypatch, capsys, database_url)


def test_nothing_is_cut_and_the_largest_is_there(jackpot: Jackpot, won: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_api, "PAGE", 20)  # So that a list has several pages.
    pages = won.get("/v1/awards?limit=200").ok()["items"]

    table = jackpot("awards", "list").ok().splitlines()
    lines = list(map(json.loads, jackpot("awards", "list", "--json").ok().splitlines()))
    rows = list(csv.DictReader(io.StringIO(jackpot("awards", "list", "--csv").ok())))

    assert len(table) - 1 == len(lines) == len(rows) == len(pages) > BETTORS
    assert lines == pages
    assert [row["award_id"] for row in rows] == [item["award_id"] for item in pages]
    largest = max(item["amount_minor"] for item in pages)
    assert any(f"{largest // 100:,}.{largest % 100:02} EUR" in line for line in table)


CALLS: Final = {
    "jackpots list": "/v1/jackpots",
    "casinos list": "/v1/casinos",
    "tables list": "/v1/tables",
    "rounds list": "/v1/rounds",
    "rounds list --waiting": "/v1/rounds?ended=false",
    "hits list j1": "/v1/jackpots/j1/hits",
    "awards list --state held": "/v1/awards?state=held&limit=200",
    "keys list": "/v1/keys",
    "sheets list --base EUR": "/v1/rate-sheets?base=EUR",
    "rates history --base EUR GBP": "/v1/rates/history?base=EUR&currency=GBP",
    "rates histories --base EUR GBP SEK": "/v1/rates/histories?base=EUR&currency=GBP,SEK",
    "rates histories --base EUR": "/v1/rates/histories?base=EUR",
    "rates use --base EUR": "/v1/rates/use?base=EUR",
    "sheets in-force": "/v1/rates/in-force",
    "awards list --open --oldest-first": "/v1/awards?open=true&oldest_first=true&limit=200",
    "awards list --claimable-before 2026-01-01T00:00:00Z": "/v1/awards?claimable_before=2026-01-01T00:00:00Z",
    "awards totals --casino c1": "/v1/award-totals?casino_id=c1",
    "exceptions counts": "/v1/exception-counts",
    "exceptions list": "/v1/exceptions",
    "changes list --state all": "/v1/change-requests",
}


def test_a_list_is_the_apis(jackpot: Jackpot, won: World, subtests: pytest.Subtests) -> None:
    key = won.person("Olga", Role.OPERATOR)
    for command, path in CALLS.items():
        with subtests.test(command):
            items = won.get(path, key=key).ok()["items"]

            assert list(map(json.loads, jackpot(*command.split(), "--json").ok().splitlines())) == items
            lines = jackpot(*command.split()).ok().splitlines()
            assert len(lines) == (len(items) + 1 if items else 0)
            assert len(list(csv.DictReader(io.StringIO(jackpot(*command.split(), "--csv").ok())))) == len(items)


SHOWN: Final = {
    "jackpots show j1": "/v1/jackpots/j1",
    "casinos show c1": "/v1/casinos/c1",
    "tables show T1": "/v1/tables/T1",
    "rounds show T1 r1": "/v1/tables/T1/rounds/r1",
    "meter j1": "/v1/jackpots/j1/meter",
    "paytable show j1 --currency SEK": "/v1/jackpots/j1/paytable?currency=SEK",
    "rules show j1 --lang de": "/v1/jackpots/j1/rules?lang=de",
    "casinos claims c1": "/v1/casinos/c1/claims",
    "entries show j1 0 1": "/v1/entries/j1/0/1",
    "books checkpoints": "/v1/checkpoints",
    "changes counts": "/v1/change-request-counts",
    "whoami": "/v1/me",
}


def test_what_is_shown_is_the_apis(jackpot: Jackpot, won: World, subtests: pytest.Subtests) -> None:
    key = won.person("Olga", Role.OPERATOR)
    for command, path in SHOWN.items():
        with subtests.test(command):
            assert json.loads(jackpot(*command.split(), "--json").ok()) == won.get(path, key=key).ok()
            assert len(jackpot(*command.split()).ok().splitlines()) >= 2


def test_a_round_is_shown_with_bets_cards_and_awards(jackpot: Jackpot) -> None:
    shown = jackpot("rounds", "show", "T1", "r1").ok()

    assert re.search(r"^bets +75$", shown, re.MULTILINE)
    assert re.search(r"^  b00 +player-of-b00 +2 +1\.00 EUR +no$", shown, re.MULTILINE)
    assert re.search(r"^  1 +dealt( +[TJQKA]s){5}$", shown, re.MULTILINE)
    assert len(re.findall(r" royal_flush ", shown)) >= BETTORS - 1


def test_what_a_round_moved_has_its_thousands_apart(jackpot: Jackpot, won: World) -> None:
    settlement = won.get("/v1/tables/T1/rounds/r1").ok()["settlement"]
    shown = jackpot("rounds", "show", "T1", "r1").ok()

    for name in ("meter_before", "meter_after", "carried", "reserve_after", "prize_fund_after"):
        whole, _, decimals = f"{Decimal(settlement[name]):,f}".partition(".")
        assert f"{name.replace('_', ' '):<16}  {whole}.{decimals:0<2} EUR\n" in shown
    assert Decimal(settlement["meter_before"]) > 100_000


def test_an_amount_that_is_none_has_no_currency(jackpot: Jackpot, won: World) -> None:
    won.bet(bet("b1"), round_id="lost")
    won.settle(hand("1"), round_id="lost")

    shown = jackpot("rounds", "show", "T1", "lost").ok()

    assert re.search(r"^carried +-$", shown, re.MULTILINE), shown


def test_limits_are_listed_as_every_list_is(jackpot: Jackpot, won: World) -> None:
    won.change("table-limits", {"jackpot_id": "j1", "table_id": "T1", "largest_stake": "50"})
    items = won.get("/v1/jackpots/j1/table-limits").ok()["tables"]
    command = ("jackpots", "limits", "j1")

    table = jackpot(*command).ok().splitlines()
    lines = list(map(json.loads, jackpot(*command, "--json").ok().splitlines()))
    (row,) = csv.DictReader(io.StringIO(jackpot(*command, "--csv").ok()))

    assert (len(table), table[1].split()[-1], lines) == (2, "50", items)
    assert (row["table_id"], row["limits.largest_stake"]) == ("T1", "50")


def test_rates_of_several_currencies_stand_in_a_column_each(jackpot: Jackpot, won: World) -> None:
    won.ask("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.18", "CHF": "1.05"}}, role=Role.RATES).ok(201)
    won.approve(role=Role.RATES, confirm={"CHF": "1.05"}).ok()

    titles, latest, first = jackpot("rates", "histories", "--base", "EUR", "CHF", "GBP").ok().splitlines()

    assert titles.split()[-2:] == ["CHF", "GBP"]
    assert (latest.split()[-2:], first.split()[-2:]) == (["1.05", "1.18"], ["-", "1.17"])
    assert "CHF 1.05, EUR 1, GBP 1.18, " in jackpot("rates", "histories", "--base", "EUR", "--limit", "1").ok()


def test_rates_that_open_rounds_use_are_counted(jackpot: Jackpot) -> None:
    _, line = jackpot("rates", "use", "--base", "EUR").ok().splitlines()
    assert line.split() == ["EUR", "1", "1"]


def test_an_entry_is_booked_at_a_second(jackpot: Jackpot) -> None:
    shown = jackpot("entries", "show", "j1", "0", "1").ok()

    assert re.search(r"^booked at +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$", shown, re.MULTILINE)


def test_totals_of_awards_are_money(jackpot: Jackpot, won: World) -> None:
    (total,) = (item for item in won.get("/v1/award-totals").ok()["items"] if item["state"] == "held")

    (line,) = (line for line in jackpot("awards", "totals").ok().splitlines() if line.startswith("held "))

    unpaid = total["unpaid_minor"]
    assert line.split() == ["held", "0-30", str(total["awards"]), f"{unpaid // 100:,}.{unpaid % 100:02}", "EUR"]


def test_a_hit_is_found_by_its_cycle(jackpot: Jackpot) -> None:
    latest, first = (jackpot("hits", "show", "j1", *cycle).ok() for cycle in ((), ("1",)))

    assert latest == first
    assert re.search(r"^winners +75$", latest, re.MULTILINE)
    assert re.search(r"^meter before +[0-9]{3},[0-9.]+ EUR$", latest, re.MULTILINE)
    assert " EUR " in jackpot("hits", "list", "j1").ok()
    jackpot("hits", "show", "j1", "2").refused(1, "jackpot: hit-unknown: jackpot j1 was not won in cycle 2\n")


def test_a_key_sees_no_more_than_the_api_gives_it(
    jackpot: Jackpot, won: World, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """Neither another casino's rounds and awards, nor what its role may not: the answer is the API's."""
    won.add_casino("c2")
    monkeypatch.setenv("JACKPOT_KEY", won.key(Role.TABLE, casino_id="c2"))
    for command in ("awards list", "rounds list", "tables list"):
        with subtests.test(command):
            assert jackpot(*command.split(), "--json").ok() == ""
    for command, code in {
        "rounds show T1 r1": "table-unknown",
        "casinos show c1": "casino-unknown",
        "audit": "role-forbidden",
        "keys list": "role-forbidden",
        "people list": "role-forbidden",
        "changes list": "role-forbidden",
        "exceptions list": "role-forbidden",
        "reports show trial-balance": "role-forbidden",
        "jackpots suspend j1 --reason x": "role-forbidden",
        "keys create --role table --casino c2 --name x --reason x": "role-forbidden",
    }.items():
        with subtests.test(command):
            jackpot(*command.split()).refused(1, f"jackpot: {code}: ")
