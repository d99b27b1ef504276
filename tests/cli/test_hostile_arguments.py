"""Arguments that are wrong: one line and a status that is not 0; never a traceback, and nothing is written."""

from pathlib import Path
from typing import Final

import psycopg
import pytest

from tests.support.command_line import Jackpot
from tests.support.logins import owner_conninfo

pytestmark = pytest.mark.slow

ADJUSTMENT: Final = ("--jackpot", "j1", "--account", "meter", "--amount", "1", "--document", "d")
REQUEST: Final = ("changes", "request", "adjustment")
WHOLE: Final = (*REQUEST, *ADJUSTMENT, "--cause", "equipment-malfunction")
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
    WHOLE,
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
    ("db", "key", "--role", "auditor", "--name", "Eve"),
    ("users", "add", "Eve", "--role", "auditor", "--oidc-subject", "sub-1"),
    ("keys", "revoke", "0123456789abcdef"),
    ("keys", "sign-out", "0123456789abcdef"),
    ("passkeys", "revoke", "0123456789abcdef"),
)

WRONG: Final = (
    (*REQUEST, "--payload", "/no/such", "--reason", "x"),
    (*REQUEST, "--payload", "/", "--reason", "x"),
    (*REQUEST, "--payload", "", "--reason", "x"),
    (*REQUEST, "--payload", "a\0b", "--reason", "x"),
    (*REQUEST, "--payload", "\udcff", "--reason", "x"),
    (*REQUEST, *ADJUSTMENT, "--reason", "x"),
    (*WHOLE, "--payload", "/dev/null", "--reason", "x"),
    (*WHOLE, "--reason", "x", "--base-version", ""),
    (*WHOLE, "--reason", "x", "--base-version", "\udcff"),
    (*REQUEST[:2], "round-correction", "--result", "[" * 100_000, "--reason", "x"),
    (*REQUEST[:2], "round-correction", "--result", "@/no/such", "--reason", "x"),
    (*REQUEST[:2], "everything", "--reason", "x"),
    ("changes", "approve", "q1", "--confirm", "GBP", "--reason", "x"),
    ("audit", "--principal", "\udcff"),
    ("audit", "--principal", "a\0b"),
    ("audit", "show", "9" * 30),
    ("seals", "show", "9" * 30),
    ("seals", "show", "9" * 5000),
    ("reconciliations", "list", "--as-of", "9999-99-99T00:00:00Z"),
    ("reconciliations", "show", "../seals"),
    ("verifications", "show", "a?b=c"),
    ("rates", "histories", "--base", "EUR", "GBP,SEK"),
    ("rates", "histories", "--base", "EUR", *(f"A{a}{b}" for a in "ABCDEFGHIJKLM" for b in map(chr, range(65, 91)))),
    ("exceptions", "list", "--limit", "-1"),
    ("exceptions", "list", "--json", "--limit", "9" * 5000),
    ("jackpots", "show", "a/../b"),
    ("jackpots", "show", "a?b=c"),
    ("people", "show", "\x1b[2K"),
    ("jobs", "create", "journal", "format"),
    ("jobs", "create", "journal", "format=x", "format=y"),
    ("jobs", "create", "journal", "--parameters", "["),
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
def hostile(jackpot: Jackpot) -> Jackpot:
    """The program with a jackpot, under the key of an operator."""
    why = ("--reason", "as agreed")
    jackpot("rates", "publish", "--base", "EUR", "GBP=1.17", *why).ok()
    jackpot("jackpots", "open", "j1", "--rules", "live-caribbean-stud", "--currency", "EUR", *why).ok()
    return jackpot


def acts(database_url: str) -> int:
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        (count,) = owner.execute("SELECT count(*) FROM acts").fetchone() or (0,)
        return int(count)


@pytest.mark.long
def test_a_reason_is_a_line_of_text_wherever_it_is_given(hostile: Jackpot, database_url: str) -> None:
    before = acts(database_url)

    for command in WITH_A_REASON:
        for reason in NO_REASON.values():
            require_one_line(hostile, *command, "--reason", reason)

    assert acts(database_url) == before


def test_an_argument_that_is_wrong_is_one_line(hostile: Jackpot, database_url: str) -> None:
    before = acts(database_url)

    for arguments in WRONG:
        require_one_line(hostile, *arguments)

    assert acts(database_url) == before


@pytest.mark.parametrize(
    "command",
    [
        ("audit", "show"),
        ("entries", "show", "j1", "0"),
        ("hits", "show", "j1"),
        ("reports", "compare"),
        ("seals", "show"),
    ],
)
def test_a_number_beyond_every_number_is_a_wrong_argument_not_a_wrong_address(
    hostile: Jackpot, command: tuple[str, ...]
) -> None:
    refused = hostile(*command, "9" * 20)

    refused.refused(2, "9" * 20, "is not in the range")
    assert "JACKPOT_URL" not in refused.err


def test_a_payload_in_a_file_that_is_no_text_is_one_line(hostile: Jackpot, tmp_path: Path) -> None:
    path = tmp_path / "payload.json"
    path.write_bytes(b'{"jackpot_id":"\xff"}')

    require_one_line(hostile, *REQUEST, "--payload", str(path), "--reason", "x")


def test_a_proxy_that_cannot_be_spoken_to_is_one_line(hostile: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")

    require_one_line(hostile, *IMPORT, "http://127.0.0.1:1/")
