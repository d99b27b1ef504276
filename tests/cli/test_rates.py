"""`jackpot rates …`: the ECB's document becomes a proposal; whatever else comes in becomes one line and no more."""

import gzip
import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest

from jackpot_service.cli.calls import ecb
from tests.support.command_line import Ended, Jackpot, key_of

pytestmark = pytest.mark.long

DAY = datetime.now(UTC).date() - timedelta(days=1)

DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
\t<gesmes:subject>Reference rates</gesmes:subject>
\t<gesmes:Sender>
\t\t<gesmes:name>European Central Bank</gesmes:name>
\t</gesmes:Sender>
\t<Cube>
\t\t<Cube time='{day}'>
\t\t\t<Cube currency='USD' rate='1.0500'/>
\t\t\t<Cube currency='JPY' rate='163.04'/>
\t\t\t<Cube currency='GBP' rate='0.83450'/>
\t\t\t<Cube currency='SEK' rate='11.5715'/></Cube>
\t</Cube>
</gesmes:Envelope>"""

File = Callable[[str | bytes], str]


def document() -> str:
    """The document of yesterday."""
    return DOCUMENT.format(day=DAY)


def changed(old: str, put: str) -> str:
    """The document with a text of it replaced, wherever it stands."""
    text = document()
    assert old in text
    return text.replace(old, put)


@pytest.fixture
def opened(jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch) -> Jackpot:
    """The program with first sheets of EUR and USD, under the key of somebody who asks for rates."""
    jackpot("rates", "publish", "--base", "EUR", "GBP=1.17", "SEK=0.0873", "CHF=1.05", "--reason", "as agreed").ok()
    jackpot("rates", "publish", "--base", "USD", "EUR=1.05", "GBP=1.25", "--reason", "as agreed").ok()
    become(jackpot, monkeypatch, "Ann")
    return jackpot


def become(jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch, name: str, role: str = "rates") -> None:
    monkeypatch.setenv("JACKPOT_KEY", key_of(jackpot, name, role))


@pytest.fixture
def file(tmp_path: Path) -> File:
    """Write a document; returns its path."""

    def write(content: str | bytes) -> str:
        path = tmp_path / "eurofxref-daily.xml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def imported(ended: Ended) -> Any:
    return json.loads(ended.ok())


def without_effect(change: dict[str, Any]) -> dict[str, Any]:
    """A change without what is figured anew each time."""
    return {name: value for name, value in change.items() if name != "effect"}


def test_a_document_becomes_a_proposal_and_no_sheet(opened: Jackpot, file: File) -> None:
    path = file(document())

    ended = opened("rates", "import-ecb", path, "--json")

    proposal = imported(ended)
    assert (proposal["request_id"], proposal["kind"], proposal["state"]) == (f"ecb-EUR-{DAY}", "rate-sheet", "pending")
    assert (proposal["maker"], proposal["reason"]) == ("Ann", f"ECB reference rates of {DAY}")
    assert proposal["payload"] == {
        "base": "EUR",
        "rates": {"GBP": "1.1983223487", "SEK": "0.0864192196"},
        "source": {"name": "ecb", "date": str(DAY), "sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest()},
    }
    assert "CHF is not in the document and keeps its rate" in ended.err
    assert "it waits for another user" in ended.err
    assert opened("sheets", "show", "--base", "EUR").ok().startswith("EUR sheet 1, ")


def test_approved_it_is_in_force_and_says_where_it_comes_from(
    opened: Jackpot, file: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = imported(opened("rates", "import-ecb", file(document()), "--json"))
    become(opened, monkeypatch, "Bob")
    opened("changes", "approve", f"ecb-EUR-{DAY}", "--reason", "checked").ok()

    first, _, *lines = opened("sheets", "show", "--base", "EUR").ok().splitlines()

    assert first.startswith("EUR sheet 2, in force from ")
    assert first.endswith(f"Z, ecb of {DAY} (SHA-256 {proposal['payload']['source']['sha256']})")
    assert [line.split() for line in lines] == [
        ["CHF", "1.05", "2"],
        ["EUR", "1", "2"],
        ["GBP", "1.1983223487", "2"],
        ["SEK", "0.0864192196", "2"],
    ]
    opened("verify").ok()


def test_the_same_document_again_changes_nothing_whoever_brings_it(
    opened: Jackpot, file: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file(document())
    first = imported(opened("rates", "import-ecb", path, "--json"))
    become(opened, monkeypatch, "Cleo")

    again = opened("rates", "import-ecb", path, "--all", "--json")

    assert without_effect(imported(again)) == without_effect(first)
    assert "it was requested before, and is pending" in again.err
    become(opened, monkeypatch, "Bob")
    opened("changes", "approve", f"ecb-EUR-{DAY}", "--reason", "checked").ok()
    assert imported(opened("rates", "import-ecb", path, "--json"))["state"] == "approved"
    assert opened("sheets", "show", "--base", "EUR").ok().startswith("EUR sheet 2, ")


def test_another_document_of_the_same_day_is_a_conflict(opened: Jackpot, file: File) -> None:
    opened("rates", "import-ecb", file(document())).ok()

    opened("rates", "import-ecb", file(changed("0.83450", "0.83460"))).refused(1, "jackpot: request-conflict: ")
    # Only its bytes are another's: it is not known to be the same document.
    opened("rates", "import-ecb", file(changed("0.83450", "0.8345"))).refused(1, "jackpot: request-conflict: ")


@pytest.mark.parametrize(
    "by_hand", [{"rates": {"GBP": "1.25"}}, {"rates": {"GBP": "1.1983223487", "NOK": "0.09"}}, {"replace_all": True}]
)
def test_figures_by_hand_under_the_documents_name_are_not_taken_for_the_documents(
    opened: Jackpot, file: File, by_hand: dict[str, Any], tmp_path: Path
) -> None:
    """Whoever knows tomorrow's request id could else have the nightly import vouch for rates that are not in it."""
    path = file(document())
    rates = {"rates": {"GBP": "1.1983223487", "SEK": "0.0864192196"}}
    payload = {**imported(opened("rates", "import-ecb", path, "--dry-run", "--json"))["payload"], **rates, **by_hand}
    request_file = tmp_path / "payload.json"
    request_file.write_text(json.dumps(payload))
    request = ("changes", "request", "rate-sheet", "--payload", str(request_file), "--reason=x")
    opened(*request, f"--request-id=ecb-EUR-{DAY}").ok()

    opened("rates", "import-ecb", path).refused(1, "jackpot: request-conflict: ")


