"""Sign-ins without a ledger: what is kept is for one user and one command at a time, and strangers are not trusted."""

import fcntl
import json
import os
import re
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from jackpot_service.cli import sign_in
from jackpot_service.cli.service_api import NoAnswer, ServiceError
from jackpot_service.cli.sign_in import SignedIn
from tests.support.command_line import Jackpot, program
from tests.support.issuer import AUDIENCE, LocalIssuer, local_issuer
from tests.support.stranger import Reply, Stranger
from tests.support.stranger import stranger as stranger  # noqa: PLC0414  a fixture of these tests

URL: Final = "https://ledger.example"
INVITED: Final = {"device_code": "d", "user_code": "WDJB-MJHT", "verification_uri": "https://sign-in.example/device"}


def signed_in(ends_at: float, token: str = "token") -> SignedIn:  # noqa: S107  no password
    """A sign-in that nobody renews."""
    return SignedIn(token, int(ends_at), "to-renew", "http://127.0.0.1:1/token", "command-line", AUDIENCE)


@contextmanager
def held() -> Iterator[None]:
    """Be another command of this user."""
    sign_in.file().parent.mkdir(parents=True, exist_ok=True)
    with sign_in.file().with_name("sign-in.json.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def started(act: Callable[[], object]) -> tuple[threading.Thread, list[object]]:
    """Start something that has to wait, and return it with where its result will be."""
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(act()), daemon=True)
    thread.start()
    thread.join(0.3)
    assert thread.is_alive()
    return thread, results


@pytest.mark.parametrize(
    ("act", "left"), [(lambda: sign_in.keep(f"{URL}/b", signed_in(1)), 2), (lambda: sign_in.sign_out(URL), 0)]
)
def test_what_is_kept_is_changed_by_one_command_at_a_time(act: Callable[[], object], left: int) -> None:
    sign_in.keep(URL, signed_in(1))
    with held():
        thread, _ = started(act)

    thread.join(10)

    assert len(json.loads(sign_in.file().read_text())) == left


def test_who_signs_out_while_another_command_waits_is_signed_out() -> None:
    sign_in.keep(URL, signed_in(time.time() + 10))
    with held():
        thread, results = started(lambda: sign_in.token_for(URL))
        sign_in.file().write_text("{}")

    thread.join(10)

    assert results == [None]


def test_what_another_user_kept_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    sign_in.keep(URL, signed_in(time.time() + 3600))
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)

    with pytest.raises(ServiceError, match="is another user's"):
        sign_in.token_for(URL)


def test_what_cannot_be_kept_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    sign_in.keep(URL, signed_in(1, "before"))

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ServiceError, match="cannot be written: No space left on device"):
        sign_in.keep(URL, signed_in(1, "after"))

    assert json.loads(sign_in.file().read_text())[URL]["token"] == "before"
    assert {file.name for file in sign_in.file().parent.iterdir()} == {"sign-in.json", "sign-in.json.lock"}


@pytest.fixture
def issuer() -> Iterator[LocalIssuer]:
    """An issuer that takes sign-ins of devices, and gives a token at once."""
    with local_issuer() as issuer:
        places = {"device_authorization_endpoint": f"{issuer.url}/device", "token_endpoint": f"{issuer.url}/token"}
        issuer.answer("/.well-known/openid-configuration", {"issuer": issuer.url, **places})
        issuer.replies["/device"] = [(200, INVITED)]
        issuer.replies["/token"] = [(200, {"access_token": issuer.token(datetime.now(UTC))})]
        yield issuer


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """For how long commands waited, which takes no time here."""
    result: list[float] = []
    monkeypatch.setattr("jackpot_service.cli.sign_in.time.sleep", result.append)
    return result


def agreed(issuer: LocalIssuer) -> SignedIn:
    about = {"sign_in": {"issuer": issuer.url, "client_id": "command-line", "audience": AUDIENCE}}
    return sign_in.sign_in(URL, about, lambda _: None)


