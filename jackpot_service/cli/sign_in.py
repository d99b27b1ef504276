"""
Signing in with the issuer of the service, by OAuth 2.0 Device Authorization Grant (RFC 8628).

The service names its issuer, and the client that command lines are. The issuer says where it takes sign-ins. The
tokens that it gives are kept by the address of the service, in a file for its owner alone. They are renewed before
they end.
"""

import base64
import binascii
import json
import os
import re
import ssl
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import click
import httpx

from jackpot_service.cli.service_api import JSON, NoAnswer, ServiceError
from jackpot_service.cli.writing import OWN, replacing

FILE: Final = "sign-in.json"

DISCOVERY: Final = "/.well-known/openid-configuration"
GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"
SCOPE: Final = "openid offline_access"

TIMEOUT_S: Final = 10.0
EARLY_S: Final = 60
"""A token is renewed so long before its end."""

INTERVAL_S: Final = 5
"""Between two questions whether somebody has agreed, where the issuer says nothing else, and how much longer it may ask
for."""

LONGEST_S: Final = 1800

MOST_SECONDS: Final = 2**53
"""No time is later: a float beyond it is no whole number, and one that is none (NaN) compares with nothing."""

WEB: Final = re.compile(r"https?://\S+", re.IGNORECASE)

LOCAL: Final = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A sign-in as it is kept: the token, when it ends (seconds since 1970), and how it is renewed."""

    token: str
    ends_at: int
    refresh_token: str | None
    token_endpoint: str
    client_id: str
    audience: str


def file() -> Path:
    """Return where sign-ins are kept: in the folder that the user's settings are in."""
    return Path(click.get_app_dir("jackpot")) / FILE


def token_for(url: str) -> str | None:
    """Return the token that is kept for a service, renewed if it is about to end; None without one that is in force."""
    stored = _stored().get(url)
    if stored is None:
        return None
    if stored.ends_at - time.time() > EARLY_S:
        return stored.token
    if stored.refresh_token is None:
        raise NoAnswer("your sign-in has ended: run jackpot login")
    with _alone():  # Two commands at once: an issuer may take a token for renewal only once.
        stored = _stored().get(url)
        if stored is None:  # Somebody signed out.
            return None
        if stored.ends_at - time.time() > EARLY_S:
            return stored.token
        renewed = _renewed(stored)
        _keep({**_stored(), url: renewed})
    return renewed.token


def sign_in(url: str, about: Mapping[str, Any], show: Callable[[str], None]) -> SignedIn:
    """
    Have a person agree in a browser, and return what the issuer gives.

    `about` is what the service says of itself; `show` gets what the person is to do. Raises: ServiceError.
    """
    stated = about.get("sign_in")
    if not isinstance(stated, dict):
        raise ServiceError(f"{url} takes keys only, no sign-in: set JACKPOT_KEY to your own key")
    issuer, client_id, audience = (str(stated[name]) for name in ("issuer", "client_id", "audience"))
    with _client() as client:
        places = _document(client, issuer.rstrip("/") + DISCOVERY)
        if places.get("issuer") != issuer:
            raise NoAnswer(f"{issuer} speaks as another issuer")
        device, token = (_place(places, issuer, name) for name in ("device_authorization_endpoint", "token_endpoint"))
        request = {"client_id": client_id, "scope": SCOPE, "audience": audience}
        answer = _posted(client, device, request)
        show(_invitation(answer))
        grant = _agreed(client, token, answer, client_id)
    return _signed_in(grant, token_endpoint=token, client_id=client_id, audience=audience, before=None)


def keep(url: str, signed_in: SignedIn) -> None:
    """Keep a sign-in at a service, in place of the one before."""
    with _alone():
        _keep({**_stored(), url: signed_in})


def sign_out(url: str) -> bool:
    """Forget the sign-in at a service; return whether there was one."""
    with _alone():
        stored = dict(_stored())
        signed_in = stored.pop(url, None)
        if signed_in is not None:
            _keep(stored)
    return signed_in is not None


def _invitation(answer: Mapping[str, Any]) -> str:
    """Say where the person goes, and which code to compare or to type."""
    try:
        place = str(answer.get("verification_uri_complete") or answer["verification_uri"])
        code = str(answer["user_code"])
    except KeyError as error:
        raise NoAnswer(f"the issuer's answer has no {error.args[0]}") from None
    if not WEB.fullmatch(place):
        raise NoAnswer(f"the issuer names no page to agree at: {place!a}")
    return f"Open {place} in a browser, and agree there to the code {' '.join(code.split())}."


def _agreed(client: httpx.Client, place: str, answer: Mapping[str, Any], client_id: str) -> Mapping[str, Any]:
    """Ask the issuer again and again until the person has agreed. Raises: ServiceError if they do not."""
    until = time.monotonic() + min(_seconds(answer.get("expires_in"), LONGEST_S), LONGEST_S)
    pause = _seconds(answer.get("interval"), INTERVAL_S)
    form = {"grant_type": GRANT, "device_code": str(answer.get("device_code", "")), "client_id": client_id}
    while time.monotonic() < until:
        time.sleep(max(min(pause, until - time.monotonic()), 0))
        document = _answered(client, place, form)
        error = document.get("error")
        if error is None:
            return document
        if error == "slow_down":
            pause += INTERVAL_S
        elif error != "authorization_pending":
            raise ServiceError(f"you are not signed in: {_message_of(document)}")
    raise ServiceError("you are not signed in: nobody agreed in time")


