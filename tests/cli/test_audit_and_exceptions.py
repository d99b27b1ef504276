"""`jackpot audit` and `jackpot exceptions`: aligned lines for people, JSON for programs, no more than a key sees."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Final

import pytest

from jackpot_service.domain.principals import Role
from tests.support.bets import bet
from tests.support.command_line import Jackpot, calling, program
from tests.support.fixtures import world as world  # noqa: PLC0414  a fixture of these tests
from tests.support.world import World

pytestmark = pytest.mark.slow

NEW_RATE = {"base": "EUR", "rates": {"GBP": "1.18"}}


@pytest.fixture
def run(
    world: World, database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Jackpot]:
    """The program, calling the world's service as an auditor."""
    monkeypatch.setenv("JACKPOT_KEY", world.person("Ada", Role.AUDITOR))
    with calling(monkeypatch, world.app):
        yield program(monkeypatch, capsys, database_url)


@pytest.fixture
def as_operator(world: World, run: Jackpot, monkeypatch: pytest.MonkeyPatch) -> Jackpot:
    """The program, calling as Olga, an operator."""
    monkeypatch.setenv("JACKPOT_KEY", world.person("Olga", Role.OPERATOR))
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


def test_an_act_is_a_line_that_says_who_did_what_when_and_why(world: World, run: Jackpot) -> None:
    world.change("rate-sheet", NEW_RATE, role=Role.RATES)

    titles, done, approved, requested = run("audit", "--request-id", "q1").ok().splitlines()

    assert re.split(r" {2,}", titles.strip()) == ["act", "booked at", "kind", "by", "request", "about", "reason"]
    cells = [re.split(r" {2,}", line.strip())[1:] for line in (requested, approved, done)]
    assert re.fullmatch(r"2026-11-20 09:00:\d\dZ", cells[0][0])
    assert [cell[1:] for cell in cells] == [
        ["change_requested", "Ann", "q1", "rate sheet EUR", "as agreed"],
        ["change_approved", "Bob", "q1", "rate sheet EUR", "checked"],
        ["rates_published", "Bob", "q1", "rate sheet EUR 2", "checked"],
    ]
    kinds = zip((requested, approved, done), cells, strict=True)
    assert {line.index(cell[1]) for line, cell in kinds} == {titles.index("kind")}


def test_what_one_person_did_alone_stands_out(world: World, run: Jackpot) -> None:
    exceptional(world)

    acts = run("audit").ok()
    exceptions = run("exceptions", "list").ok()

    marked = [re.split(r" {2,}", line.strip())[2] for line in acts.splitlines() if "EMERGENCY: " in line]
    assert marked == ["rates_published", "change_approved"]
    (line,) = (line for line in exceptions.splitlines() if "emergency-approval" in line)
    assert line.endswith("One person alone asked for and approved rate-sheet q1: as agreed")


def test_acts_are_found_by_who_what_where_and_when(world: World, run: Jackpot) -> None:
    world.open(base_amount="1000")

    def count(*options: str) -> int:
        return len(run("audit", "--json", *options).ok().splitlines())

    assert count("--kind", "jackpot_opened") == 1
    assert count("--principal", "cli", "--jackpot", "j1") == 2
    assert count("--from", "2026-11-20T09:00:00Z", "--to", "2026-11-20T09:00:02Z") == 1
    assert count("--principal", "nobody") == 0
    assert run("audit", "--principal", "nobody").err == "There are none.\n"


def test_all_of_an_act_is_printed_as_json_and_what_is_cut_is_said(world: World, run: Jackpot) -> None:
    world.open(base_amount="1000")

    ended = run("audit", "--json", "--limit", "2")

    latest, before = map(json.loads, ended.ok().splitlines())
    assert (latest["kind"], before["kind"]) == ("table_added", "jackpot_opened")
    assert before == world.get("/v1/audit?limit=2").ok()["items"][1]
    assert ended.err == "There are more: --limit 2 cut the list here; without it all are shown.\n"


def test_an_act_is_shown_with_what_it_found_left_and_booked(world: World, run: Jackpot) -> None:
    world.open(base_amount="1000")
    opened = json.loads(run("audit", "--json", "--kind", "jackpot_opened").ok())

    shown = run("audit", "show", str(opened["seq"])).ok()

    assert json.loads(run("audit", "show", str(opened["seq"]), "--json").ok()) == opened
    assert re.search(r"^kind +jackpot_opened$", shown, re.MULTILINE)
    (effect,) = opened["effects"]
    assert re.search(rf"^  j1 +{effect['seq']}  jackpot_opened  ", shown, re.MULTILINE)
    for name in opened["after"]:
        assert re.search(rf"^  {name}  ", shown, re.MULTILINE)
    assert ("\nbefore\n" in shown, "\nafter\n" in shown) == (False, True)


def test_an_act_that_changed_something_is_shown_with_both(world: World, run: Jackpot) -> None:
    world.change("rate-sheet", NEW_RATE, role=Role.RATES)
    published = json.loads(run("audit", "--json", "--kind", "rates_published", "--limit", "1").ok())

    shown = run("audit", "show", str(published["seq"])).ok()

    before, after = shown.split("\nbefore\n")[1].split("\nafter\n")
    assert '"1.17"' in before
    assert '"1.18"' in after


def test_an_operator_is_shown_an_act_of_their_own_alone(world: World, as_operator: Jackpot) -> None:
    exceptional(world)
    exception_id = json.loads(as_operator("exceptions", "list", "--kind", "late-bet", "--json").ok())["exception_id"]
    as_operator("exceptions", "acknowledge", exception_id, "--reason", "slow clock").ok()
    own = json.loads(as_operator("audit", "--json").ok())

    assert own["kind"] in as_operator("audit", "show", str(own["seq"])).ok()
    as_operator("audit", "show", str(own["seq"] - 1)).refused(1, "jackpot: act-unknown: ")


