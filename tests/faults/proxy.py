"""nginx as docs/production/nginx.conf has it, in front of a running service; its places are the test's, and a limit."""

import os
import shutil
import signal
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.faults.processes import wait_until
from tests.faults.service import HOST, Service, free_port

CONFIGURATION = Path(__file__).parents[2] / "docs/production/nginx.conf"
NAME = "jackpot.example"
MOST_CONNECTIONS = 20
"""Of an address: fewer than in production, so that a slow machine opens them before the first is late."""

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A running nginx."""

    port: int
    directory: Path

    @property
    def base_url(self) -> str:
        return f"https://{HOST}:{self.port}"

    @property
    def trust(self) -> ssl.SSLContext:
        """What makes a client trust its certificate."""
        context = ssl.create_default_context(cafile=self.directory / "fullchain.pem")
        context.check_hostname = False
        return context


@contextmanager
def proxied(service: Service, directory: Path) -> Iterator[Proxy]:
    """Run nginx in front of a service, which serves people too."""
    with proxied_ports(service.port, service.port, directory) as proxy:
        yield proxy


@contextmanager
def proxied_ports(port: int, of_people: int, directory: Path) -> Iterator[Proxy]:
    """Run nginx in front of what listens at two ports, the second for people."""
    assert NGINX is not None
    proxy = Proxy(free_port(), directory)
    directory.chmod(0o755)  # Its workers run as another account, where the tests run as root.
    (directory / "body").mkdir(mode=0o777)
    (directory / "body").chmod(0o777)
    _certify(directory)
    configuration = directory / "nginx.conf"
    configuration.write_text(_moved(CONFIGURATION.read_text(), port, of_people, proxy))
    command = [NGINX, "-e", "stderr", "-p", str(directory), "-c", str(configuration), "-g", "daemon off;"]
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    with (directory / "nginx.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            wait_until((directory / "nginx.pid").read_text)  # Empty since it was tested; written when nginx listens.
            yield proxy
        finally:
            process.send_signal(signal.SIGQUIT if process.poll() is None else 0)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.terminate()


def _moved(text: str, port: int, of_people: int, proxy: Proxy) -> str:
    """Put the test's places into the configuration; each has to be there."""
    moves = {
        "pid /run/nginx.pid;": f"pid {proxy.directory}/nginx.pid;",
        "/var/lib/nginx/body": f"{proxy.directory}/body",
        "server 127.0.0.1:8000 max_fails": f"server {HOST}:{port} max_fails",
        "server 127.0.0.1:8001 max_fails": f"server {HOST}:{of_people} max_fails",
        "listen 443 ssl;": f"listen {HOST}:{proxy.port} ssl;",
        "listen [::]:443 ssl;": "",
        "limit_conn per_address 200;": f"limit_conn per_address {MOST_CONNECTIONS};",
        "/etc/ssl/jackpot/": f"{proxy.directory}/",
    }
    for there, here in moves.items():
        assert there in text, there
        text = text.replace(there, here)
    return text


def _certify(directory: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (directory / "fullchain.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    form = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (directory / "privkey.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *form))
