"""Acts whose answers were lost: nobody is told that they were not done, and everybody how to make sure."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final

import pytest

from jackpot_service.cli import service_api
from tests.support.command_line import Jackpot, program
from tests.support.stranger import HTML, JSON, PROBLEM, Reply, Stranger, about
from tests.support.stranger import stranger as stranger  # noqa: PLC0414  a fixture of these tests

SUSPEND: Final = ("jackpots", "suspend", "live", "--reason", "x")
REJECT: Final = ("changes", "reject", "q1", "--reason", "x")
DRY_RUN: Final = ("changes", "request", "prize-fund-true-up", "--jackpot", "live", "--reason", "x", "--dry-run")
BROKEN: Final = Reply(201, {}, breaks_off=True)


ACTS: Final = (
    "awards pay a1 --reference slip",
    "awards slip a1 --print",
    "awards stop a1 --reason x",
    "casinos add riga Riga --reason x",
    "changes request prize-fund-true-up --jackpot live --reason x",
    "exceptions acknowledge ex-1 --reason x",
    "jackpots open live --rules live-caribbean-stud --currency EUR --reason x",
    "jackpots stripes live 32 --reason x",
    "jackpots suspend live --reason x",
    "jobs create journal",
    "keys create --role auditor --name Ann --reason x",
    "keys revoke 0a1b --reason x",
    "passkeys revoke 0a1b --reason x",
    "rates publish --base EUR GBP=1.17 --reason x",
    "reports close --to 2026-11-01 --reason x",
    "tables add T1 --casino riga --game caribbean-stud --reason x",
    "users add Ann --role auditor --oidc-subject s --reason x",
)
"""An act of every kind that has a request id."""


@pytest.fixture
def jackpot(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Jackpot:
    """The program, without a database."""
    return program(monkeypatch, capsys, "postgresql+psycopg://nobody@/nothing?host=/nowhere")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sent again."""
    monkeypatch.setattr(service_api, "PATIENCE_S", 0.0)


def says_what_it_is() -> bytes:
    body = json.dumps(about().body).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {JSON}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


