"""The command line, on a real database: what it prints, where, and with which status it ends."""

import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

import click
import flask
import psycopg
import pytest

from jackpot_service import cli
from jackpot_service.app import create_app
from jackpot_service.cli.main import MODULES, main
from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from tests.faults.service import free_port
from tests.support.answers import Answer
from tests.support.logins import owner_conninfo, owner_url, service_url

pytestmark = pytest.mark.slow

README: Final = Path(__file__).resolve().parents[2] / "README.md"

COMMAND_OR_CALL: Final = re.compile(
    r"^(?P<is_key>KEY=\$\()?jackpot (?P<command>[^&\n]+?)\)?$|^api (?P<method>[A-Z]+) (?P<path>\w+) '(?P<body>[^']+)'$",
    re.MULTILINE,
)
"""A line of the README's block that runs a command and comes back, or a call of its `api`."""


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it said where."""

    status: int
    out: str
    err: str

    def ok(self) -> str:
        """What a command that must have succeeded printed on standard output."""
        assert self.status == 0, self.err
        return self.out

    def refused(self, status: int, *said: str) -> None:
        """Require this status, nothing on standard output, and all this on standard error."""
        assert (self.status, self.out) == (status, ""), self
        for text in said:
            assert text in self.err


Jackpot = Callable[..., Ended]
"""Runs the program in this process, from the reading of its arguments and of the environment to its exit."""


def program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str) -> Jackpot:
    monkeypatch.setenv("JACKPOT_DATABASE_URL", service_url(database_url))
    monkeypatch.setenv("JACKPOT_OWNER_URL", owner_url(database_url))

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["jackpot", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return Ended(int(ended.value.code or 0), said.out, said.err)

    return run


@pytest.fixture
def jackpot(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str) -> Jackpot:
    return program(monkeypatch, capsys, database_url)


@pytest.fixture
def opened(jackpot: Jackpot) -> Jackpot:
    """The program on a database with a jackpot of sixteen stripes, without tables."""
    jackpot("casinos", "add", "riga", "Casino Riga", "--reason", "as agreed").ok()
    jackpot("rates", "publish", "--base", "EUR", "GBP=1.17", "--reason", "as agreed").ok()
    opening = ("jackpots", "open", "live", "--rules", "live-caribbean-stud", "--currency", "EUR")
    jackpot(*opening, "--reason", "as agreed").ok()
    return jackpot


@dataclass
class Reader:
    """Somebody who follows the README, with its calls sent to an application instead of a server."""

    jackpot: Jackpot
    app: flask.Flask
    key: str = ""

    def follow(self, block: str) -> list[str | dict[str, Any]]:
        """Do what the block says; returns what each command printed, and each call answered."""
        return [self._do(**found.groupdict()) for found in COMMAND_OR_CALL.finditer(block)]

    def _do(self, *, is_key: str | None, command: str | None, **call: str) -> str | dict[str, Any]:
        if command is None:
            return self._call(**call)
        printed = self.jackpot(*shlex.split(command)).ok()
        if is_key:
            self.key = printed.strip()
        return printed

    def _call(self, *, method: str, path: str, body: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        url = f"/v1/tables/T1/rounds/R1/{path}"
        return Answer.of(self.app.test_client().open(url, method=method, data=body, headers=headers)).ok(201)


def test_the_round_of_the_readme_comes_to_the_figures_of_the_readme(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], empty_database_url: str
) -> None:
    readme = README.read_text(encoding="utf-8")
    block = readme[readme.index("    alias jackpot=") : readme.index("Table servers written in Python")]
    engine = create_engine(Config(), service_url(empty_database_url))
    reader = Reader(program(monkeypatch, capsys, empty_database_url), create_app(Config(), engine))

    *_, bets, result, meter, proof = reader.follow(dedent(block))
    engine.dispose()

    assert isinstance(bets, dict)
    assert (bets["round"]["total_stake_base"], bets["meter"]["amount_exact"]) == ("3.043", "5434.05")
    assert isinstance(result, dict)
    awards = [(award["amount_minor"], award["currency"]) for award in result["settlement"]["awards"]]
    assert awards == [(178_575, "EUR"), (178_575, "GBP"), (1_785_754, "SEK")]
    assert result["settlement"]["carried"] == "0.009258"
    # What was carried, and the reserve of 0.05 + 0.0585 + 0.04365.
    assert re.search(r"^live, cycle 2, .*\n  on offer +EUR +0\.161408$", str(meter), re.MULTILINE)
    assert re.search(r", 3 bets, 3 awards: the books are right\.$", str(proof))


def test_a_changed_row_is_named_by_its_code_and_verify_exits_1(opened: Jackpot, database_url: str) -> None:
    assert opened("verify").ok() == "Verified 2 books, 4 entries, 0 rounds, 0 bets, 0 awards: the books are right.\n"
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        owner.execute("SET session_replication_role = replica")
        owner.execute("UPDATE rates SET base_per_unit = 1.18 WHERE currency = 'GBP'")

    verified = opened("verify")

    assert verified.status == 1
    named, counted = verified.out.splitlines()
    assert named.startswith("entry-digest  -  ")
    assert counted.endswith(": 1 mismatches.")


def test_a_meter_is_printed_with_all_that_the_pools_hold(opened: Jackpot) -> None:
    opening = ("jackpots", "open", "small", "--rules=cyber-caribbean-stud", "--currency=EUR", "--base-amount=12.5")
    opened(*opening, "--reason=as agreed").ok()

    first, *lines = opened("meter", "small").ok().splitlines()

    assert re.fullmatch(r"small, cycle 1, as of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", first)
    assert {name.strip(): amount.split() for name, amount in ((line[:16], line[16:]) for line in lines)} == {
        "on offer": ["EUR", "12.5"],
        "overflow": ["EUR", "0"],
        "players' part": ["EUR", "0"],
        "house's part": ["EUR", "12.5"],
        "reserve": ["EUR", "0"],
        "prize fund": ["EUR", "0"],
    }


def test_a_key_stands_alone_on_standard_output_and_works(opened: Jackpot, database_url: str) -> None:
    created = opened("keys", "create", "--role", "auditor", "--name", "the inspector", "--reason", "inspection")

    assert re.fullmatch(r"jk_[A-Za-z0-9]+_[A-Za-z0-9_-]{43,}\n", created.ok())
    assert "the inspector" in created.err
    assert created.out.strip() not in created.err
    engine = create_engine(Config(), database_url)
    headers = {"Authorization": f"Bearer {created.out.strip()}"}
    assert create_app(Config(), engine).test_client().get("/v1/jackpots", headers=headers).status_code == 200
    engine.dispose()


def test_a_jackpot_gets_more_stripes_and_never_fewer(opened: Jackpot) -> None:
    def spread_over(count: str) -> Ended:
        return opened("jackpots", "stripes", "live", count, "--reason", "more tables")

    spread = spread_over("20")

    assert (spread.ok(), spread.err) == ("", "Jackpot live has 20 stripes; it had 16.\n")
    spread_over("8").refused(1, "jackpot: stripes-out-of-range: ", "has 20 stripes")
    spread_over("257").refused(2, "257 is not in the range 1<=x<=256")
    assert spread_over("20").err == "Jackpot live has 20 stripes; it had 20.\n"
    opened("verify").ok()


def test_a_jackpot_is_suspended_and_resumed_under_a_name(opened: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    opened("jackpots", "suspend", "live", "--reason", "a stuck display").refused(1, "set JACKPOT_KEY")
    key = opened("keys", "create", "--role", "operator", "--name", "Ann", "--reason", "hired").ok().strip()
    monkeypatch.setenv("JACKPOT_KEY", key)

    suspended = opened("jackpots", "suspend", "live", "--reason", "a stuck display", "--request-id", "s1")

    assert (suspended.ok(), suspended.err) == ("", "Jackpot live is suspended.\n")
    again = opened("jackpots", "suspend", "live", "--reason", "a stuck display", "--request-id", "s1")
    assert again.err == suspended.err
    opened("jackpots", "resume", "live", "--reason", "x", "--request-id", "s1").refused(1, "request-conflict")
    opened("jackpots", "resume", "nowhere", "--reason", "x").refused(1, "jackpot-unknown")
    assert opened("jackpots", "resume", "live", "--reason", "repaired").err == "Jackpot live is open.\n"
    opened("verify").ok()


def test_a_reason_is_a_line_of_text(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    monkeypatch.setenv("JACKPOT_KEY", "jk_none_none")

    for reason in ("", "  ", "two\nlines", "\udcff", "x" * 501):
        with subtests.test(repr(reason[:20])):
            for command in (
                ("changes", "request", "prize-fund-true-up", '{"jackpot_id": "live"}'),
                ("changes", "reject", "q1"),
                ("jackpots", "suspend", "live"),
                ("keys", "revoke", "ab12"),
            ):
                opened(*command, "--reason", reason).refused(2, " text ")


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ('{"jackpot_id": "live", "jackpot_id": "other"}', "twice in one object"),
        ("{", "is not JSON"),
        ("[]", "it is no JSON object"),
    ],
)
def test_a_payload_is_read_as_strictly_as_the_api_reads_it(opened: Jackpot, payload: str, said: str) -> None:
    opened("changes", "request", "prize-fund-true-up", payload, "--reason", "as agreed").refused(2, said)


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
    ("tables add a/b --casino riga --game caribbean-stud", 2, "'a/b' must be a string that matches"),
    ("keys create --role table --name server --reason x", 1, "jackpot: "),
    ("keys create --role king --name Ludwig", 2, "'king' is not one of"),
)


def test_what_is_refused_is_said_in_a_line_on_standard_error(opened: Jackpot, subtests: pytest.Subtests) -> None:
    for command, status, said in REFUSED:
        with subtests.test(command):
            opened(*shlex.split(command)).refused(status, said)
            opened("verify").ok()


def test_a_database_without_the_schema_is_told_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], empty_database_url: str
) -> None:
    jackpot = program(monkeypatch, capsys, empty_database_url)

    jackpot("verify").refused(1, "run: jackpot db upgrade")


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

    assert printed == "q1  rate-sheet  rate sheet EUR  by Rita: as the market moved\n"


def test_the_readmes_questions_of_finance_work_as_they_stand_there(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = readme_commands("What finance and the inspector ask")
    assert len(commands) == 6
    for _, command in commands:
        opened(*shlex.split(command.removesuffix(" --follow"))).ok()

    assert {path.name for path in tmp_path.iterdir()} == {"riga.xlsx", "seal.key"}


def test_every_command_is_found_in_its_module_and_listed_in_order() -> None:
    names = [name for _, name, _ in pkgutil.iter_modules(cli.__path__) if name != "__main__"]
    modules = {name: import_module(f"{cli.__name__}.{name}") for name in names}
    commands = [(command.name, name) for name, module in modules.items() for command in getattr(module, "COMMANDS", ())]

    assert sorted(commands) == list(MODULES.items())


def test_a_command_begins_without_what_others_need() -> None:
    others = {"flask", "rich", "uvicorn", "uvloop"}
    said = f"import sys, jackpot_service.cli.main; print(*sorted({others} & set(sys.modules)))"
    begun = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert begun.stdout == "\n"


@pytest.mark.parametrize("command", ["run", "demo"])
def test_without_the_demo_the_commands_that_play_it_say_so_in_one_line(
    jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setitem(sys.modules, "jackpot_demo", None)
    monkeypatch.delitem(sys.modules, "jackpot_service.cli.playing", raising=False)
    port = ("--port", str(free_port())) if command == "run" else ()

    ended = jackpot(command, *port)

    ended.refused(1, "Error: the demo is not installed: ")
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("name", sorted(MODULES))
def test_all_of_a_command_is_there_when_its_module_is_imported(name: str) -> None:
    """A part that another module adds would be missing in a process that does not import that one."""
    module = import_module(f"jackpot_service.cli.{MODULES[name]}")
    (command,) = (command for command in module.COMMANDS if command.name == name)
    parts = command.commands.values() if isinstance(command, click.Group) else [command]

    assert {part.callback.__module__ for part in parts} == {module.__name__}
