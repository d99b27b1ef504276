"""The command line, on a real database: what it prints, where, and with which status it ends."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

import httpx
import psycopg
import pytest

from tests.faults.service import free_port
from tests.support.command_line import Ended, Jackpot, calling_service, jobs_done, key_of, program
from tests.support.logins import owner_conninfo

pytestmark = pytest.mark.slow

README: Final = Path(__file__).resolve().parents[2] / "README.md"

COMMAND_OR_CALL: Final = re.compile(
    r"^(?:(?P<variable>export JACKPOT_KEY|KEY)=\$\()?jackpot (?P<command>[^&\n]+?)\)?$"
    r"|^api (?P<method>[A-Z]+) (?P<path>\w+) '(?P<body>[^']+)'$",
    re.MULTILINE,
)
"""A line of the README's block that runs a command and comes back, or a call of its `api`."""


@dataclass
class Reader:
    """Somebody who follows the README."""

    jackpot: Jackpot
    monkeypatch: pytest.MonkeyPatch
    variables: dict[str, str] = field(default_factory=dict)

    def follow(self, block: str) -> list[str | Mapping[str, Any]]:
        """Do what the block says; returns what each command printed, and each call answered."""
        return [self._do(**result.groupdict()) for result in COMMAND_OR_CALL.finditer(block)]

    def _do(self, *, variable: str | None, command: str | None, **call: str) -> str | Mapping[str, Any]:
        if command is None:
            return self._call(**call)
        printed = self.jackpot(*shlex.split(command)).ok()
        if variable == "KEY":
            self.variables[variable] = printed.strip()
        elif variable is not None:
            self.monkeypatch.setenv("JACKPOT_KEY", printed.strip())
        return printed

    def _call(self, *, method: str, path: str, body: str) -> Mapping[str, Any]:
        headers = {"Authorization": f"Bearer {self.variables['KEY']}", "Content-Type": "application/json"}
        url = f"{os.environ['JACKPOT_URL']}/v1/tables/T1/rounds/R1/{path}"
        answer = httpx.request(method, url, content=body, headers=headers, trust_env=False)
        assert answer.status_code == 201, answer.text
        result: Mapping[str, Any] = answer.json()
        return result


def test_the_round_of_the_readme_comes_to_the_figures_of_the_readme(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], empty_database_url: str
) -> None:
    readme = README.read_text(encoding="utf-8")
    begins, ends = readme.index("    export PATH=$PWD/.venv/bin"), readme.index("The machine makes this key")
    block = dedent(readme[begins:ends])
    first, rest = block.split("jackpot serve &")
    reader = Reader(program(monkeypatch, capsys, empty_database_url), monkeypatch)

    reader.follow(first)
    with calling_service(monkeypatch, empty_database_url):
        *_, bets, result, meter, proof = reader.follow(rest)

    assert isinstance(bets, dict)
    assert (bets["round"]["total_stake_base"], bets["meter"]["amount_exact"]) == ("3.043", "5434.05")
    assert isinstance(result, dict)
    awards = [(award["amount_minor"], award["currency"]) for award in result["settlement"]["awards"]]
    assert awards == [(178_575, "EUR"), (178_575, "GBP"), (1_785_754, "SEK")]
    assert result["settlement"]["carried"] == "0.009258"
    # What was carried, and the reserve of 0.05 + 0.0585 + 0.04365.
    assert re.search(r"^cycle +2\n.*^exact, in the base currency +0\.161408$", str(meter), re.MULTILINE | re.DOTALL)
    assert re.search(r", 3 bets, 3 awards: the books are right\.$", str(proof))


def test_a_changed_row_is_named_by_its_code_and_verify_exits_1(opened: Jackpot, database_url: str) -> None:
    assert opened("verify").ok() == "Verified 2 books, 6 entries, 0 rounds, 0 bets, 0 awards: the books are right.\n"
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        owner.execute("SET session_replication_role = replica")
        owner.execute("UPDATE rates SET base_per_unit = 1.18 WHERE currency = 'GBP'")

    verified = opened("verify")

    assert verified.status == 1
    named, counted = verified.out.splitlines()
    assert named.startswith("entry-digest  -  ")
    assert counted.endswith(": 1 mismatches.")


def values(printed: str) -> dict[str, str]:
    """What is shown of one thing: values by their names."""
    return dict(re.split(r" {2,}", line, maxsplit=1) for line in printed.splitlines() if "  " in line.strip())


def test_a_jackpot_is_shown_with_its_pools_as_money(opened: Jackpot) -> None:
    opening = ("jackpots", "open", "small", "--rules=cyber-caribbean-stud", "--currency=EUR", "--base-amount=1234567.5")
    opened(*opening, "--reason=as agreed").ok()

    pools = values(opened("jackpots", "show", "small").ok())
    meter = values(opened("meter", "small", "--currency", "GBP").ok())

    assert (pools["state"], pools["cycle"], pools["on offer"]) == ("open, takes bets", "1", "1,234,567.5 EUR")
    assert (pools["reserve"], pools["prize fund"], pools["overflow"]) == ("0 EUR", "0 EUR", "0 EUR")
    assert (meter["shown"], meter["exact, in the base currency"]) == ("1,055,185.89 GBP", "1,234,567.5")
    opened("meter", "small", "--currency", "CHF").refused(1, "jackpot: no-rate: ")