@pytest.mark.parametrize("place", ["javascript:alert(1)", "file:///etc/passwd", "https://a\nOpen http://b", "", 7])
def test_a_page_to_agree_at_is_one_of_the_web(issuer: LocalIssuer, naps: list[float], place: object) -> None:
    issuer.replies["/device"] = [(200, INVITED | {"verification_uri": place})]

    with pytest.raises(NoAnswer, match="the issuer names no page to agree at: "):
        agreed(issuer)

    assert naps == []


def test_no_wait_is_longer_than_the_code_lasts(issuer: LocalIssuer, naps: list[float]) -> None:
    issuer.replies["/device"] = [(200, INVITED | {"expires_in": 60, "interval": 10**9})]

    agreed(issuer)

    assert [round(nap) for nap in naps] == [60]


@pytest.mark.parametrize(("end", "expected"), [(2e9, 2_000_000_000), (2_000_000_000.75, 2_000_000_000), (1e300, 0)])
def test_the_end_of_a_token_may_have_decimals(
    issuer: LocalIssuer, naps: list[float], end: float, expected: int
) -> None:
    issuer.replies["/token"] = [(200, {"access_token": issuer.token(datetime.now(UTC), exp=end)})]

    assert agreed(issuer).ends_at == expected
    assert len(naps) == 1


@pytest.fixture
def jackpot(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Jackpot:
    """The program, without a database."""
    return program(monkeypatch, capsys, "postgresql+psycopg://nobody@/nothing?host=/nowhere")


CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


@pytest.mark.usefixtures("naps")
def test_texts_of_strangers_control_no_terminal(
    issuer: LocalIssuer, stranger: Stranger, jackpot: Jackpot, subtests: pytest.Subtests
) -> None:
    hostile = "\x1b[2K\r"
    answers: dict[str, Any] = {"issuer": issuer.url, "client_id": "command-line", "audience": AUDIENCE}
    replies = {"/v1/service": Reply(body={"sign_in": answers}), "/v1/me": Reply(body={"principal": f"Ann{hostile}"})}
    stranger.about, stranger.answers = None, lambda path, _query: replies[path]
    issuer.replies["/device"] = [(200, INVITED | {"user_code": f"A{hostile}B\nC"})]

    with subtests.test("who signed in, and by which code"):
        ended = jackpot("login")
        assert "agree there to the code A\\x1b[2K B C." in ended.err
        assert "as Ann\\x1b[2K\\r." in ended.err
        assert not CONTROL.search(ended.err)

    for name, text in (("issuer", hostile), ("issuer", f"/{hostile}"), ("audience", hostile)):
        with subtests.test(name):
            replies["/v1/service"] = Reply(body={"sign_in": answers | {name: f"{answers[name]}{text}"}})
            ended = jackpot("login")
            assert (ended.status in {1, 3}, CONTROL.search(ended.err)) == (True, None), ended


def certified(folder: Path) -> Path:
    """Write a certificate of this machine that signs itself, with its key, and return where."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, result = serialization.Encoding.PEM, folder / "localhost.pem"
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    result.write_bytes(secret + certificate.public_bytes(pem))
    return result


def test_an_issuer_is_known_by_the_certificates_of_the_machine(
    issuer: LocalIssuer, naps: list[float], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = certified(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(place)
    monkeypatch.setenv("SSL_CERT_FILE", str(place))
    server = issuer.server
    server.socket = context.wrap_socket(server.socket, server_side=True)
    issuer.url = f"https://localhost:{server.server_port}"
    places = {"device_authorization_endpoint": f"{issuer.url}/device", "token_endpoint": f"{issuer.url}/token"}
    issuer.answer("/.well-known/openid-configuration", {"issuer": issuer.url, **places})

    assert agreed(issuer).audience == AUDIENCE
    assert len(naps) == 1
