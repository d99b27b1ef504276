"""
Three nodes of Patroni on this machine, as docs/production/patroni.yml sets them up, with HAProxy in front.

The files are those of the documentation. What a machine of its own would have otherwise is replaced: addresses and
directories, by Patroni's own environment where it has a variable for them.
"""

import os
import pwd
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import httpx
import psycopg
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.faults.service import HOST, free_port

PRODUCTION: Final = Path(__file__).resolve().parents[2] / "docs" / "production"
BINARIES: Final = Path("/usr/lib/postgresql/15/bin")
PROGRAMS: Final = ("patroni", "etcd", "haproxy", str(BINARIES / "postgres"))
NODES: Final = ("pg1", "pg2", "pg3")
ADDRESSES: Final = {"pg1": "10.0.0.11", "pg2": "10.0.0.12", "pg3": "10.0.0.13"}
DATABASE: Final = "jackpot"
PASSWORD: Final = "p@ss:w/rd#1%"
LONGEST_WAIT_S: Final = 90
STANDING_BY: Final = ("running", "streaming")


def missing() -> str | None:
    """Return why no cluster can be started here; None if one can."""
    lacking = [program for program in PROGRAMS if shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin") is None]
    if lacking:
        return f"apt-get install patroni etcd-server haproxy postgresql-15: {', '.join(lacking)} not found"
    return None


@dataclass
class Node:
    """One of the nodes: where it answers, and the process of its Patroni while it runs."""

    name: str
    directory: Path
    port: int
    rest_port: int
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def data(self) -> Path:
        """PostgreSQL's data directory."""
        return self.directory / "data"

    def family(self) -> Sequence[int]:
        """Every process of the node: its Patroni, its PostgreSQL, and what they have started."""
        roots = set[int]() if self.process is None else {self.process.pid}
        postmaster = self._postmaster()
        return _family(roots if postmaster is None else roots | {postmaster})

    def _postmaster(self) -> int | None:
        """Return the server's process. The file of a killed one stays, and its number may be another's by now."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().split()[0])
            return pid if Path(f"/proc/{pid}/cwd").samefile(self.data) else None
        except (OSError, IndexError, ValueError):
            return None

    def is_leader(self) -> bool:
        """Whether its Patroni says that it is the leader."""
        with suppress(httpx.TransportError):
            return httpx.get(f"http://{HOST}:{self.rest_port}/primary", trust_env=False, timeout=1).status_code == 200
        return False


@dataclass
class PatroniCluster:
    """Three nodes, the etcd that they agree by, and HAProxy, which leads to the leader."""

    directory: Path
    etcd_port: int
    proxy_port: int
    nodes: Mapping[str, Node]
    programs: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The database by all hosts at once, whichever is the leader."""
        hosts = ",".join(f"{HOST}:{node.port}" for node in self.nodes.values())
        return f"{self._user}@{hosts}/{DATABASE}?target_session_attrs=read-write"

    @property
    def proxied_url(self) -> str:
        """The database by HAProxy."""
        return f"{self._user}@{HOST}:{self.proxy_port}/{DATABASE}"

    @property
    def _user(self) -> str:
        encoded = PASSWORD.translate({ord(letter): f"%{ord(letter):02X}" for letter in "@:/#%"})
        return f"postgresql://postgres:{encoded}"

    def leader(self) -> str:
        """Wait until there is one leader, and return its name. Raises: TimeoutError."""
        until = time.monotonic() + LONGEST_WAIT_S
        while time.monotonic() < until:
            leaders = [node.name for node in self.nodes.values() if node.is_leader()]
            if len(leaders) == 1:
                return leaders[0]
            time.sleep(0.2)
        raise TimeoutError(f"there is no leader: {self._last_words()}")

    def is_in_sync(self) -> bool:
        """Whether the leader has a standby that its commits wait for, and that may become the leader."""
        members = self._members_by(self.leader())
        return any(member["role"] == "sync_standby" and member["state"] in STANDING_BY for member in members)

    def _members_by(self, name: str) -> list[dict[str, str]]:
        """Return the members of the cluster as one of them knows them; none, if it does not answer."""
        try:
            members: list[dict[str, str]] = httpx.get(
                f"http://{HOST}:{self.nodes[name].rest_port}/cluster", trust_env=False, timeout=3
            ).json()["members"]
        except httpx.TransportError:
            return []
        return members

    def clear(self) -> None:
        """Wait until all is well, and make the database anew, empty."""
        leader = self.leader()
        self.wait_until(self.is_in_sync, "no standby gets in sync")
        with self.connected(leader) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {DATABASE}")

    @contextmanager
    def connected(self, node: str, database: str = "postgres") -> Iterator[psycopg.Connection[tuple[object, ...]]]:
        """Connect to one of the nodes as the superuser."""
        with psycopg.connect(
            host=HOST,
            port=self.nodes[node].port,
            user="postgres",
            password=PASSWORD,
            dbname=database,
            autocommit=True,
            connect_timeout=3,
            options=f"-c statement_timeout={LONGEST_WAIT_S}s",
        ) as connection:
            yield connection

    def kill(self, name: str) -> None:
        """Kill every process of a node at once, as a power cut would."""
        node = self.nodes[name]
        pids = node.family()
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if node.process is not None:
            node.process.wait()
            node.process = None
        self.wait_until(lambda: not any(map(_is_alive, pids)), f"{name} does not die")

    def freeze(self, name: str) -> None:
        """Stop every process of a node where it is; its sockets stay open, and its kernel answers for it."""
        self._signal(name, signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        """Let a frozen node go on."""
        self._signal(name, signal.SIGCONT)

    def revive(self, name: str) -> None:
        """Start a node that was killed; Patroni brings it back as a standby."""
        _start_node(self, self.nodes[name])

    def stop(self) -> None:
        """End all processes, and leave none behind."""
        for name in self.nodes:
            self.thaw(name)
            self.kill(name)
        for process in self.programs:
            process.kill()
            process.wait()

    def wait_until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait for something that the cluster comes to by itself. Raises: TimeoutError."""
        until = time.monotonic() + LONGEST_WAIT_S
        while time.monotonic() < until:
            with suppress(psycopg.Error):
                if holds():
                    return
            time.sleep(0.2)
        raise TimeoutError(f"{what}: {self._last_words()}")

    def _signal(self, name: str, number: signal.Signals) -> None:
        for pid in self.nodes[name].family():
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def _last_words(self) -> str:
        views = [f"{name} knows {self._members_by(name)}" for name in NODES]
        logs = [log.read_text(errors="replace")[-1500:] for log in sorted(self.directory.glob("*.log"))]
        return "\n".join([*views, *logs])


def start(directory: Path) -> PatroniCluster:
    """Start three nodes and wait until bets could be kept safe: a leader, a synchronous standby, and the database."""
    directory.chmod(0o711)
    ports = {name: (free_port(), free_port()) for name in NODES}
    nodes = {name: Node(name, _own(directory / name), *ports[name]) for name in NODES}
    cluster = PatroniCluster(directory, free_port(), free_port(), nodes)
    try:
        _write_certificate(_own(directory / "tls"))
        _own(directory / "archive")
        _start_etcd(cluster)
        for node in nodes.values():
            _start_node(cluster, node)
        _start_proxy(cluster)
        cluster.clear()
    except BaseException:
        cluster.stop()
        raise
    return cluster


def configuration(directory: Path) -> str:
    """Return docs/production/patroni.yml with its directories below another one."""
    text = (PRODUCTION / "patroni.yml").read_text()
    return text.replace("/srv/archive", str(directory / "archive")).replace("/etc/patroni", str(directory / "tls"))


def _start_etcd(cluster: PatroniCluster) -> None:
    client, peer = (f"http://{HOST}:{port}" for port in (cluster.etcd_port, free_port()))
    command = ["etcd", "--name=etcd", f"--data-dir={_own(cluster.directory / 'etcd')}", "--log-level=error"]
    command += [f"--listen-client-urls={client}", f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}"]
    command += [f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=etcd={peer}"]
    cluster.programs.append(_run(cluster, "etcd", command))


def _start_node(cluster: PatroniCluster, node: Node) -> None:
    settings = cluster.directory / "patroni.yml"
    settings.write_text(configuration(cluster.directory))
    environment = {
        "PATRONI_NAME": node.name,
        "PATRONI_ETCD3_HOSTS": f"{HOST}:{cluster.etcd_port}",
        "PATRONI_RESTAPI_LISTEN": f"{HOST}:{node.rest_port}",
        "PATRONI_RESTAPI_CONNECT_ADDRESS": f"{HOST}:{node.rest_port}",
        "PATRONI_RESTAPI_PASSWORD": PASSWORD,
        "PATRONI_POSTGRESQL_LISTEN": f"{HOST}:{node.port}",
        "PATRONI_POSTGRESQL_CONNECT_ADDRESS": f"{HOST}:{node.port}",
        "PATRONI_POSTGRESQL_DATA_DIR": str(node.data),
        "PATRONI_POSTGRESQL_PGPASS": str(node.directory / "pgpass"),
        **{f"PATRONI_{who}_PASSWORD": PASSWORD for who in ("SUPERUSER", "REPLICATION", "REWIND")},
    }
    lines = (f"{name}={shlex.quote(value)}\n" for name, value in environment.items())
    (cluster.directory / "patroni.env").write_text("".join(lines))
    node.process = _run(cluster, node.name, ["patroni", str(settings)], environment)


def _start_proxy(cluster: PatroniCluster) -> None:
    text = (PRODUCTION / "haproxy.cfg").read_text().replace(f"{HOST}:5000", f"{HOST}:{cluster.proxy_port}")
    for node in cluster.nodes.values():
        place, here = f"{ADDRESSES[node.name]}:5432 check port 8008", f"{HOST}:{node.port} check port {node.rest_port}"
        assert place in text
        text = text.replace(place, here)
    settings = cluster.directory / "haproxy.cfg"
    settings.write_text(text)
    cluster.programs.append(_run(cluster, "haproxy", ["haproxy", "-db", "-f", str(settings)]))


def _run(
    cluster: PatroniCluster, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None
) -> "subprocess.Popen[bytes]":
    """Start a program as the account that PostgreSQL may run as; what it says is in a file of its name."""
    with (cluster.directory / f"{name}.log").open("ab") as log:
        return subprocess.Popen(
            [*_as_account(), *command],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", **(environment or {})},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _as_account() -> Sequence[str]:
    """Return the words that make a command run as PostgreSQL's account, which root may not be."""
    return ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups") if os.geteuid() == 0 else ()


def _own(directory: Path) -> Path:
    """Make a directory that is the account's alone."""
    directory.mkdir(mode=0o700, exist_ok=True)
    _give(directory)
    return directory


def _give(path: Path) -> None:
    if os.geteuid() == 0:
        account = pwd.getpwnam("postgres")
        os.chown(path, account.pw_uid, account.pw_gid)


def _write_certificate(directory: Path) -> None:
    """Write a key and a certificate signed by itself, as an operator's own authority would give one."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name.from_rfc4514_string("CN=pg")
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    certificate = builder.not_valid_before(now).not_valid_after(now + timedelta(days=1)).sign(key, hashes.SHA256())
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    for file, content in (
        (directory / "server.key", key.private_bytes(*form)),
        (directory / "server.crt", certificate.public_bytes(serialization.Encoding.PEM)),
    ):
        file.write_bytes(content)
        file.chmod(0o600)
        _give(file)


def _family(roots: set[int]) -> Sequence[int]:
    """Return the processes and all that descend from them, the elders first."""
    children: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(place.name))
    family = sorted(roots)
    for pid in family:
        family.extend(child for child in children.get(pid, []) if child not in family)
    return [pid for pid in family if _is_alive(pid)]


def _is_alive(pid: int) -> bool:
    """Whether a process runs, or is stopped; one that has ended and waits for its parent to notice does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False
