"""The parts of a connection to the service that both clients have in common."""

import ssl
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import httpx

from jackpot_client.steps import Failed, Received, Request

LARGEST_ANSWER_BYTES: Final = 64 * 1024 * 1024

ENDED: Final = Failed("the service ended the stream", was_sent=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the service is, and the key that is shown to it; a display of an open jackpot needs none."""

    base_url: str
    key: str | None = field(repr=False)
    trust_env: bool
    tls: ssl.SSLContext | None = None

    def __post_init__(self) -> None:
        """Refuse an address or a key that could never work. Raises: ValueError."""
        if not self.base_url.startswith(("http://", "https://")):
            raise ValueError(f"the service's address must start with http:// or https://, not {self.base_url!r}")
        key = self.key
        if key is not None and (not key or not key.isascii() or not key.isprintable() or " " in key):
            raise ValueError("the key must be printable ASCII without spaces")

    def options(self, connections: int | None) -> dict[str, Any]:
        """Return the options of httpx's client, for a pool of so many connections; None is no limit."""
        shown = {} if self.key is None else {"Authorization": f"Bearer {self.key}"}
        return {
            "base_url": self.base_url,
            "headers": {"Accept": "application/json", "User-Agent": f"jackpot-client/{_version()}", **shown},
            "limits": httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
            "trust_env": self.trust_env,
            "verify": self.tls or usual_tls(self.trust_env),
        }


@cache
def usual_tls(trust_env: bool) -> ssl.SSLContext:  # noqa: FBT001  it is what is remembered
    """
    Make a context once: that reads all certificates that the machine trusts.

    Usually OpenSSL lets variables name other ones. Where the environment is not trusted, its own places are read.
    """
    places = ssl.get_default_verify_paths()
    file, folder = Path(places.openssl_cafile), Path(places.openssl_capath)
    if trust_env or not (file.exists() or folder.exists()):  # Without such places, the system has its own store.
        return ssl.create_default_context()
    return ssl.create_default_context(
        cafile=file if file.exists() else None, capath=folder if folder.exists() else None
    )


def _version() -> str:
    try:
        return version("jackpot-client")
    except PackageNotFoundError:  # Imported from a checkout.
        return "0"


def built(http: httpx.Client | httpx.AsyncClient, request: Request, timeout: httpx.Timeout) -> httpx.Request:
    """Return a request as httpx sends it."""
    return http.build_request(
        request.method,
        request.path,
        content=request.body,
        params=request.params or None,
        headers=request.headers,
        timeout=timeout,
    )


def is_stream(response: httpx.Response) -> bool:
    """Return whether an answer goes on, as server-sent events do."""
    media_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return response.status_code == httpx.codes.OK and media_type == "text/event-stream"


@dataclass(slots=True)
class Body:
    """
    The body of an answer as it comes.

    httpx limits each read only, so an answer that trickles or never ends is cut off here.
    """

    response: httpx.Response
    ends_at: float
    _content: bytearray = field(default_factory=bytearray)
    _is_late: bool = False

    def add(self, piece: bytes, *, now: float) -> None:
        """Add a piece. Raises: httpx.ReadTimeout for one that comes after the time, or the room, was used up."""
        if self._is_late:
            raise httpx.ReadTimeout("the answer does not end", request=self.response.request)
        self._content += piece
        self._is_late = now > self.ends_at or len(self._content) > LARGEST_ANSWER_BYTES

    def received(self) -> Received:
        """Return the whole answer."""
        return Received(status=self.response.status_code, headers=self.response.headers, body=bytes(self._content))