def test_what_went_stale_is_asked_for_anew_under_another_id(
    opened: Jackpot, file: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file(document())
    opened("rates", "import-ecb", path).ok()
    without = ("changes", "request", "rate-sheet", "--base", "EUR", "--removed-currency", "CHF")
    opened(*without, "--reason=x", "--request-id=x").ok()
    become(opened, monkeypatch, "Bob")
    opened("changes", "approve", "x", "--reason", "checked").ok()
    opened("changes", "approve", f"ecb-EUR-{DAY}", "--reason", "checked").refused(1, "jackpot: change-stale: ")

    assert imported(opened("rates", "import-ecb", path, "--request-id", "again", "--json"))["base_version"] == "2"


def test_another_base_is_figured_by_the_cross_of_two_quotes_the_euro_among_them(opened: Jackpot, file: File) -> None:
    proposal = imported(opened("rates", "import-ecb", file(document()), "--base", "USD", "--json"))

    assert proposal["request_id"] == f"ecb-USD-{DAY}"
    assert proposal["payload"]["rates"] == {"EUR": "1.05", "GBP": "1.2582384661"}
    assert proposal["confirm"] == {}


def test_currencies_that_players_could_not_bet_in_are_taken_only_where_that_is_said(
    opened: Jackpot, file: File
) -> None:
    proposal = imported(opened("rates", "import-ecb", file(document()), "--all", "--json"))

    assert proposal["payload"]["rates"].keys() == {"GBP", "JPY", "SEK", "USD"}
    # Each of them is new, so it has to be looked at one by one.
    assert proposal["confirm"].keys() == {"JPY", "USD"}


def test_a_dry_run_shows_the_proposal_and_makes_none(opened: Jackpot, file: File) -> None:
    shown = opened("rates", "import-ecb", file(document()), "--dry-run", "--json")

    assert imported(shown)["effect"]["after"]["number"] == 2
    opened("changes", "show", f"ecb-EUR-{DAY}").refused(1, "jackpot: change-unknown: ")


def test_a_proposal_is_made_under_a_name_that_may_ask_for_rates(
    opened: Jackpot, file: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file(document())
    become(opened, monkeypatch, "Otto", "operator")
    opened("rates", "import-ecb", path).refused(1, "jackpot: role-forbidden: ")
    monkeypatch.delenv("JACKPOT_KEY")
    opened("rates", "import-ecb", path).refused(1, "unauthenticated", "JACKPOT_KEY")


# What is no such document.

LAUGHS = "".join(f'<!ENTITY l{n} "{"&l" + str(n - 1) + ";" if n else "ha"}{"x" * 10}">' for n in range(10))
NESTED = "<a>" * 100_000 + "</a>" * 100_000
TWO_DAYS = "</Cube><Cube time='2026-01-02'><Cube currency='USD' rate='1'/></Cube></Cube></gesmes:Envelope>"

NOT_DOCUMENTS: dict[str, str | bytes] = {
    "empty": "",
    "not XML": "GBP=1.17",
    "HTML": "<html><body>Service unavailable</body></html>",
    "cut off": document()[:-40],
    "with bytes after it": document() + "<more/>",
    "an entity that grows": f"<!DOCTYPE x [{LAUGHS}]>" + "<x>&l9;</x>",
    "a DTD": changed("<gesmes:Envelope", "<!DOCTYPE gesmes:Envelope><gesmes:Envelope"),
    "an external entity": '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><x>&f;</x>',
    "an external DTD": '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd"><x/>',
    "nested deeply": NESTED,
    "too large": document() + " " * (1 << 20),
    "of 100 MB": b"<a>" + b"x" * 100_000_000,
    "not UTF-8": b"\xff\xfe\x00",
    "in no encoding": changed('encoding="UTF-8"', 'encoding="klingon"'),
    "in UTF-7": changed('encoding="UTF-8"', 'encoding="utf-7"'),
    "of another namespace": changed("eurofxref", "eurofxref-hist"),
    "in no envelope": changed("http://www.gesmes.org/xml/2002-08-01", "http://www.gesmes.org/xml/2003"),
    "without a Cube": changed("Cube", "Tube"),
    "without a day": changed(f"time='{DAY}'", ""),
    "of no day": changed(f"time='{DAY}'", "time='2026-02-30'"),
    "of a day written otherwise": changed(f"time='{DAY}'", "time='20260102'"),
    "of a week": changed(f"time='{DAY}'", "time='2026-W01-1'"),
    "of a day to come": changed(str(DAY), str(DAY + timedelta(days=3))),
    "of two days": document().replace("</Cube>\n\t</Cube>\n</gesmes:Envelope>", TWO_DAYS),
    "without rates": changed("<Cube currency", "<Tube currency"),
    "with a currency twice": changed("'USD'", "'GBP'"),
    "with the euro": changed("'USD'", "'EUR'"),
    "with a word for a currency": changed("'USD'", "'Dollar'"),
    "with an escape": changed("'USD'", "'US&#10;D'"),
    "without a currency": changed("currency='USD'", ""),
    "without a rate": changed("rate='1.0500'", ""),
    "with an attribute twice": changed("rate='1.0500'", "rate='1.0500' rate='1.0500'"),
    **{f"with a rate of {rate}": changed("0.83450", rate) for rate in (
        "0", "0.000", "-0.8345", "NaN", "Infinity", "1e5", "0,8345", "", " 0.8345", "0x1", "\u0661", "9" * 5000,
    )},
    "that makes a rate of nothing": changed("0.83450", "99999999999999"),
}  # fmt: skip


def test_whatever_else_comes_in_is_one_line_and_nothing_is_written(
    opened: Jackpot, file: File, subtests: pytest.Subtests
) -> None:
    for what, content in NOT_DOCUMENTS.items():
        with subtests.test(what):
            ended = opened("rates", "import-ecb", file(content))

            assert (ended.status, ended.out) == (1, ""), ended
            output = ended.err.splitlines()
            assert len(output) == 1, ended.err[:1000]
            assert len(output[0]) < 300
    assert opened("changes", "list").ok() == ""
    opened("verify").ok()


def test_a_document_that_is_none_and_one_of_a_day_to_come_have_codes_of_their_own(opened: Jackpot, file: File) -> None:
    to_come = changed(str(DAY), str(DAY + timedelta(days=3)))

    opened("rates", "import-ecb", file("<html/>")).refused(1, "jackpot: document-invalid: ")
    opened("rates", "import-ecb", file(to_come)).refused(1, "jackpot: document-dated-ahead: ")


def test_where_there_is_no_document_one_line_says_so(opened: Jackpot, tmp_path: Path) -> None:
    opened("rates", "import-ecb", str(tmp_path / "none.xml")).refused(
        1, "Error: ", "none.xml cannot be read: No such file"
    )
    opened("rates", "import-ecb", str(tmp_path)).refused(1, "cannot be read: Is a directory")
    opened("rates", "import-ecb", "a\0b").refused(1, "cannot be read: ")


def test_a_base_that_is_not_quoted_or_has_no_sheet_gets_no_proposal(opened: Jackpot, file: File) -> None:
    path = file(document())

    opened("rates", "import-ecb", path, "--base", "CHF").refused(1, "jackpot: nothing-to-propose: ")
    opened("rates", "import-ecb", path, "--base", "CHF", "--all").refused(1, "jackpot: not-quoted: ")
    opened("rates", "import-ecb", path, "--base", "euro").refused(2, "'euro' must be three capital letters")


# From a URL.


@contextmanager
def served(
    content: bytes = b"", *, status: int = 200, headers: dict[str, str] | None = None, endless: bool = False
) -> Iterator[str]:
    """Serve one answer on the loopback interface, to whoever asks."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
            while endless:
                try:
                    self.wfile.write(b" " * 65536)
                except OSError:
                    return

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/eurofxref-daily.xml"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_a_document_is_read_from_a_url_and_is_the_same_as_from_a_file(opened: Jackpot, file: File) -> None:
    with served(document().encode()) as url:
        fetched = imported(opened("rates", "import-ecb", url, "--json"))

    again = imported(opened("rates", "import-ecb", file(document()), "--json"))
    assert without_effect(again) == without_effect(fetched)


OTHER_ANSWERS: Final[Sequence[tuple[dict[str, Any], str]]] = (
    ({"status": 404}, "answers 404"),
    ({"status": 302, "headers": {"Location": "http://127.0.0.1:9/"}}, "answers 302"),
    ({"endless": True}, "is larger than 1,048,576 bytes"),
    (
        {"content": gzip.compress(b" " * (64 << 20)), "headers": {"Content-Encoding": "gzip"}},
        "answers in a gzip that was not asked for",
    ),
    ({"content": b"half", "headers": {"Content-Length": "5000"}}, "cannot be read: "),
    ({"content": b"<html/>"}, "document-invalid"),
)


def test_a_url_that_gives_something_else_is_one_line(opened: Jackpot, subtests: pytest.Subtests) -> None:
    for answer, output in OTHER_ANSWERS:
        with subtests.test(output):
            with served(**answer) as url:
                ended = opened("rates", "import-ecb", url)

            ended.refused(1, output)
            assert len(ended.err.splitlines()) == 1


def test_a_url_that_does_not_come_to_an_end_is_given_up(opened: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ecb, "LONGEST_S", 0.0)
    with served(document().encode()) as url:
        opened("rates", "import-ecb", url).refused(1, "takes longer than 0 s")
    opened("rates", "import-ecb", url).refused(1, "cannot be read: ")
    opened("rates", "import-ecb", "http://").refused(1, "cannot be read: ")
    with_password = opened("rates", "import-ecb", "https://rita:hush-hush@bank.example/")
    with_password.refused(1, "holds a name or a password")
    assert "hush-hush" not in with_password.err


# Looking at sheets.


def test_a_sheet_is_shown_by_number_and_by_instant(opened: Jackpot) -> None:
    shown = opened("sheets", "show", "--base", "EUR").ok()

    assert opened("sheets", "show", "--base", "EUR", "--number", "1").ok() == shown
    assert opened("sheets", "show", "--base", "EUR", "--as-of", "2100-01-01T00:00:00Z").ok() == shown
    opened("sheets", "show", "--base", "EUR", "--as-of", "2001-01-01T00:00:00Z").refused(1, "jackpot: no-rate: ")
    opened("sheets", "show", "--base", "EUR", "--number", "2").refused(1, "jackpot: rate-sheet-unknown: ")
    opened("sheets", "show", "--base", "EUR", "--as-of", "2026-11-20T09:30:00").refused(2, "must be a time such as")
    both = opened("sheets", "show", "--base", "EUR", "--as-of", "2026-11-20T09:30:00Z", "--number", "1")
    both.refused(2, "give one of them")


def test_the_history_of_a_currency_is_listed_the_latest_first(opened: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, payload in enumerate(("--rate=CHF=1.06", "--removed-currency=CHF")):
        become(opened, monkeypatch, f"Ann {number}")
        opened("changes", "request", "rate-sheet", "--base=EUR", payload, "--reason=x", f"--request-id=x{number}").ok()
        become(opened, monkeypatch, f"Bob {number}")
        opened("changes", "approve", f"x{number}", "--reason", "checked").ok()

    _, *lines = opened("rates", "history", "--base", "EUR", "CHF").ok().splitlines()

    assert [line.split()[:3] for line in lines] == [["-", "EUR", "3"], ["1.06", "EUR", "2"], ["1.05", "EUR", "1"]]
    _, *lines = opened("sheets", "list", "--base", "EUR").ok().splitlines()
    assert [line.split()[:2] for line in lines] == [["EUR", "3"], ["EUR", "2"], ["EUR", "1"]]