def test_a_key_stands_alone_on_standard_output_and_works(opened: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    created = opened("keys", "create", "--role", "auditor", "--name", "the inspector", "--reason", "inspection")

    assert re.fullmatch(r"jk_[A-Za-z0-9]+_[A-Za-z0-9_-]{43,}\n", created.ok())
    assert "the inspector" in created.err
    assert created.out.strip() not in created.err
    monkeypatch.setenv("JACKPOT_KEY", created.out.strip())
    assert values(opened("whoami").ok())["principal"] == "the inspector"


def test_a_jackpot_gets_more_stripes_and_never_fewer(opened: Jackpot) -> None:
    def spread_over(count: str) -> Ended:
        return opened("jackpots", "stripes", "live", count, "--reason", "more tables")

    spread = spread_over("20")

    assert (spread.ok(), spread.err) == ("", "Jackpot live has 20 stripes.\n")
    spread_over("8").refused(1, "jackpot: stripes-out-of-range: ", "has 20 stripes")
    spread_over("257").refused(2, "257 is not in the range 1<=x<=256")
    assert spread_over("20").err == "Jackpot live has 20 stripes.\n"
    opened("verify").ok()


def test_a_jackpot_is_suspended_and_resumed_under_a_name(opened: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JACKPOT_KEY")
    opened("jackpots", "suspend", "live", "--reason", "a stuck display").refused(1, "unauthenticated", "JACKPOT_KEY")
    monkeypatch.setenv("JACKPOT_KEY", key_of(opened, "Ann", "operator"))

    suspended = opened("jackpots", "suspend", "live", "--reason", "a stuck display", "--request-id", "s1")

    assert (suspended.ok(), suspended.err) == ("", "Jackpot live is suspended.\n")
    again = opened("jackpots", "suspend", "live", "--reason", "a stuck display", "--request-id", "s1")
    assert again.err == suspended.err
    opened("jackpots", "resume", "live", "--reason", "x", "--request-id", "s1").refused(1, "request-conflict")
    opened("jackpots", "resume", "nowhere", "--reason", "x").refused(1, "jackpot-unknown")
    assert opened("jackpots", "resume", "live", "--reason", "repaired").err == "Jackpot live is open.\n"
    opened("verify").ok()


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ('{"jackpot_id": "live", "jackpot_id": "other"}', "twice in one object"),
        ('{"jackpot_id": "live", "amount": 1.10}', "1.10 must stand in quotes"),
        ("{", "is not JSON"),
        ("[]", "it is no JSON object"),
    ],
)
def test_a_payload_is_read_as_strictly_as_the_api_reads_it(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch, payload: str, expected: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(payload.encode())))

    opened("changes", "request", "prize-fund-true-up", "--payload", "-", "--reason", "as agreed").refused(2, expected)


def test_only_an_operator_suspends_a_jackpot(opened: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    created = opened("keys", "create", "--role", "auditor", "--name", "the inspector", "--reason", "inspection")
    monkeypatch.setenv("JACKPOT_KEY", created.ok().strip())

    opened("jackpots", "suspend", "live", "--reason", "x").refused(1, "role-forbidden")


def test_a_casino_states_its_gaming_days(opened: Jackpot) -> None:
    adding = (
        "casinos",
        "add",
        "vilnius",
        "Vilnius",
        "--zone",
        "Europe/Vilnius",
        "--day-starts",
        "06:30",
        "--reason",
        "x",
    )
    assert opened(*adding).err == "Casino vilnius: added.\n"
    assert opened(*adding).err == "Casino vilnius: was there already.\n"
    opened("verify").ok()


REFUSED: Final = (
    ("meter nowhere", 1, "jackpot: jackpot-unknown: There is no jackpot nowhere.\n"),
    ("jackpots stripes nowhere 9 --reason x", 1, "jackpot: jackpot-unknown: There is no jackpot nowhere.\n"),
    ("casinos add riga Another --reason x", 1, "jackpot: already-exists: "),
    ("casinos add riga 'Casino Riga' --zone Europe/Riga --reason x", 1, "jackpot: already-exists: "),
    ("casinos add mars Mars --zone Mars/Olympus --reason x", 1, "jackpot: zone-unknown: "),
    ("casinos add vilnius Vilnius --day-starts 24:00 --reason x", 2, "'24:00' must be a time of the day"),
    ("casinos add vilnius Vilnius --day-starts 6 --reason x", 2, "'6' must be a time of the day"),
    ("rates publish --base USD GBP=0 --reason x", 1, "jackpot: rate-invalid: "),
    ("rates publish --base EUR GBP=1 --reason x", 1, "jackpot: sheet-exists: "),
    ("rates publish --base EUR GBP=-1 --reason x", 2, "'-1' is not a plain decimal number"),
    ("rates publish --base EUR GBP --reason x", 2, "'GBP' is not of the form name=value"),
    ("tables add a/b --casino riga --game caribbean-stud", 2, "'a/b' must be 1 to 64 letters"),
    ("keys create --role table --name server --reason x", 1, "jackpot: "),
    ("keys create --role king --name Ludwig", 2, "'king' is not one of"),
)


@pytest.mark.long
def test_what_is_refused_is_said_in_a_line_on_standard_error(opened: Jackpot, subtests: pytest.Subtests) -> None:
    for command, status, expected in REFUSED:
        with subtests.test(command):
            opened(*shlex.split(command)).refused(status, expected)
            opened("verify").ok()


def test_a_database_without_the_schema_is_told_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], empty_database_url: str
) -> None:
    jackpot = program(monkeypatch, capsys, empty_database_url)

    jackpot("verify").refused(1, "run: jackpot db upgrade")


