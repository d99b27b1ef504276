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
from tests.support.stranger import JSON, PROBLEM, Answers, Reply, Stranger
from tests.support.stranger import stranger as stranger  # noqa: PLC0414  a fixture of these tests

ABOUT: Final = "/v1/service"


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
    replies = iter([Reply(201, {"state": "suspended"}, breaks_off=True), Reply(200, {"state": "suspended"})])
    stranger.answers = lambda _path, _query: next(replies)

    assert jackpot("jackpots", "suspend", "live", "--reason", "x").err == "Jackpot live is suspended.\n"
    assert stranger.calls == ["PUT /v1/jackpots/live/suspension"] * 2


def test_nobody_there_is_said_with_what_to_do(jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    monkeypatch.setenv("JACKPOT_URL", f"http://127.0.0.1:{port}")

    expected = (f"no service answers at http://127.0.0.1:{port}", "jackpot serve", "JACKPOT_URL")
    jackpot("casinos", "list").refused(3, *expected)


def about(version: str) -> Reply:
    return Reply(body={"service": "jackpot-ledger", "version": version, "sign_in": None})


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
    effect = {"problem": {"code": "below-zero", "detail": "Too\x1b[2K much."}}
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
    stranger.answers = lambda path, query: about("9.9.9") if path == ABOUT else OTHERS[what](path, query)

    expected = (
        f" is version 9.9.9 of the service, and this command is version {service_version()}: use one of its version."
    )
    jackpot("casinos", "list").refused(3, expected)


def test_a_refusal_by_a_service_of_another_version_names_it_too(stranger: Stranger, jackpot: Jackpot) -> None:
    problem = {"code": "validation", "title": "Invalid", "detail": "/stripes Unknown field.", "status": 422}
    stranger.answers = lambda path, _query: about("9.9.9") if path == ABOUT else Reply(422, problem, PROBLEM)

    refused = jackpot("jackpots", "stripes", "live", "20", "--reason", "x")

    refused.refused(1, "jackpot: validation: /stripes Unknown field.\n", "is version 9.9.9 of the service")


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
