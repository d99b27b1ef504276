"""
How the service connects: by its own login, with settings and time-outs, to the first of its database's hosts.

A host that fell silent is asked last for a while, so that nobody waits for it while another answers. Names are looked
up here, in threads that nobody waits for longer than a connection may take: libpq would hold up the whole process.
"""

import ipaddress
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeVar

import psycopg
import sqlalchemy
from psycopg.conninfo import make_conninfo
from sqlalchemy import event

from jackpot_service.config.settings import Config
from jackpot_service.database import deadlines, outages, pipelines
from jackpot_service.database.clocks import DatabaseClock
from jackpot_service.database.deadlines import BoundedConnection, DeadlinePassed, Host, Origin
from jackpot_service.database.distribution import DISTRIBUTION, Distribution
from jackpot_service.database.tables import SEARCH_PATH

NETWORK = {
    "connect_timeout": 2,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 5000,
}
"""A host that falls silent must not hold a request for the minutes that TCP would wait; the URL may say otherwise."""

INDEXED = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
}
"""
Every statement of the hot path is planned once, and finds its few rows by an index. PostgreSQL would plan some of them
at each call, and keep plans that read whole tables, made while the tables were empty. `test_planner_settings` shows it.
"""

PLANNED_ANEW = {
    "plan_cache_mode": "force_custom_plan",
    "enable_seqscan": "on",
}
"""The same settings for a transaction that reads much of the books; no plan that is made so is kept for others."""


SPARE_S = 1.0
"""For so long the service waits for an answer when the database should have ended the statement by itself."""

LONGEST_OF_OWNER_S = 86_400.0
"""For so long the owner may change tables; while the database is alive, a statement has hours (`deadlines`)."""

LONGEST_KEPT_S = 600
"""So old a connection is not used any more, but another one made."""

SEQUENTIAL: Final[Mapping[str, str]] = MappingProxyType({"citus.multi_shard_modify_mode": "sequential"})
"""
A transaction that writes rows of every machine keeps to a single connection to each, or it would not see what it wrote.
A database on one machine takes the setting, and nothing reads it.
"""

DATABASE_CLOCK = "database_clock"
"""Under which an engine's options hold the clock of its database."""

HOSTS = "hosts"
"""Under which an engine's options hold what is known of the hosts of its database."""

ONLY_PIPELINES = "only_pipelines"
"""Of a session, as an option of its: that it must be asked by pipelines only, for nobody may wait otherwise."""

SUSPECT_FOR_S: Final = 30.0
"""For so long a host that fell silent is asked last, unless it answers before."""

USUAL_CONNECT_S: Final = 2.0

T = TypeVar("T")

Parameters = Mapping[str, Any]
"""The parameters of libpq for one attempt to connect: one host, one port, one address."""


def create_engine(config: Config, url: str) -> sqlalchemy.Engine:
    """Make the application's engine, on the URL of the service's own login: UTC, and the configuration's time-outs."""
    options = {
        "search_path": SEARCH_PATH,
        "timezone": "UTC",
        "statement_timeout": config.statement_timeout_ms,
        "lock_timeout": config.lock_timeout_ms,
        "idle_in_transaction_session_timeout": 60_000,
        **INDEXED,
        **SEQUENTIAL,
    }
    engine = sqlalchemy.create_engine(
        url,
        pool_size=config.pool_size,
        max_overflow=0,
        pool_timeout=config.pool_timeout_s,
        pool_recycle=LONGEST_KEPT_S,
        pool_use_lifo=True,
        pool_reset_on_return="rollback",
        connect_args=_connect_args(url, options),
    )
    silence_s = min(config.statement_timeout_ms / 1000 + SPARE_S, config.request_timeout_s)
    hosts = Hosts(outages.shared_instants(url, silence_s=silence_s))
    clock, distribution = DatabaseClock(), Distribution()
    event.listen(engine, "do_connect", _Connecting(hosts, silence_s=silence_s))
    event.listen(engine, "connect", partial(_look, clock, distribution))
    event.listen(engine, "connect", _keep_notices)
    event.listen(engine, "checkout", _refuse_suspect)
    event.listen(engine, "before_cursor_execute", _require_may_wait)
    event.listen(engine, "before_cursor_execute", partial(_written, distribution), retval=True)
    known = {DATABASE_CLOCK: clock, HOSTS: hosts, DISTRIBUTION: distribution}
    return engine.execution_options(**{"request_timeout_s": config.request_timeout_s, **known})


