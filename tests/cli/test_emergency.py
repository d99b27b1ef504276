"""`jackpot db emergency`: who owns the database lets one person alone approve, by an act; nobody else does."""

import json
import subprocess
import sys
from collections.abc import Callable

import psycopg
import pytest

from jackpot_service.api import readiness
from jackpot_service.cli.main import main
from jackpot_service.config.settings import Config, ConfigError
from jackpot_service.domain.principals import Role
from tests.support.fixtures import books_verify
from tests.support.fixtures import world as world  # noqa: PLC0414  a fixture of these tests
from tests.support.logins import owner_conninfo, owner_url
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]

Run = Callable[..., tuple[int, str]]

NEW_RATE = {"base": "EUR", "rates": {"GBP": "1.18"}}


@pytest.fixture
def run(database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `jackpot db emergency`, and give its status and what it said."""

    def run(*arguments: str, url: str | None = None) -> tuple[int, str]:
        monkeypatch.setenv("JACKPOT_OWNER_URL", owner_url(database_url) if url is None else url)
        monkeypatch.setattr("sys.argv", ["jackpot", "db", "emergency", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), capsys.readouterr().err

    return run


def test_it_is_off_until_it_is_switched_on_and_off_again(
    world: World, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "KEPT_S", 0)
    ask = {"kind": "rate-sheet", "payload": NEW_RATE, "role": Role.RATES, "by": "Ann"}
    for number, emergency in enumerate(("off", "on", "off")):
        if number:
            assert run(emergency, "--reason", "nobody else is there")[0] == 0
        world.ask(request_id=f"q{number}", **ask).ok(201)  # type: ignore[arg-type]
        approval = world.approve(f"q{number}", by="Ann", role=Role.RATES, emergency=True)
        if emergency == "on":
            approval.ok()
        else:
            approval.problem(403, "emergency-off")
        warnings = world.call("GET", "/readyz", key=None).ok()["warnings"]
        assert any(warning.startswith("emergency-approvals: ") for warning in warnings) is (emergency == "on")


def test_switching_is_an_act_with_its_reason_and_the_same_again_is_none(world: World, run: Run) -> None:
    assert "Emergency approvals are on.\n" in run("on", "--reason", "a storm")[1]
    assert "Emergency approvals are on, as they were.\n" in run("on", "--reason", "a storm")[1]

    acts = [act for act in world.get("/v1/audit").ok()["items"] if act["kind"] == "emergency_switched"]
    assert [(act["principal"], act["reason"], act["before"], act["after"]) for act in acts] == [
        ("cli", "a storm", {"is_on": False}, {"is_on": True})
    ]


def test_its_line_of_the_log_is_not_among_what_the_command_prints(database_url: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "jackpot_service.cli", "db", "emergency", "on", "--reason", "a storm"],
        env={"JACKPOT_OWNER_URL": owner_url(database_url)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert ended.stdout == ""
    line, output = ended.stderr.splitlines()
    assert json.loads(line)["event"] == "emergency approvals switched"
    assert output == "Emergency approvals are on."


def test_nobody_but_the_owner_of_the_database_switches_it(world: World, run: Run) -> None:
    with psycopg.connect(owner_conninfo(world.database_url), autocommit=True) as owner:
        owner.execute("CREATE ROLE stranger LOGIN IN ROLE jackpot_app")
        try:
            url = world.engine.url.set(username="stranger").render_as_string(hide_password=False)
            status, output = run("on", "--reason", "a storm", url=url)
        finally:
            owner.execute("DROP ROLE stranger")

    assert (status, output) == (1, "Error: the switch is for the owner of the database: name the owner's URL\n")
    assert world.books.rows("SELECT is_on FROM emergency_switches") == [{"is_on": False}]


def test_a_setting_that_switched_it_in_versions_before_stops_the_start() -> None:
    with pytest.raises(ConfigError, match="unset it, and run: jackpot db emergency on"):
        Config.from_environment({"JACKPOT_EMERGENCY_APPROVALS": "yes"})
