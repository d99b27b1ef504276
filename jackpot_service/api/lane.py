"""
A lane of their own for the calls that come by the thousand: they are answered before Flask looks at them.

For one bet, Flask and the libraries that read its body take more of a processor than its share of a commit
(docs/decisions/lane.md). The lane answers what is as nearly all of these calls are. Whatever else comes goes on to
Flask as it came; so does what ends with an error, with that error. All problems are therefore made in one place.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

import orjson
from marshmallow import ValidationError
from werkzeug.exceptions import HTTPException
from werkzeug.wsgi import get_content_length, get_input_stream

from jackpot_service.api import decided
from jackpot_service.api.door import Door
from jackpot_service.api.parsing import MEDIA_TYPES, read_json
from jackpot_service.api.request_ids import REQUEST_ID, request_id
from jackpot_service.auth import Authenticator, require_role
from jackpot_service.domain.principals import Role
from jackpot_service.domain.shapes import IDENTIFIER

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

ID: Final = f"({IDENTIFIER.pattern})"
"""An id in a path of a call."""

_ENCODINGS: Final = frozenset({"HTTP_CONTENT_ENCODING", "HTTP_TRANSFER_ENCODING"})


class NotPlain(Exception):
    """The call is not as nearly all others are."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What Flask would answer, but for the request's id; without a body it has no type and length."""

    body: dict[str, Any] | None
    status: HTTPStatus = HTTPStatus.OK
    headers: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """
    A call that may take the lane: its method and path, who may make it, and what answers it.

    `take` is given the ids of the path. It raises NotPlain, or what is wrong with the body, before it does anything.
    """

    method: str
    path: re.Pattern[str]
    roles: frozenset[Role] | None
    take: Callable[..., Answer]


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
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        for call in self._calls:
            if method == call.method and (ids := call.path.fullmatch(path)):
                body = self._answer(call, ids.groups(), environ, start_response)
                if body is not None:
                    return [body]
        return self._flask(environ, start_response)

    def _answer(
        self, call: Call, ids: Iterable[str], environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> bytes | None:
        """Begin the answer and return its body; or None, if it is left to Flask."""
        named = request_id(environ.get("HTTP_X_REQUEST_ID", ""))
        principal = None
        try:
            principal = self._authenticator.principal(environ.get("HTTP_AUTHORIZATION"))
            require_role(principal, call.roles or frozenset())
            answer = call.take(self._door, environ, principal, *ids)
            body = b"" if answer.body is None else orjson.dumps(answer.body)
        except (NotPlain, HTTPException, ValidationError):
            return None  # What is wrong with a body is found again by Flask, and told.
        except Exception as error:  # noqa: BLE001  told, and logged where nobody foresaw it, by Flask
            decided.leave(environ, principal, error)
            return None
        headers = [*answer.headers, (REQUEST_ID, named)]
        if answer.body is not None:
            headers += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        start_response(f"{answer.status.value} {answer.status.phrase.upper()}", headers)
        return body


def document_of(environ: "WSGIEnvironment", *, most_bytes: int) -> Any:  # noqa: ANN401  any JSON
    """
    Read the body of a plain call, and leave it to be read again.

    Raises: NotPlain if it is not sent as JSON of a stated length, without an encoding and a query; NotJson; KeyTwice.
    """
    length = get_content_length(environ)
    if (
        environ.get("CONTENT_TYPE", "").partition(";")[0].strip(" \t").lower() not in MEDIA_TYPES
        or not _ENCODINGS.isdisjoint(environ)
        or environ.get("QUERY_STRING")
        or length is None
        or length > most_bytes
    ):
        raise NotPlain
    body = get_input_stream(environ, max_content_length=most_bytes).read()
    environ["wsgi.input"] = BytesIO(body)
    return read_json(body)