@pytest.mark.long
def test_a_wrong_setting_ends_the_program_with_one_line() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "jackpot_service.cli", "verify"],
        env={"JACKPOT_POOL_SIZE": "x"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "jackpot: JACKPOT_POOL_SIZE='x' is refused: it takes a whole number from 2 to 100\n"


def readme_commands(title: str) -> list[tuple[str, str]]:
    """The commands of a section, without what is said of them; with each, whether what it prints is to be the key."""
    _, section = README.read_text(encoding="utf-8").split(f"\n## {title}", 1)
    block = section.partition("\n## ")[0]
    return re.findall(r"^    (export JACKPOT_KEY=\$\()?jackpot (.+?)\)?(?: > \S+)?(?: +#.*)?$", block, re.MULTILINE)


def test_the_readmes_change_by_two_people_works_as_it_stands_there(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = readme_commands("Running it for years")
    assert len(commands) == 5
    printed = ""
    for is_key, command in commands:
        printed = opened(*shlex.split(command)).ok()
        if is_key:
            monkeypatch.setenv("JACKPOT_KEY", printed.strip())

    titles, line = printed.splitlines()
    assert titles.split()[:4] == ["request", "state", "kind", "by"]
    assert re.fullmatch(r"q1 +approved +rate-sheet +Rita +.* rate sheet EUR +as the market moved", line)


def test_the_readmes_questions_of_finance_work_as_they_stand_there(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, database_url: str
) -> None:
    monkeypatch.chdir(tmp_path)
    var = tmp_path / "var"  # As `jackpot db upgrade` makes it.
    var.mkdir()
    commands = readme_commands("What finance and the inspector ask")
    assert len(commands) == 7
    with jobs_done(monkeypatch, database_url):
        for is_key, command in commands:
            printed = opened(*shlex.split(command.removesuffix(" --follow"))).ok()
            if is_key:
                monkeypatch.setenv("JACKPOT_KEY", printed.strip())
            if command.startswith("events"):
                monkeypatch.delenv("JACKPOT_KEY")

    assert {path.name for path in var.iterdir()} == {"riga.xlsx", "seal.key"}
    assert [*tmp_path.iterdir()] == [var]


@pytest.mark.parametrize("command", ["run", "demo"])
def test_without_the_demo_the_commands_that_play_it_say_so_in_one_line(
    jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setitem(sys.modules, "jackpot_demo", None)
    monkeypatch.delitem(sys.modules, "jackpot_service.cli.demo.playing", raising=False)
    port = ("--port", str(free_port())) if command == "run" else ()

    ended = jackpot(command, *port)

    ended.refused(1, "Error: the demo is not installed: ")
    assert ended.err.count("\n") == 1


def test_a_role_that_may_not_is_told_those_that_may(opened: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACKPOT_KEY", key_of(opened, "Rita", "rates"))

    refused = opened("casinos", "add", "oslo", "Oslo", "--reason", "x")

    refused.refused(
        1, "jackpot: role-forbidden: Only these roles may do this: operator. The caller has the role rates.\n"
    )


def test_an_address_that_ends_in_the_version_of_the_api_is_explained(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACKPOT_URL", f"{os.environ['JACKPOT_URL']}/v1")

    for command in (("casinos", "list"), ("casinos", "add", "oslo", "Oslo", "--reason", "x")):
        opened(*command).refused(1, "jackpot: not-found: ", "  Look at JACKPOT_URL, http://127.0.0.1:")


def test_the_options_of_a_change_are_those_of_lists(opened: Jackpot) -> None:
    fields = ("--account", "meter", "--amount", "1", "--document", "d", "--cause", "count-error", "--reason", "x")
    request = ("changes", "request", "adjustment", *fields, "--dry-run", "--json")

    assert json.loads(opened(*request, "--jackpot", "live").ok())["payload"]["jackpot_id"] == "live"
    opened(*request, "--jackpot-id", "live").refused(2, "No such option")