@contextmanager
def gone_after_a_call(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take one act, and be gone without an answer."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        monkeypatch.setenv("JACKPOT_URL", f"http://127.0.0.1:{listener.getsockname()[1]}")

        def serve() -> None:
            connection, _ = listener.accept()
            listener.close()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(says_what_it_is())
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


@contextmanager
def silent_after_saying_what_it_is(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Say what it is, and never anything again."""
    with socket.create_server(("127.0.0.1", 0)) as listener, ExitStack() as connections:
        monkeypatch.setenv("JACKPOT_URL", f"http://127.0.0.1:{listener.getsockname()[1]}")

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    connections.enter_context(connection)
                    if b" /v1/service " in connection.recv(1 << 16):
                        connection.sendall(says_what_it_is())

        thread = threading.Thread(target=serve)
        thread.start()
        yield
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


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
    with silent_after_saying_what_it_is(monkeypatch):
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

    assert jackpot(*SUSPEND).err == "jackpot: busy: Later.\n  Run the command again in a while.\n"


@pytest.mark.usefixtures("impatient")
def test_an_answer_that_cannot_be_decoded_is_lost(stranger: Stranger, jackpot: Jackpot) -> None:
    stranger.answers = lambda _path, _query: Reply(200, "no gzip", JSON, {"Content-Encoding": "gzip"})

    jackpot(*SUSPEND, "--request-id", "r1").refused(3, "repeat it with --request-id r1.\n")
    jackpot("casinos", "list").refused(3, " does not answer (")
    jackpot("jobs", "fetch", "17").refused(3, " broke off: ")


CHANGE: Final[dict[str, Any]] = {
    **dict.fromkeys(("maker", "made_at", "expires_at", "subject", "reason", "effect"), None),
    "request_id": "q1",
    "kind": "prize-fund-true-up",
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
        ("casinos add riga Riga", {"casino_id": "riga"}, "Casino riga: is there.\n"),
        ("tables add T1 --casino riga --game caribbean-stud", {"table_id": "T1"}, "Table T1: is there.\n"),
        ("users add Ann --role auditor --oidc-subject s", {"principal": "Ann"}, "Ann: is there.\n"),
        (
            "exceptions acknowledge ex-1",
            {"exception_id": "ex-1"},
            "Exception ex-1: is acknowledged, by this request.\n",
        ),
        (
            "changes request prize-fund-true-up --jackpot j --request-id q1",
            CHANGE,
            "Change request q1: it is pending.\n",
        ),
    ],
)
def test_nothing_is_said_to_have_been_before_that_this_run_may_have_done(
    stranger: Stranger, jackpot: Jackpot, command: str, body: object, expected: str
) -> None:
    replies = iter([BROKEN, Reply(200, body)])
    stranger.answers = lambda _path, _query: next(replies)

    assert jackpot(*command.split(), "--reason", "x").err == expected


def test_a_key_that_nobody_saw_is_to_be_revoked(stranger: Stranger, jackpot: Jackpot) -> None:
    replies = iter([BROKEN, Reply(200, {"key_id": "0a1b", "principal": "Ann", "key": None})])
    stranger.answers = lambda _path, _query: next(replies)

    ended = jackpot("keys", "create", "--role", "auditor", "--name", "Ann", "--reason", "x")

    assert ended.err == (
        "Key 0a1b was created by this request before.\n"
        "If you did not see it, revoke it: jackpot keys revoke 0a1b --reason …\n"
    )


ADD: Final = ("casinos", "add", "riga", "Riga", "--reason", "x")
ADDED: Final = Reply(201, {"casino_id": "riga"})
PAGE_OF_A_PROXY: Final = "<html>Bad Gateway</html>"


@pytest.mark.parametrize("status", [502, 503, 504])
def test_an_act_after_which_a_proxy_gave_up_is_sent_again_with_its_id(
    stranger: Stranger, jackpot: Jackpot, status: int
) -> None:
    replies = iter([Reply(status, PAGE_OF_A_PROXY, HTML), Reply(200, {"casino_id": "riga"})])
    stranger.answers = lambda _path, _query: next(replies)

    assert jackpot(*ADD).err == "Casino riga: is there.\n"
    assert len({json.loads(body)["request_id"] for body in stranger.bodies}) == 1


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("status", [500, 502, 503, 504])
@pytest.mark.parametrize("command", ACTS)
def test_an_act_after_which_a_proxy_gave_up_has_an_unknown_outcome(
    stranger: Stranger, jackpot: Jackpot, command: str, status: int
) -> None:
    stranger.answers = lambda _path, _query: Reply(status, PAGE_OF_A_PROXY, HTML)

    jackpot(*command.split(), "--request-id", "r1").refused(3, "It may have been done: repeat it with --request-id r1.")


@pytest.mark.usefixtures("impatient")
def test_a_list_behind_a_proxy_that_gives_up_is_not_said_to_have_been_done(
    stranger: Stranger, jackpot: Jackpot
) -> None:
    stranger.answers = lambda _path, _query: Reply(502, PAGE_OF_A_PROXY, HTML)

    ended = jackpot("casinos", "list")

    ended.refused(3, "a proxy at http://127.0.0.1:", " got no answer of the service (status 502).\n")
    assert "done" not in ended.err


@pytest.mark.parametrize("command", ACTS)
@pytest.mark.parametrize("body", [{"ok": True}, "<html>Welcome</html>"])
def test_an_act_that_somebody_else_answered_names_its_id(
    stranger: Stranger, jackpot: Jackpot, command: str, body: object
) -> None:
    stranger.answers = lambda _path, _query: Reply(200, body)

    ended = jackpot(*command.split(), "--request-id", "r1")

    ended.refused(3, "or one of another version: ", "It may have been done: repeat it with --request-id r1.\n")