def create_owners_engine(url: str, *, lock_timeout_ms: int) -> sqlalchemy.Engine:
    """Make an engine for the tables' owner, to change them while the service runs: it waits for no lock for long."""
    options = {"search_path": SEARCH_PATH, "timezone": "UTC", "lock_timeout": lock_timeout_ms, **SEQUENTIAL}
    engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool, connect_args=_connect_args(url, options))
    event.listen(engine, "do_connect", _Connecting(Hosts(), silence_s=None))
    event.listen(engine, "connect", _keep_notices)
    return engine.execution_options(request_timeout_s=LONGEST_OF_OWNER_S)


class _Connecting:
    """Makes connections that are silent for so long at most, by what SQLAlchemy has read from the URL."""

    def __init__(self, hosts: "Hosts", *, silence_s: float | None) -> None:
        self._silence_s = silence_s
        self._hosts = hosts

    def __call__(self, _dialect: object, _record: object, _arguments: object, parameters: dict[str, Any]) -> Any:  # noqa: ANN401  as SQLAlchemy has it
        of_libpq = {name: value for name, value in parameters.items() if name != "context"}  # That is the driver's.
        connection = connect(self._hosts, of_libpq)
        connection.silence_s = self._silence_s
        connection.is_of_a_call = self._silence_s is not None
        # Frequent statements go by pipelines, which prepare their statements themselves.
        connection.prepare_threshold = None
        return connection


def _connect_args(url: str, options: Mapping[str, object]) -> dict[str, object]:
    network = {name: value for name, value in NETWORK.items() if name not in sqlalchemy.make_url(url).query}
    return {
        **network,
        "options": " ".join(f"-c {name}={value}" for name, value in options.items()),
    }


def _require_may_wait(session: sqlalchemy.Connection, cursor: psycopg.Cursor[Any], *_: object) -> None:
    """Raises: RuntimeError if this must not be asked so; CallOver."""
    deadlines.require_time_of(cursor.connection)
    pipelines.require_none_open(cursor.connection)
    if session.get_execution_options().get(ONLY_PIPELINES):
        message = "This session is asked by pipelines only."
        raise RuntimeError(message)


def _refuse_suspect(connection: BoundedConnection, *_: object) -> None:
    """Raises: DisconnectionError, so that the pool makes another connection."""
    if connection.is_suspect:
        message = "The host fell silent, or a connection from then was lost."
        raise sqlalchemy.exc.DisconnectionError(message)


def _look(clock: DatabaseClock, distribution: Distribution, connection: BoundedConnection, _record: object) -> None:
    """Look at a database as a connection to it begins: what its clock says, and whether it is of several machines."""
    connection.autocommit = True
    clock.read(lambda: connection.execute("SELECT clock_timestamp()").fetchall()[0][0])
    distribution.recognise(connection)
    connection.autocommit = False


def _written(
    distribution: Distribution,
    _session: sqlalchemy.Connection,
    _cursor: psycopg.Cursor[Any],
    statement: str,
    parameters: T,
    *_: object,
) -> tuple[str, T]:
    return distribution.written(statement), parameters


def _keep_notices(connection: psycopg.Connection[Any], record: Any) -> None:  # noqa: ANN401  SQLAlchemy's own type is internal
    """Remember warnings: one that is raised during COMMIT says that the commit is not (yet) safe."""
    warnings = record.info["warnings"] = []

    def keep(diagnostic: psycopg.errors.Diagnostic) -> None:
        if diagnostic.severity_nonlocalized == "WARNING":
            warnings.append(diagnostic.message_primary)

    connection.add_notice_handler(keep)


@dataclass(eq=False)
class Hosts:
    """The hosts of one database, when each had an outage, and the look-ups of their names."""

    _outages: "memoryview[float]" = field(default_factory=outages.unshared_instants)
    _known: dict[tuple[str | None, str | None], Host] = field(default_factory=dict)
    _looking_up: dict[Host, "_LookUp"] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def in_order(self, parameters: Parameters) -> Sequence[tuple[Host, Parameters]]:
        """Return the hosts to try in turn, those that fell silent of late at the end."""
        return sorted(self._hosts_of(parameters), key=lambda host: _is_silent(host[0]))

    def abandon_connections(self, *, since: float) -> None:
        """Note that no connection from before now is used again: one of them was lost, and the others may be."""
        for host in tuple(self._known.values()):
            host.abandon_connections(since=since)

    def addresses(self, host: Host, *, longest_s: float) -> Sequence[str | None]:
        """
        Return the addresses of a host, None where libpq needs none.

        Raises: psycopg.OperationalError if it is not known, or nobody says so in time.
        """
        if host.name is None or host.name.startswith(("/", "@")) or _is_address(host.name):
            return (None,)
        with self._lock:
            look_up = self._looking_up.get(host)
            if look_up is None or look_up.is_over.is_set():
                look_up = self._looking_up[host] = _LookUp(host)
                look_up.start()
        look_up.is_over.wait(longest_s)
        return look_up.addresses()

    def _hosts_of(self, parameters: Parameters) -> Iterator[tuple[Host, Parameters]]:
        """Split parameters that name several hosts; their ports are one for all, or one each."""
        names = _listed(parameters, "host")
        addresses, ports = _listed(parameters, "hostaddr"), _listed(parameters, "port")
        count = max(len(names), len(addresses), 1)
        if len(ports) not in {0, 1, count}:
            message = f"{len(ports)} ports do not go with {count} hosts"
            raise psycopg.OperationalError(message)
        for number in range(count):
            own = {"host": _nth(names, number), "hostaddr": _nth(addresses, number)}
            own["port"] = _nth(ports, 0 if len(ports) == 1 else number)
            name = own["hostaddr"] or own["host"]
            known_by = outages.host_instants(self._outages, number)
            host = self._known.setdefault((name, own["port"]), Host(name, own["port"], known_by))
            yield host, {**parameters, **own}


