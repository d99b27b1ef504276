"""The issuer's places: where people sign in, where a client exchanges codes, as the issuer says it itself."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
import structlog

from jackpot_service.auth.issuer import KEPT_S, PAUSE_S, IssuerUnavailable
from jackpot_service.auth.issuer_http import configuration_of, issuer_client

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where the issuer takes sign-ins, codes and sign-outs, and how it wants its clients to show who they are."""

    authorization: str
    token: str
    end_session: str | None
    takes_basic: bool
    is_named_in_answers: bool


class Discovery:
    """The places of an issuer, shared by the threads of a process; one of them asks at a time."""

    def __init__(self, issuer: str, *, monotonic: Callable[[], float]) -> None:
        self.issuer = issuer
        self._monotonic = monotonic
        self._endpoints: Endpoints | None = None
        self._fetched_at = float("-inf")
        self._asked_at = float("-inf")
        self._asking = threading.Lock()

    def endpoints(self) -> Endpoints:
        """Return the places of the issuer, as it says, believed for five minutes. Raises: IssuerUnavailable."""
        if self._endpoints is not None and self._monotonic() - self._fetched_at < KEPT_S:
            return self._endpoints
        with self._asking:  # A thread waits here for a call of another, which ends in time.
            now = self._monotonic()
            if self._endpoints is not None and now - self._fetched_at < KEPT_S:
                return self._endpoints
            if now - self._asked_at < PAUSE_S and self._asked_at != self._fetched_at:
                message = "The issuer of tokens did not answer a moment ago."
                raise IssuerUnavailable(message)
            self._asked_at = now
            try:
                with issuer_client() as client:
                    self._endpoints = _endpoints_in(configuration_of(client, self.issuer), self.issuer)
            except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
                raise unavailable(self.issuer, error) from error
            self._fetched_at = now
            return self._endpoints


def unavailable(issuer: str, error: Exception) -> IssuerUnavailable:
    """Log why an issuer cannot be asked, without what was sent to it; returns what is raised."""
    log.warning("issuer-unavailable", issuer=issuer, detail=type(error).__name__)
    return IssuerUnavailable("The issuer of tokens does not answer.")


def _endpoints_in(configuration: Mapping[str, Any], issuer: str) -> Endpoints:
    """Read an issuer's configuration. Raises: ValueError."""
    scheme, places = urlsplit(issuer).scheme, {}
    for name in ("authorization_endpoint", "token_endpoint", "end_session_endpoint"):
        place = configuration.get(name)
        if place is None and name == "end_session_endpoint":
            continue
        if not isinstance(place, str) or urlsplit(place).scheme != scheme:
            message = f"its configuration names no {name}, or one of another scheme"
            raise ValueError(message)
        places[name] = place
    methods = configuration.get("token_endpoint_auth_methods_supported")
    return Endpoints(
        places["authorization_endpoint"],
        places["token_endpoint"],
        places.get("end_session_endpoint"),
        takes_basic=not isinstance(methods, list) or "client_secret_basic" in methods,
        is_named_in_answers=configuration.get("authorization_response_iss_parameter_supported") is True,
    )
