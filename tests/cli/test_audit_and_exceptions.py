"""`jackpot audit` and `jackpot exceptions`: a line an act or an exception, or everything as JSON."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Final

import pytest

from jackpot_service.cli.main import main
from jackpot_service.domain.principals import Role
from tests.support.bets import bet
from tests.support.fixtures import world as world  # noqa: PLC0414  a fixture of these tests
from tests.support.world import World

pytestmark = pytest.mark.slow

Run = Callable[..., tuple[int, str, str]]

NEW_RATE = {"base": "EUR", "rates": {"GBP": "1.18"}}


@pytest.fixture
def run(world: World, database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the program, and give its status, what it printed and what it said."""
    monkeypatch.setenv("JACKPOT_DATABASE_URL", database_url)
    monkeypatch.setenv("JACKPOT_KEY", world.person("Olga", Role.OPERATOR))

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["jackpot", *arguments])
        capsys.readouterr()  # What the house said before.
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return run


def exceptional(world: World) -> None:
    """Bring about a late bet, a round open for a long time, and an approval by one person."""
    world.open(base_amount="1000")
    world.cancel(round_id="late")
    world.post_bets(bet("b"), round_id="late").problem(409, "round-cancelled")
    world.bet(bet("b"), round_id="open")
    world.switch_emergency()
    world.clock.advance(timedelta(hours=1))
    world.ask("rate-sheet", NEW_RATE, role=Role.RATES).ok(201)
    world.approve(by="Ann", role=Role.RATES, emergency=True).ok()


def test_an_act_is_a_line_that_says_who_did_what_when_and_why(world: World, run: Run) -> None:
    world.change("rate-sheet", NEW_RATE, role=Role.RATES)

    status, out, _ = run("audit", "--request-id", "q1")

    done, approved, asked = out.splitlines()
    assert status == 0
    assert re.fullmatch(
        r" +\d+  2026-11-20 09:00:\d\dZ  change_requested  rate sheet EUR  by Ann \(q1\): as agreed", asked
    )
    assert approved.endswith("  change_approved  rate sheet EUR  by Bob (q1): checked")
    assert done.endswith("  rates_published  rate sheet EUR 2  by Bob (q1): checked")
    assert "EMERGENCY" not in out


def test_what_one_person_did_alone_stands_out(world: World, run: Run) -> None:
    exceptional(world)

    _, acts, _ = run("audit")
    _, exceptions, _ = run("exceptions", "list")

    assert [line.split()[4] for line in acts.splitlines() if "EMERGENCY" in line] == [
        "rates_published",
        "change_approved",
    ]
    (line,) = (line for line in exceptions.splitlines() if "EMERGENCY" in line)
    assert "emergency-approval  -  One person alone asked for and approved rate-sheet q1: as agreed" in line


def test_acts_are_found_by_who_what_where_and_when(world: World, run: Run) -> None:
    world.open(base_amount="1000")

    def count(*options: str) -> int:
        status, out, _ = run("audit", *options)
        assert status == 0
        return len(out.splitlines())

    assert count("--kind", "jackpot_opened") == 1
    assert count("--principal", "cli", "--jackpot", "j1") == 2
    assert count("--from", "2026-11-20T09:00:00Z", "--to", "2026-11-20T09:00:02Z") == 1
    assert count("--principal", "nobody") == 0


def test_all_of_an_act_is_printed_as_json(world: World, run: Run) -> None:
    world.open(base_amount="1000")

    _, out, err = run("audit", "--json", "--limit", "2")

    latest, before = map(json.loads, out.splitlines())
    assert (latest["kind"], before["kind"]) == ("table_added", "jackpot_opened")
    assert before["effects"][0]["recorded"]["base_amount"] == "1000"
    assert err == "There are more; --limit 2 showed the latest.\n"


def test_the_hash_of_a_secret_is_not_printed(world: World, run: Run) -> None:
    world.key(Role.AUDITOR)

    _, out, _ = run("audit", "--json", "--kind", "key_created")

    assert "key_id" in out
    assert "secret_hash" not in out


