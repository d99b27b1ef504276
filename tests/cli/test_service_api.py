"""The service as commands call it: lists to their end, again while it is busy, and whoever answers something else."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from jackpot_service.cli import service_api
from jackpot_service.version import service_version
from tests.support.command_line import Jackpot, program
from tests.support.stranger import JSON, PROBLEM, Answers, Reply, Stranger, about
from tests.support.stranger import stranger as stranger  # noqa: PLC0414  a fixture of these tests


@pytest.fixture
def jackpot(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Jackpot:
    """The program, without a database."""
    monkeypatch.delenv("JACKPOT_DATABASE_URL", raising=False)
    return program(monkeypatch, capsys, "postgresql+psycopg://nobody@/nothing?host=/nowhere")


def paged(items: Sequence[Any]) -> Answers:
    """A list of casinos in pages, whose cursors are places in it."""

    def answer(_path: str, query: dict[str, list[str]]) -> Reply:
        start, most = int(query.get("after", ["0"])[0]), int(query["limit"][0])
        following = start + most
        return Reply(body={"items": items[start:following], "next": str(following) if following < len(items) else None})

    return answer


def casinos(count: int) -> list[dict[str, str]]:
    return [
        {"casino_id": f"c{n:03}", "name": f"Casino {n}", "zone": "UTC", "day_starts": "00:00"} for n in range(count)
    ]


def test_a_list_is_followed_to_its_end(stranger: Stranger, jackpot: Jackpot) -> None:
    stranger.answers = paged(casinos(450))

    lines = jackpot("casinos", "list").ok().splitlines()
    result = list(map(json.loads, jackpot("casinos", "list", "--json").ok().splitlines()))

    assert (len(lines), lines[-1].split()[0]) == (451, "c449")
    assert result == casinos(450)
    assert [line.rpartition("?")[2] for line in stranger.calls[:3]] == [
        "limit=200",
        "limit=200&after=200",
        "limit=200&after=400",
    ]
    assert set(stranger.authorizations) == {"Bearer jk_0123456789abcdef_secret"}


@pytest.mark.parametrize(("limit", "is_cut"), [(1, True), (250, True), (450, False), (1000, False)])
def test_a_limit_says_whether_there_are_more(stranger: Stranger, jackpot: Jackpot, limit: int, *, is_cut: bool) -> None:
    stranger.answers = paged(casinos(450))

    ended = jackpot("casinos", "list", "--csv", "--limit", str(limit))

    assert len(ended.ok().splitlines()) == min(limit, 450) + 1
    assert ("There are more" in ended.err) is is_cut


def busy(status: int, times: int) -> Answers:
    """Busy so many times, then a list."""
    left = iter(range(times))
    body = {"code": "busy", "title": "Busy", "detail": "Later.", "status": status, "retryable": True}

    def answer(path: str, query: dict[str, list[str]]) -> Reply:
        if path != "/v1/casinos":
            return Reply(404, "", "text/plain")
        if next(left, None) is not None:
            return Reply(status, body, PROBLEM, {"Retry-After": "1"})
        return paged(casinos(2))(path, query)

    return answer


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_service_is_asked_again_when_it_says(
    stranger: Stranger, jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    paused: list[float] = []
    monkeypatch.setattr("jackpot_service.cli.service_api.time.sleep", paused.append)
    stranger.answers = busy(status, 2)

    assert len(jackpot("casinos", "list").ok().splitlines()) == 3
    assert [pause for pause in paused if pause >= 0.5] == [1.0, 2.0]


def test_a_service_that_stays_busy_is_given_up_with_its_own_words(
    stranger: Stranger, jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_api, "PATIENCE_S", 0.0)
    stranger.answers = busy(503, 10**6)

    jackpot("casinos", "list").refused(3, "jackpot: busy: Later.")


def test_an_act_whose_answer_was_lost_is_sent_again_with_its_id(stranger: Stranger, jackpot: Jackpot) -> None:
    suspended = {"jackpot_id": "live", "state": "suspended"}
    replies = iter([Reply(201, suspended, breaks_off=True), Reply(200, suspended)])
    stranger.answers = lambda _path, _query: next(replies)

    assert jackpot("jackpots", "suspend", "live", "--reason", "x").err == "Jackpot live is suspended.\n"
    assert stranger.calls == ["PUT /v1/jackpots/live/suspension"] * 2


def test_nobody_there_is_said_with_what_to_do(jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    monkeypatch.setenv("JACKPOT_URL", f"http://127.0.0.1:{port}")

    expected = (f"no service answers at http://127.0.0.1:{port}", "jackpot serve", "JACKPOT_URL")
    jackpot("casinos", "list").refused(3, *expected)


AWARD: Final = (
    *("award_id", "jackpot_id", "table_id", "round_id", "bet_id", "player_id", "tier", "amount_minor", "paid_minor"),
    *("state", "currency", "casino_id", "cost_base", "funded_by", "claimable_until"),
    *("withholding_due_minor", "withheld_minor"),
)

OTHERS: Final[dict[str, Answers]] = {
    "a page": lambda _path, _query: Reply(200, "<html>Welcome</html>", "text/html"),
    "a page that is not there": lambda _path, _query: Reply(404, "<html>nothing</html>", "text/html"),
    "a failure": lambda _path, _query: Reply(500, "oops", "text/plain"),
    "another JSON": lambda _path, _query: Reply(200, {"data": []}),
    "a JSON list": lambda _path, _query: Reply(200, [1, 2]),
    "no JSON": lambda _path, _query: Reply(200, "{", JSON),
    "items of another shape": lambda _path, _query: Reply(200, {"items": [{"id": 1}], "next": None}),
    "a redirection": lambda _path, _query: Reply(302, "", "text/html", {"Location": "http://127.0.0.1:1/"}),
}


@pytest.mark.parametrize("what", OTHERS)
def test_whoever_is_no_ledger_is_said_to_be_none(stranger: Stranger, jackpot: Jackpot, what: str) -> None:
    stranger.answers = OTHERS[what]

    ended = jackpot("casinos", "list")

    ended.refused(3, " is no jackpot ledger, or one of another version: ")
    assert (ended.err.count("\n"), "secret" in ended.err) == (1, False)


@pytest.mark.parametrize(
    ("command", "body"),
    [
        ("paytable show live", {"currency": "EUR", "rulebook": "r", "rules_version": 1, "policy": "p", "lines": [{}]}),
        ("awards show a1", dict.fromkeys(AWARD) | {"payments": [{"amount_minor": 1}], "steps": []}),
    ],
)
def test_an_item_without_a_member_is_no_ledgers(
    stranger: Stranger, jackpot: Jackpot, command: str, body: dict[str, object]
) -> None:
    stranger.answers = lambda _path, _query: Reply(body=body)

    ended = jackpot(*command.split())

    assert (ended.status, "or one of another version: its answer has no " in ended.err) == (3, True), ended


def test_why_a_change_cannot_be_done_controls_no_terminal(stranger: Stranger, jackpot: Jackpot) -> None:
    plain = dict.fromkeys(("request_id", "kind", "maker", "made_at", "expires_at", "subject", "reason"))
    more = {"state": "pending", "base_version": "1", "approvals_due": 1, "payload": {}, "decisions": [], "confirm": {}}
    effect = {
        "figured_at": "2026-11-20T09:00:00.000000Z",
        "problem": {"code": "below-zero", "detail": "Too\x1b[2K much."},
    }
    stranger.answers = lambda _path, _query: Reply(body={**plain, **more, "effect": effect})

    shown = jackpot("changes", "show", "q1").ok()

    assert shown.endswith("It cannot be done now: below-zero: Too\\x1b[2K much.\n")


@pytest.mark.parametrize("name", [".", ".."])
def test_what_a_path_loses_is_no_id(stranger: Stranger, jackpot: Jackpot, name: str) -> None:
    jackpot("casinos", "show", name).refused(2, f"'{name}' is no id")
    jackpot("keys", "revoke", name, "--reason", "x").refused(2, f"'{name}' is no id")

    assert stranger.calls == []


@pytest.mark.parametrize("what", OTHERS)
def test_a_service_of_another_version_is_named_with_both_versions(
    stranger: Stranger, jackpot: Jackpot, what: str
) -> None:
    stranger.about, stranger.answers = about("9.9.9"), OTHERS[what]

    expected = (
        f" is version 9.9.9 of the service, and this command is version {service_version()}: use one of its version."
    )
    jackpot("casinos", "list").refused(3, expected)


def test_a_refusal_by_a_service_of_a_later_version_names_it_too(stranger: Stranger, jackpot: Jackpot) -> None:
    problem = {"code": "validation", "title": "Invalid", "detail": "/stripes Unknown field.", "status": 422}
    later = f"{service_version().rpartition('.')[0]}.99"
    stranger.about, stranger.answers = about(later), lambda _path, _query: Reply(422, problem, PROBLEM)

    refused = jackpot("jackpots", "stripes", "live", "20", "--reason", "x")

    refused.refused(1, "jackpot: validation: /stripes Unknown field.\n", f"is version {later} of the service")


def test_a_problem_is_one_message_with_what_to_do(stranger: Stranger, jackpot: Jackpot) -> None:
    errors = [
        {"pointer": "/a", "code": "x", "detail": "is\x1b[2K wrong"},
        {"pointer": "/b", "code": "x", "detail": "too"},
    ]
    problem = {"type": "/problems/many", "code": "many", "title": "Many", "status": 422, "detail": "Two things."}
    replies = {
        "/problems/many": Reply(body={"remedy": "Mend them."}),
        "/v1/casinos": Reply(422, problem | {"errors": errors}, PROBLEM),
        "/v1/tables": Reply(409, problem | {"status": 409}, PROBLEM),
    }
    stranger.answers = lambda path, _query: replies[path]

    jackpot("casinos", "list").refused(1, "jackpot: many: Two things.\n  /a: is\\x1b[2K wrong\n  /b: too\n")
    jackpot("tables", "list").refused(1, "jackpot: many: Two things.\n  Mend them.\n")


def test_a_file_that_breaks_off_is_not_there(stranger: Stranger, jackpot: Jackpot, tmp_path: Path) -> None:
    path = tmp_path / "it.csv"
    path.write_text("before")
    stranger.answers = lambda _path, _query: Reply(200, "half of it", "text/csv", breaks_off=True)

    fetched = jackpot("jobs", "fetch", "17", "--output", str(path))
    shown = jackpot("reports", "show", "rtp", "--format", "csv", "--output", str(path))

    for ended in (fetched, shown):
        ended.refused(3, "the answer of http://127.0.0.1:", "broke off")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("it.csv", "before")]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8000",
        "ftp://ledger.example",
        "http://",
        "http://ledger.example?key=1",
        "http://a:b\n",
        "http://[::1",
    ],
)
def test_an_address_that_cannot_be_is_a_wrong_setting(
    jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("JACKPOT_URL", url)

    jackpot("casinos", "list").refused(2, "jackpot: JACKPOT_URL=", " is refused: it takes an address such as ")


def test_a_key_in_the_address_is_refused_and_not_shown(jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACKPOT_URL", "http://olga:hush-hush@ledger.example")

    ended = jackpot("casinos", "list")

    ended.refused(2, "JACKPOT_URL=… is refused")
    assert "hush-hush" not in ended.err


@pytest.mark.parametrize("key", ["", " ", "two\nlines", "\N{SNOWMAN}"])
def test_a_key_that_cannot_be_is_a_wrong_setting_and_not_shown(
    jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("JACKPOT_KEY", key)

    jackpot("casinos", "list").refused(2, "jackpot: JACKPOT_KEY=… is refused: it takes a key such as jk_…")


def test_a_list_is_readable_on_a_narrow_terminal(stranger: Stranger) -> None:
    stranger.answers = paged([{**casino, "name": "word " * 40} for casino in casinos(2)])
    terminal, own_end = os.openpty()
    try:
        command = [sys.executable, "-m", "jackpot_service.cli", "casinos", "list"]
        subprocess.run(command, env=os.environ | {"COLUMNS": "80"}, stdout=own_end, check=True, timeout=60)
        lines = os.read(terminal, 1 << 16).decode().splitlines()
    finally:
        os.close(terminal)
        os.close(own_end)

    assert lines[:2] == ["casino      c000", "zone        UTC"]
    assert max(map(len, lines)) <= 80
    assert "".join(lines).count("word") == 80


def test_settings_of_the_service_do_not_matter_to_a_call(stranger: Stranger) -> None:
    stranger.answers = paged(casinos(1))
    environment = os.environ | {
        "JACKPOT_POOL_SIZE": "x",
        "JACKPOT_DATABASE_URL": "nothing",
        "http_proxy": "http://127.0.0.1:1",
    }

    command = [sys.executable, "-m", "jackpot_service.cli", "casinos", "list"]
    listed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60)

    assert len(listed.stdout.splitlines()) == 2


NO_LEDGERS: Final[dict[str, Reply | None]] = {
    "another service": Reply(200, {"ok": True}),
    "one with a name of its own": Reply(200, {"service": "till", "version": service_version()}),
    "somebody who answers every call": None,
}

ANOTHER_VERSION: Final[dict[str, Reply | None]] = {"another version": about("9.9.9")}


@pytest.mark.parametrize("who", NO_LEDGERS | ANOTHER_VERSION)
@pytest.mark.parametrize(
    "act",
    [
        ("casinos", "add", "riga", "Riga", "--reason", "x"),
        ("rates", "publish", "--base", "EUR", "--reason", "x"),
        ("jackpots", "suspend", "live", "--reason", "x"),
    ],
)
def test_nothing_is_done_at_a_service_that_is_no_ledger_of_this_version(
    stranger: Stranger, jackpot: Jackpot, act: tuple[str, ...], who: str
) -> None:
    stranger.about = (NO_LEDGERS | ANOTHER_VERSION)[who]
    stranger.answers = lambda _path, _query: Reply(200, {"ok": True})

    jackpot(*act).refused(3, "version")

    assert not [call for call in stranger.calls if not call.startswith("GET ")]


@pytest.mark.parametrize(
    ("act", "member"),
    [
        ("awards pay a1 --reference slip", "award_id"),
        ("awards evidence T1 r1 --kind surveillance --statement s", "table_id"),
        ("awards evidence T1 r1 --kind surveillance --statement s", "round_id"),
        ("casinos add riga Riga --reason x", "casino_id"),
        ("changes approve q1 --reason x", "request_id"),
        ("changes request prize-fund-true-up --jackpot live --reason x --request-id q1", "kind"),
        ("exceptions acknowledge ex-1 --reason x", "exception_id"),
        ("jackpots open live --rules live-caribbean-stud --currency EUR --reason x", "jackpot_id"),
        ("jackpots suspend live --reason x", "jackpot_id"),
        ("jobs cancel 17", "job_id"),
        ("jobs create journal", "kind"),
        ("keys create --role auditor --name Ann --reason x", "principal"),
        ("keys revoke 0a1b --reason x", "key_id"),
        ("passkeys revoke 0a1b --reason x", "passkey_id"),
        ("rates publish --base EUR --reason x", "base"),
        ("tables add T1 --casino riga --game caribbean-stud --reason x", "table_id"),
        ("users add Ann --role auditor --oidc-subject s --reason x", "principal"),
    ],
)
def test_an_answer_about_another_subject_is_refused(
    stranger: Stranger, jackpot: Jackpot, act: str, member: str
) -> None:
    right = {"table_id": "T1", "round_id": "r1", "request_id": "q1"}
    stranger.answers = lambda _path, _query: Reply(200, right | {member: "another"})

    jackpot(*act.split()).refused(3, f"its answer states another {member}")


def test_a_command_looks_once_who_answers_before_it_acts(stranger: Stranger, jackpot: Jackpot) -> None:
    replies = iter([{"unclaimed": 1, "new": 1, "next": "a1"}, {"unclaimed": 1, "new": 0, "next": None}])
    stranger.answers = lambda _path, _query: Reply(200, next(replies))

    assert jackpot("awards", "unclaimed").ok() == "Unclaimed awards: 2, noted now: 1.\n"
    assert stranger.looks == 1


def test_a_list_costs_no_look_at_who_answers(stranger: Stranger, jackpot: Jackpot) -> None:
    stranger.answers = paged(casinos(450))

    jackpot("casinos", "list").ok()

    assert stranger.looks == 0


@pytest.mark.parametrize("who", NO_LEDGERS)
def test_an_empty_list_of_somebody_else_is_none_of_the_ledger(stranger: Stranger, jackpot: Jackpot, who: str) -> None:
    stranger.about, stranger.answers = NO_LEDGERS[who], lambda _path, _query: Reply(200, {"items": [], "next": None})

    jackpot("casinos", "list").refused(3, "version")


def test_an_empty_list_of_a_ledger_of_another_version_is_empty(stranger: Stranger, jackpot: Jackpot) -> None:
    stranger.about, stranger.answers = about("9.9.9"), paged([])

    listed = jackpot("casinos", "list")

    assert (listed.ok(), listed.err) == ("", "There are none.\n")


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_who_one_is_to_somebody_else_is_not_shown(stranger: Stranger, jackpot: Jackpot, more: tuple[str, ...]) -> None:
    stranger.answers = lambda _path, _query: Reply(200, {"user": "root"})

    jackpot("whoami", *more).refused(3, "its answer has no principal")


@pytest.mark.parametrize("form", [(), ("--csv",), ("--json",)])
def test_output_that_cannot_be_written_is_one_message(stranger: Stranger, form: tuple[str, ...]) -> None:
    stranger.answers = paged(casinos(300))

    with Path("/dev/full").open("w", encoding="utf-8") as full:
        listed = subprocess.run(
            [sys.executable, "-m", "jackpot_service.cli", "casinos", "list", *form],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )

    assert (listed.returncode, listed.stderr) == (
        1,
        "jackpot: standard output cannot be written: No space left on device\n",
    )


def test_a_path_in_the_address_is_said_to_be_the_cause(stranger: Stranger, jackpot: Jackpot) -> None:
    problem = {"code": "not-found", "title": "Not found", "detail": "There is nothing here.", "status": 404}
    stranger.answers = lambda _path, _query: Reply(404, problem, PROBLEM)

    refused = jackpot("casinos", "list")

    refused.refused(1, "jackpot: not-found: There is nothing here.\n  Look at JACKPOT_URL, http://127.0.0.1:")
    refused.refused(1, ": perhaps it ends with a path of another service.\n")


def test_a_key_that_is_not_in_force_is_said_to_be_the_cause(
    stranger: Stranger, jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACKPOT_KEY", "jk_revoked")
    problem = {"code": "unauthenticated", "title": "A valid key is required", "detail": "It is revoked.", "status": 401}
    stranger.answers = lambda _path, _query: Reply(401, problem, PROBLEM)

    refused = jackpot("casinos", "list")

    remedy = "Set JACKPOT_KEY to a key of yours that is in force, or run: jackpot login"
    refused.refused(1, f"jackpot: unauthenticated: It is revoked.\n  {remedy}\n")