def test_exceptions_are_counted_by_kind(world: World, run: Jackpot) -> None:
    exceptional(world)
    world.post_bets(bet("c"), round_id="late").problem(409, "round-cancelled")

    titles, *lines = (line.split() for line in run("exceptions", "counts").ok().splitlines())
    at_table = run("exceptions", "counts", "--table", "T1", "--unacknowledged", "--json").ok().splitlines()

    assert titles == ["kind", "exceptions", "acknowledged", "refusals"]
    assert lines == [["emergency-approval", "1", "0", "1"], ["late-bet", "2", "0", "2"], ["round-open", "1", "0", "1"]]
    assert [json.loads(line)["kind"] for line in at_table] == ["late-bet", "round-open"]
    assert run("exceptions", "counts", "--acknowledged").err == "There are none.\n"


def test_the_hash_of_a_secret_is_not_printed(world: World, run: Jackpot) -> None:
    world.key(Role.AUDITOR)

    out = run("audit", "--json", "--kind", "key_created").ok()

    assert "key_id" in out
    assert "secret_hash" not in out


def test_an_operator_reads_their_own_acts_and_no_other(as_operator: Jackpot) -> None:
    ended = as_operator("audit")
    assert (ended.ok(), ended.err) == ("", "There are none.\n")


def test_an_exception_is_shown_and_acknowledged_under_the_name_of_the_key(world: World, as_operator: Jackpot) -> None:
    exceptional(world)
    exception_id = json.loads(as_operator("exceptions", "list", "--kind", "late-bet", "--json").ok())["exception_id"]

    acknowledging = ("exceptions", "acknowledge", exception_id, "--reason", "slow clock", "--request-id", "a1")
    assert as_operator(*acknowledging).err == f"Exception {exception_id}: acknowledged.\n"
    assert as_operator(*acknowledging).err == f"Exception {exception_id}: was acknowledged before, by this request.\n"

    line = as_operator("exceptions", "list", "--acknowledged").ok().splitlines()[1]
    assert re.split(r" {2,}", line)[2:] == [
        "late-bet",
        "T1 late",
        "1",
        "-",
        "acknowledged by Olga: slow clock",
        "Round late of table T1 was cancelled.",
    ]
    assert exception_id not in as_operator("exceptions", "list", "--unacknowledged").ok()
    shown = as_operator("exceptions", "show", exception_id).ok()
    assert re.search(r"^outcome +acknowledged by Olga: slow clock$", shown, re.MULTILINE)
    assert re.search(r"^  call +bets$", shown, re.MULTILINE)
    as_operator("exceptions", "show", "none").refused(1, "jackpot: exception-unknown: there is no exception none")


def test_exceptions_are_found_by_what_and_where(world: World, run: Jackpot) -> None:
    exceptional(world)

    def kinds(*options: str) -> list[str]:
        return [json.loads(line)["kind"] for line in run("exceptions", "list", "--json", *options).ok().splitlines()]

    assert kinds() == ["emergency-approval", "round-open", "late-bet"]
    assert kinds("--table", "T1", "--casino", "c1", "--jackpot", "j1") == ["round-open", "late-bet"]
    assert kinds("--from", "2026-11-20T09:30:00Z") == ["emergency-approval"]
    assert kinds("--to", "2026-11-20T09:00:00Z") == []
    assert kinds("--limit", "1") == ["emergency-approval"]


WRONG: Final = (
    (("audit", "--kind", "bets"), 2, "'bets' is not one of"),
    (("audit", "--from", "yesterday"), 2, "'yesterday' must be a time such as"),
    (("audit", "--to", "2026-02-30T10:00:00Z"), 1, "jackpot: validation: --to "),
    (("audit", "--from", "2026-11-20T10:00:00Z", "--to", "2026-11-20T09:00:00Z"), 2, "--to lies before --from"),
    (("audit", "--limit", "0"), 2, "0 is not in the range"),
    (("audit", "show", "0"), 2, "0 is not in the range"),
    (("audit", "show", "99"), 1, "jackpot: act-unknown: "),
    (("audit", "--json", "show", "1"), 2, "the options of the list are not for one act: leave them out before show"),
    (("audit", "--kind", "award_paid", "show", "1"), 2, "leave them out before show"),
    (("audit", "list"), 2, "No such command 'list'"),
    (("exceptions", "counts", "--to", "2026-11-20"), 2, "must be a time such as"),
    (("exceptions", "list", "--kind", "nothing"), 2, "'nothing' is not one of"),
    (("exceptions", "list", "--table", "a/b"), 2, "'a/b' must be 1 to 64 letters"),
    (("exceptions", "acknowledge", "x", "--reason", "why not"), 1, "jackpot: exception-unknown: "),
    (("exceptions", "acknowledge", "x", "--reason", " "), 1, "jackpot: validation: --reason "),
    (("exceptions", "acknowledge", "x"), 2, "Missing option '--reason'"),
)


def test_what_cannot_be_is_said_in_a_line(
    world: World, run: Jackpot, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    for arguments, status, expected in WRONG:
        with subtests.test(str(arguments)):
            if arguments[1] == "acknowledge":
                monkeypatch.setenv("JACKPOT_KEY", world.person("Olga", Role.OPERATOR))
            run(*arguments).refused(status, expected)


def test_a_role_that_may_not_does_not_on_the_command_line_either(
    world: World, run: Jackpot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACKPOT_KEY", world.person("Rita", Role.RATES))

    run("exceptions", "acknowledge", "x", "--reason", "why not").refused(1, "jackpot: role-forbidden: ")
