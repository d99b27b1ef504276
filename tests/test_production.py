"""
The runbook and the files of docs/production: each file is read by its program, and tests run each command.

A block marked `machine` changes the machine itself, and is not run.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
import pytest
import yaml

from jackpot_service.cli.main import cli
from jackpot_service.config.database_url import normalised
from jackpot_service.database.tables import ROLE
from jackpot_service.telemetry import counters
from tests.support.pages import DOCS, Block, blocks, run

pytestmark = pytest.mark.slow

PAGE: Final = "runbook.md"
TEXT: Final = (DOCS / PAGE).read_text(encoding="utf-8")
PRODUCTION: Final = DOCS / "production"
ROOT: Final = DOCS.parent
PATH: Final = "/usr/sbin:/usr/bin:/sbin:/bin"
ALERTS: Final[Sequence[Mapping[str, Any]]] = yaml.safe_load((PRODUCTION / "alerts.yml").read_text())["groups"][0][
    "rules"
]

WORDS: Final = {
    "settings": "test_the_names_that_commands_use_are_all_set",
    "files": "test_each_file_is_taken_by_the_program_that_reads_it",
    "machine": "test_what_changes_a_machine_names_files_that_are_there",
    "logs": "tests/faults/test_runbook.py",
    "backup": "tests/faults/test_runbook.py",
    "restore": "tests/faults/test_runbook.py",
    "disk": "tests/faults/test_runbook.py",
    "upgrade": "tests/faults/test_runbook.py",
    "failover": "tests/faults/test_patroni.py",
}
"""Where the blocks of a word are run; those that change a machine are only looked at."""

MADE_ELSEWHERE: Final = {"jackpot.env", "jackpot-unclaimed.env", "dist/jackpot_service-*.whl"}
MACHINES: Final = {"useradd", "python3", "/opt/jackpot/bin/pip", "install", "systemctl", "make", "podman"}


def test_every_block_of_the_runbook_has_a_test() -> None:
    assert {block.word for block in blocks(PAGE)} == WORDS.keys()
    for word, place in WORDS.items():
        text = Path(__file__).read_text() if place.startswith("test_") else (ROOT / place).read_text()
        assert (f"def {place}" if place.startswith("test_") else f'blocks(PAGE, "{word}")') in text
    assert len(re.findall(r"^ *```\S*", TEXT, re.MULTILINE)) == 2 * len(blocks(PAGE))


@pytest.mark.parametrize("block", blocks(PAGE), ids=lambda block: block.word)
def test_every_block_is_a_program_that_a_shell_reads(block: Block) -> None:
    subprocess.run(["bash", "-n", "-c", block.commands], check=True)


def test_the_names_that_commands_use_are_all_set() -> None:
    (settings,) = blocks(PAGE, "settings")
    shown = run(Block("settings", f"{settings.commands}\nenv"), {"PATH": PATH})
    names = {line.partition("=")[0] for line in shown.splitlines()}
    used = {name for block in blocks(PAGE) for name in re.findall(r"\$\{?([A-Z_]+)", block.commands)}
    assert used <= names
    assert names - {"_", "PWD", "SHLVL", "OLDPWD"} <= used | {"JACKPOT_DATABASE_URL"}
    assert "JACKPOT_OWNER_URL" not in names


def test_commands_of_the_schema_take_the_owners_url_and_no_other_does() -> None:
    commands = [
        line for block in blocks(PAGE) for line in block.commands.splitlines() if re.search(r"\bjackpot [a-z]", line)
    ]
    by_owner = {line for line in commands if "JACKPOT_OWNER_URL=" in line}
    assert by_owner == {line for line in commands if "jackpot db " in line} != set()
    users = dict(re.findall(r'export (\w*URL)="postgresql://(\w+)@', TEXT))
    assert users == {"JACKPOT_DATABASE_URL": ROLE, "RESTORED_URL": ROLE, "OWNER_URL": "jackpot_owner"}


def test_every_form_of_a_url_is_one_that_works() -> None:
    forms = re.findall(r"^\| [^|]+ \| `(postgresql:[^`]+)` \|$", TEXT, re.MULTILINE)
    assert len(forms) == 7
    for form in forms:
        assert normalised(form).startswith("postgresql+psycopg://user")


FILES: Final = [
    (line, line.split(maxsplit=1)[0]) for block in blocks(PAGE, "files") for line in block.commands.strip().splitlines()
]


UNITS: Final = {
    "jackpot.service": "serve --host 127.0.0.1 --port 8000 --workers 4",
    "jackpot-people.service": "serve --host 127.0.0.1 --port 8001 --workers 1 --no-jobs",
    "jackpot-unclaimed.service": "awards unclaimed",
}
"""The units of systemd, and the command of each."""


def test_each_unit_of_systemd_is_hardened_as_the_service_is_and_has_a_command_that_there_is() -> None:
    assert {path.name for path in PRODUCTION.glob("*.service")} == UNITS.keys()
    hardened = [(PRODUCTION / name).read_text().partition("NoNewPrivileges")[2] for name in UNITS]
    service, *rest = ({*text.partition("[Install]")[0].split()} - {"LimitNOFILE=65536"} for text in hardened)
    assert rest == [service] * len(rest)
    for started in UNITS.values():
        command: click.Command | None = cli
        for word in started.partition(" --")[0].split():
            assert isinstance(command, click.Group)
            command = command.get_command(click.Context(command), word)
        assert isinstance(command, click.Command)


def test_a_timer_starts_the_unit_of_its_name_each_day() -> None:
    (timer,) = PRODUCTION.glob("*.timer")
    assert timer.with_suffix(".service").is_file()
    (calendar,) = re.findall(r"^OnCalendar=(.*)$", timer.read_text(), re.MULTILINE)
    assert calendar.startswith("*-*-* ")


@pytest.mark.long
@pytest.mark.parametrize(("command", "program"), FILES)
def test_each_file_is_taken_by_the_program_that_reads_it(command: str, program: str, tmp_path: Path) -> None:
    if shutil.which(program, path=PATH) is None:
        pytest.skip(f"{program} is not installed")
    shutil.copytree(PRODUCTION, tmp_path / "docs" / "production")
    for name, started in UNITS.items():
        unit = tmp_path / "docs" / "production" / name
        text = unit.read_text()
        assert f"ExecStart=/opt/jackpot/bin/jackpot {started}\n" in text
        # systemd looks whether the program is there.
        unit.write_text(text.replace("/opt/jackpot/bin/jackpot", "/bin/true"))

    run(Block("files", command), {"PATH": PATH, "LC_ALL": "C.UTF-8"}, cwd=tmp_path)


def test_what_changes_a_machine_names_files_that_are_there() -> None:
    commands = [line.split() for block in blocks(PAGE, "machine") for line in block.commands.strip().splitlines()]
    assert {words[0] for words in commands} <= MACHINES
    named = {
        word for words in commands for word in words[1:] if re.match(r"(docs/|requirements|dist/|\w+\.env$)", word)
    }
    assert {file for file in named - MADE_ELSEWHERE if not (ROOT / file).is_file()} == set()
    assert "wheel:" in (ROOT / "Makefile").read_text()


# --- the container ----------------------------------------------------------------------------------------------------


def instructions(text: str) -> list[tuple[str, str]]:
    """Read a Containerfile: its instructions in their order, each with its arguments."""
    lines = re.sub(r"\\\n", " ", re.sub(r"(?m)^\s*#.*\n", "", text)).splitlines()
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines if line.strip()]


def test_the_container_is_built_in_stages_runs_without_a_root_and_has_no_database_in_it() -> None:
    read = instructions((PRODUCTION / "Containerfile").read_text())
    stages = [number for number, (word, _) in enumerate(read) if word == "FROM"]
    last = dict(read[stages[-1] :])

    assert len(stages) == 2
    assert {word for word, _ in read} <= {
        *("FROM", "RUN", "COPY", "USER", "ENV", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD")
    }
    assert last["USER"] == "10001:10001"
    assert last["COPY"] == "--from=build /opt/jackpot /opt/jackpot"
    assert last["STOPSIGNAL"] == "SIGTERM"
    assert next(argument for word, argument in read if word == "COPY") == "requirements.txt /build/"
    assert all(
        "pip install" not in argument or "--no-deps" in argument or "--require-hashes" in argument
        for _, argument in read
    )
    assert "pgserver" not in (ROOT / "requirements.txt").read_text()


# --- alerts -----------------------------------------------------------------------------------------------------------


def test_the_runbook_says_what_to_do_at_each_alert() -> None:
    explained = re.findall(r"^\| `(Jackpot\w+)` \|", TEXT, re.MULTILINE)
    assert explained == [alert["alert"] for alert in ALERTS]


def test_each_value_that_a_counters_label_takes_has_an_alert_or_is_named_as_one_that_needs_none() -> None:
    watched = {value for alert in ALERTS for value in values_watched_by(alert["expr"])}
    unwatched = set(re.findall(r"^- `(jackpot_\w+)\{(\w+)=\"([^\"]+)\"\}` has no alert", TEXT, re.MULTILINE))
    counted = {
        (f"{name}_total", label, value)
        for name, counter in counters.COUNTED.items()
        for label, values in counter.labels.items()
        for value in values
    }
    assert watched | unwatched == counted
    assert not watched & unwatched


def values_watched_by(expression: str) -> Iterator[tuple[str, str, str]]:
    """Yield each counter that an alert looks at, with a label and each of its values that it lets pass."""
    for name, matchers in re.findall(r"\b(jackpot_\w+)_total(?:\{([^}]*)\})?", expression):
        label_values = dict(re.findall(r'(\w+)=~?"([^"]*)"', matchers))
        for label, values in counters.COUNTED[name].labels.items():
            for value in label_values[label].split("|") if label in label_values else values:
                yield f"{name}_total", label, value


FIRING: Final[Mapping[str, tuple[str, str, str]]] = {
    # By alert: a series, its values of which it is quiet, and those by which it fires; a value a minute.
    "JackpotDown": ('up{job="jackpot"}', "1x60", "0x60"),
    "JackpotDiskFull": ("jackpot_disk_full_at_seconds", "0x60", "3500x60"),
    "JackpotDatabaseUnreachable": ('jackpot_database_errors_total{kind="no-connection"}', "0x60", "0+4x60"),
    "JackpotOutcomesUnknown": ('jackpot_database_errors_total{kind="outcome-unknown"}', "0x60", "0+1x60"),
    "JackpotOverloaded": ('jackpot_database_errors_total{kind="held-up"}', "0+1x60", "0+60x60"),
    "JackpotJobsPileUp": ('jackpot_jobs{state="queued"}', "100x60", "101x60"),
    "JackpotJobsWait": ("jackpot_job_waits_seconds", "900x60", "901x60"),
    "JackpotUnexpectedError": ('jackpot_database_errors_total{kind="unexpected"}', "3x60", "0x55 1x5"),
    "JackpotSignInsRefused": ("jackpot_sign_ins_refused_total", "0+6x60", "0+120x60"),
    "JackpotCallsLimited": ('jackpot_calls_limited_total{limit="key"}', "0+30x60", "0+120x60"),
    "JackpotCallsTurnedAway": ('jackpot_calls_turned_away_total{what="bets"}', "0+30x60", "0+120x60"),
    "JackpotDeadlinesPassed": ('jackpot_deadlines_passed_total{exchange="statement"}', "3x60", "0+1x60"),
    "JackpotRateSheetOld": ('jackpot_rate_sheet_age_seconds{base="EUR"}', "129600x60", "129601x60"),
    "JackpotPoolNegative": ('jackpot_pool_amount{jackpot_id="live",pool="reserve"}', "0x60", "-1x60"),
    "JackpotChangesWait": ('jackpot_change_requests_pending{kind="rules"}', "0x60", "1x800"),
    "JackpotRefusalsForFinance": ('jackpot_exceptions_kept{kind="late-bet"}', "100x60", "0+1x60"),
    "JackpotMonthMissing": ("jackpot_bet_months_ahead", "1x60", "0x60"),
    "JackpotBooksWrong": ("jackpot_book_mismatches", "0x60", "1x60"),
    "JackpotReconciliationBehind": ("jackpot_reconciliation_days_behind", "1x800", "2x800"),
    "JackpotReplicaNotInUse": ("jackpot_replica_in_use", "1x60", "0x60"),
    "JackpotReplicaBehind": ("jackpot_replica_lag_seconds", "5x60", "6x60"),
    "JackpotReplicaPassedOver": ('jackpot_replica_reads_total{outcome="broken-off"}', "0+6x60", "0+60x60"),
}


@pytest.mark.long
@pytest.mark.skipif(shutil.which("promtool", path=PATH) is None, reason="apt-get install prometheus")
@pytest.mark.parametrize("alert", [alert["alert"] for alert in ALERTS])
def test_an_alert_fires_at_its_threshold_and_not_before(alert: str, tmp_path: Path) -> None:
    series, quiet, firing = FIRING[alert]
    assert fires(alert, tmp_path, series, firing)
    assert not fires(alert, tmp_path, series, quiet)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("promtool", path=PATH) is None, reason="apt-get install prometheus")
def test_a_prize_fund_below_zero_wakes_nobody(tmp_path: Path) -> None:
    assert not fires(
        "JackpotPoolNegative", tmp_path, 'jackpot_pool_amount{jackpot_id="live",pool="prize_fund"}', "-1x60"
    )


def fires(alert: str, place: Path, series: str, values: str) -> bool:
    """Return whether an alert fires by a series: promtool, which is to expect none, complains of it then."""
    none: dict[str, object] = {"eval_time": "780m" if "800" in values else "60m", "alertname": alert, "exp_alerts": []}
    by_series = {
        "interval": "1m",
        "input_series": [{"series": series, "values": values}],
        "alert_rule_test": [none],
    }
    rules = {"rule_files": [str(PRODUCTION / "alerts.yml")], "evaluation_interval": "1m", "tests": [by_series]}
    (place / "tests.yml").write_text(yaml.safe_dump(rules))
    command = ["promtool", "test", "rules", str(place / "tests.yml")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0 or "exp:[" in ended.stdout + ended.stderr, ended
    return ended.returncode != 0
