"""Whose certificates are trusted: those that the machine trusts, and others only where the caller says so."""

import ipaddress
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from jackpot_client import NotSent
from jackpot_client.connection import usual_tls
from tests.support.scripted import FRAME_JSON, MakeClient

pytestmark = pytest.mark.slow

HOST: Final = "127.0.0.1"
NOWHERE: Final = "/nowhere"
BODY: Final = json.dumps(FRAME_JSON).encode()
ANSWER: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
)


@dataclass(frozen=True, slots=True)
class Secured:
    """A service over TLS, and the file of the certificate that is to be trusted for it."""

    url: str
    certificate: Path


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[Secured]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate = write_certificate(tmp_path)
    context.load_cert_chain(certificate)
    with socket.create_server((HOST, 0)) as server:

        def take() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection, suppress(OSError), context.wrap_socket(connection, server_side=True) as tls:
                        tls.recv(65536)
                        tls.sendall(ANSWER)

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        yield Secured(f"https://{HOST}:{server.getsockname()[1]}", certificate)
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def write_certificate(folder: Path) -> Path:
    """Write a key and its certificate, which it signed itself, into one file."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name.from_rfc4514_string("CN=service")
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST))])
    certificate = builder.add_extension(address, critical=False).sign(key, hashes.SHA256())
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / "service.pem"
    file.write_bytes(key.private_bytes(*form) + certificate.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    """Let each test's clients look again at what the machine trusts."""
    usual_tls.cache_clear()
    yield
    usual_tls.cache_clear()


def let_the_machine_trust(monkeypatch: pytest.MonkeyPatch, *, file: str = NOWHERE) -> None:
    """Name the places of certificates as another build of OpenSSL would."""
    places = ssl.get_default_verify_paths()._replace(openssl_cafile=file, openssl_capath=NOWHERE)
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: places)


def test_a_certificate_that_the_machine_trusts_is_trusted(
    make_client: MakeClient, secured: Secured, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_the_machine_trust(monkeypatch, file=str(secured.certificate))
    assert make_client(secured.url).feed_frame(jackpot_id="live").cycle == 1


def test_a_certificate_that_only_a_variable_names_is_trusted_if_the_environment_is(
    make_client: MakeClient, secured: Secured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(secured.certificate))
    with pytest.raises(NotSent, match="CERTIFICATE_VERIFY_FAILED"):
        make_client(secured.url).feed_frame(jackpot_id="live")
    assert make_client(secured.url, trust_env=True).feed_frame(jackpot_id="live").cycle == 1


def test_the_callers_own_certificates_replace_those_of_the_machine(make_client: MakeClient, secured: Secured) -> None:
    own = ssl.create_default_context(cafile=secured.certificate)
    assert make_client(secured.url, tls=own).feed_frame(jackpot_id="live").cycle == 1


def test_a_machine_whose_openssl_has_no_places_uses_what_its_system_has(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = ssl.create_default_context().get_ca_certs()
    let_the_machine_trust(monkeypatch)
    assert usual_tls(trust_env=False).get_ca_certs() == usual
