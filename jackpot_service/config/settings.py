"""
The settings of an installation, read once from the environment.

Nobody else reads `os.environ`: `cli` and the server's factory pass it to `Config.from_environment`, and
from there on settings are plain values. A wrong setting stops the start with one line that names the variable,
what it held and what it accepts; it never falls back to a default.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from decimal import Decimal
from functools import partial
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Final, get_type_hints
from urllib.parse import urlsplit

from jackpot_service.config import database_url
from jackpot_service.config.database_url import WrongURL

_LOG_LEVELS: Final = ("debug", "info", "warning", "error", "critical")
_INTEGER: Final = re.compile(r"[0-9]{1,12}")
_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
_SECONDS: Final = re.compile(r"[0-9]{1,6}(\.[0-9]{1,3})?")
_RATE: Final = re.compile(r"[0-9]{1,7}(\.[0-9]{1,3})?")
_ORIGIN: Final = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?")
_DOMAIN: Final = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*")
_ADDRESS: Final = re.compile(r"[0-9.]+")
_PART: Final = re.compile(r"0(\.[0-9]{1,6})?|1(\.0{1,6})?")
_LONGEST_POOL_TIMEOUT_S: Final = 1
"""A call that began to wait for a connection just before its end is answered so much later."""

_LEAST_STALE_S: Final = 2
"""The watch looks twice a second, and has three quarters for each look: less would call a good replica late."""

_LONGEST_STALE_S: Final = 30
"""A wall that shows what is older says so, and a replica that is further behind is not read."""

Network = IPv4Network | IPv6Network


class ConfigError(Exception):
    """A setting is wrong; the message is the one line that an operator needs."""

    def __init__(self, variable: str, value: str, accepted: str) -> None:
        super().__init__(f"{variable}={value!r} is refused: it takes {accepted}")
        self.variable = variable
        self.value = value
        self.accepted = accepted


@dataclass(frozen=True, slots=True)
class _Reader:
    """One method for each kind of setting: an unset variable is the default, a wrong one a ConfigError."""

    environ: Mapping[str, str]

    def path(self, variable: str, default: Path) -> Path:
        return Path(self.text(variable, str(default), "a directory's path"))

    def text(self, variable: str, default: str, accepted: str) -> str:
        value = self.environ.get(variable, default)
        if not value.strip() or "\0" in value:
            raise ConfigError(variable, value, accepted)
        return value

    def database_url(self, variable: str, _default: None, *, without: str = "the embedded one") -> str | None:
        if variable not in self.environ:
            return None
        value = self.environ[variable]
        try:
            return database_url.normalised(value)
        except WrongURL as error:
            accepted = f"{database_url.FORM}; or leave it unset for {without} ({error})"
            raise ConfigError(variable, database_url.without_secrets(value), accepted) from None

    def secret(self, variable: str, _default: None) -> str | None:
        value = self.environ.get(variable)
        if value is not None and not (value.isascii() and value.isprintable() and value.strip()):
            raise ConfigError(variable, "…", "a key such as jk_…; or leave it unset")
        return value

    def web_url(self, variable: str, _default: None, *, refused: str = " #@") -> str | None:
        accepted = "a URL such as https://sign-in.example (http:// on this machine only); or leave it unset"
        if variable not in self.environ:
            return None
        value = self.text(variable, "", accepted)
        try:
            parts = urlsplit(value)
            is_local = parts.scheme == "http" and parts.hostname in {"127.0.0.1", "::1", "localhost"}
            is_plain = value.isascii() and value.isprintable() and not set(refused) & set(value)
            if is_plain and parts.hostname and (parts.scheme == "https" or is_local) and parts.port != 0:
                return value
        except ValueError:
            pass
        raise ConfigError(variable, _without_password(value), accepted)

    def public_url(self, variable: str, _default: None) -> str | None:
        """Read where browsers find the pages: passkeys are made for its domain, and company accounts lead there."""
        accepted = "a URL with a domain and no path, such as https://jackpot.example; or leave it unset for localhost"
        value = self.web_url(variable, None, refused=" #@?")
        if value is None:
            return None
        parts = urlsplit(value)
        host = parts.hostname or ""
        if parts.path.strip("/") or not _DOMAIN.fullmatch(host) or _ADDRESS.fullmatch(host):
            raise ConfigError(variable, value, accepted)
        return f"{parts.scheme}://{parts.netloc.lower()}"

    def client_id(self, variable: str, _default: None) -> str | None:
        """Read as which client people sign in at the issuer; it needs a secret, and where browsers come back to."""
        value = self.environ.get(variable)
        needed = ("JACKPOT_OIDC_ISSUER", "JACKPOT_OIDC_CLIENT_SECRET", "JACKPOT_PUBLIC_URL")
        if value is not None and not set(needed) <= self.environ.keys():
            raise ConfigError(variable, value, f"the id of a client, set together with {', '.join(needed)}")
        return None if value is None else self.text(variable, "", "the id of a client")

    def client_secret(self, variable: str, _default: None) -> str | None:
        value = self.environ.get(variable)
        is_secret = value is not None and value.isascii() and value.isprintable() and bool(value.strip())
        if value is not None and not (is_secret and "JACKPOT_OIDC_CLIENT_ID" in self.environ):
            raise ConfigError(variable, "…", "the secret of the client, set together with JACKPOT_OIDC_CLIENT_ID")
        return value

    def audience(self, variable: str, _default: None) -> str | None:
        """Read whom tokens are for; an issuer without an audience would let in everybody it knows, for anything."""
        accepted = "whom the issuer makes tokens for, set together with JACKPOT_OIDC_ISSUER"
        value = self.environ.get(variable)
        if (value is None) is not ("JACKPOT_OIDC_ISSUER" not in self.environ):
            raise ConfigError(variable, value or "", accepted)
        return None if value is None else self.text(variable, "", accepted)

    def authorized_parties(self, variable: str, default: tuple[str, ...]) -> tuple[str, ...]:
        accepted = "the client ids that may obtain tokens, with spaces between, set together with JACKPOT_OIDC_ISSUER"
        value = self.environ.get(variable)
        if value is None:
            return default
        audiences = tuple(self.text(variable, "", accepted).split())
        if not audiences or "JACKPOT_OIDC_ISSUER" not in self.environ:
            raise ConfigError(variable, value, accepted)
        return audiences

    def algorithms(self, variable: str, default: tuple[str, ...]) -> tuple[str, ...]:
        accepted = f"some of {' '.join(_ALGORITHMS)}, with spaces between"
        algorithms = tuple(self.text(variable, " ".join(default), accepted).split())
        if not set(algorithms) <= set(_ALGORITHMS):
            raise ConfigError(variable, " ".join(algorithms), accepted)
        return algorithms

    def integer(self, variable: str, default: int, *, least: int = 1, most: int = 10_000_000) -> int:
        accepted = f"a whole number from {least} to {most}"
        value = self.text(variable, str(default), accepted)
        if not _INTEGER.fullmatch(value) or not least <= int(value) <= most:
            raise ConfigError(variable, value, accepted)
        return int(value)

    def seconds(self, variable: str, default: float, *, least: int = 0, most: int = 3600) -> float:
        accepted = f"seconds, more than 0 and at most {most}, such as {min(most, 5)} or 0.5"
        if least:
            accepted = f"seconds, from {least} to {most}, such as {least + 0.5}"
        value = self.text(variable, str(default), accepted)
        if not _SECONDS.fullmatch(value) or not least <= float(value) <= most or float(value) == 0:
            raise ConfigError(variable, value, accepted)
        return float(value)

    def rate(self, variable: str, default: float) -> float:
        accepted = "a number a second, more than 0 and at most 1000000, such as 20 or 0.5"
        value = self.text(variable, str(default), accepted)
        if not _RATE.fullmatch(value) or not 0 < float(value) <= 1_000_000:  # noqa: PLR2004 -- it is in `accepted`
            raise ConfigError(variable, value, accepted)
        return float(value)

    def networks(self, variable: str, default: tuple[Network, ...]) -> tuple[Network, ...]:
        accepted = "addresses or networks with spaces between, such as 10.0.0.5 192.0.2.0/24; or leave it unset"
        if variable not in self.environ:
            return default
        value = self.text(variable, "", accepted)
        try:
            return tuple(map(ip_network, value.split()))
        except ValueError:
            raise ConfigError(variable, value, accepted) from None

    def origins(self, variable: str, default: tuple[str, ...]) -> tuple[str, ...]:
        accepted = "origins with spaces between, such as https://casino.example https://www.casino.example:8443"
        if variable not in self.environ:
            return default
        origins = tuple(self.text(variable, "", accepted).split())
        if not all(map(_ORIGIN.fullmatch, origins)):
            raise ConfigError(variable, " ".join(origins), accepted)
        return origins

    def part(self, variable: str, default: Decimal) -> Decimal:
        accepted = "a part from 0 to 1, such as 0.10"
        value = self.text(variable, str(default), accepted)
        if not _PART.fullmatch(value):
            raise ConfigError(variable, value, accepted)
        return Decimal(value)

    def require_unset(self, variable: str, instead: str) -> None:
        if variable in self.environ:
            raise ConfigError(variable, self.environ[variable], f"nothing any more; {instead}")

    def log_level(self, variable: str, default: str) -> str:
        accepted = f"one of {', '.join(_LOG_LEVELS)}"
        value = self.text(variable, default, accepted)
        if value.lower() not in _LOG_LEVELS:
            raise ConfigError(variable, value, accepted)
        return value.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """
    Everything that may differ between two installations; the defaults are those of a first look.

    Each setting is annotated with the method that reads it.

    `database_url`: a PostgreSQL in SQLAlchemy's spelling, by the service's own login; None for the embedded one in
    `data_dir`. `owner_url`: the same database by its owner's login, for `jackpot db …` alone.
    `replica_url`: a hot standby of that database by the same login, to read at; None: all is read at the primary.
    `replica_stale_after_s`: how far it may be behind, until the primary is read in its place.
    `pool_size`: connections kept per process.
    `max_batch`, `max_body_bytes`: the most bets and the most bytes that one request may carry.
    `stripes`: into how many rows the pools of a newly opened jackpot are divided.
    `rate_band`: how far a rate may move, as a part of the one before, until its approver must repeat it.
    `rates_stale_after_s`: the age from which on a rate sheet in force is warned of.
    `ecb_url`: where the ECB's daily document is fetched from, when a person says so; None: it is not fetched.
    `oidc_issuer`, `oidc_audience`: those of the tokens that users may show instead of keys; None: keys only.
    `oidc_authorized_parties`: the clients that may obtain those (`azp`); none: the audience itself.
    `oidc_algorithms`: how those may be signed. `oidc_jwks_url`: where the issuer's keys are, if it names no place.
    `oidc_client_id`, `oidc_client_secret`: as which client people sign in to pages at that issuer; None: by keys only.
    `key`: the key of the user who seals the books; without it nobody is named.
    `open_round_minutes`: how long a round may be open before it is an exception.
    `file_days`: for how many days the files of jobs are kept.
    `report_timeout_s`: how long the service reads the figures of a report, until it answers 503.
    `key_rate`: how many calls a second a key may make of a process.
    `sign_in_rate`: how many sign-ins a second may fail that come from one address.
    `trusted_proxies`: the proxies that are believed about where a call comes from.
    `listeners`: how many callers of a process may listen, or wait for events; fewer where it may open few files.
    `public_origins`: the origins of pages that browsers let read what is open to all.
    `public_url`: where browsers find the pages, for whose domain passkeys are made, and to which people come back from
    the sign-in of their company; None for this machine alone.
    """

    database_url: Annotated[str | None, _Reader.database_url] = field(default=None, repr=False)
    owner_url: Annotated[str | None, _Reader.database_url] = field(default=None, repr=False)
    replica_url: Annotated[str | None, partial(_Reader.database_url, without="none")] = field(default=None, repr=False)
    replica_stale_after_s: Annotated[float, partial(_Reader.seconds, least=_LEAST_STALE_S, most=_LONGEST_STALE_S)] = (
        10.0
    )
    data_dir: Annotated[Path, _Reader.path] = Path("var")
    pool_size: Annotated[int, partial(_Reader.integer, least=2, most=100)] = 10
    max_batch: Annotated[int, partial(_Reader.integer, most=100_000)] = 2000
    max_body_bytes: Annotated[int, partial(_Reader.integer, least=1024, most=1 << 28)] = 1024 * 1024
    request_timeout_s: Annotated[float, _Reader.seconds] = 5.0
    statement_timeout_ms: Annotated[int, _Reader.integer] = 2000
    lock_timeout_ms: Annotated[int, _Reader.integer] = 1500
    pool_timeout_s: Annotated[float, partial(_Reader.seconds, most=_LONGEST_POOL_TIMEOUT_S)] = 1.0
    stripes: Annotated[int, partial(_Reader.integer, most=256)] = 16
    open_round_minutes: Annotated[int, partial(_Reader.integer, most=10_080)] = 15
    file_days: Annotated[int, partial(_Reader.integer, most=365)] = 7
    report_timeout_s: Annotated[float, _Reader.seconds] = 60.0
    key_rate: Annotated[float, _Reader.rate] = 10_000.0
    sign_in_rate: Annotated[float, _Reader.rate] = 20.0
    trusted_proxies: Annotated[tuple[Network, ...], _Reader.networks] = ()
    listeners: Annotated[int, partial(_Reader.integer, most=20_000)] = 2500
    public_origins: Annotated[tuple[str, ...], _Reader.origins] = ()
    public_url: Annotated[str | None, _Reader.public_url] = None
    rate_band: Annotated[Decimal, _Reader.part] = Decimal("0.10")
    rates_stale_after_s: Annotated[int, _Reader.integer] = 36 * 3600
    ecb_url: Annotated[str | None, _Reader.web_url] = None
    oidc_issuer: Annotated[str | None, partial(_Reader.web_url, refused=" #@?")] = None
    oidc_audience: Annotated[str | None, _Reader.audience] = None
    oidc_authorized_parties: Annotated[tuple[str, ...], _Reader.authorized_parties] = ()
    oidc_algorithms: Annotated[tuple[str, ...], _Reader.algorithms] = ("RS256", "ES256")
    oidc_jwks_url: Annotated[str | None, _Reader.web_url] = None
    oidc_client_id: Annotated[str | None, _Reader.client_id] = None
    oidc_client_secret: Annotated[str | None, _Reader.client_secret] = field(default=None, repr=False)
    key: Annotated[str | None, _Reader.secret] = field(default=None, repr=False)
    log_level: Annotated[str, _Reader.log_level] = "info"

    @property
    def longest_open(self) -> timedelta:
        """How long a round may be open before it is an exception."""
        return timedelta(minutes=self.open_round_minutes)

    @property
    def files_kept(self) -> timedelta:
        """How long the files of jobs are kept."""
        return timedelta(days=self.file_days)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "Config":
        """
        Read the settings, each from the variable `JACKPOT_` and its name in capitals.

        Raises: ConfigError at the first that is wrong. One that is set to nothing is wrong too: an empty
        `JACKPOT_DATABASE_URL` is more often a secret that did not arrive than a wish for the embedded database.
        """
        read, hints = _Reader(environ), get_type_hints(cls, include_extras=True)
        read.require_unset("JACKPOT_EMERGENCY_APPROVALS", "unset it, and run: jackpot db emergency on")
        values = {}
        for setting in fields(cls):
            (reader,) = hints[setting.name].__metadata__
            values[setting.name] = reader(read, f"JACKPOT_{setting.name.upper()}", setting.default)
        return cls(**values)


def _without_password(url: str) -> str:
    """Return the URL as it may be printed: what stands before the host is cut if it holds a password."""
    try:
        password = urlsplit(url).password
    except ValueError:
        return "…"
    return url if password is None else url.replace(f":{password}@", ":…@")
