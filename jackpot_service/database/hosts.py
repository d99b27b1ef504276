"""
The hosts of a database, and in which order they are asked for a connection.

One that fell silent is asked last for a while, so that nobody waits for it while another answers. Names are looked up
here, in threads that nobody waits for longer than a connection may take: libpq would hold up the whole process.
"""

import ipaddress
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import psycopg

SUSPECT_FOR_S: Final = 30.0
"""For so long a host that fell silent is asked last, unless it answers before."""

Parameters = Mapping[str, Any]
"""What libpq is told of one attempt to connect: one host, one port, one address."""


@dataclass(frozen=True, slots=True)
class Host:
    """One of the hosts that a URL names; both are None where it leaves them to libpq."""

    name: str | None
    port: str | None


@dataclass(eq=False)
class Hosts:
    """What is known of the hosts of one database."""

    _abandoned_at: float = 0.0
    _suspected: dict[Host, float] = field(default_factory=dict)
    _answered: dict[Host, float] = field(default_factory=dict)
    _looking_up: dict[Host, "_LookUp"] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def in_order(self, parameters: Parameters) -> Sequence[tuple[Host, Parameters]]:
        """Return the hosts to try in turn, those that fell silent of late at the end."""
        return sorted(_of(parameters), key=lambda one: self._is_silent(one[0]))

    def suspect(self, host: Host) -> None:
        """Note that a host fell silent: its connections from before are not used any more."""
        self._suspected[host] = time.monotonic()

    def trust(self, host: Host) -> None:
        """Note that a host answers; connections from before it fell silent stay unused."""
        self._answered[host] = time.monotonic()

    def abandon_connections(self, *, since: float) -> None:
        """
        Note that no connection from before now is used again: one of them was lost, and the others may be.

        Nothing is noted if another did so since the instant: many lose theirs at once, and all connect anew meanwhile.
        """
        if self._abandoned_at <= since:
            self._abandoned_at = time.monotonic()

    def is_suspect(self, host: Host, *, opened_at: float) -> bool:
        """Whether a host fell silent, or all connections were abandoned, since a connection to it was opened."""
        return max(self._abandoned_at, self._suspected.get(host, 0)) > opened_at

    def _is_silent(self, host: Host) -> bool:
        suspected = self._suspected.get(host, 0)
        return suspected > max(self._answered.get(host, 0), time.monotonic() - SUSPECT_FOR_S)

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


class _LookUp(threading.Thread):
    """Looks one name up; all who need it meanwhile wait for the same."""

    def __init__(self, host: Host) -> None:
        super().__init__(name=f"look-up of {host.name}", daemon=True)
        self.is_over = threading.Event()
        self._host = host
        self._found: Sequence[str] = ()
        self._error = "nobody says where it is"

    def run(self) -> None:
        try:
            found = socket.getaddrinfo(self._host.name, self._host.port or 5432, type=socket.SOCK_STREAM)
            self._found = tuple(dict.fromkeys(str(address[0]) for *_, address in found))
        except OSError as error:
            self._error = str(error)
        finally:
            self.is_over.set()

    def addresses(self) -> Sequence[str]:
        if not self._found:
            message = f"could not look up the host {self._host.name!r}: {self._error}"
            raise psycopg.OperationalError(message)
        return self._found


def _of(parameters: Parameters) -> Iterator[tuple[Host, Parameters]]:
    """Split what names several hosts; their ports are one for all, or one each."""
    names = _listed(parameters, "host")
    addresses, ports = _listed(parameters, "hostaddr"), _listed(parameters, "port")
    count = max(len(names), len(addresses), 1)
    if len(ports) not in {0, 1, count}:
        message = f"{len(ports)} ports do not go with {count} hosts"
        raise psycopg.OperationalError(message)
    for number in range(count):
        own = {"host": _nth(names, number), "hostaddr": _nth(addresses, number)}
        own["port"] = _nth(ports, 0 if len(ports) == 1 else number)
        host = Host(own["hostaddr"] or own["host"], own["port"])
        yield host, {**parameters, **own}


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
