"""Calls of the issuer: made directly, within bounds of time and size, and answered by a JSON object."""

import ssl
import time
from collections.abc import Mapping
from typing import Any, Final

import httpx
import orjson

TIMEOUT_S: Final = 3.0

MOST_BYTES: Final = 1 << 20

DISCOVERY: Final = "/.well-known/openid-configuration"


def issuer_client() -> httpx.Client:
    """Make a client: the machine's own certificates; no proxy and nothing else is taken from the environment."""
    timeout = httpx.Timeout(TIMEOUT_S, connect=TIMEOUT_S / 2)
    return httpx.Client(verify=ssl.create_default_context(), trust_env=False, timeout=timeout)


def document_at(client: httpx.Client, url: str) -> dict[str, Any]:
    """Read a JSON object. Raises: httpx.HTTPError, ValueError."""
    status, document = answer_to(client, "GET", url)
    if status != httpx.codes.OK:
        message = f"{url} answers with status {status}"
        raise ValueError(message)
    return document


def answer_to(
    client: httpx.Client,
    method: str,
    url: str,
    *,
    form: Mapping[str, str] | None = None,
    auth: httpx.BasicAuth | None = None,
) -> tuple[int, dict[str, Any]]:
    """Send a request; returns the status and the JSON object that came. Raises: httpx.HTTPError, ValueError."""
    until = time.monotonic() + TIMEOUT_S
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    body = b""
    with client.stream(method, url, headers=headers, data=form, auth=auth) as response:
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > MOST_BYTES or time.monotonic() > until:
                message = f"{url} answers too much, or too slowly"
                raise ValueError(message)
    document = _json_object(body)
    if document is None:
        message = f"{url} answers no JSON object, with status {response.status_code}"
        raise ValueError(message)
    return response.status_code, document


def configuration_of(client: httpx.Client, issuer: str) -> Mapping[str, Any]:
    """Read an issuer's configuration. Raises: httpx.HTTPError; ValueError, also unless it speaks of itself."""
    document = document_at(client, issuer.rstrip("/") + DISCOVERY)
    if document.get("issuer") != issuer:
        message = "its configuration is another issuer's"
        raise ValueError(message)
    return document


def _json_object(body: bytes) -> dict[str, Any] | None:
    try:
        document = orjson.loads(body)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None
