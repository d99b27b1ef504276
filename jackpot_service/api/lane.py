"""
A lane of their own for the calls that come by the thousand: they are answered before Flask looks at them.

For one bet, Flask and the libraries that read its body take more of a processor than its share of a commit
(docs/decisions/lane.md). The lane answers what is as nearly all of these calls are. Whatever else comes goes on to
Flask as it came; so does what is refused, with its refusal. All problems are therefore made in one place.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

import orjson
import structlog
from marshmallow import ValidationError
from werkzeug.exceptions import HTTPException
from werkzeug.wsgi import get_input_stream

from jackpot_service.api.door import Door
from jackpot_service.api.parsing import MEDIA_TYPES, read_json
from jackpot_service.api.request_ids import REQUEST_ID, request_id
from jackpot_service.auth import Authenticator, require_role
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.principals import Role
from jackpot_service.domain.shapes import IDENTIFIER

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

ID: Final = f"({IDENTIFIER.pattern})"
"""An id in a path of a call."""

_REFUSAL: Final = "jackpot.refusal"

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Answer:
    """What Flask would answer, but for the request's id."""

    body: dict[str, Any]
    status: HTTPStatus = HTTPStatus.OK
    headers: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """
    A call that may take the lane: its method and path, who may make it, and what answers it.

    `take` is given the ids of the path; it returns None for what is not for the lane.
    """

    method: str
    path: re.Pattern[str]
    roles: frozenset[Role]
    take: Callable[..., Answer | None]


class Lane:
    """The application as a server calls it: first the lane, then Flask."""

    def __init__(
        self, flask: "WSGIApplication", door: Door, authenticator: Authenticator, calls: Iterable[Call]
    ) -> None:
        self._flask = flask
        self._door = door
        self._authenticator = authenticator
        self._calls = tuple(calls)

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Answer a request; see PEP 3333."""
        answer = self._try(environ)
        if answer is None:
            return self._flask(environ, start_response)
        body = orjson.dumps(answer.body)
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            *answer.headers,
            (REQUEST_ID, request_id(environ.get("HTTP_X_REQUEST_ID", ""))),
        ]
        start_response(f"{answer.status.value} {answer.status.phrase.upper()}", headers)
        return [body]

    def _try(self, environ: "WSGIEnvironment") -> Answer | None:
        """Answer, or leave it to Flask: what is wrong with a call is found there again, and told."""
        try:
            return self._answer(environ)
        except (LedgerError, HTTPException, ValidationError):
            return None
        except Exception:
            log.exception("lane-failed")
            return None

    def _answer(self, environ: "WSGIEnvironment") -> Answer | None:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        for call in self._calls:
            if method == call.method and (found := call.path.fullmatch(path)):
                principal = self._authenticator.principal(environ.get("HTTP_AUTHORIZATION"))
                require_role(principal, call.roles)
                return call.take(self._door, environ, principal, *found.groups())
        return None


def document_of(environ: "WSGIEnvironment", *, most_bytes: int) -> Any:  # noqa: ANN401  any JSON
    """
    Read the body of a plain call, and leave it to be read again; None if it is not plain JSON of a stated length.

    Raises: NotJson; KeyTwice.
    """
    media_type, length = environ.get("CONTENT_TYPE", ""), environ.get("CONTENT_LENGTH", "")
    if media_type.partition(";")[0].strip().lower() not in MEDIA_TYPES or "HTTP_CONTENT_ENCODING" in environ:
        return None
    if not length.isdecimal() or int(length) > most_bytes or environ.get("QUERY_STRING"):
        return None
    body = get_input_stream(environ).read()
    environ["wsgi.input"] = BytesIO(body)
    return read_json(body)


def leave_refused(environ: "WSGIEnvironment", refusal: LedgerError) -> None:
    """Leave it to Flask to tell a refusal: nothing is asked twice."""
    # A traceback would hold the frame that holds the request that holds the error.
    environ[_REFUSAL] = refusal.with_traceback(None)


def raise_if_refused(environ: "WSGIEnvironment") -> None:
    """Raises: what a call was refused by in the lane."""
    refusal = environ.pop(_REFUSAL, None)
    if refusal is not None:
        raise refusal