def _renewed(stored: SignedIn) -> SignedIn:
    form = {"grant_type": "refresh_token", "refresh_token": stored.refresh_token or "", "client_id": stored.client_id}
    with _client() as client:
        document = _answered(client, stored.token_endpoint, form)
    if "error" in document:
        raise NoAnswer(f"your sign-in has ended ({_message_of(document)}): run jackpot login")
    return _signed_in(
        document,
        token_endpoint=stored.token_endpoint,
        client_id=stored.client_id,
        audience=stored.audience,
        before=stored.refresh_token,
    )


def _signed_in(
    grant: Mapping[str, Any], *, token_endpoint: str, client_id: str, audience: str, before: str | None
) -> SignedIn:
    """Take the token that is for the service, of those that an issuer gave. Raises: NoAnswer if there is none."""
    for name in ("access_token", "id_token"):
        claims = _claims(grant.get(name))
        meant = claims.get("aud")
        if audience in (meant if isinstance(meant, list) else [meant]):
            token, ends_at = str(grant[name]), _seconds(claims.get("exp"), 0)
            return SignedIn(token, ends_at, grant.get("refresh_token") or before, token_endpoint, client_id, audience)
    raise NoAnswer(f"the issuer gave no token for {audience}, which is the audience that the service takes")


def _claims(token: object) -> Mapping[str, Any]:
    """Read the claims of a token; nothing of what is none. The service checks it: here nothing depends on it."""
    parts = token.split(".") if isinstance(token, str) else []
    try:
        document = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (IndexError, ValueError, binascii.Error):
        return {}
    return document if isinstance(document, dict) else {}


def _place(places: Mapping[str, Any], issuer: str, name: str) -> str:
    """Return where the issuer does something. Raises: ServiceError unless that is a URL of its own scheme."""
    place = places.get(name)
    if not isinstance(place, str) or _parts(place).scheme != _parts(issuer).scheme:
        raise ServiceError(f"{issuer} offers no sign-in of devices ({name})")
    return place


def _parts(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        raise ServiceError(f"this is no address of an issuer: {url}") from None


def _client() -> httpx.Client:
    context = ssl.create_default_context()  # The machine's own certificates, as every other call takes them.
    return httpx.Client(timeout=TIMEOUT_S, trust_env=False, verify=context, headers={"Accept": JSON})


def _document(client: httpx.Client, url: str) -> Mapping[str, Any]:
    parts = _parts(url)
    if parts.scheme != "https" and parts.hostname not in LOCAL:
        raise ServiceError(f"the service names an issuer that is not reached by https: {url}")
    try:
        return _object(client.get(url), url)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise NoAnswer(f"the issuer does not answer at {url}: {error}") from None


def _posted(client: httpx.Client, url: str, form: Mapping[str, str]) -> Mapping[str, Any]:
    document = _answered(client, url, form)
    if "error" in document:
        raise ServiceError(f"the issuer refuses: {_message_of(document)}")
    return document


def _answered(client: httpx.Client, url: str, form: Mapping[str, str]) -> Mapping[str, Any]:
    try:
        return _object(client.post(url, data=dict(form)), url)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise NoAnswer(f"the issuer does not answer at {url}: {error}") from None


def _object(answer: httpx.Response, url: str) -> Mapping[str, Any]:
    """Read a JSON object; one with an `error` may have another status. Raises: NoAnswer."""
    try:
        document = answer.json()
    except ValueError:
        document = None
    if not isinstance(document, dict) or not (answer.is_success or "error" in document):
        raise NoAnswer(f"the issuer answers {url} with status {answer.status_code}, and not with what it should")
    return document


def _message_of(document: Mapping[str, Any]) -> str:
    return str(document.get("error_description") or document.get("error"))


def _seconds(value: object, otherwise: int) -> int:
    """Read whole seconds; an issuer may state them with decimals (RFC 7519, 2)."""
    return int(value) if isinstance(value, int | float) and 1 <= value <= MOST_SECONDS else otherwise


def _stored() -> Mapping[str, SignedIn]:
    """Read what is kept. Raises: ServiceError for a file that others may read or that is another's."""
    place = file()
    try:
        with place.open(encoding="utf-8") as opened:
            status = os.fstat(opened.fileno())
            if status.st_uid != os.geteuid():
                raise ServiceError(f"{place} is another user's: remove it, and run jackpot login")
            if stat.S_IMODE(status.st_mode) & ~OWN:
                raise ServiceError(f"{place} can be read by others than its owner: chmod 600")
            return {url: SignedIn(**stored) for url, stored in json.load(opened).items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError):
        raise ServiceError(f"{place} cannot be read: remove it, and run jackpot login") from None


def _keep(stored: Mapping[str, SignedIn]) -> None:
    """Write what is kept, for its owner alone, and whole or not at all."""
    document = {url: asdict(signed_in) for url, signed_in in stored.items()}
    with replacing(file(), mode=OWN) as opened:
        opened.write(json.dumps(document).encode())


@contextmanager
def _alone() -> Iterator[None]:
    """Hold other commands of this user off, from the reading of what is kept to its writing. Raises: ServiceError."""
    import fcntl  # noqa: PLC0415  rarely needed

    place = file()
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with place.with_name(f"{FILE}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise ServiceError(f"{place} cannot be written: {error.strerror}") from None
