"""
The URL of a database as an operator writes it, by libpq's rules or SQLAlchemy's, becomes one that SQLAlchemy takes.

libpq's names several hosts, for a cluster with failover: `postgresql://user@h1:5432,h2:5432/db`. SQLAlchemy's own
spelling, `postgresql+psycopg://`, has them in the query, where `+` is a space. An error in a URL is found here, so that
it stops the start with one line, which holds no password.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import parse_qsl

import psycopg
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

SCHEMES: Final = ("postgresql", "postgresql+psycopg")
FORM: Final = "postgresql://user:password@host1:5432,host2:5432/database?target_session_attrs=read-write"

_DRIVER: Final = "postgresql+psycopg"
_NAMED_APART: Final = ("user", "password", "host", "port", "dbname")
_LARGEST_PORT: Final = 65535
_NO_PORT: Final = re.compile(r":(?![0-9]*(?:[,/]|$))[^,/]*")
_PLAIN: Final = re.compile(r"[A-Za-z0-9._:-]+")
_ENCODED: Final = "special characters of a name or a password are written as %40 (@), %2F (/), %3A (:), %25 (%)"


class WrongURL(Exception):
    """A URL of a database is wrong; the message is what is, without a password."""


def normalised(url: str) -> str:
    """Return the URL in SQLAlchemy's spelling. Raises: WrongURL."""
    scheme, separator, rest = url.partition("://")
    if scheme not in SCHEMES or not separator:
        raise WrongURL("PostgreSQL only")
    if not url.isprintable() or " " in url:
        raise WrongURL("it holds a space, a line break or another character that is not printed")
    query = [name for name, _ in parse_qsl(rest.partition("?")[2], keep_blank_values=True)]
    _require_known(query)
    is_of_sqlalchemy = (scheme == _DRIVER and "," not in _authority(rest)) or query.count("host") > 1
    return _rendered(_read_by_sqlalchemy(rest) if is_of_sqlalchemy else _read_by_libpq(rest))


def without_secrets(url: str) -> str:
    """Return the URL as it may be printed: no user, no query, nothing in a port's place that is no number."""
    scheme, separator, rest = url.partition("://")
    _, at, place = rest.rpartition("@")
    shown, question, _ = place.partition("?")
    return f"{scheme}{separator}{at and '…@'}{_NO_PORT.sub(':…', shown)}{question and '?…'}"


def _authority(rest: str) -> str:
    return rest.partition("/")[0].partition("?")[0]


def _require_known(names: Sequence[str]) -> None:
    """Raises: WrongURL if a parameter is none of libpq's, or the service's own."""
    known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
    for name in names:
        if name == "options":
            raise WrongURL("options are the service's own")
        if name not in known:
            raise WrongURL(f"libpq knows no parameter {name!r}")


def _read_by_libpq(rest: str) -> Mapping[str, object]:
    try:
        return conninfo_to_dict(f"postgresql://{rest}")
    except (psycopg.Error, UnicodeDecodeError):  # Their texts may quote a password.
        raise WrongURL(f"libpq cannot read it: {_ENCODED}") from None


def _read_by_sqlalchemy(rest: str) -> Mapping[str, object]:
    try:
        url = make_url(f"{_DRIVER}://{rest}")
        _, parts = url.get_dialect()().create_connect_args(url)
    except (ArgumentError, ValueError):
        raise WrongURL(f"SQLAlchemy cannot read it: {_ENCODED}") from None
    return {name: value for name, value in parts.items() if name != "context"}


def _rendered(parts: Mapping[str, object]) -> str:
    text = {name: str(value) for name, value in parts.items()}
    hosts, ports = _places(text)
    query = {name: value for name, value in text.items() if name not in _NAMED_APART}
    is_one_machine = _PLAIN.fullmatch(",".join(hosts)) is not None
    if not is_one_machine:
        where = {"host": ",".join(hosts), "port": ",".join(ports)}
        query |= {name: value for name, value in where.items() if value.strip(",")}
    database = text.get("dbname", "")
    if not _PLAIN.fullmatch(database):  # SQLAlchemy writes it as it is; a query, in which all is encoded, may name it.
        query |= {"dbname": database} if database else {}
        database = ""
    return URL.create(
        _DRIVER,
        username=text.get("user"),
        password=text.get("password"),
        host=hosts[0] if is_one_machine else None,
        port=int(ports[0]) if is_one_machine and ports[0] else None,
        database=database or None,
        query=query,
    ).render_as_string(hide_password=False)


def _places(text: Mapping[str, str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the hosts, and for each its port, which may be empty. Raises: WrongURL."""
    if any("@" in text.get(name, "") for name in ("host", "port", "dbname")):
        raise WrongURL(_ENCODED)
    hosts, ports = text.get("host", "").split(","), text.get("port", "").split(",")
    for port in filter(None, ports):
        if not (port.isascii() and port.isdecimal() and 0 < int(port) <= _LARGEST_PORT):
            raise WrongURL(f"a port is a number from 1 to 65535; {_ENCODED}")
    if len(ports) == 1:
        ports *= len(hosts)
    if len(ports) != len(hosts):
        raise WrongURL(f"it names {len(hosts)} hosts and {len(ports)} ports")
    return hosts, ports