class _LookUp(threading.Thread):
    """Looks one name up; all who need it meanwhile wait for the same."""

    def __init__(self, host: Host) -> None:
        super().__init__(name=f"look-up of {host.name}", daemon=True)
        self.is_over = threading.Event()
        self._host = host
        self._addresses: Sequence[str] = ()
        self._error = "nobody says where it is"

    def run(self) -> None:
        try:
            infos = socket.getaddrinfo(self._host.name, self._host.port or 5432, type=socket.SOCK_STREAM)
            self._addresses = tuple(dict.fromkeys(str(address[0]) for *_, address in infos))
        except OSError as error:
            self._error = str(error)
        finally:
            self.is_over.set()

    def addresses(self) -> Sequence[str]:
        if not self._addresses:
            message = f"could not look up the host {self._host.name!r}: {self._error}"
            raise psycopg.OperationalError(message)
        return self._addresses


def connect(hosts: Hosts, parameters: Parameters) -> BoundedConnection:
    """
    Connect to the first of the hosts that takes us, within the time that the call has left.

    Each gets `connect_timeout` seconds, or its share of what is left. Raises: psycopg.OperationalError, CallOver.
    """
    deadlines.require_time()
    longest_s = _connect_s(parameters)
    errors: list[psycopg.OperationalError] = []
    attempts = hosts.in_order(parameters)
    for number, (host, own) in enumerate(attempts):
        left = deadlines.left_s()
        share = longest_s if left is None else min(longest_s, max(left, deadlines.LEAST_S) / (len(attempts) - number))
        try:
            return _connected(hosts, host, own, share, is_patient=share > longest_s / len(attempts) / 2)
        except psycopg.OperationalError as error:
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    message = "; ".join(str(error).strip() for error in errors)
    raise type(errors[-1])(message, pgconn=errors[-1].pgconn) from None


def _connected(
    hosts: Hosts, host: Host, parameters: Parameters, longest_s: float, *, is_patient: bool
) -> BoundedConnection:
    """Connect to a host. One that does not answer is noted as silent only by a call that had time to wait for it."""
    began = time.monotonic()
    addresses = hosts.addresses(host, longest_s=longest_s)
    for number, address in enumerate(addresses):
        conninfo = make_conninfo(**(parameters if address is None else {**parameters, "hostaddr": address}))
        left_s = longest_s - (time.monotonic() - began)
        try:
            pgconn = deadlines.open_by_steps(conninfo, host, left_s / (len(addresses) - number))
        except psycopg.OperationalError as error:
            if number < len(addresses) - 1:
                continue
            if isinstance(error, DeadlinePassed) and is_patient:
                host.fell_silent()
            raise
        host.answered_at = time.monotonic()
        connection = BoundedConnection(pgconn)
        connection.origin = Origin(host, conninfo, began)
        return connection
    raise AssertionError  # the last address has raised


def _connect_s(parameters: Parameters) -> float:
    """As libpq takes it: nothing, and 0, mean without an end there, and the usual here."""
    try:
        return float(parameters.get("connect_timeout") or 0) or USUAL_CONNECT_S
    except ValueError as error:
        raise psycopg.OperationalError(f"connect_timeout: {error}") from None


def _is_silent(host: Host) -> bool:
    return host.fell_silent_at > max(host.answered_at, time.monotonic() - SUSPECT_FOR_S)


def _listed(parameters: Parameters, name: str) -> Sequence[str]:
    value = parameters.get(name)
    return () if value is None else str(value).split(",")


def _nth(values: Sequence[str], number: int) -> str | None:
    return (values[number] or None) if number < len(values) else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
