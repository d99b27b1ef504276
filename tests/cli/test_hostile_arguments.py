"""Arguments that are wrong: one line and a status that is not 0; never a traceback, and nothing is written."""

from pathlib import Path
from typing import Final

import pytest

from tests.cli.test_command_line import Jackpot, jackpot

pytestmark = pytest.mark.slow

__all__ = ["jackpot"]

PAYLOAD: Final = '{"jackpot_id":"j1","account":"meter","amount":"1","document":"d","cause":"equipment-malfunction"}'
REQUEST: Final = ("changes", "request", "adjustment")
IMPORT: Final = ("rates", "import-ecb")
OPENING: Final = ("jackpots", "open", "j9", "--rules", "live-caribbean-stud", "--currency", "EUR")

NO_REASON: Final = {
    "nothing": "",
    "white space": " ",
    "two lines": "fine\n     7  2026-11-20 09:00:00Z  rate_sheet",
    "what a terminal obeys": "fine\x1b[2K",
    "too long": "x" * 501,
    "no text": "\udcff",
}

WITH_A_REASON: Final = (
    (*REQUEST, PAYLOAD),
    ("changes", "approve", "q1", "--reason", "checked"),
    ("changes", "reject", "q1"),
    ("jackpots", "suspend", "j1"),
    ("jackpots", "resume", "j1"),
    ("casinos", "add", "c9", "Nine"),
    ("tables", "add", "T9", "--casino", "c9", "--game", "caribbean-stud"),
    OPENING,
    ("jackpots", "stripes", "j1", "20"),
    ("rates", "publish", "--base", "USD", "GBP=1.17"),
    ("keys", "create", "--role", "auditor", "--name", "Eve"),
    ("users", "add", "Eve", "--role", "auditor", "--oidc-subject", "sub-1"),
    ("keys", "revoke", "0123456789abcdef"),
)

WRONG: Final = (
    (*REQUEST, "@/no/such", "--reason", "x"),
    (*REQUEST, "@/", "--reason", "x"),
    (*REQUEST, "@", "--reason", "x"),
    (*REQUEST, "@a\0b", "--reason", "x"),
    (*REQUEST, "\udcff", "--reason", "x"),
    (*REQUEST, "[" * 100_000, "--reason", "x"),
    (*REQUEST, PAYLOAD, "--reason", "x", "--base-version", ""),
    (*REQUEST, PAYLOAD, "--reason", "x", "--base-version", "\udcff"),
    ("audit", "--principal", "\udcff"),
    ("audit", "--principal", "a\0b"),
    ("audit", "--limit", str(2**63 - 1)),
    ("exceptions", "list", "--limit", "9" * 30),
    (*OPENING, "--reason", "x", "--set", "\udcff=\udcff"),
    (*IMPORT, "\udcff"),
    (*IMPORT, "a\0b"),
    (*IMPORT, "file:///etc/passwd"),
    (*IMPORT, "http://"),
    (*IMPORT, "http://[::1"),
    (*IMPORT, "http://a..b/"),
    (*IMPORT, "http://xn--/"),
    (*IMPORT, f"http://{'a' * 70}.example/"),
    (*IMPORT, "http://127.0.0.1:99999/"),
    (*IMPORT, "http://127.0.0.1:1/\udcff"),
)


def require_one_line(opened: Jackpot, *arguments: str) -> None:
    ended = opened(*arguments)
    assert ended.status in {1, 2}, (arguments, ended)
    assert ended.out == "", arguments
    assert "Traceback" not in ended.err, arguments


@pytest.fixture
def opened(jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch) -> Jackpot:
    """The program with a jackpot, under the key of an operator."""
    why = ("--reason", "as agreed")
    jackpot("rates", "publish", "--base", "EUR", "GBP=1.17", *why).ok()
    jackpot("jackpots", "open", "j1", "--rules", "live-caribbean-stud", "--currency", "EUR", *why).ok()
    key = jackpot("keys", "create", "--role", "operator", "--name", "Ann", *why).ok().strip()
    monkeypatch.setenv("JACKPOT_KEY", key)
    return jackpot


def test_a_reason_is_a_line_of_text_wherever_it_is_given(opened: Jackpot) -> None:
    before = opened("audit").ok()

    for command in WITH_A_REASON:
        for reason in NO_REASON.values():
            require_one_line(opened, *command, "--reason", reason)

    assert opened("audit").ok() == before


def test_an_argument_that_is_wrong_is_one_line(opened: Jackpot) -> None:
    before = opened("audit").ok()

    for arguments in WRONG:
        require_one_line(opened, *arguments)

    assert opened("audit").ok() == before


def test_a_payload_in_a_file_that_is_no_text_is_one_line(opened: Jackpot, tmp_path: Path) -> None:
    path = tmp_path / "payload.json"
    path.write_bytes(b'{"jackpot_id":"\xff"}')

    require_one_line(opened, *REQUEST, f"@{path}", "--reason", "x")


def test_a_proxy_that_cannot_be_spoken_to_is_one_line(opened: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")

    require_one_line(opened, *IMPORT, "http://127.0.0.1:1/")
