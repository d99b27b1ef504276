"""Acts whose answers were lost: nobody is told that they were not done, and everybody how to make sure."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

from jackpot_service.cli import service_api
from tests.support.command_line import Jackpot, program
from tests.support.stranger import JSON, PROBLEM, Reply, Stranger
from tests.support.stranger import stranger as stranger  # noqa: PLC0414  a fixture of these tests

SUSPEND: Final = ("jackpots", "suspend", "live", "--reason", "x")
REJECT: Final = ("changes", "reject", "q1", "--reason", "x")
DRY_RUN: Final = ("changes", "request", "prize-fund-true-up", "--jackpot-id", "live", "--reason", "x", "--dry-run")
BROKEN: Final = Reply(201, {}, breaks_off=True)


@pytest.fixture
def jackpot(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Jackpot:
    """The program, without a database."""
    return program(monkeypatch, capsys, "postgresql+psycopg://nobody@/nothing?host=/nowhere")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sent again."""
    monkeypatch.setattr(service_api, "PATIENCE_S", 0.0)


@contextmanager
def gone_after_a_call(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take one call, and be gone without an answer."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        monkeypatch.setenv("JACKPOT_URL", f"http://127.0.0.1:{listener.getsockname()[1]}")

        def serve() -> None:
            connection, _ = listener.accept()
            listener.close()
            with connection:
                connection.recv(1 << 16)

        thread = threading.Thread(target=serve)
        thread.start()
        yield
        thread.join()


def test_who_is_gone_after_a_call_may_have_done_it(jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    with gone_after_a_call(monkeypatch):
        ended = jackpot(*SUSPEND, "--request-id", "r1")

    ended.refused(3, " does not answer (", "). It may have been done: repeat it with --request-id r1.\n")
    assert "jackpot serve" not in ended.err


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ((*SUSPEND, "--request-id", "r1"), "It may have been done: repeat it with --request-id r1.\n"),
        (REJECT, "It may have been done: look at its state, then repeat it.\n"),
        (DRY_RUN, "does not answer (timed out).\n"),
        (("casinos", "list"), "does not answer (timed out).\n"),
        (("jobs", "fetch", "17"), "does not answer (timed out).\n"),
    ],
)
def test_who_says_nothing_may_have_done_it(
    jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], expected: str
) -> None:
    monkeypatch.setattr(service_api, "READ_S", 0.2)
    monkeypatch.setattr(service_api, "PATIENCE_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("JACKPOT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")

        ended = jackpot(*command)

    ended.refused(3, expected)
    assert "jackpot serve" not in ended.err


def problem(code: str) -> Reply:
    return Reply(503, {"code": code, "title": "Busy", "detail": "Later.", "status": 503}, PROBLEM)


@pytest.mark.usefixtures("impatient")
def test_an_outcome_that_stays_unknown_names_the_id_to_repeat(stranger: Stranger, jackpot: Jackpot) -> None:
    stranger.answers = lambda _path, _query: problem("outcome-unknown")

    ended = jackpot(*SUSPEND)

    request_id = json.loads(stranger.bodies[0])["request_id"]
    message = "jackpot: outcome-unknown: Later.\n  It may have been done: repeat it with --request-id "
    ended.refused(3, f"{message}{request_id}.\n")


def test_a_service_that_is_busy_after_a_lost_answer_may_have_done_it(
    stranger: Stranger, jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_api, "PATIENCE_S", 0.7)
    replies = iter([BROKEN])
    stranger.answers = lambda _path, _query: next(replies, problem("busy"))

    jackpot(*SUSPEND, "--request-id", "r1").refused(3, "busy: Later.\n", "repeat it with --request-id r1.\n")


@pytest.mark.usefixtures("impatient")
def test_a_busy_service_did_nothing(stranger: Stranger, jackpot: Jackpot) -> None:
    stranger.answers = lambda _path, _query: problem("busy")

    assert jackpot(*SUSPEND).err == "jackpot: busy: Later.\n"


@pytest.mark.usefixtures("impatient")
def test_an_answer_that_cannot_be_decoded_is_lost(stranger: Stranger, jackpot: Jackpot) -> None:
    stranger.answers = lambda _path, _query: Reply(200, "no gzip", JSON, {"Content-Encoding": "gzip"})

    jackpot(*SUSPEND, "--request-id", "r1").refused(3, "repeat it with --request-id r1.\n")
    jackpot("casinos", "list").refused(3, " does not answer (")
    jackpot("jobs", "fetch", "17").refused(3, " broke off: ")


CHANGE: Final[dict[str, Any]] = {
    **dict.fromkeys(("kind", "maker", "made_at", "expires_at", "subject", "reason", "effect"), None),
    "request_id": "q1",
    "state": "pending",
    "base_version": "1",
    "approvals_due": 1,
    "payload": {},
    "decisions": [],
    "confirm": {},
}


@pytest.mark.parametrize(
    ("command", "body", "expected"),
    [
        ("casinos add riga Riga", {}, "Casino riga: is there.\n"),
        ("tables add T1 --casino riga --game caribbean-stud", {}, "Table T1: is there.\n"),
        ("users add Ann --role auditor --oidc-subject s", {"principal": "Ann"}, "Ann: is there.\n"),
        ("exceptions acknowledge ex-1", {}, "Exception ex-1: is acknowledged, by this request.\n"),
        ("changes request prize-fund-true-up --jackpot-id j", CHANGE, "Change request q1: it is pending.\n"),
    ],
)
def test_nothing_is_said_to_have_been_before_that_this_run_may_have_done(
    stranger: Stranger, jackpot: Jackpot, command: str, body: object, expected: str
) -> None:
    replies = iter([BROKEN, Reply(200, body)])
    stranger.answers = lambda _path, _query: next(replies)

    assert jackpot(*command.split(), "--reason", "x").err == expected


def test_a_key_that_nobody_saw_is_to_be_revoked(stranger: Stranger, jackpot: Jackpot) -> None:
    replies = iter([BROKEN, Reply(200, {"key_id": "0a1b", "key": None})])
    stranger.answers = lambda _path, _query: next(replies)

    ended = jackpot("keys", "create", "--role", "auditor", "--name", "Ann", "--reason", "x")

    assert ended.err == (
        "Key 0a1b was created by this request before.\n"
        "If you did not see it, revoke it: jackpot keys revoke 0a1b --reason …\n"
    )