def test_an_exception_is_acknowledged_under_the_name_of_the_key(world: World, run: Run) -> None:
    exceptional(world)
    _, out, _ = run("exceptions", "list", "--kind", "late-bet", "--json")
    exception_id = json.loads(out)["exception_id"]

    status, out, err = run("exceptions", "acknowledge", exception_id, "--reason", "slow clock", "--request-id", "a1")
    assert (status, out, err) == (0, "", f"Exception {exception_id}: acknowledged.\n")
    _, _, err = run("exceptions", "acknowledge", exception_id, "--reason", "slow clock", "--request-id", "a1")
    assert err == f"Exception {exception_id}: was acknowledged before, by this request.\n"

    _, out, _ = run("exceptions", "list", "--acknowledged")
    assert out.endswith(
        "late-bet  T1 late  Round late of table T1 was cancelled.  [acknowledged by Olga: slow clock]\n"
    )
    _, out, _ = run("exceptions", "list", "--unacknowledged")
    assert exception_id not in out


def test_exceptions_are_found_by_what_and_where(world: World, run: Run) -> None:
    exceptional(world)

    def kinds(*options: str) -> list[str]:
        status, out, _ = run("exceptions", "list", "--json", *options)
        assert status == 0
        return [json.loads(line)["kind"] for line in out.splitlines()]

    assert kinds() == ["emergency-approval", "round-open", "late-bet"]
    assert kinds("--table", "T1", "--casino", "c1", "--jackpot", "j1") == ["round-open", "late-bet"]
    assert kinds("--from", "2026-11-20T09:30:00Z") == ["emergency-approval"]
    assert kinds("--to", "2026-11-20T09:00:00Z") == []
    assert kinds("--limit", "1") == ["emergency-approval"]


WRONG: Final = (
    (("audit", "--kind", "bets"), 2, "'bets' is not one of"),
    (("audit", "--from", "yesterday"), 2, "'yesterday' must be a time by RFC 3339"),
    (("audit", "--to", "2026-02-30T10:00:00Z"), 2, "must be a time by RFC 3339"),
    (("audit", "--from", "2026-11-20T10:00:00Z", "--to", "2026-11-20T09:00:00Z"), 2, "--to lies before --from"),
    (("audit", "--limit", "0"), 2, "0 is not in the range"),
    (("exceptions", "list", "--kind", "nothing"), 2, "'nothing' is not one of"),
    (("exceptions", "list", "--table", "a/b"), 2, "'a/b' must be a string that matches"),
    (
        ("exceptions", "list", "--from", "2026-11-20T10:00:00Z", "--to", "2026-11-20T09:00:00Z"),
        2,
        "--to lies before --from",
    ),
    (("exceptions", "acknowledge", "x", "--reason", "why not"), 1, "jackpot: exception-unknown: "),
    (("exceptions", "acknowledge", "x", "--reason", " "), 2, "printable characters"),
    (("exceptions", "acknowledge", "x"), 2, "Missing option '--reason'"),
)


def test_what_cannot_be_is_said_in_a_line(run: Run, subtests: pytest.Subtests) -> None:
    for arguments, status, said in WRONG:
        with subtests.test(str(arguments)):
            found, out, err = run(*arguments)

            assert (found, out) == (status, "")
            assert said in err


def test_without_a_key_nothing_is_acknowledged(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JACKPOT_KEY")

    status, _, err = run("exceptions", "acknowledge", "x", "--reason", "why not")

    assert (status, err) == (1, "Error: set JACKPOT_KEY to your own key: this is recorded under a name\n")


def test_a_role_that_may_not_does_not_on_the_command_line_either(
    world: World, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACKPOT_KEY", world.person("Rita", Role.RATES))

    status, _, err = run("exceptions", "acknowledge", "x", "--reason", "why not")

    assert status == 1
    assert err.startswith("jackpot: role-forbidden: ")
